/* Messages from bytes: a grammar in which every sequence of bytes spells messages of one format, so that a fuzzer
 * that changes bytes changes calls, results, roles and ids, and seldom the JSON around them. */
#ifndef TAMP_FUZZ_GRAMMAR_H
#define TAMP_FUZZ_GRAMMAR_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/tamp.h"

/* Like assert, in every build. */
#define require(condition) require_at((condition), #condition, __LINE__)

static inline void require_at(bool held, const char *condition, int line) {
  if (held) return;
  fprintf(stderr, "line %d: not true: %s\n", line, condition);
  abort();
}

/* What is left of the input. Behind its end it gives zeros. */
typedef struct Input {
  const uint8_t *bytes;
  size_t length;
} Input;

static inline uint32_t take(Input *input, uint32_t below) {
  if (input->length == 0) return 0;
  input->length--;
  return *input->bytes++ % below;
}

/* Text that is put together. */
typedef struct Buffer {
  char *bytes;
  size_t length, capacity;
} Buffer;

static inline void put(Buffer *buffer, const char *text) {
  size_t length = strlen(text);
  if (buffer->capacity - buffer->length < length + 1) {
    buffer->capacity = 2 * buffer->capacity + length + 1024;
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    require(buffer->bytes != NULL);
  }
  memcpy(buffer->bytes + buffer->length, text, length + 1);
  buffer->length += length;
}

static inline void put_number(Buffer *buffer, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  put(buffer, text);
}

/* A JSON string of up to some hundred characters. Among them are those that cuts, escapes and marks trip over. */
static inline void put_string(Buffer *buffer, Input *input) {
  static const char *const pieces[] = {
      "",
      "Please read src/a.c and say what it does. ",
      "\\u0000",
      "\\ud83d",
      "e\\u0301",
      "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9",
      "\\\"\\\\\\n",
      "[Conversation summary]\\n\\nbefore",
      "[Earlier messages were removed.]",
      "[R of N characters removed]",
      " \\t\\n ",
      "int main(void) { return 0; } int main(void) { return 0; } int main(void) { return 0; } ",
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\x8b",
      "[tool result cleared]",
      "{\\\"a\\\": 1}",
      "0123456789012345678901234567890123456789",
  };
  put(buffer, "\"");
  for (uint32_t count = take(input, 4); count > 0; count--) put(buffer, pieces[take(input, 16)]);
  put(buffer, "\"");
}

static inline void put_call_id(Buffer *buffer, Input *input) {
  static const char *const ids[] = {"\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"e\"", "\"f\"", "\"\"", "7"};
  put(buffer, ids[take(input, 8)]);
}

static inline void put_tool(Buffer *buffer, Input *input) {
  static const char *const names[] = {"\"read_file\"", "\"grep\"", "\"\"", "null"};
  put(buffer, names[take(input, 4)]);
}

/* An object, as JSON. */
static inline void put_object(Buffer *buffer, Input *input) {
  static const char *const objects[] = {
      "{\"path\":\"src/a.c\"}", "{\"path\":\"src/b.c\",\"lines\":[1,{\"to\":2}]}", "{}",
      "{\"path\":{\"x\":1.0,\"y\":12345678901234567890},\"text\":\"0123456789012345678901234567890123456789\"}"};
  put(buffer, objects[take(input, 4)]);
}

/* The same object inside a string; or a string that is no JSON. */
static inline void put_arguments(Buffer *buffer, Input *input) {
  static const char *const objects[] = {"\"{\\\"path\\\":\\\"src/a.c\\\"}\"",
                                        "\"{\\\"path\\\": \\\"src/a.c\\\", \\\"n\\\": [1]}\"", "\"{}\"",
                                        "\"{\\\"pa\"", "\"\""};
  put(buffer, objects[take(input, 5)]);
}

/* `"id":…,` of a message: mostly its own, sometimes one that is taken, sometimes none. */
static inline void put_id(Buffer *buffer, Input *input, uint32_t at) {
  static const char *const others[] = {"\"id\":\"m0\",", "\"id\":\"summary-m1\",", "\"id\":\"\",", ""};
  uint32_t kind = take(input, 16);
  if (kind < 4) {
    put(buffer, others[kind]);
    return;
  }
  put(buffer, "\"id\":\"m");
  put_number(buffer, at);
  put(buffer, "\",");
}

