/* Any bytes as a policy. What is accepted is run on a small history that has something for every strategy;
 * what is refused must say why in JSON. Answers to summaries are the bytes of the input themselves. */
#include <stdlib.h>
#include <string.h>

#include "../../src/tamp.h"

static const char messages[] =
    "[{\"id\":\"s\",\"role\":\"system\",\"content\":\"Be brief.\"},"
    "{\"id\":\"u1\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Read src/a.c, please. \\u00e9\"},"
    "{\"type\":\"image\",\"source\":{\"type\":\"data\",\"mimeType\":\"image/png\",\"value\":\"AAAA\"}}]},"
    "{\"id\":\"r1\",\"role\":\"reasoning\",\"content\":\"Where is it?\"},"
    "{\"id\":\"k1\",\"role\":\"assistant\",\"toolCalls\":[{\"id\":\"x\",\"type\":\"function\",\"function\":{"
    "\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"src/a.c\\\",\\\"n\\\":[1,{\\\"a\\\":2}]}\"}}]},"
    "{\"id\":\"t1\",\"role\":\"tool\",\"toolCallId\":\"x\",\"content\":\"int main(void) { return 0; } and more\"},"
    "{\"id\":\"k2\",\"role\":\"assistant\",\"toolCalls\":[{\"id\":\"y\",\"type\":\"function\",\"function\":{"
    "\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"src/a.c\\\"}\"}}]},"
    "{\"id\":\"t2\",\"role\":\"tool\",\"toolCallId\":\"y\",\"content\":\"int main(void) { return 1; } and more\"},"
    "{\"id\":\"a1\",\"role\":\"assistant\",\"content\":\"It returns 1. 0123456789 0123456789 0123456789\"},"
    "{\"id\":\"u2\",\"role\":\"user\",\"content\":\"Thanks.\"},"
    "{\"id\":\"a2\",\"role\":\"assistant\",\"content\":\"You are welcome.\"}]";

static void require(bool held) {
  if (!held) abort();
}

static bool is_array_of_problems(TampText json) {
  TampCursor cursor = tamp_cursor(json.bytes, 0, json.length, false);
  TampValue whole;
  return tamp_cursor_value(&cursor, &whole) && tamp_cursor_end(&cursor) && whole.type == TAMP_JSON_ARRAY &&
         whole.length > 2;
}

static void run(const TampPolicy *policy, TampText answer) {
  static const TampOptions options = {0};
  enum { MOST_ANSWERS = 8 };
  TampAnswer answers[MOST_ANSWERS];
  TampHistory *history = NULL;
  uint32_t index;
  TampFault fault;
  require(tamp_history_new(tamp_default_allocator(), &tamp_format_ag_ui, &history) == TAMP_OK);
  TampText list = {(const uint8_t *)messages, sizeof messages - 1};
  require(tamp_history_append_array(history, list, &index, &fault) == TAMP_OK);
  for (uint32_t count = 0; count <= MOST_ANSWERS; count++) {
    TampPlan *plan = NULL;
    TampStatus status = tamp_history_plan(history, tamp_history_length(history), policy, &options, answers,
                                          count, &plan);
    if (status == TAMP_OK) {
      const TampPlanView *view = tamp_plan_view(plan);
      require(view->count > 0 && view->before == 10);
      require(view->changed || view->count == view->input_count);
    }
    tamp_plan_free(plan);
    if (status != TAMP_NEEDS_SUMMARY) break;
    require(tamp_policy_asks(policy));
    if (count < MOST_ANSWERS) answers[count] = (TampAnswer){answer, count % 4 == 3};
  }
  tamp_history_free(history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  const TampPolicy *policy;
  TampText problems;
  TampStatus status = tamp_policy_read((TampText){data, size}, &arena, &policy, &problems);
  require(status == TAMP_OK || status == TAMP_BAD_POLICY);
  require((status == TAMP_OK) == (policy != NULL));
  if (policy) {
    run(policy, (TampText){data, size});
  } else {
    require(is_array_of_problems(problems));
  }
  tamp_arena_free(&arena);
  return 0;
}
