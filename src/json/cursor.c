/* The reader of cursor.h. A fault's offset is that of the first byte that cannot stand where it
 * does: the text up to it is the beginning of some JSON text, one byte more is not. */
#include "cursor.h"

#include "pass.h"
#include "utf8.h"

static inline bool is_white(uint8_t byte) {
  if (byte > ' ') return false;
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static const uint8_t *skip_white(const uint8_t *at, const uint8_t *end) {
  while (at < end && is_white(*at)) at++;
  return at;
}

static bool is_digit(uint8_t byte) {
  return byte >= '0' && byte <= '9';
}

static bool is_hex(uint8_t byte) {
  return is_digit(byte) || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

static const uint8_t *position(const TampCursor *cursor) {
  return cursor->text + cursor->at;
}

static const uint8_t *limit(const TampCursor *cursor) {
  return cursor->text + cursor->length;
}

/* Notes the failure. Returns NULL: the position of whoever reads on. */
static const uint8_t *fail(TampCursor *cursor, TampStatus status, const uint8_t *at,
                           const char *reason) {
  cursor->status = status;
  cursor->at = (size_t)(at - cursor->text);
  cursor->fault = (TampFault){cursor->at, reason};
  return NULL;
}

static const uint8_t *fail_json(TampCursor *cursor, const uint8_t *at, const char *reason) {
  return fail(cursor, TAMP_BAD_JSON, at, reason);
}

/* --- Tokens: each takes the position of the first byte and gives that behind the token, or NULL */

static const char unterminated[] = "the string does not end";

/* `at` is at the backslash. */
static const uint8_t *check_escape(TampCursor *cursor, const uint8_t *at) {
  const uint8_t *const end = limit(cursor);
  at++;
  if (at == end) return fail_json(cursor, at, unterminated);
  switch (*at) {
  case '"':
  case '\\':
  case '/':
  case 'b':
  case 'f':
  case 'n':
  case 'r':
  case 't':
    return at + 1;
  case 'u':
    at++;
    for (int digit = 0; digit < 4; digit++, at++) {
      if (at == end || !is_hex(*at)) return fail_json(cursor, at, "expected four hex digits");
    }
    return at;
  default:
    return fail_json(cursor, at, "no such escape");
  }
}

static const uint8_t *check_string(TampCursor *cursor, const uint8_t *at, uint8_t *flags) {
  const uint8_t *const end = limit(cursor);
  const uint8_t *const first = at + 1;
  bool high = false;
  at = tamp_scan_string(first, end, &high);
  while (at < end && *at == '\\') {
    *flags |= TAMP_VALUE_ESCAPED;
    const uint8_t *next = check_escape(cursor, at);
    if (next == NULL) break;
    at = tamp_scan_string(next, end, &high);
  }
  /* What stopped the scan is ASCII, so sequences end before it; a fault in them comes first. */
  if (high) {
    const uint8_t *const valid = tamp_utf8_valid(first, at);
    bool whole;
    if (valid < at)
      return fail_json(cursor, valid + tamp_utf8_prefix(valid, at, &whole), "not UTF-8");
  }
  if (cursor->status != TAMP_OK) return NULL;
  if (at == end) return fail_json(cursor, at, unterminated);
  if (*at != '"') return fail_json(cursor, at, "control characters must be escaped");
  return at + 1;
}

static const uint8_t *check_raw(TampCursor *cursor, const uint8_t *at, uint8_t *flags) {
  const uint8_t *const end = limit(cursor);
  const TampText payload = tamp_pass_payload(at, end);
  *flags |= TAMP_VALUE_RAW;
  if (end - at < (ptrdiff_t)TAMP_RAW_HEADER) return fail_json(cursor, end, unterminated);
  const uint32_t claimed =
      (uint32_t)at[1] | (uint32_t)at[2] << 8 | (uint32_t)at[3] << 16 | (uint32_t)at[4] << 24;
  if (payload.length != claimed) return fail_json(cursor, end, unterminated);
  return payload.bytes + payload.length;
}

static const uint8_t *check_literal(TampCursor *cursor, const uint8_t *at, const char *word) {
  const uint8_t *const end = limit(cursor);
  for (; *word != '\0'; word++, at++) {
    if (at == end || *at != (uint8_t)*word) return fail_json(cursor, at, "expected a value");
  }
  return at;
}

static const uint8_t *check_digits(TampCursor *cursor, const uint8_t *at) {
  const uint8_t *const end = limit(cursor);
  if (at == end || !is_digit(*at)) return fail_json(cursor, at, "expected a digit");
  while (at < end && is_digit(*at)) at++;
  return at;
}

static const uint8_t *check_number(TampCursor *cursor, const uint8_t *at) {
  const uint8_t *const end = limit(cursor);
  if (*at == '-') at++;
  if (at < end && *at == '0') {
    at++;
  } else {
    at = check_digits(cursor, at);
    if (at == NULL) return NULL;
  }
  if (at < end && *at == '.') {
    at = check_digits(cursor, at + 1);
    if (at == NULL) return NULL;
  }
  if (at < end && (*at | 0x20) == 'e') {
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    at = check_digits(cursor, at);
  }
  return at;
}

/* --- Jumps */

/* A string this long costs more to walk over again than a jump does. */
enum { NOTED_BYTES = 32 };

static void set_name(TampJump *jump, TampValue name) {
  jump->name = name.at + 1;
  jump->name_length = name.flags ? UINT32_MAX : name.length - 2; /* of an element what nobody looks at */
}

/* Opens the jump of a container, and gives its index: TAMP_NONE when there is no room, which then is so for all
 * that is in it. `outer` is the one it is in, `name` its name there, of length 0 for none. */
static uint32_t open_jump(TampJumps *jumps, size_t at, uint32_t outer, TampValue name) {
  if (!jumps || jumps->count == jumps->capacity) return TAMP_NONE;
  TampJump *jump = &jumps->items[jumps->count];
  *jump = (TampJump){.at = (uint32_t)at, .inside = outer};
  set_name(jump, name);
  return jumps->count++;
}

/* Closes it at `end`; gives the one it is in. */
static uint32_t close_jump(TampJumps *jumps, uint32_t index, size_t end, bool object) {
  TampJump *jump = &jumps->items[index];
  const uint32_t outer = jump->inside;
  jump->length = (uint32_t)end - jump->at;
  jump->type = object ? TAMP_JSON_OBJECT : TAMP_JSON_ARRAY;
  jump->inside = jumps->count - index - 1;
  jump->complete = jumps->count < jumps->capacity;
  return outer;
}

/* Of a scalar that was checked: a member, or a long string. */
static const TampJump *note_scalar(TampJumps *jumps, TampValue value, TampValue name) {
  if (jumps->count == jumps->capacity) return NULL;
  if (name.length == 0 && (value.type != TAMP_JSON_STRING || value.length < NOTED_BYTES)) return NULL;
  TampJump *jump = &jumps->items[jumps->count++];
  *jump = (TampJump){.at = value.at, .length = value.length, .type = value.type, .flags = value.flags};
  set_name(jump, name);
  return jump;
}

static TampValue value_of(const TampJump *jump) {
  return (TampValue){jump->at, jump->length, jump->type, jump->flags, jump};
}

/* Behind the value at `at`, by the next jump when it is the value's. `next` and `last` are the jumps that are left
 * of the container that is walked through. */
static inline const uint8_t *jump_value(const uint8_t *at, const uint8_t *end, const uint8_t *text,
                                        const TampJump **next, const TampJump *last, TampValue *out) {
  const TampJump *const jump = *next;
  if (jump == last || text + jump->at != at) return tamp_pass_value(at, end, out, text);
  *out = value_of(jump);
  *next = jump + 1 + jump->inside;
  return at + jump->length;
}

/* --- Values */

/* Anything but an array or object. */
static const uint8_t *check_scalar(TampCursor *cursor, const uint8_t *at, TampValue *out) {
  switch (at == limit(cursor) ? 0 : *at) {
  case '"':
    out->type = TAMP_JSON_STRING;
    return check_string(cursor, at, &out->flags);
  case '-':
  case '0':
  case '1':
  case '2':
  case '3':
  case '4':
  case '5':
  case '6':
  case '7':
  case '8':
  case '9':
    out->type = TAMP_JSON_NUMBER;
    return check_number(cursor, at);
  case 't':
    out->type = TAMP_JSON_TRUE;
    return check_literal(cursor, at, "true");
  case 'f':
    out->type = TAMP_JSON_FALSE;
    return check_literal(cursor, at, "false");
  case 'n':
    out->type = TAMP_JSON_NULL;
    return check_literal(cursor, at, "null");
  case TAMP_RAW_STRING:
    if (cursor->raw) {
      out->type = TAMP_JSON_STRING;
      return check_raw(cursor, at, &out->flags);
    }
    break;
  default:
    break;
  }
  return fail_json(cursor, at, "expected a value");
}

/* A member's name and its colon; gives the position of the value. */
static const uint8_t *check_name(TampCursor *cursor, const uint8_t *at, TampValue *name) {
  const uint8_t *const end = limit(cursor);
  *name = (TampValue){.at = (uint32_t)(at - cursor->text), .type = TAMP_JSON_STRING};
  if (at < end && *at == '"') {
    at = check_string(cursor, at, &name->flags);
  } else if (at < end && *at == TAMP_RAW_STRING && cursor->raw) {
    at = check_raw(cursor, at, &name->flags);
  } else {
    return fail_json(cursor, at, "expected a member name in quotes");
  }
  if (at == NULL) return NULL;
  name->length = (uint32_t)(at - cursor->text) - name->at;
  at = skip_white(at, end);
  if (at == end || *at != ':') return fail_json(cursor, at, "expected ':'");
  return skip_white(at + 1, end);
}

/* An array or object with all that is in it. Levels are bits, so the stack is the same for any
 * nesting. */
static const uint8_t *check_container(TampCursor *cursor, const uint8_t *at, TampValue name) {
  const uint8_t *const end = limit(cursor);
  const uint32_t levels = TAMP_MAX_DEPTH - cursor->depth;
  uint64_t objects[TAMP_MAX_DEPTH / 64 + 1];
  uint32_t level = 0, unnoted = 0, jump = TAMP_NONE;
  bool object = false;
  TampValue token = {0};

open:
  if (level == levels) return fail(cursor, TAMP_TOO_DEEP, at, "nested too deeply");
  object = *at == '{';
  if (level % 64 == 0) objects[level / 64] = 0;
  objects[level / 64] &= ~(UINT64_C(1) << level % 64);
  objects[level / 64] |= (uint64_t)object << level % 64;
  level++;
  if (cursor->jumps) {
    const uint32_t opened = open_jump(cursor->jumps, (size_t)(at - cursor->text), jump, name);
    if (opened == TAMP_NONE) {
      unnoted++;
    } else {
      jump = opened;
    }
  }
  at = skip_white(at + 1, end);
  if (at < end && *at == (object ? '}' : ']')) goto close;

item:
  name.length = 0;
  if (object) {
    at = check_name(cursor, at, &name);
    if (at == NULL) return NULL;
  }
  if (at < end && (*at == '{' || *at == '[')) goto open;
  token.at = (uint32_t)(at - cursor->text);
  token.flags = 0;
  at = check_scalar(cursor, at, &token);
  if (at == NULL) return NULL;
  if (cursor->jumps) {
    token.length = (uint32_t)(at - cursor->text) - token.at;
    (void)note_scalar(cursor->jumps, token, name);
  }

behind:
  at = skip_white(at, end);
  if (at < end && *at == ',') {
    at = skip_white(at + 1, end);
    goto item;
  }
  if (at == end || *at != (object ? '}' : ']')) {
    return fail_json(cursor, at, object ? "expected ',' or '}'" : "expected ',' or ']'");
  }

close:
  at++;
  level--;
  if (unnoted > 0) {
    unnoted--;
  } else if (cursor->jumps) {
    jump = close_jump(cursor->jumps, jump, (size_t)(at - cursor->text), object);
  }
  if (level == 0) return at;
  object = (objects[(level - 1) / 64] >> (level - 1) % 64 & 1) != 0;
  goto behind;
}

TampCursor tamp_cursor(const uint8_t *text, size_t at, size_t length, bool raw) {
  static const uint8_t nothing[1];
  if (text == NULL) text = nothing; /* no arithmetic on NULL, not even by 0 */
  TampCursor cursor = {.text = text, .length = length, .at = at, .raw = raw};
  if (length > UINT32_MAX) {
    cursor.status = TAMP_TOO_LARGE;
    cursor.fault = (TampFault){UINT32_MAX, "the text is too long"};
    return cursor;
  }
  cursor.at = (size_t)(skip_white(text + at, text + length) - text);
  return cursor;
}

TampCursor tamp_cursor_on(const uint8_t *text, TampValue value, bool raw) {
  return tamp_cursor(text, value.at, (size_t)value.at + value.length, raw);
}

/* Reads a value that is a member called `name`, or none (of length 0). */
static bool read_value(TampCursor *cursor, TampValue name, TampValue *out) {
  if (cursor->status != TAMP_OK) return false;
  const uint8_t *const end = limit(cursor);
  const uint8_t *const first = skip_white(position(cursor), end);
  TampValue value = {.at = (uint32_t)(first - cursor->text)};
  const uint8_t *at;
  if (first < end && (*first == '{' || *first == '[')) {
    value.type = *first == '{' ? TAMP_JSON_OBJECT : TAMP_JSON_ARRAY;
    const uint32_t noted = cursor->jumps ? cursor->jumps->count : 0;
    at = check_container(cursor, first, name);
    if (cursor->jumps && noted < cursor->jumps->count) value.jump = &cursor->jumps->items[noted];
  } else {
    at = check_scalar(cursor, first, &value);
  }
  if (at == NULL) return false;
  value.length = (uint32_t)(at - first);
  if (cursor->jumps && value.type < TAMP_JSON_ARRAY) value.jump = note_scalar(cursor->jumps, value, name);
  cursor->at = (size_t)(at - cursor->text);
  *out = value;
  return true;
}

bool tamp_cursor_value(TampCursor *cursor, TampValue *out) {
  return read_value(cursor, (TampValue){0}, out);
}

bool tamp_cursor_end(TampCursor *cursor) {
  if (cursor->status != TAMP_OK) return false;
  const uint8_t *at = skip_white(position(cursor), limit(cursor));
  cursor->at = (size_t)(at - cursor->text);
  if (at == limit(cursor)) return true;
  fail_json(cursor, at, "expected the end of the text");
  return false;
}

bool tamp_cursor_enter(TampCursor *cursor, TampJsonType container) {
  if (cursor->status != TAMP_OK) return false;
  const bool object = container == TAMP_JSON_OBJECT;
  const uint8_t *at = skip_white(position(cursor), limit(cursor));
  if (at == limit(cursor) || *at != (object ? '{' : '[')) {
    fail_json(cursor, at, object ? "expected an object" : "expected an array");
    return false;
  }
  if (cursor->depth == TAMP_MAX_DEPTH) {
    fail(cursor, TAMP_TOO_DEEP, at, "nested too deeply");
    return false;
  }
  cursor->at = (size_t)(at - cursor->text) + 1;
  cursor->depth++;
  cursor->started = false;
  return true;
}

/* To the next element or member of a container that ends with `close`; NULL behind the last. */
static const uint8_t *next_item(TampCursor *cursor, uint8_t close) {
  if (cursor->status != TAMP_OK) return NULL;
  const uint8_t *const end = limit(cursor);
  const uint8_t *at = skip_white(position(cursor), end);
  if (at < end && *at == close) {
    cursor->at = (size_t)(at - cursor->text) + 1;
    cursor->depth--;
    cursor->started = true;
    return NULL;
  }
  if (cursor->started) {
    if (at == end || *at != ',') {
      return fail_json(cursor, at, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    at = skip_white(at + 1, end);
  }
  cursor->started = true;
  return at;
}

bool tamp_cursor_next(TampCursor *cursor) {
  const uint8_t *at = next_item(cursor, ']');
  if (at == NULL) return false;
  cursor->at = (size_t)(at - cursor->text);
  if (at < limit(cursor)) return true;
  fail_json(cursor, at, "expected a value");
  return false;
}

bool tamp_cursor_member(TampCursor *cursor, TampValue *name) {
  const uint8_t *at = next_item(cursor, '}');
  if (at == NULL) return false;
  at = check_name(cursor, at, name);
  if (at == NULL) return false;
  cursor->at = (size_t)(at - cursor->text);
  return true;
}

/* --- Named members */

static void clear_values(TampValue *out, size_t count) {
  for (size_t i = 0; i < count; i++) out[i] = (TampValue){0};
}

/* Bit `length % 64` of every name's length: most members are told apart by it alone. */
static uint64_t length_set(const TampText *names, size_t count) {
  uint64_t set = 0;
  for (size_t i = 0; i < count; i++) set |= UINT64_C(1) << names[i].length % 64;
  return set;
}

static void keep_named(const uint8_t *name, size_t length, TampValue value, const TampText *names, size_t count,
                       TampValue *out) {
  for (size_t i = 0; i < count; i++) {
    if (names[i].length == length && memcmp(names[i].bytes, name, length) == 0) out[i] = value;
  }
}

static inline void keep_member(const uint8_t *text, TampValue name, TampValue value, const TampText *names,
                               size_t count, uint64_t lengths, TampValue *out) {
  if (name.flags == 0) {
    const size_t length = name.length - 2u;
    if ((lengths >> length % 64 & 1) != 0) keep_named(text + name.at + 1, length, value, names, count, out);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (tamp_value_is(text, name, names[i])) out[i] = value;
  }
}

/* The members of an object that is noted whole. False when the text has to be walked through all the same. */
static bool keep_noted(const uint8_t *text, const TampJump *object, const TampText *names, size_t count,
                       uint64_t lengths, TampValue *out) {
  if (object == NULL || !object->complete) return false;
  const TampJump *const last = object + 1 + object->inside;
  for (const TampJump *jump = object + 1; jump < last; jump += 1 + jump->inside) {
    if (jump->name_length == UINT32_MAX) return false;
    if ((lengths >> jump->name_length % 64 & 1) == 0) continue;
    keep_named(text + jump->name, jump->name_length, value_of(jump), names, count, out);
  }
  return true;
}

bool tamp_cursor_members(TampCursor *cursor, const TampText *names, size_t count, TampValue *out,
                         TampValue *whole) {
  clear_values(out, count);
  if (cursor->status != TAMP_OK) return false;
  const uint8_t *const first = skip_white(position(cursor), limit(cursor));
  if (first == limit(cursor) || *first != '{') {
    TampValue other;
    if (!tamp_cursor_value(cursor, &other)) return false;
    if (whole != NULL) *whole = other;
    return true;
  }
  if (!tamp_cursor_enter(cursor, TAMP_JSON_OBJECT)) return false;
  const uint32_t jump = open_jump(cursor->jumps, (size_t)(first - cursor->text), TAMP_NONE, (TampValue){0});
  const uint64_t lengths = length_set(names, count);
  TampValue name, value;
  while (tamp_cursor_member(cursor, &name)) {
    if (!read_value(cursor, name, &value)) return false;
    keep_member(cursor->text, name, value, names, count, lengths, out);
  }
  if (cursor->status != TAMP_OK) return false;
  if (jump != TAMP_NONE) (void)close_jump(cursor->jumps, jump, cursor->at, true);
  if (whole != NULL) {
    *whole = (TampValue){.at = (uint32_t)(first - cursor->text),
                         .length = (uint32_t)(position(cursor) - first),
                         .type = TAMP_JSON_OBJECT,
                         .jump = jump == TAMP_NONE ? NULL : &cursor->jumps->items[jump]};
  }
  return true;
}

/* --- Checked text */

static const uint8_t *pass_container(const uint8_t *at, const uint8_t *end) {
  size_t level = 0;
  while ((at = tamp_scan_token(at, end)) < end) {
    bool escaped = false;
    if (*at == '"') {
      at = tamp_pass_string(at, end, &escaped);
    } else if (*at == TAMP_RAW_STRING) {
      const TampText payload = tamp_pass_payload(at, end);
      at = payload.bytes + payload.length;
    } else if ((*at | 0x20) == '{') {
      level++;
      at++;
    } else {
      at++;
      level--;
      if (level == 0) return at;
    }
  }
  return end;
}

const uint8_t *tamp_pass_value(const uint8_t *at, const uint8_t *end, TampValue *out,
                               const uint8_t *text) {
  *out = (TampValue){.at = (uint32_t)(at - text)};
  const uint8_t *const first = at;
  bool escaped = false;
  switch (at == end ? 0 : *at) {
  case '{':
  case '[':
    out->type = *at == '{' ? TAMP_JSON_OBJECT : TAMP_JSON_ARRAY;
    at = pass_container(at, end);
    break;
  case '"':
    out->type = TAMP_JSON_STRING;
    at = tamp_pass_string(at, end, &escaped);
    if (escaped) out->flags = TAMP_VALUE_ESCAPED;
    break;
  case TAMP_RAW_STRING: {
    const TampText payload = tamp_pass_payload(at, end);
    out->type = TAMP_JSON_STRING;
    out->flags = TAMP_VALUE_RAW;
    at = payload.bytes + payload.length;
    break;
  }
  default:
    out->type = at == end    ? TAMP_JSON_NOTHING
                : *at == 't' ? TAMP_JSON_TRUE
                : *at == 'f' ? TAMP_JSON_FALSE
                : *at == 'n' ? TAMP_JSON_NULL
                             : TAMP_JSON_NUMBER;
    while (at < end && *at != ',' && *at != ']' && *at != '}' && !is_white(*at)) at++;
    break;
  }
  out->length = (uint32_t)(at - first);
  return at;
}

/* To the next item behind `at`, over white space and the comma. */
static const uint8_t *pass_comma(const uint8_t *at, const uint8_t *end) {
  at = skip_white(at, end);
  return at < end && *at == ',' ? skip_white(at + 1, end) : at;
}

void tamp_value_members(const uint8_t *text, TampValue value, const TampText *names, size_t count,
                        TampValue *out) {
  clear_values(out, count);
  if (value.type != TAMP_JSON_OBJECT) return;
  const uint64_t lengths = length_set(names, count);
  if (keep_noted(text, value.jump, names, count, lengths, out)) return;
  const uint8_t *const end = text + value.at + value.length;
  const uint8_t *at = skip_white(text + value.at + 1, end);
  const TampJump *next = value.jump == NULL ? NULL : value.jump + 1;
  const TampJump *const last = value.jump == NULL ? NULL : next + value.jump->inside;
  while (at < end && *at != '}') {
    TampValue name, member;
    at = skip_white(tamp_pass_value(at, end, &name, text), end);
    if (at < end) at = skip_white(at + 1, end);
    at = pass_comma(jump_value(at, end, text, &next, last, &member), end);
    if (name.type != TAMP_JSON_STRING) return;
    keep_member(text, name, member, names, count, lengths, out);
  }
}

/* The first of the jumps of a container that is at `at` or behind it. */
static const TampJump *seek_jump(const TampJump *next, const TampJump *last, size_t at) {
  while (next < last) {
    const TampJump *const middle = next + (last - next) / 2;
    if (middle->at < at)
      next = middle + 1;
    else
      last = middle;
  }
  return next;
}

bool tamp_value_next(const uint8_t *text, TampValue array, uint32_t *state, TampValue *out) {
  if (array.type != TAMP_JSON_ARRAY) return false;
  const uint8_t *const end = text + array.at + array.length;
  const uint8_t *at = text + array.at + *state;
  at = *state == 0 ? skip_white(at + 1, end) : pass_comma(at, end);
  if (at >= end || *at == ']') return false;
  const TampJump *next = NULL, *last = NULL;
  if (array.jump != NULL) {
    last = array.jump + 1 + array.jump->inside;
    next = seek_jump(array.jump + 1, last, (size_t)(at - text));
  }
  at = jump_value(at, end, text, &next, last, out);
  *state = (uint32_t)(at - (text + array.at));
  return true;
}
