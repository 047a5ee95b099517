/* The formats of typed parts, byte for byte: what an edit leaves of a message, what units become when some of them
 * go, and that no allocation can fail unnoticed on the way. */
#include "compact.h"

static Compacted got; /* too large for the stack */

enum { MOST_CALLS = 5000 };

/* Compacts; the result is `expected`, one message a line. */
static void expect(const TampFormat *format, const char *messages, const char *policy, const char *expected) {
  compact_with(tamp_default_allocator(), format, messages, policy, NULL, NULL, &got);
  if (!CHECK(got.status == TAMP_OK && strcmp(got.messages, expected) == 0)) {
    fprintf(stderr, "  status %d: %s\n%s", (int)got.status, got.reason, got.messages);
  }
}

/* The same with every allocation failing once, and every one from some point on. */
static void expect_faults(const TampFormat *format, const char *messages, const char *policy) {
  for (int sticky = 0; sticky < 2; sticky++) {
    long at = 1;
    for (; at < MOST_CALLS; at++) {
      TestHeap heap = {.fail_at = at, .sticky = sticky != 0};
      compact_with(test_heap_allocator(&heap), format, messages, policy, NULL, NULL, &got);
      if (!CHECK(heap.live == 0) || got.status == TAMP_OK) break;
      if (!CHECK(got.status == TAMP_NO_MEMORY)) break;
    }
    CHECK(at < MOST_CALLS && got.status == TAMP_OK);
  }
}

#define LONG "0123456789 the quick brown fox jumps over the lazy dog 0123456789 the quick brown fox jumps"
#define CLEAR "{\"strategy\":\"clear-tool-results\",\"keepLast\":0,\"clearInputs\":true}"
#define DROP "{\"strategy\":\"drop-tool-calls\",\"keepLastToolCallGroups\":0}"
#define TAIL ",{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"a\"}]"
#define TAIL_LINES "{\"role\":\"user\",\"content\":\"q\"}\n{\"role\":\"assistant\",\"content\":\"a\"}\n"

static void test_edits(void) {
  TEST("an edit changes its value, and spacing, order and spelling of all else stay");
  expect(&tamp_format_anthropic,
         "[{\"content\" : [ {\"name\":\"r\\u0065ad\", \"input\": {\"n\":1.0, \"path\":\"" LONG "\"},\"id\":\"t\",\"type\":\"tool_use\"} ],"
         "\"x\":2512292042121000001,\"role\":\"assistant\"},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
         "\"tool_use_id\":\"t\", \"is_error\":true ,\"content\":[{\"type\":\"text\",\"text\":\"" LONG "\"}]}]}" TAIL,
         CLEAR,
         "{\"content\" : [ {\"name\":\"r\\u0065ad\", \"input\": {},\"id\":\"t\",\"type\":\"tool_use\"} ],"
         "\"x\":2512292042121000001,\"role\":\"assistant\"}\n{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
         "\"tool_use_id\":\"t\", \"is_error\":true ,\"content\":\"[tool result cleared]\"}]}\n" TAIL_LINES);
  expect(&tamp_format_ai_sdk_model,
         "[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool-call\",\"toolCallId\":\"t\",\"toolName\":\"n\",\"input\":7}]},"
         "{\"role\":\"tool\",\"content\":[{\"output\": {\"value\":\"" LONG "\",\"type\":\"error-text\"} ,\"toolCallId\":\"t\","
         "\"type\":\"tool-result\",\"providerOptions\":{\"p\":{\"id\":1.50}}}]}" TAIL,
         CLEAR,
         "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool-call\",\"toolCallId\":\"t\",\"toolName\":\"n\",\"input\":7}]}\n"
         "{\"role\":\"tool\",\"content\":[{\"output\": {\"type\":\"error-text\",\"value\":\"[tool result cleared]\"} ,"
         "\"toolCallId\":\"t\",\"type\":\"tool-result\",\"providerOptions\":{\"p\":{\"id\":1.50}}}]}\n" TAIL_LINES);
  TEST("opaque reasoning stays with the calls it belongs to, and goes where there are none");
  expect(&tamp_format_anthropic,
         "[{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"" LONG "\",\"signature\":\"AA\"},"
         "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":"
         "\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"x\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\","
         "\"thinking\":\"" LONG "\",\"signature\":\"AA\"} , {\"type\":\"text\",\"text\":\"a\"}]}" TAIL,
         "{\"strategy\":\"drop-reasoning\"}",
         "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"" LONG "\",\"signature\":\"AA\"},"
         "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{}}]}\n{\"role\":\"user\",\"content\":[{\"type\":"
         "\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"x\"}]}\n{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
         "\"text\":\"a\"}]}\n" TAIL_LINES);
}

