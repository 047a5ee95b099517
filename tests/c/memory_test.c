#include "../../src/memory.h"

#include "allocator.h"
#include "test.h"

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)random_state * limit) >> 32);
}

static void pieces(void) {
  TEST("pieces are aligned to 8 and do not overlap, whatever their sizes");
  TestHeap heap = {0};
  TampArena arena;
  tamp_arena_init(&arena, test_heap_allocator(&heap));
  enum { COUNT = 600 };
  static uint8_t *piece[COUNT];
  static size_t size[COUNT];
  for (int i = 0; i < COUNT; i++) {
    size[i] = random_below(10) == 0 ? random_below(300000) : random_below(2000);
    piece[i] = tamp_arena_alloc(&arena, size[i]);
    if (!CHECK(piece[i] != NULL)) return;
    CHECK((uintptr_t)piece[i] % 8 == 0);
    memset(piece[i], i & 0xff, size[i]);
  }
  for (int i = 0; i < COUNT; i++) {
    bool kept = true;
    for (size_t k = 0; k < size[i]; k++) kept = kept && piece[i][k] == (i & 0xff);
    CHECK(kept);
  }
  CHECK(tamp_arena_alloc(&arena, 0) != NULL);
  CHECK(tamp_arena_alloc(&arena, SIZE_MAX) == NULL);
  CHECK(tamp_arena_alloc(&arena, SIZE_MAX - 40) == NULL);
  tamp_arena_free(&arena);
  CHECK(heap.live == 0);
  CHECK(tamp_arena_size(&arena) == 0);

  TEST("a large piece leaves the chunk in use to the small ones after it");
  CHECK(tamp_arena_alloc(&arena, 8) != NULL);
  for (int i = 0; i < 20; i++) {
    CHECK(tamp_arena_alloc(&arena, 100000) != NULL);
    CHECK(tamp_arena_alloc(&arena, 8) != NULL);
  }
  CHECK(heap.live == 21);
  CHECK(tamp_arena_size(&arena) < 21 * 110000);
  tamp_arena_free(&arena);
  CHECK(heap.live == 0);
}

static void marks(void) {
  TEST("a reset frees what came after the mark, and nothing else");
  TestHeap heap = {0};
  TampArena arena;
  tamp_arena_init(&arena, test_heap_allocator(&heap));
  TampMark empty = tamp_arena_mark(&arena);

  enum { LEVELS = 200 };
  static TampMark mark[LEVELS];
  static long live[LEVELS];
  static size_t total[LEVELS];
  static uint8_t *piece[LEVELS];
  for (int i = 0; i < LEVELS; i++) {
    mark[i] = tamp_arena_mark(&arena);
    live[i] = heap.live;
    total[i] = tamp_arena_size(&arena);
    const size_t size = i % 3 == 0 ? 200000 + (size_t)i : 5000;
    piece[i] = tamp_arena_alloc(&arena, size);
    if (!CHECK(piece[i] != NULL)) return;
    memset(piece[i], i, size);
  }
  for (int i = LEVELS - 1; i > 0; i -= 1 + (int)random_below(5)) {
    tamp_arena_reset(&arena, mark[i]);
    CHECK(heap.live == live[i]);
    CHECK(tamp_arena_size(&arena) == total[i]);
    CHECK(piece[i - 1][0] == (uint8_t)(i - 1));
  }
  tamp_arena_reset(&arena, empty);
  CHECK(heap.live == 0);
  CHECK(tamp_arena_alloc(&arena, 100) != NULL);
  CHECK(heap.live == 1);

  TEST("a large piece made right after a mark goes with it, one made right before it stays");
  CHECK(tamp_arena_alloc(&arena, 100000) != NULL);
  TampMark between = tamp_arena_mark(&arena);
  CHECK(tamp_arena_alloc(&arena, 100000) != NULL);
  CHECK(heap.live == 3);
  tamp_arena_reset(&arena, between);
  CHECK(heap.live == 2);
  tamp_arena_free(&arena);
  CHECK(heap.live == 0);
}

