/* UTF-8 as the Unicode Standard has it (table 3-7): no overlong forms, no surrogates, nothing over
 * U+10FFFF. */
#ifndef TAMP_JSON_UTF8_H
#define TAMP_JSON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAMP_REPLACEMENT UINT32_C(0xfffd)

/* Where the first malformed sequence of [at, end) begins, one that `end` cuts short included; else
 * `end`. */
const uint8_t *tamp_utf8_valid(const uint8_t *at, const uint8_t *end);

/* How many bytes at `at` (at < end) begin one well-formed sequence: 1 to 4, 0 when the first byte
 * begins none. `*whole` says whether they are all of it; else they are the longest prefix that is
 * there. */
static inline size_t tamp_utf8_prefix(const uint8_t *at, const uint8_t *end, bool *whole) {
  const uint8_t lead = at[0];
  *whole = lead < 0x80;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  /* The second byte's range carries every special rule; the rest are any continuation. */
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (end - at < 2 || at[1] < low || at[1] > high) return 1;
  size_t count = 2;
  while (count < length && (size_t)(end - at) > count && (at[count] & 0xc0) == 0x80) count++;
  *whole = count == length;
  return count;
}

/* The code point at `at` (at < end), and in `*length` the bytes it takes. Malformed bytes give
 * U+FFFD once for each longest prefix of a sequence, as TextDecoder does. */
static inline uint32_t tamp_utf8_decode(const uint8_t *at, const uint8_t *end, size_t *length) {
  bool whole;
  const size_t count = tamp_utf8_prefix(at, end, &whole);
  *length = count == 0 ? 1 : count;
  if (!whole) return TAMP_REPLACEMENT;
  if (count == 1) return at[0];
  uint32_t code = at[0] & (0x7fu >> count);
  for (size_t i = 1; i < count; i++) code = code << 6 | (at[i] & 0x3fu);
  return code;
}

/* Writes a scalar value as 1 to 4 bytes and returns how many. */
static inline size_t tamp_utf8_encode(uint32_t code, uint8_t out[4]) {
  if (code < 0x80) {
    out[0] = (uint8_t)code;
    return 1;
  }
  if (code < 0x800) {
    out[0] = (uint8_t)(0xc0 | code >> 6);
    out[1] = (uint8_t)(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = (uint8_t)(0xe0 | code >> 12);
    out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    out[2] = (uint8_t)(0x80 | (code & 0x3f));
    return 3;
  }
  out[0] = (uint8_t)(0xf0 | code >> 18);
  out[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
  out[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
  out[3] = (uint8_t)(0x80 | (code & 0x3f));
  return 4;
}

#endif
