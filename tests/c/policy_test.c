/* Policies beyond the vectors: what the bytes of a text can do, and that no failure leaks or goes
 * unnoticed. */
#include "../../src/policy.h"

#include <stdlib.h>

#include "../../src/run.h"
#include "../../src/strategies/strategy.h"
#include "allocator.h"
#include "test.h"

typedef struct Reading {
  TampArena arena;
  TampStatus status;
  const TampPolicy *policy;
  char problems[1 << 14];
} Reading;

static void read_bytes(const char *bytes, size_t length, Reading *out) {
  TampText problems;
  tamp_arena_init(&out->arena, tamp_default_allocator());
  out->status = tamp_policy_read((TampText){(const uint8_t *)bytes, length}, &out->arena,
                                 &out->policy, &problems);
  size_t count =
      problems.length < sizeof out->problems ? problems.length : sizeof out->problems - 1;
  if (count > 0) memcpy(out->problems, problems.bytes, count);
  out->problems[count] = '\0';
}

static void read_policy(const char *json, Reading *out) {
  read_bytes(json, strlen(json), out);
}

/* Whether the policy is refused with a problem that is written so, and nothing but `count` of them.
 */
static bool refuses(const char *json, const char *problem, int count) {
  Reading reading;
  read_policy(json, &reading);
  int found = 0;
  for (const char *at = reading.problems; (at = strstr(at, "{\"path\":")) != NULL; at++) found++;
  bool held = reading.status == TAMP_BAD_POLICY && reading.policy == NULL && found == count &&
              strstr(reading.problems, problem) != NULL;
  if (!held) fprintf(stderr, "  %s\n  gives %s\n", json, reading.problems);
  tamp_arena_free(&reading.arena);
  return held;
}

static bool accepts(const char *json) {
  Reading reading;
  read_policy(json, &reading);
  bool held =
      reading.status == TAMP_OK && reading.policy != NULL && strcmp(reading.problems, "[]") == 0;
  if (!held) fprintf(stderr, "  %s\n  gives %s\n", json, reading.problems);
  tamp_arena_free(&reading.arena);
  return held;
}

static void test_values(void) {
  TEST("a good policy is a tree with defaults filled in");
  Reading reading;
  read_policy(
      "[{\"strategy\":\"truncation\",\"maxTokens\":100,\"toTokens\":5e1},"
      "{\"strategy\":\"budget\",\"maxTokens\":7,\"steps\":[{\"strategy\":\"tool-results\"}]}]",
      &reading);
  if (CHECK(reading.status == TAMP_OK && reading.policy->child_count == 2)) {
    const TampPolicy *truncation = reading.policy->children[0];
    const TampPolicy *budget = reading.policy->children[1];
    const TampTruncationOptions *options = truncation->options;
    CHECK(reading.policy->strategy == NULL && reading.policy->number == 0);
    CHECK(reading.policy->number_count == 4);
    CHECK(truncation->strategy == &tamp_strategy_truncation && truncation->number == 1);
    CHECK(options->max_tokens == 100 && options->to_tokens == 50);
    CHECK(options->max_messages == TAMP_UNSET && !options->keep_first_user);
    CHECK(budget->number == 2 && budget->child_count == 1 && budget->children[0]->number == 3);
    const TampToolResultsOptions *collapse = budget->children[0]->options;
    CHECK(collapse->keep_last_tool_call_groups == 2 && collapse->max_chars == 4096);
    CHECK(!tamp_policy_asks(reading.policy));
  }
  tamp_arena_free(&reading.arena);

  TEST("a policy says whether it asks for summaries, at any depth");
  read_policy(
      "{\"strategy\":\"budget\",\"maxTokens\":7,\"steps\":[[{\"strategy\":\"summarize\"}]]}",
      &reading);
  CHECK(reading.status == TAMP_OK && tamp_policy_asks(reading.policy));
  tamp_arena_free(&reading.arena);

  TEST("conditions are read whole");
  read_policy("{\"strategy\":\"repair\",\"when\":{\"any\":[{\"hasToolCalls\":true},"
              "{\"all\":[{\"turnsOver\":3},{\"bytesOver\":0}]}]}}",
              &reading);
  if (CHECK(reading.status == TAMP_OK && reading.policy->when != NULL)) {
    const TampTrigger *when = reading.policy->when;
    CHECK(when->kind == TAMP_WHEN_ANY && when->count == 2);
    CHECK(when->items[0].kind == TAMP_WHEN_HAS_TOOL_CALLS);
    CHECK(when->items[1].kind == TAMP_WHEN_ALL && when->items[1].items[0].over == 3);
  }
  tamp_arena_free(&reading.arena);

  TEST("of members with one name the last counts");
  CHECK(accepts("{\"strategy\":\"nope\",\"strategy\":\"clamp\",\"maxChars\":-1,\"maxChars\":9}"));
  CHECK(refuses("{\"strategy\":\"clamp\",\"maxChars\":9,\"maxChars\":-1}",
                "\"/maxChars\",\"code\":\"out-of-range\"", 1));
  CHECK(accepts("{\"strategy\":\"repair\",\"when\":{\"tokensOver\":1,\"tokensOver\":2}}"));

  TEST("names are told apart by case");
  CHECK(refuses("{\"strategy\":\"clamp\",\"MaxChars\":9}", "\"/MaxChars\",\"code\":\"unknown-key\"",
                2));
  CHECK(refuses("{\"Strategy\":\"clamp\"}", "\"/strategy\",\"code\":\"missing\"", 1));
}

