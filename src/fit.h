/* What a cJSON tree can hold. Its strings end at U+0000 and its numbers are doubles, so that texts
 * which differ would look the same in it; half a surrogate pair makes it refuse a whole text
 * without saying why. */
#ifndef TAMP_FIT_H
#define TAMP_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the inside of a string (`length` bytes without its quotes, known to be JSON) holds no
 * U+0000 and no half of a surrogate pair. */
bool tamp_fit_string(const uint8_t *bytes, size_t length);

/* Whether a number (known to be JSON) is a double that no number of another value also becomes: at
 * most 15 digits, an exponent of at most two. */
bool tamp_fit_number(const uint8_t *bytes, size_t length);

/* Whether a whole value (known to be JSON) is made of such strings and numbers and nested at most
 * `depth` deep. */
bool tamp_fit_value(const uint8_t *bytes, size_t length, uint32_t depth);

#endif
