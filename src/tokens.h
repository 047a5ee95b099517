/* Estimating how many model tokens a text has, without a vocabulary. */
#ifndef TAMP_TOKENS_H
#define TAMP_TOKENS_H

#include <stddef.h>
#include <stdint.h>

/* About how many tokens of o200k the `length` bytes of UTF-8 at `text` are: 0 for no bytes, at
 * least 1 for any other text, UINT32_MAX when the count would be larger. Never fails: bytes that
 * are not UTF-8 are counted as the bytes they are. A text followed by more text never has the
 * smaller count, and two texts one after the other have the sum of their counts, give or take what
 * is cut where they meet. `text` may be NULL when `length` is 0. One pass, integers only, no
 * allocation. */
uint32_t tamp_tokens_estimate(const uint8_t *text, size_t length);

#endif
