#include "utf8.h"

#include "simd.h"

static bool is_tail(uint8_t byte) {
  return (byte & 0xc0) == 0x80;
}

/* The same as tamp_utf8_valid, character by character, but done as soon as `enough` is passed. */
static const uint8_t *valid_until(const uint8_t *at, const uint8_t *enough, const uint8_t *end,
                                  bool *fault) {
  while (at < enough) {
    const uint8_t lead = *at;
    if (lead < 0x80) {
      at++;
      continue;
    }
    /* Whole scripts have two or three bytes a character: those first, less the leads with a rule.
     */
    if (end - at >= 3) {
      if (lead >= 0xe1 && lead <= 0xef && lead != 0xed && is_tail(at[1]) && is_tail(at[2])) {
        at += 3;
        continue;
      }
      if (lead >= 0xc2 && lead <= 0xdf && is_tail(at[1])) {
        at += 2;
        continue;
      }
    }
    bool whole;
    const size_t count = tamp_utf8_prefix(at, end, &whole);
    if (!whole) {
      *fault = true;
      return at;
    }
    at += count;
  }
  return at;
}

const uint8_t *tamp_utf8_valid(const uint8_t *at, const uint8_t *end) {
  const uint8_t *const first = at;
  bool fault = false;
  at = tamp_scan_ascii(at, end);
  /* The vector scan looks back three bytes, and from where it ends the rest is short, or the fault
   * near. */
  if (at - first < 3) at = valid_until(at, end - first < 3 ? end : first + 3, end, &fault);
  if (fault || at == end) return at;
  return valid_until(tamp_scan_utf8(at, end), end, end, &fault);
}
