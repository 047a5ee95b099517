/* The least a test needs. A test program calls TEST with a sentence that states the requirement, checks with
 * CHECK, and ends main with `return test_end();`, which is 0 when every check held. */
#ifndef TAMP_TEST_H
#define TAMP_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct TestState {
  const char *title;
  int tests;
  int failures;
} TestState;

static TestState test_state;

static inline void test_begin(const char *title) {
  test_state.title = title;
  test_state.tests++;
}

static inline bool test_check(bool held, const char *condition, const char *file, int line) {
  if (!held) {
    test_state.failures++;
    fprintf(stderr, "%s:%d: %s: not true: %s\n", file, line,
            test_state.title == NULL ? "?" : test_state.title, condition);
  }
  return held;
}

static inline int test_end(void) {
  printf("%d tests, %d failures\n", test_state.tests, test_state.failures);
  return test_state.failures == 0 ? 0 : 1;
}

#define TEST(title) test_begin(title)

/* Gives whether the condition held, so that a test can stop where going on makes no sense. */
#define CHECK(condition) test_check((condition), #condition, __FILE__, __LINE__)

#endif
