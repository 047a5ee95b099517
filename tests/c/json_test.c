#include <stdlib.h>

#include "../../src/json/cursor.h"
#include "../../src/json/simd.h"
#include "../../src/json/utf8.h"
#include "../../src/json/writer.h"
#include "allocator.h"
#include "test.h"

static uint64_t random_state = 7;

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((random_state >> 33) * bound >> 31);
}

static TampText text_of(const char *string) {
  return (TampText){(const uint8_t *)string, strlen(string)};
}

static bool same(TampText a, TampText b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* A copy that ends where its block ends, so that a sanitizer sees one byte too many being read. */
static uint8_t *exact_copy(TampText text) {
  uint8_t *copy = malloc(text.length == 0 ? 1 : text.length);
  if (copy == NULL) abort();
  if (text.length != 0) memcpy(copy, text.bytes, text.length);
  return copy;
}

static TampStatus read_whole(TampText text, TampFault *fault, TampValue *value) {
  uint8_t *copy = exact_copy(text);
  TampCursor cursor = tamp_cursor(copy, 0, text.length, false);
  TampValue ignored;
  if (tamp_cursor_value(&cursor, value == NULL ? &ignored : value)) tamp_cursor_end(&cursor);
  if (fault != NULL) *fault = cursor.fault;
  free(copy);
  return cursor.status;
}

/* --- Scans: the vector twin against the scalar one against a loop */

static void scans(void) {
  TEST("vector and scalar scans agree at every alignment and length, and read nothing outside");
  static const uint8_t interesting[] = {'"', '\\', 0x1f, 0x20, 0x7f, 0x80, 0xbf, 0xc0, 0xff, '\n',
                                        '[', ']',  '{',  '}',  0x01, 0x00, 'a',  ';',  '<',  0x08};
  for (size_t length = 0; length <= 70; length++) {
    for (int round = 0; round < 40; round++) {
      uint8_t *bytes = malloc(length + 16);
      if (bytes == NULL) abort();
      for (size_t shift = 0; shift < 16; shift++) {
        uint8_t *at = bytes + shift;
        uint8_t *tight = NULL;
        for (size_t i = 0; i < length; i++) {
          at[i] = random_below(12) == 0 ? interesting[random_below(sizeof interesting)]
                                        : (uint8_t)(0x30 + random_below(40));
          if (round == 39) at[i] = (uint8_t)random_below(256);
        }
        tight = exact_copy((TampText){at, length});
        const uint8_t *end = tight + length;
        bool high = false, scalar_high = false, plain_high = false;
        const uint8_t *plain = tight;
        while (plain < end && !tamp_ends_run(*plain)) plain_high = *plain++ >= 0x80 || plain_high;
        CHECK(tamp_scan_string(tight, end, &high) == plain && high == plain_high);
        CHECK(tamp_scalar_string(tight, end, &scalar_high) == plain && scalar_high == plain_high);
        for (plain = tight; plain < end && *plain < 0x80;) plain++;
        CHECK(tamp_scan_ascii(tight, end) == plain && tamp_scalar_ascii(tight, end) == plain);
        for (plain = tight; plain < end && memchr("\"\x01[]{}", *plain, 6) == NULL;) plain++;
        CHECK(tamp_scan_token(tight, end) == plain && tamp_scalar_token(tight, end) == plain);
        for (plain = tight; plain < end && *plain != '\n';) plain++;
        CHECK(tamp_scan_byte(tight, end, '\n') == plain);
        CHECK(tamp_scalar_byte(tight, end, '\n') == plain);
        size_t growth = 0, characters = 0;
        for (plain = tight; plain < end; plain++) {
          growth += tamp_escape_growth(*plain);
          characters += (*plain & 0xc0) != 0x80;
        }
        CHECK(tamp_scan_growth(tight, end) == growth);
        CHECK(tamp_scalar_growth(tight, end) == growth);
        CHECK(tamp_scan_characters(tight, end) == characters);
        CHECK(tamp_scalar_characters(tight, end) == characters);
        /* And not from a fresh block but at the alignment itself. */
        const uint8_t *found = tamp_scan_string(at, at + length, &high);
        CHECK(found - at == tamp_scalar_string(at, at + length, &high) - at);
        free(tight);
      }
      free(bytes);
    }
  }
}

/* --- UTF-8 */

/* By decoding instead of by table: is the sequence of exactly `length` bytes one well-formed
 * character? */
static bool is_character(const uint8_t *at, size_t length) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t code = at[0];
  if (length == 1) return code < 0x80;
  if (length == 2 && (code & 0xe0) != 0xc0) return false;
  if (length == 3 && (code & 0xf0) != 0xe0) return false;
  if (length == 4 && (code & 0xf8) != 0xf0) return false;
  code &= 0x7fu >> length;
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xc0) != 0x80) return false;
    code = code << 6 | (at[i] & 0x3fu);
  }
  return code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

static const uint8_t *plain_valid(const uint8_t *at, const uint8_t *end) {
  while (at < end) {
    size_t length = 1;
    while (length <= 4 && !((size_t)(end - at) >= length && is_character(at, length))) length++;
    if (length > 4) return at;
    at += length;
  }
  return end;
}

