/* Sorting in place. qsort is a kilobyte of code in the Wasm, and how it sorts equal items differs between C libraries. */
#ifndef TAMP_SORT_H
#define TAMP_SORT_H

#include <stdbool.h>
#include <stddef.h>

/* Puts `count` items of `size` bytes in order: no item is `before` one that stands before it then. Equal items come
 * in any order, but the same on every machine. O(count log count) at worst, and no memory. */
void tamp_sort(void *items, size_t count, size_t size, bool (*before)(const void *a, const void *b));

#endif