static void test_numbers(void) {
  TEST("a number that is infinite, too large or a fraction is named for what it is");
  CHECK(refuses("{\"strategy\":\"clamp\",\"maxChars\":1e999}",
                "\"/maxChars\",\"code\":\"out-of-range\"", 1));
  CHECK(refuses("{\"strategy\":\"clamp\",\"maxChars\":-1e999}", "out-of-range", 1));
  CHECK(refuses("{\"strategy\":\"clamp\",\"maxChars\":9007199254740992}",
                "at most 9007199254740991", 1));
  CHECK(accepts("{\"strategy\":\"clamp\",\"maxChars\":9007199254740991}"));
  CHECK(refuses("{\"strategy\":\"clamp\",\"maxChars\":-1.5}", "not-integer", 1));
  CHECK(accepts("{\"strategy\":\"clamp\",\"maxChars\":1.0}"));
  CHECK(accepts("{\"strategy\":\"clamp\",\"maxChars\":-0}"));
  CHECK(refuses("{\"strategy\":\"clamp\",\"maxChars\":-3}", "maxChars must be at least 0, not -3",
                1));
  CHECK(
      refuses("{\"strategy\":\"context-window\",\"maxContextWindowTokens\":9,\"maxOutputTokens\":1,"
              "\"toolEvictionThreshold\":1e999}",
              "\"/toolEvictionThreshold\",\"code\":\"out-of-range\"", 1));

  TEST("a number too long for a double is a problem with its path");
  CHECK(refuses("[{\"strategy\":\"clamp\",\"maxChars\":1000000000000000000000000000000000000000"
                "000000000000000000000000000000}]",
                "\"/0/maxChars\",\"code\":\"out-of-range\"", 1));

  TEST("sentences hold the numbers");
  CHECK(refuses("{\"strategy\":\"sliding-window\",\"maxMessages\":80,\"keepMessages\":100}",
                "\"message\":\"keepMessages (100) must be less than maxMessages (80)\"", 1));
}

static void test_texts(void) {
  TEST("a text with U+0000 or half a surrogate pair is a problem, and is never cut");
  CHECK(refuses("{\"strategy\":\"summarize\",\"label\":\"a\\u0000b\"}",
                "\"/label\",\"code\":\"out-of-range\"", 1));
  CHECK(refuses("{\"strategy\":\"summarize\",\"label\":\"\\ud800\"}",
                "\"/label\",\"code\":\"out-of-range\"", 1));
  CHECK(refuses("{\"strategy\":\"summarize\",\"label\":\"\\udc00\\ud800\"}", "\"/label\"", 1));
  CHECK(
      refuses("{\"strategy\":\"sum\\u0000marize\"}", "\"/strategy\",\"code\":\"out-of-range\"", 1));
  CHECK(refuses("[{\"strategy\":\"clamp\",\"maxChars\\u0000\":1}]", "\"/0/maxChars\\u0000\"", 1));
  CHECK(accepts("{\"strategy\":\"summarize\",\"label\":\"\\ud83c\\udf89 \\\\u0000\"}"));

  TEST("texts are decoded and kept whole");
  Reading reading;
  read_policy("{\"strategy\":\"repair\",\"placeholder\":\"\\u00e9\\n\\ud83c\\udf89\"}", &reading);
  if (CHECK(reading.status == TAMP_OK)) {
    const TampRepairOptions *options = reading.policy->options;
    CHECK(options->placeholder.length == 7);
    CHECK(memcmp(options->placeholder.bytes, "\xc3\xa9\n\xf0\x9f\x8e\x89", 7) == 0);
  }
  tamp_arena_free(&reading.arena);

  TEST("paths escape what JSON Pointer and JSON ask for");
  CHECK(refuses("{\"strategy\":\"repair\",\"~/\\\"\\n\":1}",
                "{\"path\":\"/~0~1\\\"\\n\",\"code\":\"unknown-key\"", 1));

  TEST("text that is not JSON is one problem that says where");
  CHECK(refuses("", "{\"path\":\"\",\"code\":\"wrong-type\"", 1));
  CHECK(refuses("{\"strategy\":", "{\"path\":\"\",\"code\":\"wrong-type\"", 1));
  CHECK(refuses("{} {}", "at byte 3", 1));
  CHECK(refuses("[\"\xff\"]", "at byte 2", 1));
  read_bytes("{\"strategy\":\"repair\"}\0", 22, &reading);
  CHECK(reading.status == TAMP_BAD_POLICY);
  tamp_arena_free(&reading.arena);
}