static void utf8(void) {
  TEST("exactly well-formed UTF-8 is valid, and the first malformed sequence is found");
  static const uint8_t edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                  0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                  0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff};
  enum { EDGES = sizeof edges };
  uint8_t bytes[150];
  bool agreed = true;
  for (uint32_t code = 0; code < EDGES * EDGES * EDGES * EDGES; code++) {
    bytes[0] = edges[code % EDGES];
    bytes[1] = edges[code / EDGES % EDGES];
    bytes[2] = edges[code / (EDGES * EDGES) % EDGES];
    bytes[3] = edges[code / (EDGES * EDGES * EDGES)];
    const uint8_t *plain = plain_valid(bytes, bytes + 4);
    agreed = agreed && tamp_utf8_valid(bytes, bytes + 4) == plain;
    /* The same in the middle of a vector. */
    static uint8_t padded[44];
    if (code == 0) memset(padded, 'x', sizeof padded);
    memcpy(padded + 20, bytes, 4);
    const uint8_t *shifted = tamp_utf8_valid(padded, padded + sizeof padded);
    agreed = agreed && shifted == plain_valid(padded, padded + sizeof padded);
  }
  CHECK(agreed);
  for (int round = 0; round < 30000; round++) {
    const size_t length = random_below(sizeof bytes + 1);
    for (size_t i = 0; i < length;) {
      uint8_t character[4];
      static const uint32_t below[] = {0x80, 0x80, 0x800, 0x3000, 0x10000, 0x110000};
      uint32_t code = random_below(below[random_below(1 + (uint32_t)round % 6)]);
      if (code >= 0xd800 && code < 0xe000) code = 'x';
      size_t count = tamp_utf8_encode(code, character);
      for (size_t k = 0; k < count && i < length; k++) bytes[i++] = character[k];
    }
    if (length > 0 && random_below(3) == 0) {
      bytes[random_below((uint32_t)length)] = edges[random_below(EDGES)];
    }
    uint8_t *tight = exact_copy((TampText){bytes, length});
    agreed = agreed && tamp_utf8_valid(tight, tight + length) == plain_valid(tight, tight + length);
    free(tight);
  }
  CHECK(agreed);

  TEST("every scalar value survives encoding and decoding");
  bool kept = true;
  for (uint32_t code = 0; code < 0x110000; code++) {
    if (code == 0xd800) code = 0xe000;
    uint8_t character[4];
    size_t length = 0;
    const size_t count = tamp_utf8_encode(code, character);
    kept =
        kept && tamp_utf8_decode(character, character + count, &length) == code && length == count;
  }
  CHECK(kept);

  TEST("malformed bytes decode to one U+FFFD for each longest prefix of a sequence");
  static const uint8_t broken[] = {0xf0, 0x9f, 0x98, 0xe4, 0xb8, 0x80, 0xed, 0xa0, 0xc3};
  static const size_t steps[] = {3, 1, 1, 1, 1, 1, 1};
  static const uint32_t codes[] = {TAMP_REPLACEMENT, 0x4e00};
  const uint8_t *at = broken;
  for (size_t i = 0; at < broken + sizeof broken; i++) {
    size_t length = 0;
    const uint32_t code = tamp_utf8_decode(at, broken + sizeof broken, &length);
    if (i < 2)
      CHECK(code == codes[i] && length == (i == 0 ? steps[0] : 3));
    else
      CHECK(code == TAMP_REPLACEMENT && length == 1);
    at += length;
  }
}

/* --- Grammar */

