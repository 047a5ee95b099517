/* Arenas over one resize function (memory.h).
 *
 * Two kinds of chunk are in the list of chunks, newest first. Pieces are cut from *regular* chunks,
 * which grow with the arena. A piece that would waste the rest of one gets a chunk of its own,
 * linked behind the newest regular chunk, which stays in use. So that a reset knows which of those
 * came after a mark, each one takes a sliver of the regular chunk and remembers where that ended
 * (`stamp`). */
#include "memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MIN_CHUNK ((size_t)64 * 1024)
#define MAX_CHUNK ((size_t)1024 * 1024)
#define PIECE_ALIGNMENT ((size_t)8)
#define MIN_ARRAY_BYTES ((size_t)64)
/* From here on room that may stay empty counts for more than being moved more often. */
#define LARGE_ARRAY ((size_t)1024 * 1024)

struct TampBlock {
  TampBlock *older;
  TampBlock *newer; /* kept for arrays only: they leave the list in any order */
  size_t size;      /* bytes behind the header */
  size_t stamp;     /* of an own chunk: `used` of the regular chunk after it was made; else 0 */
};

/* What follows the header begins on 16 bytes, as what the allocator gives does. */
#define HEADER ((sizeof(TampBlock) + 15) & ~(size_t)15)

static void *default_resize(void *context, void *block, size_t size) {
  (void)context;
  if (size == 0) {
    free(block);
    return NULL;
  }
  return realloc(block, size);
}

TampAllocator tamp_default_allocator(void) {
  return (TampAllocator){default_resize, NULL};
}

static uint8_t *block_bytes(TampBlock *block) {
  return (uint8_t *)block + HEADER;
}

static TampBlock *block_of(void *bytes) {
  return (TampBlock *)(void *)((uint8_t *)bytes - HEADER);
}

static TampBlock *resize_block(const TampArena *arena, TampBlock *block, size_t size) {
  if (size > SIZE_MAX - HEADER) return NULL;
  TampBlock *result = arena->allocator.resize(arena->allocator.context, block, HEADER + size);
  if (result != NULL) result->size = size;
  return result;
}

static void free_block(const TampArena *arena, TampBlock *block) {
  (void)arena->allocator.resize(arena->allocator.context, block, 0);
}

static void free_blocks(const TampArena *arena, TampBlock *block) {
  while (block != NULL) {
    TampBlock *older = block->older;
    free_block(arena, block);
    block = older;
  }
}

void tamp_arena_init(TampArena *arena, TampAllocator allocator) {
  *arena = (TampArena){.allocator = allocator, .chunks = NULL, .arrays = NULL, .used = 0};
}

void tamp_arena_free(TampArena *arena) {
  free_blocks(arena, arena->chunks);
  free_blocks(arena, arena->arrays);
  tamp_arena_init(arena, arena->allocator);
}

static size_t next_chunk_size(const TampArena *arena) {
  if (arena->chunks == NULL) return MIN_CHUNK - HEADER;
  const size_t doubled = 2 * (arena->chunks->size + HEADER);
  return (doubled < MAX_CHUNK ? doubled : MAX_CHUNK) - HEADER;
}

/* Puts a new regular chunk of at least `size` bytes in front. */
static bool add_chunk(TampArena *arena, size_t size) {
  const size_t ordinary = next_chunk_size(arena);
  TampBlock *chunk = resize_block(arena, NULL, size > ordinary ? size : ordinary);
  if (chunk == NULL) return false;
  chunk->older = arena->chunks;
  chunk->newer = NULL;
  chunk->stamp = 0;
  arena->chunks = chunk;
  arena->used = 0;
  return true;
}

static size_t room(const TampArena *arena) {
  return arena->chunks == NULL ? 0 : arena->chunks->size - arena->used;
}

static void *alloc_own_chunk(TampArena *arena, size_t size) {
  if (room(arena) < PIECE_ALIGNMENT && !add_chunk(arena, 0)) return NULL;
  TampBlock *chunk = resize_block(arena, NULL, size);
  if (chunk == NULL) return NULL;
  arena->used += PIECE_ALIGNMENT;
  chunk->stamp = arena->used;
  chunk->newer = NULL;
  chunk->older = arena->chunks->older;
  arena->chunks->older = chunk;
  return block_bytes(chunk);
}

