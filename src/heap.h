/* A heap over one stretch of memory that grows at its end: what malloc stands on in the Wasm, where the C
 * library's own is ten times the code. It is made for arenas, that is for few and mostly large blocks; many
 * small ones (a cJSON tree) cost 16 bytes each and work as well. */
#ifndef TAMP_HEAP_H
#define TAMP_HEAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct TampHeapBlock TampHeapBlock;

typedef struct TampHeap {
  /* Makes the stretch at least `size` bytes longer, to a multiple of 16, and gives its new end; NULL when it
   * cannot, and then it is as it was. The end must be an address: the last of all is not. */
  uint8_t *(*extend)(void *context, size_t size);
  void *context;
  uint8_t *end;        /* of the stretch; before the first allocation where it begins, on 16 bytes */
  TampHeapBlock *last; /* the block before `end`; NULL before the first allocation */
  TampHeapBlock *bins[sizeof(size_t) * 8]; /* free blocks, by the highest bit of their sizes */
} TampHeap;

/* `block` NULL allocates, `size` 0 frees and gives NULL. NULL when there is no room, and then `block` is as it
 * was. Blocks lie on 16 bytes. A block at the end of the stretch, or with free space behind it, grows where it
 * is. Time grows with the number of free blocks of about that size. */
void *tamp_heap_resize(TampHeap *heap, void *block, size_t size);

#endif