static void grammar(void) {
  TEST("JSON is read, and a fault names the first byte that cannot be there");
  static const struct {
    const char *text;
    long fault; /* -1 for JSON */
  } cases[] = {
      {"{}", -1},
      {" [ ] ", -1},
      {"[1,2 , 3]", -1},
      {"{\"a\":1,\"a\":[{}]}", -1},
      {"null", -1},
      {" true\n", -1},
      {"false", -1},
      {"-0.0e+10", -1},
      {"0", -1},
      {"10E-1", -1},
      {"\"\\u00e9\\ud800\\\"\\/\\b\\f\\n\\r\\t\\\\\"", -1},
      {"\"\x7f\"", -1},
      {"\"\xf0\x9f\x98\x80 \xe4\xb8\x80 \xc3\xa9\"", -1},
      {"", 0},
      {"  ", 2},
      {"[", 1},
      {"[1", 2},
      {"[1,", 3},
      {"[1,]", 3},
      {"[,1]", 1},
      {"[1 2]", 3},
      {"[1}", 2},
      {"{\"a\"}", 4},
      {"{\"a\":}", 5},
      {"{\"a\":1,}", 7},
      {"{a:1}", 1},
      {"{\"a\":1]", 6},
      {"{1:1}", 1},
      {"01", 1},
      {"-", 1},
      {"-a", 1},
      {"1.", 2},
      {"1.e1", 2},
      {"1e", 2},
      {"1e+", 3},
      {"+1", 0},
      {".5", 0},
      {"tru", 3},
      {"trux", 3},
      {"nulll", 4},
      {"NaN", 0},
      {"'a'", 0},
      {"\"a", 2},
      {"\"\\", 2},
      {"\"\\x\"", 2},
      {"\"\\u12g4\"", 5},
      {"\"\\u12", 5},
      {"\"a\nb\"", 2},
      {"\"\x1f\"", 1},
      {"\"\xc0\x80\"", 1},
      {"\"\xe0\x80\x80\"", 2},
      {"\"\xed\xa0\x80\"", 2},
      {"\"\xf4\x90\x80\x80\"", 2},
      {"\"\xf5\"", 1},
      {"\"\xe4\xb8\"", 3},
      {"\"ab\x80\"", 3},
      {"\"\xff\\x\"", 1},
      {"\"\xc3\xa9\\x\"", 4},
      {"\xef\xbb\xbf{}", 0},
      {"[1]x", 3},
      {"{} {}", 3},
      {"\x01\x00\x00\x00\x00", 0},
      {"[1]//", 3},
      {"[1\f]", 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TampFault fault = {0};
    const TampStatus status = read_whole(text_of(cases[i].text), &fault, NULL);
    bool right = cases[i].fault < 0
                     ? status == TAMP_OK
                     : status == TAMP_BAD_JSON && fault.offset == (size_t)cases[i].fault &&
                           fault.reason != NULL && fault.reason[0] != '\0';
    if (!CHECK(right)) {
      fprintf(stderr, "  text %s: status %d offset %zu %s\n", cases[i].text, (int)status,
              fault.offset, fault.reason == NULL ? "" : fault.reason);
    }
  }
  TampCursor cursor = tamp_cursor(NULL, 0, 0, false);
  TampValue value;
  CHECK(!tamp_cursor_value(&cursor, &value) && cursor.fault.offset == 0);
  TampFault fault = {0};
  CHECK(read_whole((TampText){(const uint8_t *)"[\0]", 3}, &fault, NULL) == TAMP_BAD_JSON);
  CHECK(fault.offset == 1);
  CHECK(read_whole((TampText){(const uint8_t *)"\"\0\"", 3}, &fault, NULL) == TAMP_BAD_JSON);
  CHECK(fault.offset == 1);
}

/* A reader with nothing in common with the cursor but the grammar. NULL: not JSON. */
static const uint8_t *plain_value(const uint8_t *at, const uint8_t *end);

static const uint8_t *plain_white(const uint8_t *at, const uint8_t *end) {
  while (at < end && memchr(" \t\r\n", *at, 4) != NULL) at++;
  return at;
}

static const uint8_t *plain_string(const uint8_t *at, const uint8_t *end) {
  if (at == end || *at++ != '"') return NULL;
  const uint8_t *first = at;
  for (; at < end && *at != '"'; at++) {
    if (*at < 0x20) return NULL;
    if (*at != '\\') continue;
    if (++at == end || strchr("\"\\/bfnrtu", *at) == NULL || *at == 0) return NULL;
    if (*at != 'u') continue;
    for (int i = 0; i < 4; i++) {
      if (++at == end || *at == 0 || strchr("0123456789abcdefABCDEF", *at) == NULL) return NULL;
    }
  }
  return at == end || plain_valid(first, at) != at ? NULL : at + 1;
}

static const uint8_t *plain_digits(const uint8_t *at, const uint8_t *end) {
  const uint8_t *first = at;
  while (at < end && *at >= '0' && *at <= '9') at++;
  return at == first ? NULL : at;
}

static const uint8_t *plain_number(const uint8_t *at, const uint8_t *end) {
  if (at < end && *at == '-') at++;
  const uint8_t *first = at;
  at = plain_digits(at, end);
  if (at == NULL || (*first == '0' && at - first > 1)) return NULL;
  if (at < end && *at == '.') at = plain_digits(at + 1, end);
  if (at == NULL) return NULL;
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    at = plain_digits(at, end);
  }
  return at;
}

static const uint8_t *plain_list(const uint8_t *at, const uint8_t *end, bool object) {
  const uint8_t close = object ? '}' : ']';
  at = plain_white(at + 1, end);
  if (at < end && *at == close) return at + 1;
  for (;;) {
    if (object) {
      at = plain_string(plain_white(at, end), end);
      if (at == NULL) return NULL;
      at = plain_white(at, end);
      if (at == end || *at++ != ':') return NULL;
    }
    at = plain_value(at, end);
    if (at == NULL) return NULL;
    at = plain_white(at, end);
    if (at == end) return NULL;
    if (*at == close) return at + 1;
    if (*at++ != ',') return NULL;
  }
}

static const uint8_t *plain_value(const uint8_t *at, const uint8_t *end) {
  static const char *words[] = {"true", "false", "null"};
  at = plain_white(at, end);
  if (at == end) return NULL;
  if (*at == '{' || *at == '[') return plain_list(at, end, *at == '{');
  if (*at == '"') return plain_string(at, end);
  for (int i = 0; i < 3; i++) {
    const size_t length = strlen(words[i]);
    if ((size_t)(end - at) >= length && memcmp(at, words[i], length) == 0) return at + length;
  }
  return plain_number(at, end);
}

static bool plain_is_json(TampText text) {
  const uint8_t *end = text.bytes + text.length;
  const uint8_t *at = plain_value(text.bytes, end);
  return at != NULL && plain_white(at, end) == end;
}

static size_t random_json(uint8_t *out, size_t room, int depth) {
  static const char *scalars[] = {
      "null",
      "true",
      "false",
      "0",
      "-1.5e3",
      "12345678901234567890",
      "\"\"",
      "\"a\"",
      "\" \\\" \\u00e9 \\ud83d\\ude00 \"",
      "\"\xc3\xa9\xe4\xb8\x80\xf0\x9f\x98\x80 plain text of some length\"",
      "\"0123456789abcdef0123456789abcdef\\n\""};
  if (room < 120) {
    out[0] = (uint8_t)'1';
    return 1;
  }
  const uint32_t kind = random_below(depth > 4 ? 1 : 3);
  size_t length = 0;
  if (kind == 0) {
    const char *scalar = scalars[random_below(sizeof scalars / sizeof scalars[0])];
    length = strlen(scalar);
    memcpy(out, scalar, length);
    return length;
  }
  out[length++] = kind == 1 ? '[' : '{';
  const uint32_t count = random_below(4);
  for (uint32_t i = 0; i < count && room - length > 130; i++) {
    if (i > 0) out[length++] = ',';
    if (random_below(3) == 0) out[length++] = (uint8_t) " \n\t\r"[random_below(4)];
    if (kind == 2) {
      memcpy(out + length, "\"k\" :", 5);
      length += 5;
    }
    length += random_json(out + length, room - length - 10, depth + 1);
    if (random_below(4) == 0) out[length++] = ' ';
  }
  out[length++] = kind == 1 ? ']' : '}';
  return length;
}

