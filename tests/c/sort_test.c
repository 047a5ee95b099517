#include "../../src/sort.h"

#include <stdint.h>

#include "test.h"

enum { MOST = 300 };

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
  random_state = random_state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)random_state * limit) >> 32);
}

static bool is_smaller(const void *a, const void *b) {
  return *(const uint32_t *)a < *(const uint32_t *)b;
}

/* The same whatever the order, and hardly the same for other numbers. */
static uint64_t checksum(const uint32_t *numbers, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += (uint64_t)numbers[i] * numbers[i] + 1;
  return sum;
}

int main(void) {
  TEST("items are in order and are those that were given, whatever their number and order");
  for (uint32_t count = 0; count < MOST; count++) {
    for (uint32_t distinct = 1; distinct <= 1u << 20; distinct <<= 5) {
      uint32_t numbers[MOST];
      for (uint32_t i = 0; i < count; i++) numbers[i] = random_below(distinct);
      uint64_t before = checksum(numbers, count);
      tamp_sort(numbers, count, sizeof *numbers, is_smaller);
      bool ordered = true;
      for (uint32_t i = 1; i < count; i++) ordered = ordered && numbers[i - 1] <= numbers[i];
      CHECK(ordered);
      CHECK(checksum(numbers, count) == before);
    }
  }

  TEST("no items are in order");
  tamp_sort(NULL, 0, sizeof(uint32_t), is_smaller);
  return test_end();
}