static void test_units(void) {
  TEST("what is left of a message keeps its bytes, and those around it");
  expect(&tamp_format_anthropic,
         "[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{}}]},"
         "{ \"y\":1e2,\"content\": [ {\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"" LONG "\"} ,\n {\"type\":"
         "\"text\" , \"text\":\"go \\u006fn\"} ] ,\"role\":\"user\" },{\"role\":\"assistant\",\"content\":\"b\"}" TAIL,
         DROP,
         "{ \"y\":1e2,\"content\": [ {\"type\":\"text\" , \"text\":\"go \\u006fn\"} ] ,\"role\":\"user\" }\n"
         "{\"role\":\"assistant\",\"content\":\"b\"}\n" TAIL_LINES);
  TEST("an approved call is taken for open until it has its result");
  expect(&tamp_format_ai_sdk_ui,
         "[{\"id\":\"a\",\"role\":\"assistant\",\"parts\":[{\"type\":\"tool-n\",\"toolCallId\":\"t\",\"state\":"
         "\"approval-responded\",\"input\":{},\"approval\":{\"id\":\"p\",\"approved\":true}}]},{\"id\":\"u\",\"role\":\"user\","
         "\"parts\":[{\"type\":\"text\",\"text\":\"q\"}]}]",
         DROP,
         "{\"id\":\"a\",\"role\":\"assistant\",\"parts\":[{\"type\":\"tool-n\",\"toolCallId\":\"t\",\"state\":"
         "\"approval-responded\",\"input\":{},\"approval\":{\"id\":\"p\",\"approved\":true}}]}\n{\"id\":\"u\",\"role\":\"user\","
         "\"parts\":[{\"type\":\"text\",\"text\":\"q\"}]}\n");
  TEST("steps that stay keep what stands between them");
  expect(&tamp_format_ai_sdk_ui,
         "[{\"id\":\"a\",\"role\":\"assistant\",\"parts\":[ {\"type\":\"step-start\"}, {\"type\":\"text\",\"text\":\"one\"} ,\n"
         "{\"type\":\"step-start\"},{\"type\":\"tool-n\",\"toolCallId\":\"t\",\"state\":\"output-available\",\"input\":{},"
         "\"output\":\"" LONG "\"},\n\t{\"type\":\"step-start\"},{\"type\":\"text\",\"text\":\"two\"}\n]}]",
         DROP,
         "{\"id\":\"a\",\"role\":\"assistant\",\"parts\":[ {\"type\":\"step-start\"}, {\"type\":\"text\",\"text\":\"one\"},\n\t"
         "{\"type\":\"step-start\"},{\"type\":\"text\",\"text\":\"two\"}\n]}\n");
}

