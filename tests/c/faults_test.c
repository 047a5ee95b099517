/* Every allocation fails once, in every function of tamp.h that allocates: the answer is TAMP_NO_MEMORY, nothing
 * leaks, and the history is what it was, so that the same call succeeds when there is memory again. */
#include "../../src/tamp.h"

#include <cJSON.h>

#include "allocator.h"
#include "test.h"

enum { MOST_CALLS = 5000, OUT = 1 << 16 };

static const TampOptions none = {0};

typedef struct Case {
  const TampFormat *format;
  const char *messages;
  const char *more; /* one message */
} Case;

#define LONG "0123456789 the quick brown fox jumps over the lazy dog 0123456789 the quick brown fox jumps over the lazy dog "

static const Case cases[] = {
    {&tamp_format_ag_ui,
     "[{\"id\":\"s\",\"role\":\"system\",\"content\":\"Be brief.\"},"
     "{\"id\":\"u1\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Read src/a.c. \\u00e9\"},"
     "{\"type\":\"image\",\"source\":{\"type\":\"data\",\"mimeType\":\"image/png\",\"value\":\"AAAA\"}}]},"
     "{\"id\":\"r1\",\"role\":\"reasoning\",\"content\":\"" LONG "\"},"
     "{\"id\":\"k1\",\"role\":\"assistant\",\"content\":\"" LONG "\",\"toolCalls\":[{\"id\":\"x\",\"type\":\"function\","
     "\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"src/a.c\\\"}\"}},{\"id\":\"z\",\"type\":"
     "\"function\",\"function\":{\"name\":\"grep\",\"arguments\":\"{}\"}}]},"
     "{\"id\":\"t1\",\"role\":\"tool\",\"toolCallId\":\"x\",\"content\":\"" LONG LONG "\"},"
     "{\"id\":\"c1\",\"role\":\"activity\",\"activityType\":\"plan\",\"content\":{}},"
     "{\"id\":\"k2\",\"role\":\"assistant\",\"toolCalls\":[{\"id\":\"y\",\"type\":\"function\",\"function\":{\"name\":"
     "\"read\",\"arguments\":\"{\\\"path\\\":\\\"src/a.c\\\"}\"}}]},"
     "{\"id\":\"t2\",\"role\":\"tool\",\"toolCallId\":\"y\",\"content\":\"" LONG LONG LONG "\"},"
     "{\"id\":\"t3\",\"role\":\"tool\",\"toolCallId\":\"lost\",\"content\":\"an orphan\"},"
     "{\"id\":\"a1\",\"role\":\"assistant\",\"content\":\"" LONG LONG "\"},"
     "{\"id\":\"u2\",\"role\":\"user\",\"content\":\"Thanks.\"},"
     "{\"id\":\"a2\",\"role\":\"assistant\",\"content\":\"You are welcome.\"}]",
     "{\"id\":\"k3\",\"role\":\"assistant\",\"content\":\"\\u00e9\",\"toolCalls\":[{\"id\":\"n\\u00e9w\",\"type\":"
     "\"function\",\"function\":{\"name\":\"fresh\",\"arguments\":\"{}\"}}]}"},
    {&tamp_format_openai,
     "[{\"role\":\"developer\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"Read src/a.c.\"},"
     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"x\",\"type\":\"function\",\"function\":{"
     "\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"src/a.c\\\"}\"}}]},"
     "{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"" LONG LONG "\"},"
     "{\"role\":\"assistant\",\"content\":\"" LONG LONG "\"},{\"role\":\"user\",\"content\":\"Thanks.\"},"
     "{\"role\":\"assistant\",\"content\":\"You are welcome.\"}]",
     "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\\u00e9\"}]}"},
    {&tamp_format_anthropic,
     "[{\"role\":\"user\",\"content\":\"Read src/a.c.\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\","
     "\"thinking\":\"" LONG "\",\"signature\":\"AA\"},{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"read\",\"input\":{"
     "\"path\":\"src/a.c\"}},{\"type\":\"tool_use\",\"id\":\"y\",\"name\":\"grep\",\"input\":{}}]},"
     "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"x\",\"content\":\"" LONG LONG "\"},"
     "{\"type\":\"tool_result\",\"tool_use_id\":\"y\",\"content\":\"" LONG "\"},{\"type\":\"text\",\"text\":\"Go on.\"}]},"
     "{\"role\":\"assistant\",\"content\":\"" LONG LONG "\"},{\"role\":\"user\",\"content\":\"Thanks.\"},"
     "{\"role\":\"assistant\",\"content\":\"You are welcome.\"}]",
     "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"n\\u00e9w\"},{\"type\":\"text\","
     "\"text\":\"\\u00e9\"}]}"},
    {&tamp_format_ai_sdk_ui,
     "[{\"id\":\"u1\",\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"Read src/a.c.\"}]},"
     "{\"id\":\"a1\",\"role\":\"assistant\",\"parts\":[{\"type\":\"step-start\"},{\"type\":\"tool-read\",\"toolCallId\":"
     "\"x\",\"state\":\"output-available\",\"input\":{\"path\":\"src/a.c\"},\"output\":\"" LONG LONG "\"},"
     "{\"type\":\"step-start\"},{\"type\":\"tool-grep\",\"toolCallId\":\"y\",\"state\":\"input-available\",\"input\":{}},"
     "{\"type\":\"step-start\"},{\"type\":\"text\",\"text\":\"" LONG "\"}]},"
     "{\"id\":\"u2\",\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"Thanks.\"}]},"
     "{\"id\":\"a2\",\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"text\":\"You are welcome.\"}]}]",
     "{\"id\":\"a3\",\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"text\":\"\\u00e9\"},{\"type\":\"tool-fresh\","
     "\"toolCallId\":\"n\\u00e9w\",\"state\":\"input-available\",\"input\":{}}]}"},
};