static void mutations(void) {
  TEST("the cursor agrees with a plain recursive reader on random and damaged texts");
  static const char charset[] = "{}[],:\"\\ \n01-+.eEtfnu\x01\x1f\x80\xc3\xff";
  static uint8_t bytes[1200];
  long accepted = 0, refused = 0;
  for (int round = 0; round < 60000; round++) {
    TampText text = {bytes, random_json(bytes, 1000, 0)};
    const uint32_t edits = random_below(3);
    for (uint32_t i = 0; i < edits && text.length > 1; i++) {
      const uint32_t at = random_below((uint32_t)text.length);
      if (random_below(2) == 0) {
        memmove(bytes + at, bytes + at + 1, text.length - at - 1);
        text.length--;
      } else {
        bytes[at] = (uint8_t)charset[random_below(sizeof charset - 1)];
      }
    }
    if (random_below(8) == 0) text.length = random_below((uint32_t)text.length + 1);
    TampFault fault = {0};
    const bool read = read_whole(text, &fault, NULL) == TAMP_OK;
    if (!CHECK(read == plain_is_json(text))) return;
    if (read) {
      accepted++;
      continue;
    }
    refused++;
    /* The fault is where it is because of what stands before it and there, not after it. */
    TampFault cut = {0};
    if (!CHECK(fault.offset <= text.length)) return;
    const TampStatus before = read_whole((TampText){bytes, fault.offset}, &cut, NULL);
    CHECK(before == TAMP_OK || cut.offset == fault.offset);
    if (fault.offset < text.length) {
      CHECK(read_whole((TampText){bytes, fault.offset + 1}, &cut, NULL) == TAMP_BAD_JSON);
      CHECK(cut.offset == fault.offset);
    }
  }
  CHECK(accepted > 1000 && refused > 1000);
}

static void depth(void) {
  TEST("1,000 levels are read and the 1,001st bracket is too deep, however deep it goes on");
  enum { LEVELS = 1000000 };
  uint8_t *bytes = malloc(2 * LEVELS);
  if (bytes == NULL) abort();
  for (int object = 0; object < 2; object++) {
    size_t length = 0;
    for (int i = 0; i < 1000; i++) {
      if (object && i < 999) {
        memcpy(bytes + length, "{\"\":", 4);
        length += 4;
      } else {
        bytes[length++] = '[';
      }
    }
    const size_t deepest = length;
    bytes[length++] = ']';
    for (int i = 0; i < 999; i++) bytes[length++] = object ? '}' : ']';
    TampFault fault;
    CHECK(read_whole((TampText){bytes, length}, &fault, NULL) == TAMP_OK);
    memmove(bytes + deepest + 2, bytes + deepest, length - deepest);
    memcpy(bytes + deepest, "[]", 2);
    CHECK(read_whole((TampText){bytes, length + 2}, &fault, NULL) == TAMP_TOO_DEEP);
    CHECK(fault.offset == deepest);
  }
  memset(bytes, '[', LEVELS);
  memset(bytes + LEVELS, ']', LEVELS);
  TampFault fault;
  CHECK(read_whole((TampText){bytes, 2 * LEVELS}, &fault, NULL) == TAMP_TOO_DEEP);
  CHECK(fault.offset == 1000);

  TEST("levels that were entered count");
  TampCursor cursor = tamp_cursor(bytes, 0, LEVELS, false);
  uint32_t entered = 0;
  while (tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY)) entered++;
  CHECK(entered == 1000 && cursor.status == TAMP_TOO_DEEP && cursor.fault.offset == 1000);
  cursor = tamp_cursor(bytes, 0, LEVELS, false);
  for (int i = 0; i < 400; i++) tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY);
  TampValue value;
  CHECK(!tamp_cursor_value(&cursor, &value) && cursor.fault.offset == 1000);
  free(bytes);

#if SIZE_MAX > UINT32_MAX
  TEST("a text over 32 bits is too large, and not read");
  cursor = tamp_cursor((const uint8_t *)"1", 0, (size_t)UINT32_MAX + 1, false);
  CHECK(cursor.status == TAMP_TOO_LARGE && !tamp_cursor_value(&cursor, &value));
#endif
}

/* --- Walking */

static bool value_text_is(const uint8_t *text, TampValue value, const char *spelling) {
  return same((TampText){text + value.at, value.length}, text_of(spelling));
}