static void rooms(void) {
  TEST("a piece may be filled before its size is known, and moves as it grows");
  TestHeap heap = {0};
  TampArena arena;
  tamp_arena_init(&arena, test_heap_allocator(&heap));
  for (size_t length = 0; length < 3000000; length = length * 3 + 1) {
    CHECK(tamp_arena_alloc(&arena, 24) != NULL);
    size_t capacity = 0, filled = 0;
    uint8_t *room = tamp_arena_room(&arena, 1, 0, &capacity);
    while (room != NULL && filled < length) {
      if (filled == capacity) room = tamp_arena_room(&arena, capacity * 2, filled, &capacity);
      if (room != NULL) room[filled] = (uint8_t)(filled * 7);
      filled++;
    }
    const uint8_t *piece = tamp_arena_take(&arena, length);
    const uint8_t *next = tamp_arena_alloc(&arena, 8);
    if (!CHECK(room != NULL && capacity >= length && piece == room && next != NULL)) return;
    CHECK((uintptr_t)piece % 8 == 0 && (next >= piece + length || next + 8 <= piece));
    bool kept = true;
    for (size_t i = 0; i < length; i++) kept = kept && piece[i] == (uint8_t)(i * 7);
    CHECK(kept);
  }
  size_t capacity = 0;
  CHECK(tamp_arena_room(&arena, SIZE_MAX, 0, &capacity) == NULL);
  CHECK(tamp_arena_room(&arena, SIZE_MAX - 20, 0, &capacity) == NULL);
  tamp_arena_free(&arena);
  CHECK(heap.live == 0);
}

static void arrays(void) {
  TEST("an array keeps its items when it grows, and any array can be given back first");
  TestHeap heap = {0};
  TampArena arena;
  tamp_arena_init(&arena, test_heap_allocator(&heap));
  enum { COUNT = 5 };
  uint32_t *items[COUNT] = {NULL};
  uint32_t capacity[COUNT] = {0};
  for (uint32_t n = 0; n < 3000; n++) {
    for (int a = 0; a < COUNT; a++) {
      void *block = items[a];
      CHECK(tamp_arena_grow(&arena, &block, &capacity[a], n + 1, sizeof(uint32_t)) == TAMP_OK);
      items[a] = block;
      items[a][n] = n * (uint32_t)(a + 1);
    }
  }
  for (int a = 0; a < COUNT; a++) {
    CHECK((uintptr_t)items[a] % 16 == 0);
    CHECK(items[a][2999] == 2999u * (uint32_t)(a + 1) && items[a][7] == 7u * (uint32_t)(a + 1));
  }
  CHECK(heap.calls < 150);
  static const int order[COUNT] = {2, 0, 4, 1, 3};
  for (int i = 0; i < COUNT - 1; i++) {
    tamp_arena_drop(&arena, items[order[i]]);
    CHECK(heap.live == COUNT - 1 - i);
  }
  tamp_arena_drop(&arena, NULL);
  TampMark mark = tamp_arena_mark(&arena);
  tamp_arena_reset(&arena, mark);
  CHECK(items[3][2999] == 2999u * 4);
  tamp_arena_free(&arena);
  CHECK(heap.live == 0);

  TEST("a count over 32 bits or over the address space is refused and changes nothing");
  void *block = NULL;
  uint32_t small = 0;
  CHECK(tamp_arena_grow(&arena, &block, &small, 0, 8) == TAMP_OK && block == NULL);
  CHECK(tamp_arena_grow(&arena, &block, &small, (size_t)UINT32_MAX, SIZE_MAX / 16) ==
        TAMP_NO_MEMORY);
#if SIZE_MAX > UINT32_MAX
  CHECK(tamp_arena_grow(&arena, &block, &small, (size_t)UINT32_MAX + 1, 1) == TAMP_TOO_LARGE);
#endif
  CHECK(block == NULL && small == 0 && heap.live == 0);
}

static void failures(void) {
  TEST("a failed allocation anywhere leaves the arena usable and nothing behind");
  for (long fail_at = 1; fail_at < 60; fail_at++) {
    TestHeap heap = {.fail_at = fail_at};
    TampArena arena;
    tamp_arena_init(&arena, test_heap_allocator(&heap));
    void *items = NULL;
    uint32_t capacity = 0;
    int failed = 0;
    for (size_t i = 0; i < 25; i++) {
      const void *before = items;
      const uint32_t had = capacity;
      if (tamp_arena_grow(&arena, &items, &capacity, i * i * 100, 4) != TAMP_OK) {
        CHECK(items == before && capacity == had);
        failed++;
      }
      const TampMark mark = tamp_arena_mark(&arena);
      uint8_t *piece = tamp_arena_alloc(&arena, 30000 * (i % 4) + 1);
      if (piece == NULL)
        failed++;
      else
        piece[0] = 1;
      if (i % 5 == 0) tamp_arena_reset(&arena, mark);
    }
    CHECK(failed == 1 || heap.calls < fail_at);
    tamp_arena_free(&arena);
    CHECK(heap.live == 0);
  }
}

int main(void) {
  pieces();
  marks();
  rooms();
  arrays();
  failures();
  return test_end();
}