enum { CASES = sizeof cases / sizeof *cases };

/* Every strategy, and what holds strategies. */
static const char *const policies[] = {
    "{\"strategy\":\"sliding-window\",\"keepMessages\":2}",
    "{\"strategy\":\"sliding-window\",\"maxTokens\":100,\"keepTokens\":20,\"keepFirstUser\":false}",
    "{\"strategy\":\"truncation\",\"maxTokens\":30,\"toTokens\":10}",
    "{\"strategy\":\"context-window\",\"maxContextWindowTokens\":150,\"maxOutputTokens\":20}",
    "{\"strategy\":\"tool-results\",\"keepLastToolCallGroups\":0,\"maxChars\":60}",
    "{\"strategy\":\"drop-tool-calls\",\"keepLastToolCallGroups\":0,\"tools\":[\"read\",\"grep\"]}",
    "{\"strategy\":\"clear-tool-results\",\"keepLast\":0,\"clearInputs\":true,\"excludeTools\":[\"grep\"]}",
    "{\"strategy\":\"dedupe-tool-results\",\"tools\":{\"read\":\"path\"}}",
    "{\"strategy\":\"clamp\",\"maxChars\":60,\"headChars\":9,\"tailChars\":9,\"roles\":[\"assistant\",\"tool\",\"user\","
    "\"reasoning\"]}",
    "{\"strategy\":\"strip-binary\",\"keepLastTurns\":0}",
    "{\"strategy\":\"drop-reasoning\",\"keepLastTurns\":0}",
    "{\"strategy\":\"summarize\",\"keepMessages\":1,\"maxInputTokens\":60}",
    "{\"strategy\":\"digest\",\"keepMessages\":1,\"maxSummaryTokens\":40}",
    "{\"strategy\":\"repair\",\"head\":\"user\"}",
    "{\"strategy\":\"repair\",\"staleCalls\":\"drop\"}",
    "{\"strategy\":\"budget\",\"maxTokens\":40,\"steps\":[{\"strategy\":\"tool-results\"},{\"strategy\":\"truncation\","
    "\"maxMessages\":4,\"toMessages\":2}]}",
    "[{\"strategy\":\"drop-reasoning\",\"when\":{\"all\":[{\"tokensOver\":1},{\"hasToolCalls\":true}]}},"
    "{\"strategy\":\"sliding-window\",\"keepTurns\":1}]",
};

enum { POLICIES = sizeof policies / sizeof *policies };

static TampText text_of(const char *string) {
  return (TampText){(const uint8_t *)string, strlen(string)};
}

static int64_t count_bytes(void *context, TampText text) {
  (void)context;
  return (int64_t)text.length;
}

/* From here on the heap's nth call fails, and with `sticky` every one behind it. */
static void fail_from(TestHeap *heap, long nth, bool sticky) {
  heap->calls = 0;
  heap->fail_at = nth;
  heap->sticky = sticky;
}