/* A list in each format with what there is of calls, results that are late or lost, and things beside them. */
static const struct {
  const TampFormat *format;
  const char *messages;
} lists[] = {
    {&tamp_format_anthropic,
     "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":"
     "\"n\",\"input\":{\"a\":1}},{\"type\":\"tool_use\",\"id\":\"s\",\"name\":\"n\",\"input\":{}},{\"type\":\"tool_use\",\"id\":"
     "\"r\",\"name\":\"n\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":"
     "\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"" LONG "\"}]},{\"role\":\"user\",\"content\":[{\"type\":"
     "\"tool_result\",\"tool_use_id\":\"s\",\"content\":\"" LONG "\"},{\"type\":\"text\",\"text\":\"y\"}]}" TAIL},
    {&tamp_format_pydantic_ai,
     "[{\"kind\":\"request\",\"parts\":[{\"part_kind\":\"system-prompt\",\"content\":\"s\"},{\"part_kind\":\"user-prompt\","
     "\"content\":[\"" LONG "\",{\"kind\":\"binary\",\"data\":\"AAAA\",\"media_type\":\"image/png\"}]}]},{\"kind\":\"response\","
     "\"parts\":[{\"part_kind\":\"tool-call\",\"tool_name\":\"n\",\"args\":null,\"tool_call_id\":\"t\"},{\"part_kind\":"
     "\"tool-call\",\"tool_name\":\"n\",\"args\":{},\"tool_call_id\":\"s\"}]},{\"kind\":\"request\",\"parts\":[{\"part_kind\":"
     "\"retry-prompt\",\"content\":[\"" LONG "\"],\"tool_name\":\"n\",\"tool_call_id\":\"s\"},{\"part_kind\":\"user-prompt\","
     "\"content\":\"q\"}]},{\"kind\":\"response\",\"parts\":[{\"part_kind\":\"text\",\"content\":\"" LONG "\"}]},{\"kind\":"
     "\"request\",\"parts\":[{\"part_kind\":\"user-prompt\",\"content\":\"q\"}]}]"},
    {&tamp_format_agent_framework,
     "[{\"role\":\"user\",\"contents\":[{\"$type\":\"text\",\"text\":\"" LONG "\"}],\"messageId\":\"m\"},{\"role\":\"assistant\","
     "\"contents\":[{\"$type\":\"functionCall\",\"callId\":\"t\",\"name\":\"n\",\"arguments\":{}},{\"$type\":\"functionCall\","
     "\"callId\":\"s\",\"name\":\"n\",\"arguments\":{}}]},{\"role\":\"tool\",\"contents\":[{\"$type\":\"functionResult\","
     "\"callId\":\"s\",\"result\":[\"" LONG "\"]},{\"$type\":\"functionResult\",\"callId\":\"z\",\"result\":1}]},{\"role\":"
     "\"assistant\",\"contents\":[{\"$type\":\"text\",\"text\":\"" LONG "\"}]},{\"role\":\"user\",\"contents\":[]}]"},
    {&tamp_format_ai_sdk_model,
     "[{\"role\":\"user\",\"content\":\"" LONG "\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool-call\",\"toolCallId\":"
     "\"t\",\"toolName\":\"n\",\"input\":{}},{\"type\":\"tool-call\",\"toolCallId\":\"s\",\"toolName\":\"n\",\"input\":{}},"
     "{\"type\":\"tool-approval-request\",\"approvalId\":\"p\",\"toolCallId\":\"s\"}]},{\"role\":\"tool\",\"content\":[{\"type\":"
     "\"tool-approval-response\",\"approvalId\":\"p\",\"approved\":false},{\"type\":\"tool-result\",\"toolCallId\":\"s\","
     "\"toolName\":\"n\",\"output\":{\"type\":\"execution-denied\",\"reason\":\"no\"}}]}" TAIL},
};

static void test_faults(void) {
  static const char *const policies[] = {
      "{\"strategy\":\"repair\"}", CLEAR, DROP, "{\"strategy\":\"tool-results\",\"keepLastToolCallGroups\":0}",
      "{\"strategy\":\"sliding-window\",\"keepMessages\":1}", "{\"strategy\":\"digest\",\"keepMessages\":1}",
  };
  TEST("an allocation that fails is said so, leaks nothing and breaks nothing");
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
      expect_faults(lists[i].format, lists[i].messages, policies[k]);
    }
  }
}

int main(void) {
  test_edits();
  test_units();
  test_faults();
  return test_end();
}