static void walking(void) {
  TEST("elements and members are walked in order, nested ones too");
  const TampText text =
      TAMP_TEXT(" [ 1 , {\"a\" : [] , \"b\\n\":{\"c\":null}}, \"x\\u0041\" , [ ] ] ");
  TampCursor cursor = tamp_cursor(text.bytes, 0, text.length, false);
  TampValue value, name;
  CHECK(cursor.at == 1);
  CHECK(tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY));
  CHECK(tamp_cursor_next(&cursor) && tamp_cursor_value(&cursor, &value));
  CHECK(value.type == TAMP_JSON_NUMBER && value_text_is(text.bytes, value, "1"));
  CHECK(tamp_cursor_next(&cursor) && text.bytes[cursor.at] == '{');
  CHECK(tamp_cursor_enter(&cursor, TAMP_JSON_OBJECT) && cursor.depth == 2);
  CHECK(tamp_cursor_member(&cursor, &name) && tamp_value_is(text.bytes, name, TAMP_TEXT("a")));
  CHECK(tamp_cursor_value(&cursor, &value) && value.type == TAMP_JSON_ARRAY && value.length == 2);
  CHECK(tamp_cursor_member(&cursor, &name) && tamp_value_is(text.bytes, name, TAMP_TEXT("b\n")));
  CHECK(name.flags == TAMP_VALUE_ESCAPED && !tamp_value_is(text.bytes, name, TAMP_TEXT("b")));
  CHECK(tamp_cursor_value(&cursor, &value) && value_text_is(text.bytes, value, "{\"c\":null}"));
  CHECK(!tamp_cursor_member(&cursor, &name) && cursor.status == TAMP_OK && cursor.depth == 1);
  CHECK(tamp_cursor_next(&cursor) && tamp_cursor_value(&cursor, &value));
  CHECK(value.flags == TAMP_VALUE_ESCAPED && tamp_value_is(text.bytes, value, TAMP_TEXT("xA")));
  CHECK(tamp_cursor_next(&cursor) && tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY));
  CHECK(!tamp_cursor_next(&cursor) && cursor.depth == 1);
  CHECK(!tamp_cursor_next(&cursor) && cursor.depth == 0 && cursor.status == TAMP_OK);
  CHECK(tamp_cursor_end(&cursor));

  TEST("a failure sticks");
  cursor = tamp_cursor(text.bytes, 0, 12, false);
  CHECK(tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY) && tamp_cursor_next(&cursor));
  CHECK(!tamp_cursor_enter(&cursor, TAMP_JSON_OBJECT) && cursor.fault.offset == 3);
  CHECK(!tamp_cursor_value(&cursor, &value) && !tamp_cursor_next(&cursor));
  CHECK(!tamp_cursor_member(&cursor, &name) && !tamp_cursor_end(&cursor));
  CHECK(cursor.fault.offset == 3 && cursor.status == TAMP_BAD_JSON);

  TEST("walking refuses what reading whole values refuses");
  static const char *broken[] = {"[1 2]", "[1,]", "[,1]", "[1", "[", "[1,", "[1}"};
  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
    TampText bad = text_of(broken[i]);
    TampFault fault;
    CHECK(read_whole(bad, &fault, NULL) == TAMP_BAD_JSON);
    cursor = tamp_cursor(bad.bytes, 0, bad.length, false);
    CHECK(tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY));
    while (tamp_cursor_next(&cursor)) tamp_cursor_value(&cursor, &value);
    CHECK(cursor.status == TAMP_BAD_JSON && cursor.fault.offset == fault.offset);
  }
  static const char *broken_objects[] = {
      "{\"a\":1 \"b\":2}", "{\"a\":1,}", "{,}",     "{\"a\":1",  "{",
      "{\"a\" 1}",         "{\"a\"",     "{\"a\":", "{\"a\":1,", "{\"a\":1]"};
  for (size_t i = 0; i < sizeof broken_objects / sizeof broken_objects[0]; i++) {
    TampText bad = text_of(broken_objects[i]);
    TampFault fault;
    CHECK(read_whole(bad, &fault, NULL) == TAMP_BAD_JSON);
    cursor = tamp_cursor(bad.bytes, 0, bad.length, false);
    CHECK(tamp_cursor_enter(&cursor, TAMP_JSON_OBJECT));
    while (tamp_cursor_member(&cursor, &name)) tamp_cursor_value(&cursor, &value);
    CHECK(cursor.status == TAMP_BAD_JSON && cursor.fault.offset == fault.offset);
  }
}

