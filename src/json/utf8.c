#include "utf8.h"

#include "simd.h"

static bool is_tail(uint8_t byte) {
  return (byte & 0xc0) == 0x80;
}

const uint8_t *tamp_utf8_valid(const uint8_t *at, const uint8_t *end) {
  while ((at = tamp_scan_ascii(at, end)) < end) {
    /* A run of characters beyond ASCII. Whole scripts have two or three bytes each, so those forms are
     * tried first, and only without the leads that have a rule of their own. */
    while (at < end && *at >= 0x80) {
      const uint8_t lead = *at;
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
      if (!whole) return at;
      at += count;
    }
  }
  return end;
}
