/* An allocator that counts what is out and can fail at a chosen allocation. */
#ifndef TAMP_TEST_ALLOCATOR_H
#define TAMP_TEST_ALLOCATOR_H

#include <stdbool.h>
#include <stdlib.h>

#include "../../src/memory.h"

#define TEST_HEAP_LIMIT ((size_t)1 << 31) /* sanitizers abort on absurd sizes, so it refuses them  \
                                           */

typedef struct TestHeap {
  long live;    /* blocks that are out */
  long calls;   /* allocations and resizes asked for */
  long fail_at; /* the call that fails, counted from 1; 0 for never */
  bool sticky;  /* every call from fail_at on fails */
} TestHeap;

static inline void *test_heap_resize(void *context, void *block, size_t size) {
  TestHeap *heap = context;
  if (size == 0) {
    if (block != NULL) heap->live--;
    free(block);
    return NULL;
  }
  heap->calls++;
  if (size > TEST_HEAP_LIMIT) return NULL;
  if (heap->fail_at != 0 &&
      (heap->calls == heap->fail_at || (heap->sticky && heap->calls > heap->fail_at))) {
    return NULL;
  }
  void *result = realloc(block, size);
  if (result != NULL && block == NULL) heap->live++;
  return result;
}

static inline TampAllocator test_heap_allocator(TestHeap *heap) {
  return (TampAllocator){test_heap_resize, heap};
}

#endif
