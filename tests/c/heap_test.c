/* The heap that the Wasm stands on, over a stretch of memory whose growth the test allows or refuses. */
#include "../../src/heap.h"

#include <stdlib.h>

#include "test.h"

enum { ROOM = 1 << 22, PAGE = 4096 };

typedef struct Stretch {
  TampHeap heap;
  uint8_t *bytes;
  size_t limit; /* bytes the stretch may have */
} Stretch;

static uint8_t *extend(void *context, size_t size) {
  Stretch *stretch = context;
  size_t have = (size_t)(stretch->heap.end - stretch->bytes);
  if (size > stretch->limit - have) return NULL;
  size = (size + PAGE - 1) / PAGE * PAGE;
  if (size > stretch->limit - have) size = stretch->limit - have;
  return stretch->heap.end + size;
}

static bool begin(Stretch *stretch, size_t limit) {
  uint8_t *bytes = aligned_alloc(16, ROOM);
  *stretch = (Stretch){.heap = {.extend = extend, .context = stretch, .end = bytes},
                       .bytes = bytes,
                       .limit = limit};
  return CHECK(bytes != NULL);
}

static size_t taken(const Stretch *stretch) {
  return (size_t)(stretch->heap.end - stretch->bytes);
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)random_state * limit) >> 32);
}

typedef struct Live {
  uint8_t *bytes;
  size_t size;
  uint8_t mark;
} Live;

static bool holds_mark(const Live *live, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (live->bytes[i] != live->mark) return false;
  }
  return true;
}

/* One allocation, resize or free. */
static void act(Stretch *stretch, Live *live, uint32_t largest) {
  size_t size = random_below(3) == 0 ? 0 : 1 + random_below(random_below(8) ? 200 : largest);
  uint8_t *bytes = tamp_heap_resize(&stretch->heap, live->bytes, size);
  if (bytes == NULL && size > 0) {
    CHECK(live->bytes == NULL || holds_mark(live, live->size));
    return;
  }
  size_t kept = live->size < size ? live->size : size;
  live->bytes = bytes;
  CHECK((uintptr_t)bytes % 16 == 0);
  CHECK(holds_mark(live, kept));
  live->size = size;
  live->mark = (uint8_t)random_below(256);
  if (size > 0) memset(bytes, live->mark, size);
}

static void blocks(void) {
  enum { COUNT = 300, ACTS = 60000 };
  static Live live[COUNT];
  Stretch stretch;
  if (!begin(&stretch, ROOM / 2)) return;
  TEST("blocks lie on 16 bytes, keep what is in them and do not overlap, full or not");
  for (int i = 0; i < ACTS; i++) act(&stretch, &live[random_below(COUNT)], 60000);
  bool fine = true;
  for (int i = 0; i < COUNT; i++) fine = fine && holds_mark(&live[i], live[i].size);
  CHECK(fine);

  TEST("freed blocks join into one, whatever the order");
  for (int i = 0; i < COUNT; i++) {
    int at = (i * 7 + 3) % COUNT;
    CHECK(tamp_heap_resize(&stretch.heap, live[at].bytes, 0) == NULL);
  }
  size_t all = taken(&stretch);
  CHECK(tamp_heap_resize(&stretch.heap, NULL, all - 64) != NULL);
  CHECK(taken(&stretch) == all);
  free(stretch.bytes);
}

static void places(void) {
  Stretch stretch;
  if (!begin(&stretch, ROOM)) return;
  TampHeap *heap = &stretch.heap;
  TEST("the last block grows where it is");
  uint8_t *first = tamp_heap_resize(heap, NULL, 100);
  uint8_t *last = tamp_heap_resize(heap, NULL, 100);
  for (size_t size = 256; size <= ROOM / 2; size *= 2) {
    CHECK(tamp_heap_resize(heap, last, size) == last);
  }

  TEST("a block grows into free space behind it");
  uint8_t *third = tamp_heap_resize(heap, NULL, 100);
  CHECK(tamp_heap_resize(heap, last, 1000) == last);
  CHECK(tamp_heap_resize(heap, last, ROOM / 2) == last);

  TEST("a block that cannot grow moves with what it holds, and what it leaves is used again");
  memset(first, 42, 100);
  uint8_t *moved = tamp_heap_resize(heap, first, 5000);
  CHECK(moved != NULL && moved != first && moved[0] == 42 && moved[99] == 42);
  CHECK(tamp_heap_resize(heap, NULL, 90) == first);

  TEST("memory is taken again before more of it is asked for");
  size_t before = taken(&stretch);
  for (int i = 0; i < 1000; i++) {
    third = tamp_heap_resize(heap, third, 0);
    third = tamp_heap_resize(heap, NULL, 1 + random_below(1000));
  }
  CHECK(taken(&stretch) == before);
  free(stretch.bytes);
}

static void refusals(void) {
  Stretch stretch;
  if (!begin(&stretch, PAGE)) return;
  TampHeap *heap = &stretch.heap;
  TEST("what there is no room for is refused, sizes that overflow too, and blocks stay as they were");
  CHECK(tamp_heap_resize(heap, NULL, PAGE) == NULL);
  uint8_t *block = tamp_heap_resize(heap, NULL, 1000);
  if (!CHECK(block != NULL)) return;
  memset(block, 7, 1000);
  CHECK(tamp_heap_resize(heap, block, PAGE) == NULL);
  CHECK(tamp_heap_resize(heap, block, SIZE_MAX) == NULL);
  CHECK(tamp_heap_resize(heap, block, SIZE_MAX - 15) == NULL);
  CHECK(tamp_heap_resize(heap, NULL, SIZE_MAX - 40) == NULL);
  CHECK(block[0] == 7 && block[999] == 7);

  TEST("freeing nothing is nothing");
  CHECK(tamp_heap_resize(heap, NULL, 0) == NULL);
  CHECK(tamp_heap_resize(heap, NULL, 3000) != NULL);
  free(stretch.bytes);
}

int main(void) {
  blocks();
  places();
  refusals();
  return test_end();
}