void *tamp_arena_alloc(TampArena *arena, size_t size) {
  if (size > SIZE_MAX - PIECE_ALIGNMENT) return NULL;
  size = (size + PIECE_ALIGNMENT - 1) & ~(PIECE_ALIGNMENT - 1);
  if (size == 0) size = PIECE_ALIGNMENT;
  if (size > room(arena)) {
    if (size > next_chunk_size(arena) / 4) return alloc_own_chunk(arena, size);
    if (!add_chunk(arena, size)) return NULL;
  }
  void *piece = block_bytes(arena->chunks) + arena->used;
  arena->used += size;
  return piece;
}

uint8_t *tamp_arena_room(TampArena *arena, size_t size, size_t keep, size_t *capacity) {
  if (size > SIZE_MAX - HEADER - PIECE_ALIGNMENT) return NULL;
  const size_t needed = (size + PIECE_ALIGNMENT - 1) & ~(PIECE_ALIGNMENT - 1);
  if (needed > room(arena) || arena->chunks == NULL) {
    const uint8_t *old = arena->chunks == NULL ? NULL : block_bytes(arena->chunks) + arena->used;
    if (!add_chunk(arena, needed)) return NULL;
    if (old != NULL && keep > 0) memcpy(block_bytes(arena->chunks), old, keep);
  }
  *capacity = room(arena) & ~(PIECE_ALIGNMENT - 1);
  return block_bytes(arena->chunks) + arena->used;
}

void *tamp_arena_take(TampArena *arena, size_t length) {
  void *piece = block_bytes(arena->chunks) + arena->used;
  arena->used += (length + PIECE_ALIGNMENT - 1) & ~(PIECE_ALIGNMENT - 1);
  return piece;
}

TampMark tamp_arena_mark(const TampArena *arena) {
  return (TampMark){arena->chunks, arena->used};
}

void tamp_arena_reset(TampArena *arena, TampMark mark) {
  while (arena->chunks != mark.chunk) {
    TampBlock *older = arena->chunks->older;
    free_block(arena, arena->chunks);
    arena->chunks = older;
  }
  arena->used = mark.used;
  if (mark.chunk == NULL) return;
  while (mark.chunk->older != NULL && mark.chunk->older->stamp > mark.used) {
    TampBlock *own = mark.chunk->older;
    mark.chunk->older = own->older;
    free_block(arena, own);
  }
}

TampStatus tamp_arena_grow(TampArena *arena, void **items, uint32_t *capacity, size_t needed,
                           size_t item_size) {
  if (needed <= *capacity) return TAMP_OK;
  if (needed > UINT32_MAX) return TAMP_TOO_LARGE;
  const size_t bytes = *capacity * item_size;
  size_t count = (size_t)*capacity + *capacity / (bytes < LARGE_ARRAY ? 2u : bytes < 8 * LARGE_ARRAY ? 4u : 8u);
  if (count < MIN_ARRAY_BYTES / item_size) count = MIN_ARRAY_BYTES / item_size;
  if (count < needed) count = needed;
  if (count > UINT32_MAX) count = UINT32_MAX;
  if (count > SIZE_MAX / item_size) count = needed;
  if (count > SIZE_MAX / item_size) return TAMP_NO_MEMORY;

  TampBlock *old = *items == NULL ? NULL : block_of(*items);
  TampBlock *block = resize_block(arena, old, count * item_size);
  if (block == NULL) return TAMP_NO_MEMORY;
  if (old == NULL) {
    block->stamp = 0;
    block->newer = NULL;
    block->older = arena->arrays;
  }
  if (block->newer != NULL)
    block->newer->older = block;
  else
    arena->arrays = block;
  if (block->older != NULL) block->older->newer = block;
  *items = block_bytes(block);
  *capacity = (uint32_t)count;
  return TAMP_OK;
}

void tamp_arena_drop(TampArena *arena, void *items) {
  if (items == NULL) return;
  TampBlock *block = block_of(items);
  if (block->newer != NULL)
    block->newer->older = block->older;
  else
    arena->arrays = block->older;
  if (block->older != NULL) block->older->newer = block->newer;
  free_block(arena, block);
}

static size_t blocks_size(const TampBlock *block) {
  size_t size = 0;
  for (; block != NULL; block = block->older) size += HEADER + block->size;
  return size;
}

size_t tamp_arena_size(const TampArena *arena) {
  return blocks_size(arena->chunks) + blocks_size(arena->arrays);
}