static void members(void) {
  TEST("named members are found whatever their order and escapes, and of equal names the last "
       "counts");
  const TampText text =
      TAMP_TEXT("[{\"role\":\"user\",\"x\":{\"id\":1},\"\\u0069d\":\"a\",\"id\":[2,3],"
                "\"content\":\"old\",\"cont\\u0065nt\":\"new\",\"\":0}, 7]");
  const TampText names[] = {TAMP_TEXT("role"), TAMP_TEXT("id"), TAMP_TEXT("content"),
                            TAMP_TEXT("absent"), TAMP_TEXT("")};
  TampCursor cursor = tamp_cursor(text.bytes, 0, text.length, false);
  TampValue found[5], again[5], whole = {0};
  CHECK(tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY) && tamp_cursor_next(&cursor));
  CHECK(tamp_cursor_members(&cursor, names, 5, found, &whole));
  CHECK(tamp_value_is(text.bytes, found[0], TAMP_TEXT("user")));
  CHECK(value_text_is(text.bytes, found[1], "[2,3]"));
  CHECK(tamp_value_is(text.bytes, found[2], TAMP_TEXT("new")));
  CHECK(found[3].type == TAMP_JSON_NOTHING && found[3].length == 0);
  CHECK(value_text_is(text.bytes, found[4], "0"));
  CHECK(whole.type == TAMP_JSON_OBJECT && text.bytes[whole.at] == '{' &&
        text.bytes[whole.at + whole.length - 1] == '}');
  tamp_value_members(text.bytes, whole, names, 5, again);
  CHECK(memcmp(found, again, sizeof found) == 0);

  TEST("what is not an object has no members and is read over");
  CHECK(tamp_cursor_next(&cursor) && tamp_cursor_members(&cursor, names, 5, found, &whole));
  CHECK(whole.type == TAMP_JSON_NUMBER && found[0].type == TAMP_JSON_NOTHING);
  CHECK(!tamp_cursor_next(&cursor) && tamp_cursor_end(&cursor));
  tamp_value_members(text.bytes, whole, names, 5, again);
  CHECK(again[1].type == TAMP_JSON_NOTHING);

  TEST("an object that is broken fails");
  const TampText bad = TAMP_TEXT("{\"role\":1,\"id\":tru}");
  cursor = tamp_cursor(bad.bytes, 0, bad.length, false);
  CHECK(!tamp_cursor_members(&cursor, names, 5, found, NULL));
  CHECK(cursor.status == TAMP_BAD_JSON && cursor.fault.offset == 18);

  TEST("elements of a checked array are stepped through");
  const TampText list =
      TAMP_TEXT("{\"a\": [ \"]\\\"[\" ,{\"]\":\"}\"} ,[[],[]], -1.5e3 ,null,true ] }");
  cursor = tamp_cursor(list.bytes, 0, list.length, false);
  const TampText a = TAMP_TEXT("a");
  CHECK(tamp_cursor_members(&cursor, &a, 1, found, NULL) && tamp_cursor_end(&cursor));
  static const char *elements[] = {"\"]\\\"[\"", "{\"]\":\"}\"}", "[[],[]]",
                                   "-1.5e3",     "null",          "true"};
  static const uint8_t types[] = {TAMP_JSON_STRING, TAMP_JSON_OBJECT, TAMP_JSON_ARRAY,
                                  TAMP_JSON_NUMBER, TAMP_JSON_NULL,   TAMP_JSON_TRUE};
  uint32_t state = 0;
  TampValue element;
  for (int i = 0; i < 6; i++) {
    CHECK(tamp_value_next(list.bytes, found[0], &state, &element));
    CHECK(element.type == types[i] && value_text_is(list.bytes, element, elements[i]));
  }
  CHECK(!tamp_value_next(list.bytes, found[0], &state, &element));
  state = 0;
  const TampText empty = TAMP_TEXT("[ ]");
  CHECK(!tamp_value_next(empty.bytes, (TampValue){.length = 3, .type = TAMP_JSON_ARRAY},
                         &state, &element));
  CHECK(!tamp_value_next(list.bytes, (TampValue){0}, &state, &element));

  TEST("a cursor on the inside of a value counts from the whole text");
  cursor = tamp_cursor_on(list.bytes, found[0], false);
  CHECK(tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY) && tamp_cursor_next(&cursor));
  CHECK(tamp_cursor_value(&cursor, &element) && value_text_is(list.bytes, element, elements[0]));
  CHECK(cursor.length == (size_t)found[0].at + found[0].length);
}

/* --- Values */