static bool has_failed(const TestHeap *heap) {
  return heap->fail_at != 0 && heap->calls >= heap->fail_at;
}

static void add(char *out, TampText text) {
  size_t length = strlen(out);
  if (length + text.length + 2 > OUT) return;
  if (text.length > 0) memcpy(out + length, text.bytes, text.length);
  strcpy(out + length + text.length, "\n");
}

/* All that can be seen of a history: its messages and what inspect says of them. */
static void look_at(TestHeap *heap, TampHistory *history, char *out) {
  TestHeap before = *heap;
  fail_from(heap, 0, false);
  out[0] = '\0';
  for (uint32_t i = 0; i < tamp_history_length(history); i++) add(out, tamp_history_message(history, i));
  TampArena arena;
  TampText json = {0};
  tamp_arena_init(&arena, test_heap_allocator(heap));
  CHECK(tamp_history_inspect(history, &none, &arena, &json) == TAMP_OK);
  add(out, json);
  tamp_arena_free(&arena);
  heap->calls = before.calls;
  heap->fail_at = before.fail_at;
  heap->sticky = before.sticky;
}

static TampHistory *open_history(TestHeap *heap, const Case *given) {
  TampHistory *history = NULL;
  uint32_t index;
  TampFault fault;
  fail_from(heap, 0, false);
  CHECK(tamp_history_new(test_heap_allocator(heap), given->format, &history) == TAMP_OK);
  CHECK(tamp_history_append_array(history, text_of(given->messages), &index, &fault) == TAMP_OK);
  return history;
}

static TampStatus append_one(TampHistory *history, const char *message) {
  uint8_t *room;
  size_t capacity, half = strlen(message) / 2;
  TampFault fault = {0};
  TampStatus status = tamp_history_room(history, half, 0, &room, &capacity);
  if (status) return status;
  memcpy(room, message, half);
  status = tamp_history_room(history, 40000, half, &room, &capacity);
  if (status) return status;
  memcpy(room + half, message + half, strlen(message) - half);
  return tamp_history_append(history, strlen(message), false, &fault);
}

static TampStatus append_all(TampHistory *history, const char *messages) {
  uint32_t index;
  TampFault fault;
  return tamp_history_append_array(history, text_of(messages), &index, &fault);
}

/* Runs `call` on the case's history with every allocation failing in turn. */
static void appends(const Case *given, TampStatus (*call)(TampHistory *, const char *), const char *text) {
  static char before[OUT], after[OUT], expected[OUT];
  TestHeap heap = {0};
  TampHistory *history = open_history(&heap, given);
  CHECK(call(history, text) == TAMP_OK);
  look_at(&heap, history, expected);
  tamp_history_free(history);
  for (int sticky = 0; sticky < 2; sticky++) {
    for (long nth = 1; nth < MOST_CALLS; nth++) {
      history = open_history(&heap, given);
      look_at(&heap, history, before);
      fail_from(&heap, nth, sticky == 1);
      TampStatus status = call(history, text);
      bool failed = has_failed(&heap);
      CHECK(status == (failed ? TAMP_NO_MEMORY : TAMP_OK));
      look_at(&heap, history, after);
      CHECK(strcmp(after, failed ? before : expected) == 0);
      if (failed) {
        fail_from(&heap, 0, false);
        CHECK(call(history, text) == TAMP_OK);
        look_at(&heap, history, after);
        CHECK(strcmp(after, expected) == 0);
      }
      tamp_history_free(history);
      CHECK(heap.live == 0);
      if (!failed) break;
      CHECK(nth + 1 < MOST_CALLS);
    }
  }
}

static void news(void) {
  TEST("a history that cannot be made is none");
  for (long nth = 1;; nth++) {
    TestHeap heap = {.fail_at = nth};
    TampHistory *history = (TampHistory *)&heap;
    TampStatus status = tamp_history_new(test_heap_allocator(&heap), &tamp_format_ag_ui, &history);
    bool failed = has_failed(&heap);
    CHECK(status == (failed ? TAMP_NO_MEMORY : TAMP_OK) && (history == NULL) == failed);
    tamp_history_free(history);
    CHECK(heap.live == 0);
    if (!failed) break;
  }
}

