/* Memory: one allocator for everything, arenas on top of it.
 *
 * A TampArena hands out pieces of large blocks and frees them all at once, or all that came after a mark.
 * A history owns one arena for its messages and a run one for its scratch, so that every path out of a
 * function, the failing ones included, is a single release. Growable arrays that must stay contiguous are
 * separate blocks of the same arena (tamp_arena_grow): they move when they grow, and go with the arena. */
#ifndef TAMP_MEMORY_H
#define TAMP_MEMORY_H

#include "status.h"

/* realloc in one function: `block` NULL allocates, `size` 0 frees (and returns NULL). Returns NULL when it
 * cannot, and then `block` is as it was. Results are aligned for any type. */
typedef struct TampAllocator {
  void *(*resize)(void *context, void *block, size_t size);
  void *context;
} TampAllocator;

/* The C library's. */
TampAllocator tamp_default_allocator(void);

typedef struct TampBlock TampBlock;

typedef struct TampArena {
  TampAllocator allocator;
  TampBlock *chunks; /* newest first; pieces are cut from the newest */
  TampBlock *arrays; /* blocks of tamp_arena_grow */
  size_t used;       /* bytes cut from the newest chunk */
} TampArena;

/* A point to go back to. Valid until the arena is reset to an earlier one. */
typedef struct TampMark {
  TampBlock *chunk;
  size_t used;
} TampMark;

void tamp_arena_init(TampArena *arena, TampAllocator allocator);

/* Frees everything; the arena is as after init. */
void tamp_arena_free(TampArena *arena);

/* `size` bytes aligned to 8, not initialised, or NULL. A size of 0 gives a valid pointer. */
void *tamp_arena_alloc(TampArena *arena, size_t size);

/* Room for a piece whose size is not known yet: at least `size` bytes that tamp_arena_take then cuts from,
 * with `*capacity` what there is. `keep` bytes of the room given before are copied to its start. NULL on
 * failure. Any allocation ends the room. */
uint8_t *tamp_arena_room(TampArena *arena, size_t size, size_t keep, size_t *capacity);

/* The first `length` bytes of the room become a piece. */
void *tamp_arena_take(TampArena *arena, size_t length);

TampMark tamp_arena_mark(const TampArena *arena);

/* Frees every piece cut since `mark`. Arrays are not touched. */
void tamp_arena_reset(TampArena *arena, TampMark mark);

/* Makes sure that `*items` (NULL at first, with `*capacity` 0) has room for `needed` items of `item_size`
 * bytes, growing by half, and by less where it is large. On TAMP_NO_MEMORY nothing changed. New items are not
 * initialised. */
TampStatus tamp_arena_grow(TampArena *arena, void **items, uint32_t *capacity, size_t needed,
                           size_t item_size);

/* Gives the block of an array back before its arena goes. NULL is allowed. */
void tamp_arena_drop(TampArena *arena, void *items);

/* Bytes of all blocks of the arena, those not handed out included. */
size_t tamp_arena_size(const TampArena *arena);

#endif