static void values(void) {
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  TEST("strings are decoded, and a lone surrogate becomes U+FFFD");
  static const struct {
    const char *json;
    const char *text;
  } cases[] = {
      {"\"\"", ""},
      {"\"plain\"", "plain"},
      {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
      {"\"\\u0041\\u00e9\\u4E00\\uD83D\\uDE00!\"", "A\xc3\xa9\xe4\xb8\x80\xf0\x9f\x98\x80!"},
      {"\"\\ud83dx\"", "\xef\xbf\xbdx"},
      {"\"\\ud83d\\n\"", "\xef\xbf\xbd\n"},
      {"\"\\ud83d\"", "\xef\xbf\xbd"},
      {"\"\\ude00\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
      {"\"\\udbff\\udfff\\ud800\\udc00\"", "\xf4\x8f\xbf\xbf\xf0\x90\x80\x80"},
      {"\"\xc3\xa9\\\\u0041\"", "\xc3\xa9\\u0041"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TampText json = text_of(cases[i].json), text;
    TampCursor cursor = tamp_cursor(json.bytes, 0, json.length, false);
    TampValue value;
    CHECK(tamp_cursor_value(&cursor, &value) && tamp_cursor_end(&cursor));
    CHECK(tamp_value_text(json.bytes, value, &arena, &text) == TAMP_OK);
    CHECK(same(text, text_of(cases[i].text)));
    CHECK(tamp_value_is(json.bytes, value, text_of(cases[i].text)));
    CHECK(!tamp_value_is(json.bytes, value, TAMP_TEXT("\xef\xbf\xbdy")));
    CHECK(!tamp_value_is(json.bytes, value, TAMP_TEXT("plain and more")));
    CHECK((text.bytes >= json.bytes && text.bytes <= json.bytes + json.length) ==
          ((value.flags & TAMP_VALUE_ESCAPED) == 0));
    CHECK(tamp_value_json_length(json.bytes, value) == json.length);
  }
  const TampText nul = TAMP_TEXT("\"a\\u0000b\"");
  TampText text;
  const TampValue nul_value = {
      .length = (uint32_t)nul.length, .type = TAMP_JSON_STRING, .flags = TAMP_VALUE_ESCAPED};
  CHECK(tamp_value_text(nul.bytes, nul_value, &arena, &text) == TAMP_OK);
  CHECK(same(text, (TampText){(const uint8_t *)"a\0b", 3}));
  CHECK(tamp_value_text(nul.bytes, (TampValue){0}, &arena, &text) == TAMP_OK && text.length == 0);
  CHECK(!tamp_value_is(nul.bytes, (TampValue){0}, TAMP_TEXT("")));

  TEST("an integer is a non-negative number below 2^53 without fraction or exponent");
  static const struct {
    const char *json;
    bool is;
    uint64_t number;
  } numbers[] = {{"0", true, 0},
                 {"42", true, 42},
                 {"9007199254740991", true, UINT64_C(9007199254740991)},
                 {"9007199254740992", false, 0},
                 {"99999999999999999999", false, 0},
                 {"-1", false, 0},
                 {"-0", false, 0},
                 {"1.0", false, 0},
                 {"1e3", false, 0}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    TampText json = text_of(numbers[i].json);
    const TampValue value = {.length = (uint32_t)json.length, .type = TAMP_JSON_NUMBER};
    uint64_t number = 0;
    CHECK(tamp_value_integer(json.bytes, value, &number) == numbers[i].is);
    CHECK(!numbers[i].is || number == numbers[i].number);
  }
  uint64_t number;
  CHECK(!tamp_value_integer((const uint8_t *)"\"1\"", (TampValue){.length = 3, .type = TAMP_JSON_STRING},
                            &number));
  tamp_arena_free(&arena);
}

static size_t put_raw(uint8_t *out, TampText text) {
  out[0] = TAMP_RAW_STRING;
  for (int i = 0; i < 4; i++) out[1 + i] = (uint8_t)(text.length >> (8 * i));
  memcpy(out + TAMP_RAW_HEADER, text.bytes, text.length);
  return TAMP_RAW_HEADER + text.length;
}

static size_t put(uint8_t *out, const char *text) {
  memcpy(out, text, strlen(text));
  return strlen(text);
}

static void raw_strings(void) {
  TEST("a raw string is a string, its bytes mean nothing, and it is measured and spelled as JSON");
  const TampText tricky =
      TAMP_TEXT("a\"b\\c\b\f\n\r\t\x01\x1f]}\xc3\xa9 and enough to fill lanes \x7f\"\n\x02");
  const char *spelled = "a\\\"b\\\\c\\b\\f\\n\\r\\t\\u0001\\u001f]}\xc3\xa9 and enough to fill "
                        "lanes \x7f\\\"\\n\\u0002";
  uint8_t bytes[400], expected[400];
  size_t length = 0, expected_length = 0;
  length += put(bytes + length, "{\"role\":");
  length += put_raw(bytes + length, TAMP_TEXT("user"));
  length += put(bytes + length, ",");
  length += put_raw(bytes + length, TAMP_TEXT("con\"t"));
  length += put(bytes + length, ":[");
  length += put_raw(bytes + length, tricky);
  length += put(bytes + length, ",\"x\\u0001[\",{\"k\":");
  length += put_raw(bytes + length, TAMP_TEXT(""));
  length += put(bytes + length, "}]}");
  expected_length += put(expected, "{\"role\":\"user\",\"con\\\"t\":[\"");
  expected_length += put(expected + expected_length, spelled);
  expected_length += put(expected + expected_length, "\",\"x\\u0001[\",{\"k\":\"\"}]}");

  uint8_t *copy = exact_copy((TampText){bytes, length});
  TampCursor cursor = tamp_cursor(copy, 0, length, true);
  const TampText names[] = {TAMP_TEXT("role"), TAMP_TEXT("con\"t")};
  TampValue found[2], whole, element;
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  CHECK(tamp_cursor_members(&cursor, names, 2, found, &whole) && tamp_cursor_end(&cursor));
  CHECK(found[0].type == TAMP_JSON_STRING && (found[0].flags & TAMP_VALUE_RAW) != 0);
  CHECK(tamp_value_is(copy, found[0], TAMP_TEXT("user")));
  uint32_t state = 0;
  TampText text;
  CHECK(tamp_value_next(copy, found[1], &state, &element));
  CHECK(tamp_value_text(copy, element, &arena, &text) == TAMP_OK && same(text, tricky));
  CHECK(tamp_value_json_length(copy, element) == strlen(spelled) + 2);
  CHECK(tamp_value_next(copy, found[1], &state, &element) && element.flags == TAMP_VALUE_ESCAPED);
  CHECK(tamp_value_next(copy, found[1], &state, &element) && element.type == TAMP_JSON_OBJECT);
  CHECK(!tamp_value_next(copy, found[1], &state, &element));
  CHECK(tamp_value_json_length(copy, whole) == expected_length);
  TampWriter writer = tamp_writer(&arena);
  tamp_writer_value(&writer, copy, whole);
  CHECK(tamp_writer_finish(&writer, &text) == TAMP_OK);
  CHECK(same(text, (TampText){expected, expected_length}));

  TEST("a raw string is refused where it is not allowed and where it is longer than the text");
  cursor = tamp_cursor(copy, 0, length, false);
  CHECK(!tamp_cursor_value(&cursor, &whole) && cursor.fault.offset == 8);
  free(copy);
  for (uint32_t claimed = 0; claimed < 70000; claimed = claimed * 3 + 1) {
    for (size_t given = 0; given < 12; given++) {
      uint8_t raw[20] = {TAMP_RAW_STRING, (uint8_t)claimed, (uint8_t)(claimed >> 8),
                         (uint8_t)(claimed >> 16)};
      copy = exact_copy((TampText){raw, given});
      cursor = tamp_cursor(copy, 0, given, true);
      CHECK(tamp_cursor_value(&cursor, &whole) ==
            (given >= TAMP_RAW_HEADER && claimed <= given - TAMP_RAW_HEADER));
      free(copy);
    }
  }
  uint8_t most[] = {TAMP_RAW_STRING, 0xff, 0xff, 0xff, 0xff, 'x'};
  cursor = tamp_cursor(most, 0, sizeof most, true);
  CHECK(!tamp_cursor_value(&cursor, &whole) && cursor.status == TAMP_BAD_JSON);
  tamp_arena_free(&arena);
}

/* --- Writing */

static void writing(void) {
  TEST("text is written as JSON.stringify writes it, and malformed bytes as U+FFFD");
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  TampWriter writer = tamp_writer(&arena);
  tamp_writer_raw(&writer, TAMP_TEXT("{"));
  tamp_writer_string(&writer, TAMP_TEXT("a\"\\/\x07\b\t\x7f\xe2\x80\xa8\xc3\xa9"));
  tamp_writer_raw(&writer, TAMP_TEXT(":"));
  tamp_writer_integer(&writer, 0);
  tamp_writer_raw(&writer, TAMP_TEXT(","));
  tamp_writer_string(&writer, TAMP_TEXT("x\xff\xe4\xb8y\xf0\x9f\x98\x80\xed\xa0\x80\xc3"));
  tamp_writer_raw(&writer, TAMP_TEXT(":"));
  tamp_writer_integer(&writer, UINT64_MAX);
  tamp_writer_raw(&writer, TAMP_TEXT(",\""));
  tamp_writer_escaped(&writer, TAMP_TEXT("\n"));
  tamp_writer_escaped(&writer, (TampText){NULL, 0});
  tamp_writer_raw(&writer, TAMP_TEXT("\":0}"));
  TampText text;
  CHECK(tamp_writer_finish(&writer, &text) == TAMP_OK);
  CHECK(same(text,
             TAMP_TEXT("{\"a\\\"\\\\/\\u0007\\b\\t\x7f\xe2\x80\xa8\xc3\xa9\":0,"
                       "\"x\xef\xbf\xbd\xef\xbf\xbdy\xf0\x9f\x98\x80"
                       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\":18446744073709551615,"
                       "\"\\n\":0}")));
  CHECK(read_whole(text, NULL, NULL) == TAMP_OK);

  TEST("any bytes written as a string are read back as what a decoder of UTF-8 makes of them");
  for (int round = 0; round < 3000; round++) {
    uint8_t bytes[60], decoded[180];
    const uint32_t length = random_below(sizeof bytes + 1);
    for (uint32_t i = 0; i < length; i++) {
      bytes[i] = (uint8_t)(random_below(3) == 0 ? random_below(256) : 'a' + random_below(26));
    }
    size_t decoded_length = 0;
    for (const uint8_t *at = bytes; at < bytes + length;) {
      size_t count = 0;
      decoded_length +=
          tamp_utf8_encode(tamp_utf8_decode(at, bytes + length, &count), decoded + decoded_length);
      at += count;
    }
    writer = tamp_writer(&arena);
    uint8_t *copy = exact_copy((TampText){bytes, length});
    tamp_writer_string(&writer, (TampText){copy, length});
    free(copy);
    TampValue value = {0};
    CHECK(tamp_writer_finish(&writer, &text) == TAMP_OK);
    CHECK(read_whole(text, NULL, &value) == TAMP_OK && value.type == TAMP_JSON_STRING);
    CHECK(tamp_value_is(text.bytes, value, (TampText){decoded, decoded_length}));
    tamp_arena_drop(&arena, writer.bytes);
  }

  TEST("a span is copied byte for byte");
  const TampText source = TAMP_TEXT("[1.0,\"\\u00E9\",\"\\ud800\", 2512292042121000001]");
  writer = tamp_writer(&arena);
  tamp_writer_span(&writer, source.bytes, 1, (uint32_t)source.length - 1, false);
  CHECK(tamp_writer_finish(&writer, &text) == TAMP_OK);
  CHECK(same(text, (TampText){source.bytes + 1, source.length - 2}));
  writer = tamp_writer(&arena);
  tamp_writer_span(&writer, source.bytes, 3, 3, true);
  CHECK(tamp_writer_finish(&writer, &text) == TAMP_OK && text.length == 0);
  tamp_arena_free(&arena);
}

static void failures(void) {
  TEST("a failed allocation is reported once at the end, and nothing is left behind");
  for (long fail_at = 1; fail_at < 20; fail_at++) {
    TestHeap heap = {.fail_at = fail_at};
    TampArena arena;
    tamp_arena_init(&arena, test_heap_allocator(&heap));
    TampWriter writer = tamp_writer(&arena);
    for (int i = 0; i < 200; i++) tamp_writer_string(&writer, TAMP_TEXT("some text\n"));
    TampText text;
    const TampStatus written = tamp_writer_finish(&writer, &text);
    CHECK(written == TAMP_OK ? text.length == 200 * 13
                             : written == TAMP_NO_MEMORY && text.length == 0);
    const TampText json = TAMP_TEXT("\"\\n\"");
    const TampValue value = {
        .length = 4, .type = TAMP_JSON_STRING, .flags = TAMP_VALUE_ESCAPED};
    const TampStatus decoded = tamp_value_text(json.bytes, value, &arena, &text);
    CHECK(decoded == TAMP_OK || (decoded == TAMP_NO_MEMORY && text.length == 0));
    CHECK((written == TAMP_OK && decoded == TAMP_OK) == (heap.calls < fail_at));
    tamp_arena_free(&arena);
    CHECK(heap.live == 0);
  }
}

int main(void) {
  scans();
  utf8();
  grammar();
  mutations();
  depth();
  walking();
  members();
  values();
  raw_strings();
  writing();
  failures();
  return test_end();
}