static void truncations(const Case *given) {
  TEST("forgetting messages needs no memory");
  static char expected[OUT], after[OUT];
  TestHeap heap = {0};
  for (uint32_t length = 0;; length++) {
    TampHistory *history = open_history(&heap, given);
    uint32_t whole = tamp_history_length(history);
    fail_from(&heap, 1, true);
    CHECK(tamp_history_truncate(history, length) == TAMP_OK);
    CHECK(tamp_history_length(history) == length);
    look_at(&heap, history, after);
    /* The same messages in a history that never had more. */
    TampHistory *fresh = NULL;
    fail_from(&heap, 0, false);
    CHECK(tamp_history_new(test_heap_allocator(&heap), given->format, &fresh) == TAMP_OK);
    for (uint32_t i = 0; i < length; i++) {
      TampText message = tamp_history_message(history, i);
      uint8_t *room;
      size_t capacity;
      TampFault fault;
      CHECK(tamp_history_room(fresh, message.length, 0, &room, &capacity) == TAMP_OK);
      memcpy(room, message.bytes, message.length);
      CHECK(tamp_history_append(fresh, message.length, false, &fault) == TAMP_OK);
    }
    look_at(&heap, fresh, expected);
    CHECK(strcmp(after, expected) == 0);
    tamp_history_free(fresh);
    tamp_history_free(history);
    CHECK(heap.live == 0);
    if (length == whole) break;
  }
}

static void looks(const Case *given) {
  TEST("inspecting and counting fail cleanly, with the caller's counter, usage and pins too");
  static char before[OUT], after[OUT];
  const TampText pins[] = {TAMP_TEXT("u1"), TAMP_TEXT("t1"), TAMP_TEXT("none")};
  const TampOptions options = {.counter = {count_bytes, NULL},
                               .has_usage = true,
                               .usage_message = TAMP_TEXT("a1"),
                               .usage_input = 500,
                               .pins = pins,
                               .pin_count = 3};
  TestHeap heap = {0};
  for (int counts = 0; counts < 2; counts++) {
    for (long nth = 1; nth < MOST_CALLS; nth++) {
      TampHistory *history = open_history(&heap, given);
      look_at(&heap, history, before);
      TampArena arena;
      TampText json;
      uint64_t tokens;
      tamp_arena_init(&arena, test_heap_allocator(&heap));
      fail_from(&heap, nth, nth % 2 == 0);
      TampStatus status = counts ? tamp_history_tokens(history, &options, &tokens)
                                 : tamp_history_inspect(history, &options, &arena, &json);
      bool failed = has_failed(&heap);
      CHECK(status == (failed ? TAMP_NO_MEMORY : TAMP_OK));
      tamp_arena_free(&arena);
      look_at(&heap, history, after);
      CHECK(strcmp(before, after) == 0);
      tamp_history_free(history);
      CHECK(heap.live == 0);
      if (!failed) break;
    }
  }
}

/* cJSON has an allocator of its own. */
static TestHeap json_heap;

static void *json_alloc(size_t size) {
  return test_heap_resize(&json_heap, NULL, size);
}

static void json_free(void *block) {
  if (block) test_heap_resize(&json_heap, block, 0);
}

static void policy_reads(const char *policy, bool good) {
  cJSON_Hooks hooks = {json_alloc, json_free};
  cJSON_InitHooks(&hooks);
  for (int ours = 0; ours < 2; ours++) {
    for (long nth = 1; nth < MOST_CALLS; nth++) {
      TestHeap heap = {0};
      TestHeap *failing = ours ? &heap : &json_heap;
      json_heap = (TestHeap){0};
      fail_from(failing, nth, nth % 2 == 0);
      TampArena arena;
      const TampPolicy *tree = NULL;
      TampText problems;
      tamp_arena_init(&arena, test_heap_allocator(&heap));
      TampStatus status = tamp_policy_read(text_of(policy), &arena, &tree, &problems);
      bool failed = has_failed(failing);
      CHECK(status == (failed ? TAMP_NO_MEMORY : good ? TAMP_OK : TAMP_BAD_POLICY));
      CHECK((status == TAMP_OK) == (tree != NULL));
      tamp_arena_free(&arena);
      CHECK(heap.live == 0 && json_heap.live == 0);
      if (!failed) break;
    }
  }
  cJSON_InitHooks(NULL);
}