/* `count` times `open`, then `inside`, then as often `close`. */
static char *nest(const char *open, size_t count, const char *inside, const char *close) {
  size_t size = count * (strlen(open) + strlen(close)) + strlen(inside) + 1;
  char *text = malloc(size), *at = text;
  if (text == NULL) abort();
  for (size_t i = 0; i < count; i++) at += sprintf(at, "%s", open);
  at += sprintf(at, "%s", inside);
  for (size_t i = 0; i < count; i++) at += sprintf(at, "%s", close);
  return text;
}

static void test_depth(void) {
  TEST("policies may be nested 64 deep, and deeper is one problem");
  char *text = nest("[", 63, "{\"strategy\":\"repair\"}", "]");
  CHECK(accepts(text));
  free(text);
  text = nest("[", 64, "{\"strategy\":\"repair\"}", "]");
  CHECK(refuses(text, "at most 64 deep", 1));
  free(text);
  text = nest("{\"strategy\":\"budget\",\"maxTokens\":1,\"steps\":[", 200,
              "{\"strategy\":\"repair\"}", "]}");
  CHECK(refuses(text, "at most 64 deep", 1));
  free(text);
  TEST("conditions count as levels too");
  char *when = nest("{\"all\":[", 100, "{\"tokensOver\":1}", "]}");
  text = malloc(strlen(when) + 64);
  if (text == NULL) abort();
  sprintf(text, "{\"strategy\":\"repair\",\"when\":%s}", when);
  CHECK(refuses(text, "at most 64 deep", 1));
  free(text);
  free(when);
  TEST("text nested over 1,000 levels is one problem");
  text = nest("[", 100000, "", "]");
  CHECK(refuses(text, "{\"path\":\"\",\"code\":\"out-of-range\"", 1));
  free(text);
  text = nest("[", 100000, "", "");
  CHECK(refuses(text, "{\"path\":\"\"", 1));
  free(text);
}

/* Every allocation fails once: no leak, and no answer but "no memory". cJSON has the C library's
 * allocator. */
static void test_memory(void) {
  TEST("a failed allocation is TAMP_NO_MEMORY and leaves nothing behind");
  static const char *const texts[] = {
      "[{\"strategy\":\"summarize\",\"keepMessages\":3,\"label\":\"x\",\"when\":{\"all\":[{"
      "\"tokensOver\":1},"
      "{\"hasToolCalls\":true}]}},{\"strategy\":\"dedupe-tool-results\",\"tools\":{\"a\":\"b\","
      "\"c\":\"/d\"}},"
      "{\"strategy\":\"drop-tool-calls\",\"tools\":[\"x\",\"y\"]},{\"strategy\":\"budget\","
      "\"maxTokens\":1,"
      "\"steps\":[{\"strategy\":\"clamp\",\"maxChars\":5,\"roles\":[\"tool\",\"user\"]}]}]",
      "[{\"strategy\":\"summarize\",\"keepMessages\":\"3\",\"label\":3,\"when\":{\"all\":[{"
      "\"tokensOver\":-1},"
      "{\"hasToolCalls\":4}],\"any\":[]}},{\"strategy\":\"dedupe-tool-results\",\"tools\":{\"a\":1}"
      "},4]",
      "[\"\\u0000\",{\"a/b\":\"\\ud800\"}]",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    TampStatus expected = i == 0 ? TAMP_OK : TAMP_BAD_POLICY;
    for (long fail_at = 1;; fail_at++) {
      TestHeap heap = {.fail_at = fail_at};
      TampArena arena;
      const TampPolicy *policy;
      TampText problems;
      tamp_arena_init(&arena, test_heap_allocator(&heap));
      TampText text = {(const uint8_t *)texts[i], strlen(texts[i])};
      TampStatus status = tamp_policy_read(text, &arena, &policy, &problems);
      bool failed = heap.calls >= fail_at;
      CHECK(status == (failed ? TAMP_NO_MEMORY : expected));
      CHECK((policy != NULL) == (status == TAMP_OK));
      tamp_arena_free(&arena);
      CHECK(heap.live == 0);
      if (!failed) break;
    }
  }
}

static void test_table(void) {
  TEST("every strategy is found by its name, and only by it");
  for (size_t i = 0; tamp_strategy_at(i) != NULL; i++) {
    const TampStrategy *strategy = tamp_strategy_at(i);
    CHECK(tamp_strategy_named(strategy->name) == strategy);
    CHECK(strategy->run != NULL && strategy->field_count <= 16);
  }
  CHECK(tamp_strategy_named("sliding") == NULL && tamp_strategy_named("") == NULL);
}

int main(void) {
  test_values();
  test_numbers();
  test_texts();
  test_depth();
  test_memory();
  test_table();
  return test_end();
}