/* A comma and metadata, or nothing. */
static inline void put_metadata(Buffer *buffer, Input *input) {
  static const char *const metadata[] = {
      "{\"tamp\":{\"pin\":true}}",
      "{\"tamp\":{\"summary\":{\"throughId\":\"m0\",\"covered\":3}}}",
      "{\"tamp\":{\"head\":true}}",
      "{\"tamp\":{\"pin\":1,\"summary\":[]},\"x\":1.0}",
  };
  uint32_t kind = take(input, 16);
  if (kind >= 4) return;
  put(buffer, ",\"metadata\":");
  put(buffer, metadata[kind]);
}

static inline void put_ag_ui(Buffer *buffer, Input *input, uint32_t at) {
  put(buffer, "{");
  put_id(buffer, input, at);
  switch (take(input, 12)) {
    case 0:
      put(buffer, "\"role\":\"system\",\"content\":");
      put_string(buffer, input);
      break;
    case 1:
    case 2:
      put(buffer, "\"role\":\"user\",\"content\":");
      put_string(buffer, input);
      break;
    case 3:
      put(buffer, "\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":");
      put_string(buffer, input);
      put(buffer, "},{\"type\":\"image\",\"source\":{\"type\":\"data\",\"mimeType\":\"image/png\",\"value\":\"AAAA\"}},"
                  "{\"type\":\"binary\",\"mimeType\":\"a/b\",\"url\":\"https://example.com\"}]");
      break;
    case 4:
      put(buffer, "\"role\":\"assistant\",\"content\":");
      put_string(buffer, input);
      break;
    case 5:
    case 6:
      put(buffer, "\"role\":\"assistant\",\"content\":");
      put_string(buffer, input);
      put(buffer, ",\"toolCalls\":[");
      for (uint32_t count = take(input, 4); count > 0; count--) {
        put(buffer, "{\"id\":");
        put_call_id(buffer, input);
        put(buffer, ",\"type\":\"function\",\"function\":{\"name\":");
        put_tool(buffer, input);
        put(buffer, ",\"arguments\":");
        put_arguments(buffer, input);
        put(buffer, count > 1 ? "}}," : "}}");
      }
      put(buffer, "]");
      break;
    case 7:
    case 8:
      put(buffer, "\"role\":\"tool\",\"toolCallId\":");
      put_call_id(buffer, input);
      put(buffer, ",\"content\":");
      put_string(buffer, input);
      if (take(input, 4) == 1) put(buffer, ",\"error\":\"it failed\"");
      break;
    case 9:
      put(buffer, "\"role\":\"reasoning\",\"content\":");
      put_string(buffer, input);
      if (take(input, 2)) put(buffer, ",\"encryptedValue\":\"AAAA\"");
      break;
    case 10:
      put(buffer, "\"role\":\"activity\",\"activityType\":\"plan\",\"content\":{\"x\":[1]}");
      break;
    default:
      put(buffer, "\"role\":\"critic\",\"content\":");
      put_string(buffer, input);
  }
  put_metadata(buffer, input);
  put(buffer, "}");
}

static inline void put_openai(Buffer *buffer, Input *input) {
  switch (take(input, 8)) {
    case 0:
      put(buffer, "{\"role\":\"developer\",\"content\":");
      put_string(buffer, input);
      break;
    case 1:
    case 2:
      put(buffer, "{\"role\":\"user\",\"content\":");
      put_string(buffer, input);
      break;
    case 3:
      put(buffer, "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
                  "\"data:image/png;base64,AAAA\"}},{\"type\":\"text\",\"text\":");
      put_string(buffer, input);
      put(buffer, "}]");
      break;
    case 4:
    case 5:
      put(buffer, "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[");
      for (uint32_t count = take(input, 4); count > 0; count--) {
        put(buffer, "{\"id\":");
        put_call_id(buffer, input);
        if (take(input, 4) == 1) {
          put(buffer, ",\"type\":\"custom\",\"custom\":{\"name\":\"sql\",\"input\":");
          put_string(buffer, input);
        } else {
          put(buffer, ",\"type\":\"function\",\"function\":{\"name\":");
          put_tool(buffer, input);
          put(buffer, ",\"arguments\":");
          put_arguments(buffer, input);
        }
        put(buffer, count > 1 ? "}}," : "}}");
      }
      put(buffer, "]");
      break;
    case 6:
      put(buffer, "{\"role\":\"tool\",\"tool_call_id\":");
      put_call_id(buffer, input);
      put(buffer, ",\"content\":");
      put_string(buffer, input);
      break;
    default:
      put(buffer, "{\"role\":\"assistant\",\"content\":");
      put_string(buffer, input);
      if (take(input, 4) == 1) put(buffer, ",\"refusal\":\"I cannot help with that.\"");
  }
  put(buffer, "}");
}

static inline void put_anthropic(Buffer *buffer, Input *input) {
  bool user = take(input, 2) == 0;
  put(buffer, user ? "{\"role\":\"user\",\"content\":" : "{\"role\":\"assistant\",\"content\":");
  if (take(input, 8) == 1) {
    put_string(buffer, input);
    put(buffer, "}");
    return;
  }
  put(buffer, "[");
  for (uint32_t count = take(input, 4); count > 0; count--) {
    switch (take(input, 6) + (user ? 0 : 6)) {
      case 0:
      case 1:
      case 2:
        put(buffer, "{\"type\":\"tool_result\",\"tool_use_id\":");
        put_call_id(buffer, input);
        if (take(input, 3) == 1) {
          put(buffer, ",\"content\":[{\"type\":\"text\",\"text\":");
          put_string(buffer, input);
          put(buffer, "},{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
                      "\"data\":\"AAAA\"}}]");
        } else {
          put(buffer, ",\"content\":");
          put_string(buffer, input);
        }
        put(buffer, take(input, 4) == 1 ? ",\"is_error\":true}" : "}");
        break;
      case 3:
        put(buffer, "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
                    "\"data\":\"AAAA\"}}");
        break;
      case 6:
      case 7:
      case 8:
        put(buffer, "{\"type\":\"tool_use\",\"id\":");
        put_call_id(buffer, input);
        put(buffer, ",\"name\":");
        put_tool(buffer, input);
        put(buffer, ",\"input\":");
        put_object(buffer, input);
        put(buffer, "}");
        break;
      case 9:
        put(buffer, "{\"type\":\"thinking\",\"thinking\":");
        put_string(buffer, input);
        put(buffer, ",\"signature\":\"AAAA\"}");
        break;
      default:
        put(buffer, "{\"type\":\"text\",\"text\":");
        put_string(buffer, input);
        put(buffer, "}");
    }
    if (count > 1) put(buffer, ",");
  }
  put(buffer, "]}");
}

static inline void put_ai_sdk_ui(Buffer *buffer, Input *input, uint32_t at) {
  static const char *const roles[] = {"system", "user", "assistant", "assistant"};
  static const char *const states[] = {"input-available", "output-available", "output-error", "approval-requested"};
  put(buffer, "{");
  put_id(buffer, input, at);
  uint32_t role = take(input, 4);
  put(buffer, "\"role\":\"");
  put(buffer, roles[role]);
  put(buffer, "\",\"parts\":[");
  for (uint32_t count = take(input, 6); count > 0; count--) {
    switch (role < 2 ? take(input, 2) : take(input, 7)) {
      case 0:
        put(buffer, "{\"type\":\"text\",\"text\":");
        put_string(buffer, input);
        put(buffer, "}");
        break;
      case 1:
        put(buffer, "{\"type\":\"file\",\"mediaType\":\"image/png\",\"url\":\"data:image/png;base64,AAAA\"}");
        break;
      case 2:
        put(buffer, "{\"type\":\"reasoning\",\"text\":");
        put_string(buffer, input);
        put(buffer, "}");
        break;
      case 3:
        put(buffer, "{\"type\":\"step-start\"}");
        break;
      default: {
        const char *state = states[take(input, 4)];
        put(buffer, take(input, 2) ? "{\"type\":\"tool-grep\",\"toolCallId\":"
                                   : "{\"type\":\"dynamic-tool\",\"toolName\":\"read_file\",\"toolCallId\":");
        put_call_id(buffer, input);
        put(buffer, ",\"state\":\"");
        put(buffer, state);
        put(buffer, "\",\"input\":");
        put_object(buffer, input);
        if (state == states[1]) {
          put(buffer, ",\"output\":");
          if (take(input, 2)) {
            put_object(buffer, input);
          } else {
            put_string(buffer, input);
          }
        }
        put(buffer, state == states[2] ? ",\"errorText\":\"it failed\"}" : "}");
      }
    }
    if (count > 1) put(buffer, ",");
  }
  put(buffer, "]");
  put_metadata(buffer, input);
  put(buffer, "}");
}

static inline void put_ai_sdk_model(Buffer *buffer, Input *input) {
  static const char *const roles[] = {"system", "user", "assistant", "tool"};
  uint32_t role = take(input, 4);
  put(buffer, "{\"role\":\"");
  put(buffer, roles[role]);
  put(buffer, "\",\"content\":");
  if (role == 0 || (role < 3 && take(input, 3) == 1)) {
    put_string(buffer, input);
    put(buffer, "}");
    return;
  }
  put(buffer, "[");
  for (uint32_t count = take(input, 4); count > 0; count--) {
    switch (role == 3 ? take(input, 2) : 2 + take(input, role == 1 ? 2 : 5)) {
      case 0:
      case 1:
      case 6:
        put(buffer, "{\"type\":\"tool-result\",\"toolCallId\":");
        put_call_id(buffer, input);
        put(buffer, ",\"toolName\":");
        put_tool(buffer, input);
        put(buffer, take(input, 4) == 1 ? ",\"output\":{\"type\":\"error-text\",\"value\":"
                                        : ",\"output\":{\"type\":\"text\",\"value\":");
        put_string(buffer, input);
        put(buffer, "}}");
        break;
      case 2:
        put(buffer, "{\"type\":\"text\",\"text\":");
        put_string(buffer, input);
        put(buffer, "}");
        break;
      case 3:
        put(buffer, "{\"type\":\"file\",\"mediaType\":\"image/png\",\"data\":\"AAAA\"}");
        break;
      case 4:
        put(buffer, "{\"type\":\"reasoning\",\"text\":");
        put_string(buffer, input);
        put(buffer, "}");
        break;
      default:
        put(buffer, "{\"type\":\"tool-call\",\"toolCallId\":");
        put_call_id(buffer, input);
        put(buffer, ",\"toolName\":");
        put_tool(buffer, input);
        put(buffer, ",\"input\":");
        put_object(buffer, input);
        put(buffer, "}");
    }
    if (count > 1) put(buffer, ",");
  }
  put(buffer, "]}");
}

enum { GRAMMAR_FORMATS = 5 };

/* The formats whose messages it spells, by number below GRAMMAR_FORMATS. */
static inline const TampFormat *grammar_format(uint32_t number) {
  static const TampFormat *const formats[GRAMMAR_FORMATS] = {&tamp_format_ag_ui, &tamp_format_openai,
                                                             &tamp_format_anthropic, &tamp_format_ai_sdk_ui,
                                                             &tamp_format_ai_sdk_model};
  return formats[number];
}

/* The message at index `at` of a history. */
static inline void put_message(Buffer *buffer, Input *input, const TampFormat *format, uint32_t at) {
  if (format == &tamp_format_ag_ui) put_ag_ui(buffer, input, at);
  if (format == &tamp_format_openai) put_openai(buffer, input);
  if (format == &tamp_format_anthropic) put_anthropic(buffer, input);
  if (format == &tamp_format_ai_sdk_ui) put_ai_sdk_ui(buffer, input, at);
  if (format == &tamp_format_ai_sdk_model) put_ai_sdk_model(buffer, input);
}

/* In formats without metadata a text that begins with the label of a summary is one where a summary may stand.
 * Then removing what stands before a message can make a summary of it, and the result says something else than the
 * input did. Such lists are compacted, but not judged. */
static inline bool grammar_says_label(const TampFormat *format, TampText list) {
  static const char *const labels[] = {"[Conversation summary]", "[Earlier messages were removed.]"};
  if (format == &tamp_format_ag_ui || format == &tamp_format_ai_sdk_ui) return false;
  for (size_t k = 0; k < sizeof labels / sizeof *labels; k++) {
    size_t length = strlen(labels[k]);
    for (size_t i = 0; i + length <= list.length; i++) {
      if (memcmp(list.bytes + i, labels[k], length) == 0) return true;
    }
  }
  return false;
}

#endif
