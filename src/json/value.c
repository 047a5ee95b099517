#include "value.h"

#include "pass.h"
#include "utf8.h"

/* A string value without its quotes, as it is spelled; of a raw one the payload. */
static TampText inside(const uint8_t *text, TampValue value) {
  const uint8_t *const at = text + value.at;
  if ((value.flags & TAMP_VALUE_RAW) != 0) return tamp_pass_payload(at, at + value.length);
  return (TampText){at + 1, value.length - 2u};
}

static uint32_t hex_digit(uint8_t byte) {
  return byte <= '9' ? byte & 15u : (byte & 15u) + 9; /* 'A' and 'a' end in 1 */
}

static uint32_t hex_unit(const uint8_t *at) {
  return hex_digit(at[0]) << 12 | hex_digit(at[1]) << 8 | hex_digit(at[2]) << 4 | hex_digit(at[3]);
}

static bool is_unit(const uint8_t *at, const uint8_t *end) {
  return end - at >= 6 && at[0] == '\\' && at[1] == 'u';
}

/* Decodes the checked escape at `at` into `out`; gives the position behind it. */
static const uint8_t *decode_escape(const uint8_t *at, const uint8_t *end, uint8_t out[4],
                                    size_t *length) {
  *length = 1;
  if (!is_unit(at, end)) {
    if (end - at < 2) return end;
    switch (at[1]) {
    case 'b':
      out[0] = '\b';
      break;
    case 'f':
      out[0] = '\f';
      break;
    case 'n':
      out[0] = '\n';
      break;
    case 'r':
      out[0] = '\r';
      break;
    case 't':
      out[0] = '\t';
      break;
    default:
      out[0] = at[1];
      break;
    }
    return at + 2;
  }
  uint32_t code = hex_unit(at + 2);
  at += 6;
  if (code >= 0xd800 && code < 0xe000) {
    const uint32_t low = is_unit(at, end) ? hex_unit(at + 2) : 0;
    if (code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      at += 6;
    } else {
      code = TAMP_REPLACEMENT;
    }
  }
  *length = tamp_utf8_encode(code, out);
  return at;
}

TampStatus tamp_value_text(const uint8_t *text, TampValue value, TampArena *arena, TampText *out) {
  *out = (TampText){text, 0};
  if (value.type != TAMP_JSON_STRING) return TAMP_OK;
  const TampText spelled = inside(text, value);
  if ((value.flags & TAMP_VALUE_ESCAPED) == 0) {
    *out = spelled;
    return TAMP_OK;
  }
  /* Decoding never makes a text longer: the shortest escape for a character has as many bytes or
   * more. */
  uint8_t *const bytes = tamp_arena_alloc(arena, spelled.length);
  if (bytes == NULL) return TAMP_NO_MEMORY;
  const uint8_t *at = spelled.bytes;
  const uint8_t *const end = at + spelled.length;
  size_t length = 0;
  for (;;) {
    const uint8_t *next = tamp_scan_byte(at, end, '\\');
    memcpy(bytes + length, at, (size_t)(next - at));
    length += (size_t)(next - at);
    if (next == end) break;
    uint8_t decoded[4];
    size_t count;
    at = decode_escape(next, end, decoded, &count);
    memcpy(bytes + length, decoded, count);
    length += count;
  }
  *out = (TampText){bytes, length};
  return TAMP_OK;
}

bool tamp_value_is(const uint8_t *text, TampValue value, TampText literal) {
  if (value.type != TAMP_JSON_STRING) return false;
  const TampText spelled = inside(text, value);
  if ((value.flags & TAMP_VALUE_ESCAPED) == 0) {
    return spelled.length == literal.length &&
           (literal.length == 0 || memcmp(spelled.bytes, literal.bytes, literal.length) == 0);
  }
  const uint8_t *at = spelled.bytes;
  const uint8_t *const end = at + spelled.length;
  size_t matched = 0;
  while (at < end) {
    uint8_t decoded[4] = {*at};
    size_t count = 1;
    at = *at == '\\' ? decode_escape(at, end, decoded, &count) : at + 1;
    if (literal.length - matched < count || memcmp(literal.bytes + matched, decoded, count) != 0) {
      return false;
    }
    matched += count;
  }
  return matched == literal.length;
}

size_t tamp_value_json_length(const uint8_t *text, TampValue value) {
  const uint8_t *at = text + value.at;
  const uint8_t *const end = at + value.length;
  size_t length = value.length;
  while ((at = tamp_pass_to_raw(at, end)) < end) {
    const TampText payload = tamp_pass_payload(at, end);
    at = payload.bytes + payload.length;
    length += tamp_scan_growth(payload.bytes, at) + 2;
    length -= TAMP_RAW_HEADER;
  }
  return length;
}

bool tamp_value_integer(const uint8_t *text, TampValue value, uint64_t *out) {
  if (value.type != TAMP_JSON_NUMBER || value.length > 16) return false;
  uint64_t number = 0;
  for (uint32_t i = 0; i < value.length; i++) {
    const uint8_t byte = text[value.at + i];
    if (byte < '0' || byte > '9') return false;
    number = number * 10 + (byte & 15u);
  }
  if (number >= UINT64_C(1) << 53) return false;
  *out = number;
  return true;
}
