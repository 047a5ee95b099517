#include "sort.h"

#include <stdint.h>

typedef struct Heap {
  uint8_t *items;
  size_t size;
  bool (*before)(const void *a, const void *b);
} Heap;

static uint8_t *item(const Heap *heap, size_t index) {
  return heap->items + index * heap->size;
}

static void swap(const Heap *heap, size_t i, size_t j) {
  uint8_t *a = item(heap, i), *b = item(heap, j);
  for (size_t k = 0; k < heap->size; k++) {
    uint8_t kept = a[k];
    a[k] = b[k];
    b[k] = kept;
  }
}

/* Makes [root, count) a heap, its last item on top, where all of it but the root is one. */
static void sift_down(const Heap *heap, size_t root, size_t count) {
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && heap->before(item(heap, child), item(heap, child + 1))) child++;
    if (!heap->before(item(heap, root), item(heap, child))) return;
    swap(heap, root, child);
  }
}

void tamp_sort(void *items, size_t count, size_t size, bool (*before)(const void *a, const void *b)) {
  const Heap heap = {items, size, before};
  for (size_t root = count / 2; root-- > 0;) sift_down(&heap, root, count);
  while (count > 1) {
    swap(&heap, 0, --count);
    sift_down(&heap, 0, count);
  }
}