/* Plans, asked questions answered, and reads the report. `out` is all that can be seen of what came of it. */
static TampStatus plan_and_report(TampHistory *history, const TampPolicy *policy, const TampOptions *options,
                                  char *out) {
  enum { MOST_ANSWERS = 16 };
  TampAnswer answers[MOST_ANSWERS];
  out[0] = '\0';
  for (uint32_t count = 0; count < MOST_ANSWERS; count++) {
    TampPlan *plan = (TampPlan *)&answers;
    TampStatus status =
        tamp_history_plan(history, tamp_history_length(history), policy, options, answers, count, &plan);
    CHECK((plan != NULL) == (status == TAMP_OK || status == TAMP_NEEDS_SUMMARY));
    if (status == TAMP_NEEDS_SUMMARY) {
      CHECK(tamp_plan_question(plan) != NULL);
      answers[count] = (TampAnswer){TAMP_TEXT("They read a file."), false};
      tamp_plan_free(plan);
      continue;
    }
    if (status) return status;
    const TampPlanView *view = tamp_plan_view(plan);
    for (uint32_t i = 0; i < view->count; i++) {
      uint32_t value = view->order[i];
      const TampPlanText *text = value < TAMP_PLAN_TEXT ? NULL : &view->texts[value - TAMP_PLAN_TEXT];
      add(out, text ? (TampText){text->bytes, text->length} : tamp_history_message(history, value));
    }
    TampText report;
    status = tamp_plan_report(plan, &report);
    if (!status) add(out, report);
    tamp_plan_free(plan);
    return status;
  }
  return TAMP_BAD_ARGUMENT;
}

static void plans(const Case *given, const char *text) {
  static char before[OUT], after[OUT], expected[OUT], got[OUT];
  const TampText pin = TAMP_TEXT("a1");
  const TampOptions options = {.pins = &pin, .pin_count = 1};
  TestHeap heap = {0};
  TampArena arena;
  const TampPolicy *policy = NULL;
  TampText problems;
  tamp_arena_init(&arena, tamp_default_allocator());
  CHECK(tamp_policy_read(text_of(text), &arena, &policy, &problems) == TAMP_OK);
  TampHistory *history = open_history(&heap, given);
  look_at(&heap, history, before);
  CHECK(plan_and_report(history, policy, &options, expected) == TAMP_OK);
  for (long nth = 1; nth < MOST_CALLS; nth++) {
    long live = heap.live;
    fail_from(&heap, nth, nth % 2 == 0);
    TampStatus status = plan_and_report(history, policy, &options, got);
    bool failed = has_failed(&heap);
    fail_from(&heap, 0, false);
    CHECK(status == (failed ? TAMP_NO_MEMORY : TAMP_OK));
    /* The history may have grown a table; it has lost none and nothing else is left. */
    CHECK(heap.live >= live && heap.live <= live + 4);
    look_at(&heap, history, after);
    CHECK(strcmp(before, after) == 0);
    if (!failed) {
      CHECK(strcmp(got, expected) == 0);
      break;
    }
    CHECK(nth + 1 < MOST_CALLS);
  }
  CHECK(plan_and_report(history, policy, &options, got) == TAMP_OK);
  CHECK(strcmp(got, expected) == 0);
  tamp_history_free(history);
  CHECK(heap.live == 0);
  tamp_arena_free(&arena);
}

int main(void) {
  news();
  TEST("a message that cannot be kept leaves the history as it was");
  for (int i = 0; i < CASES; i++) appends(&cases[i], append_one, cases[i].more);
  TEST("of an array that cannot be kept nothing stays");
  for (int i = 0; i < CASES; i++) appends(&cases[i], append_all, cases[i].messages);
  for (int i = 0; i < CASES; i++) truncations(&cases[i]);
  for (int i = 0; i < CASES; i++) looks(&cases[i]);
  TEST("a policy that cannot be read says so, whoever had no memory");
  for (int i = 0; i < POLICIES; i++) policy_reads(policies[i], true);
  policy_reads("{\"strategy\":\"clamp\",\"maxChars\":-1,\"x\":1.5,\"roles\":[\"nobody\"]}", false);
  policy_reads("not JSON", false);
  TEST("a plan that cannot be made leaves nothing, and is made when there is memory again");
  for (int i = 0; i < CASES; i++) {
    for (int k = 0; k < POLICIES; k++) plans(&cases[i], policies[k]);
  }
  return test_end();
}
