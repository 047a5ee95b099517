/* Blocks lie one behind the other without gaps, each with a header that says how long it and the one before
 * are, so that a freed block finds its neighbours and joins those that are free. No two free blocks are
 * neighbours. Free ones are linked into bins by the highest bit of their sizes: a block of a higher bin always
 * suffices, one of the same bin must be looked at. */
#include "heap.h"

#include <stdbool.h>
#include <string.h>

struct TampHeapBlock {
  size_t size;   /* header included; a multiple of 16, and 1 more while in use */
  size_t before; /* size of the block before it; 0 for the first */
  TampHeapBlock *next, *previous; /* in its bin, while free */
};

enum { HEADER = sizeof(TampHeapBlock), SMALLEST = HEADER + 16 };
_Static_assert(HEADER % 16 == 0, "what follows a header lies on 16 bytes");

static size_t size_of(const TampHeapBlock *block) {
  return block->size & ~(size_t)1;
}

static TampHeapBlock *at(TampHeapBlock *block, size_t offset) {
  return (TampHeapBlock *)(void *)((uint8_t *)block + offset);
}

/* The block behind it; NULL for the last. */
static TampHeapBlock *behind(const TampHeap *heap, TampHeapBlock *block) {
  return block == heap->last ? NULL : at(block, size_of(block));
}

static bool is_free(const TampHeapBlock *block) {
  return block && !(block->size & 1);
}

static size_t bin_of(size_t size) {
  size_t bin = 0;
  while (size >>= 1) bin++;
  return bin;
}

static void detach(TampHeap *heap, TampHeapBlock *block) {
  if (block->next) block->next->previous = block->previous;
  if (block->previous) {
    block->previous->next = block->next;
  } else {
    heap->bins[bin_of(block->size)] = block->next;
  }
}

/* Makes [block, block + size) one free block. It had neighbours in use, or none. */
static void put(TampHeap *heap, TampHeapBlock *block, size_t size, bool last) {
  TampHeapBlock **bin = &heap->bins[bin_of(size)];
  block->size = size;
  block->previous = NULL;
  block->next = *bin;
  if (*bin) (*bin)->previous = block;
  *bin = block;
  if (last) {
    heap->last = block;
  } else {
    at(block, size)->before = size;
  }
}

/* Frees a block that is linked nowhere, and joins it with free neighbours. */
static void release(TampHeap *heap, TampHeapBlock *block) {
  size_t size = size_of(block);
  bool last = block == heap->last;
  TampHeapBlock *next = behind(heap, block);
  if (is_free(next)) {
    detach(heap, next);
    size += next->size;
    last = next == heap->last;
  }
  TampHeapBlock *before = block->before ? at(block, 0 - block->before) : NULL;
  if (is_free(before)) {
    detach(heap, before);
    size += before->size;
    block = before;
  }
  put(heap, block, size, last);
}

/* Cuts a block that is in use down to `size`, where what is left makes a block of its own. */
static void cut(TampHeap *heap, TampHeapBlock *block, size_t size) {
  size_t left = size_of(block) - size;
  if (left < SMALLEST) return;
  TampHeapBlock *rest = at(block, size);
  rest->size = left | 1;
  rest->before = size;
  block->size = size | 1;
  if (block == heap->last) {
    heap->last = rest;
  } else {
    at(rest, left)->before = left;
  }
  release(heap, rest);
}

/* Makes the last block free and at least `size` bytes long. */
static bool extend(TampHeap *heap, size_t size) {
  size_t have = is_free(heap->last) ? heap->last->size : 0;
  if (have >= size) return true;
  uint8_t *end = heap->extend(heap->context, size - have);
  if (!end) return false;
  TampHeapBlock *block = (TampHeapBlock *)(void *)heap->end;
  block->size = (size_t)(end - heap->end) | 1;
  block->before = heap->last ? size_of(heap->last) : 0;
  heap->end = end;
  heap->last = block;
  release(heap, block);
  return true;
}

/* A free block of at least `size` bytes; NULL when there is none. */
static TampHeapBlock *find(const TampHeap *heap, size_t size) {
  size_t bin = bin_of(size);
  TampHeapBlock *block = heap->bins[bin];
  while (block && block->size < size) block = block->next;
  while (!block && ++bin < sizeof heap->bins / sizeof *heap->bins) block = heap->bins[bin];
  return block;
}

static void *allocate(TampHeap *heap, size_t size) {
  TampHeapBlock *block = find(heap, size);
  if (!block) {
    if (!extend(heap, size)) return NULL;
    block = heap->last;
  }
  detach(heap, block);
  block->size |= 1;
  cut(heap, block, size);
  return at(block, HEADER);
}

/* Makes a block longer where it is. */
static bool lengthen(TampHeap *heap, TampHeapBlock *block, size_t size) {
  size_t missing = size - size_of(block);
  TampHeapBlock *next = behind(heap, block);
  if (!next || (next == heap->last && is_free(next))) {
    if (!extend(heap, missing)) return false;
    next = behind(heap, block);
  }
  if (!is_free(next) || next->size < missing) return false;
  detach(heap, next);
  block->size += next->size;
  if (next == heap->last) {
    heap->last = block;
  } else {
    at(block, size_of(block))->before = size_of(block);
  }
  return true;
}

void *tamp_heap_resize(TampHeap *heap, void *memory, size_t size) {
  TampHeapBlock *block = memory ? at(memory, 0 - (size_t)HEADER) : NULL;
  if (size == 0) {
    if (block) release(heap, block);
    return NULL;
  }
  if (size > SIZE_MAX - SMALLEST) return NULL;
  size = HEADER + ((size + 15) & ~(size_t)15);
  if (!block) return allocate(heap, size);
  if (size <= size_of(block) || lengthen(heap, block, size)) {
    cut(heap, block, size);
    return memory;
  }
  void *moved = allocate(heap, size);
  if (!moved) return NULL;
  memcpy(moved, memory, size_of(block) - HEADER);
  release(heap, block);
  return moved;
}
