#include <stdlib.h>

#include "../../src/json/cursor.h"
#include "../../src/json/splitter.h"
#include "allocator.h"
#include "test.h"

static uint64_t random_state = 3;

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((random_state >> 33) * bound >> 31);
}

/* What a sink was told of a file, as one text: what two ways to feed it must agree on. */
typedef struct Story {
  TampText file;
  char records[8000];
  size_t length;
  char members[2000];
  size_t member_length;
  const char *path;
  TampContainer container;
  TampStatus status;
  TampSplitFault fault;
  uint64_t list_from, list_to;
  int count;
  int opaque;
  int begun;
  bool right; /* every span held the bytes that it was given with */
} Story;

static TampStatus story_begin(void *context, TampContainer container, const char *path) {
  Story *story = context;
  story->container = container;
  story->path = path;
  story->length = 0;
  story->records[0] = '\0';
  story->count = story->opaque = 0;
  story->begun++;
  if (container != TAMP_CONTAINER_OBJECT) story->members[story->member_length = 0] = '\0';
  return TAMP_OK;
}

static bool is_slice(const Story *story, uint64_t offset, uint64_t length, const uint8_t *bytes) {
  return offset + length <= story->file.length &&
         (length == 0 || memcmp(story->file.bytes + offset, bytes, (size_t)length) == 0);
}

static TampStatus story_record(void *context, TampSplitRecord *record) {
  Story *story = context;
  TampFault fault;
  const TampStatus status = tamp_splitter_check(record, &fault);
  if (record->bytes != NULL) {
    story->right = story->right && is_slice(story, record->offset, record->length, record->bytes);
  }
  if (status != TAMP_OK && story->container != TAMP_CONTAINER_LINES) {
    record->fault = fault;
    return status;
  }
  story->count++;
  story->opaque += status != TAMP_OK;
  if (story->length + 100 < sizeof story->records) {
    story->length += (size_t)snprintf(
        story->records + story->length, sizeof story->records - story->length, "%d+%d@%d/%d%s ",
        (int)record->offset, (int)record->length, (int)record->line, (int)record->tail,
        record->bytes == NULL ? "?"
        : status == TAMP_OK   ? ""
                              : "!");
  }
  return TAMP_OK;
}

static TampStatus story_member(void *context, const TampSplitMember *member) {
  Story *story = context;
  const int name_length = member->name.length > 20 ? 20 : (int)member->name.length;
  if (member->bytes != NULL) {
    story->right = story->right && is_slice(story, member->offset, member->length, member->bytes);
  }
  if (story->member_length + 100 < sizeof story->members) {
    story->member_length += (size_t)snprintf(
        story->members + story->member_length, sizeof story->members - story->member_length,
        "%.*s=%d+%d%s ", name_length, (const char *)member->name.bytes, (int)member->offset,
        (int)member->length, member->bytes == NULL ? "?" : "");
  }
  return TAMP_OK;
}

static void tell(Story *story, TampText file, size_t chunk, size_t limit, TampArena *arena) {
  memset(story, 0, sizeof *story);
  story->file = file;
  story->right = true;
  story->path = "";
  TampSplitter splitter;
  tamp_splitter_init(&splitter, arena,
                     (TampSplitSink){story_begin, story_record, story_member, story});
  if (limit != 0) splitter.limit = limit;
  TampStatus status = TAMP_OK;
  for (size_t at = 0; at < file.length && status == TAMP_OK; at += chunk) {
    const size_t length = file.length - at < chunk ? file.length - at : chunk;
    /* A chunk of its own each time, gone after the call. */
    uint8_t *copy = malloc(length);
    if (copy == NULL) abort();
    memcpy(copy, file.bytes + at, length);
    status = tamp_splitter_feed(&splitter, copy, length);
    free(copy);
  }
  if (status == TAMP_OK) status = tamp_splitter_finish(&splitter);
  story->right = story->right && status == splitter.status;
  story->status = status;
  story->fault = splitter.fault;
  story->list_from = splitter.list_from;
  story->list_to = splitter.list_to;
  if (status == TAMP_OK) story->right = story->right && splitter.offset == file.length;
}

static bool same_story(const Story *a, const Story *b) {
  if (a->status != b->status || !a->right || !b->right) return false;
  if (a->status != TAMP_OK) {
    return a->fault.offset == b->fault.offset && a->fault.line == b->fault.line &&
           a->fault.reason == b->fault.reason;
  }
  return a->container == b->container && a->path == b->path && a->count == b->count &&
         a->begun == b->begun && strcmp(a->records, b->records) == 0 &&
         strcmp(a->members, b->members) == 0 && a->list_from == b->list_from &&
         a->list_to == b->list_to;
}

/* Feeds the file in one piece and in chunks of every interesting size; all must tell the same. */
static bool tell_all_ways(Story *whole, TampText file, size_t limit) {
  static const size_t chunks[] = {1, 2, 3, 7, 16, 61, 4096};
  static Story other;
  bool same = true;
  TestHeap heap = {0};
  TampArena arena;
  tamp_arena_init(&arena, test_heap_allocator(&heap));
  tell(whole, file, file.length + 1, limit, &arena);
  for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
    if (chunks[i] > 1 && chunks[i] / 2 > file.length) continue;
    tell(&other, file, chunks[i], limit, &arena);
    same = same && same_story(whole, &other);
    if (!same) {
      fprintf(stderr, "  chunks of %zu: status %d/%d at %d/%d %s | %s; %s | %s; %s | %s\n",
              chunks[i], (int)whole->status, (int)other.status, (int)whole->fault.offset,
              (int)other.fault.offset, whole->fault.reason == NULL ? "" : whole->fault.reason,
              other.fault.reason == NULL ? "" : other.fault.reason, whole->records, other.records,
              whole->members, other.members);
      break;
    }
  }
  tamp_arena_free(&arena);
  return same && heap.live == 0;
}

typedef struct Case {
  const char *file;
  TampContainer container;
  const char *path;
  const char *records; /* offset+length@line/tail, "!" when not JSON, "?" when not kept */
} Case;

static void containers(void) {
  TEST("records of arrays, lines and objects are found where they are, in chunks of any size");
  static const Case cases[] = {
      {"", TAMP_CONTAINER_NONE, "", ""},
      {" \n\t ", TAMP_CONTAINER_NONE, "", ""},
      {"\xef\xbb\xbf", TAMP_CONTAINER_NONE, "", ""},
      {"[]", TAMP_CONTAINER_ARRAY, "", ""},
      {"\xef\xbb\xbf [ ] \n", TAMP_CONTAINER_ARRAY, "", ""},
      {"[{}]", TAMP_CONTAINER_ARRAY, "", "1+2@1/0 "},
      {"[ {\"a\":[1,{\"]\":\"}\"}]} ,\n {} , 5, \"x\", null\n]\n", TAMP_CONTAINER_ARRAY, "",
       "2+19@1/0 25+2@2/0 30+1@2/0 33+3@2/0 38+4@2/0 "},
      {"{\"a\":1}\n{\"b\":2}\n", TAMP_CONTAINER_LINES, "", "0+7@1/1 8+7@2/1 "},
      {"\xef\xbb\xbf{\"a\":1}\r\n\r\n \t\n{\"b\":2}", TAMP_CONTAINER_LINES, "",
       "3+7@1/2 17+7@4/0 "},
      {"\n\n{}\n", TAMP_CONTAINER_LINES, "", "2+2@3/1 "},
      {"{}", TAMP_CONTAINER_LINES, "", "0+2@1/0 "},
      {"{\"a\":1} \n", TAMP_CONTAINER_LINES, "", "0+8@1/1 "},
      {"{\"a\":\n1}\n{}\n", TAMP_CONTAINER_LINES, "", "0+8@1/1 9+2@3/1 "},
      /* Torn and glued lines are lines. */
      {"{\"a\":1}\n{\"b\":", TAMP_CONTAINER_LINES, "", "0+7@1/1 8+5@2/0! "},
      {"{\"a\":", TAMP_CONTAINER_LINES, "", "0+5@1/0! "},
      {"{\"a\":\"x\n{\"b\":1}\n", TAMP_CONTAINER_LINES, "", "0+7@1/1! 8+7@2/1 "},
      {"{\"a\":1,\n{\"b\":1}\n{}", TAMP_CONTAINER_LINES, "", "0+7@1/1! 8+7@2/1 16+2@3/0 "},
      {"{\"a\":\"us{\"b\":1}\n{}\n", TAMP_CONTAINER_LINES, "", "0+15@1/1! 16+2@2/1 "},
      {"{\"a\":1} x\n{}\n", TAMP_CONTAINER_LINES, "", "0+9@1/1! 10+2@2/1 "},
      {"{\"a\":1}{}\n{}\n", TAMP_CONTAINER_LINES, "", "0+9@1/1! 10+2@2/1 "},
      {"x\n{}\n", TAMP_CONTAINER_LINES, "", "0+1@1/1! 2+2@2/1 "},
      {"\xef{}\n{}\n", TAMP_CONTAINER_LINES, "", "0+3@1/1! 4+2@2/1 "},
      {"\xef\xbb", TAMP_CONTAINER_LINES, "", "0+2@1/0! "},
      /* Objects with a list. */
      {"{\"messages\":[{},{\"a\":1}]}", TAMP_CONTAINER_OBJECT, "messages", "13+2@1/0 16+7@1/0 "},
      {"{\"messages\":[]}\n", TAMP_CONTAINER_OBJECT, "messages", ""},
      {"{\n \"model\": \"m\",\n \"mess\\u0061ges\" : [\n {}\n ], \"x\":[{}]\n}\n",
       TAMP_CONTAINER_OBJECT, "messages", "39+2@4/0 "},
      {"{\"loglines\":[{}]}", TAMP_CONTAINER_OBJECT, "loglines", "13+2@1/0 "},
      {"{\"state\":{\"x\":1,\"other\":{\"messages\":[{}]}}}", TAMP_CONTAINER_OBJECT,
       "state.*.messages", "37+2@1/0 "},
      {"{\"state\":{\"in_memory\":{\"a\":{},\"messages\":[{}]},\"z\":[]}}", TAMP_CONTAINER_OBJECT,
       "state.in_memory.messages", "42+2@1/0 "},
      {"{\"stateBag\":{\"InMemoryChatHistoryProvider\":{\"messages\":[{}]}}}",
       TAMP_CONTAINER_OBJECT, "stateBag.InMemoryChatHistoryProvider.messages", "56+2@1/0 "},
      {"{\"thread\":{\"messages\":[{}]}}", TAMP_CONTAINER_OBJECT, "thread.messages", "23+2@1/0 "},
      {"{\"chat\":{\"messages\":[{}]}}", TAMP_CONTAINER_OBJECT, "chat.messages", "21+2@1/0 "},
      /* A better list counts, wherever it stands; a list of other things is none. */
      {"{\"history\":[{}],\"messages\":[{}]}", TAMP_CONTAINER_OBJECT, "messages", "28+2@1/0 "},
      {"{\"messages\":[{}],\"history\":[{}]}", TAMP_CONTAINER_OBJECT, "messages", "13+2@1/0 "},
      {"{\"messages\":[1],\"history\":[{}]}", TAMP_CONTAINER_OBJECT, "history", "27+2@1/0 "},
      {"{\"messages\":\"\",\"history\":{},\"chat\":{\"messages\":[{}]}}", TAMP_CONTAINER_OBJECT,
       "chat.messages", "48+2@1/0 "},
      {"{\"messages\":[{}],\"messages\":[{},{}]}", TAMP_CONTAINER_OBJECT, "messages",
       "29+2@1/0 32+2@1/0 "},
      {"{\"state\":{\"a\":{\"messages\":[{}]},\"b\":{\"messages\":[{}]}}}", TAMP_CONTAINER_OBJECT,
       "state.*.messages", "27+2@1/0 "},
      {"{\"messages\":[1]}", TAMP_CONTAINER_LINES, "", "0+16@1/0 "},
      {"{\"a\":{\"messages\":[{}]}}", TAMP_CONTAINER_LINES, "", "0+23@1/0 "},
      /* What looked like the one object was the first line of many. */
      {"{\"messages\":[{}]}\n{\"messages\":[{}]}\n", TAMP_CONTAINER_LINES, "",
       "0+17@1/1? 18+17@2/1 "},
      {"{\"messages\":[{}]} \r\n\n {}", TAMP_CONTAINER_LINES, "", "0+18@1/2? 22+2@3/0 "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static Story story;
    const TampText file = {(const uint8_t *)cases[i].file, strlen(cases[i].file)};
    const bool same = tell_all_ways(&story, file, 0);
    const bool right = story.status == TAMP_OK && story.container == cases[i].container &&
                       strcmp(story.path, cases[i].path) == 0 &&
                       strcmp(story.records, cases[i].records) == 0;
    if (!CHECK(same) || !CHECK(right)) {
      fprintf(stderr, "  %s: status %d container %d path %s records %s\n", cases[i].file,
              (int)story.status, (int)story.container, story.path, story.records);
    }
  }

  TEST("the list's place in the file is known");
  static Story story;
  CHECK(tell_all_ways(&story, TAMP_TEXT(" [ {} ] "), 0) && story.list_from == 2 &&
        story.list_to == 6);
  CHECK(tell_all_ways(&story, TAMP_TEXT("{\"a\":[],\"messages\":[]}"), 0));
  CHECK(story.list_from == 20 && story.list_to == 20);
  CHECK(tell_all_ways(&story, TAMP_TEXT("\n{}\n{}\n\n"), 0) && story.list_from == 1 &&
        story.list_to == 8);
}

static void members(void) {
  TEST("members beside the list are given, before it and after");
  static Story story;
  CHECK(tell_all_ways(&story,
                      TAMP_TEXT("{\"system\":\"be brief\",\"n\":1.5,\"messages\":[{\"system\":2}],"
                                "\"max\\u005f\":[1,{}],\"history\":[{}],\"state\":{\"k\":1}}"),
                      0));
  CHECK(strcmp(story.members, "system=10+10 n=25+3 max\\u005f=67+6 history=84+4 ") == 0);
  CHECK(tell_all_ways(&story, TAMP_TEXT("{\"messages\":[1,2],\"history\":[{}],\"loglines\":[3]}"),
                      0));
  CHECK(strcmp(story.members, "messages=12+5 loglines=44+3 ") == 0);

  TEST("a member too long to be kept is still named");
  const size_t length = 5 * TAMP_SPLIT_MEMBER_BYTES;
  uint8_t *bytes = malloc(length + 100);
  if (bytes == NULL) abort();
  size_t at = (size_t)sprintf((char *)bytes, "{\"messages\":[{}],\"tools\":\"");
  memset(bytes + at, 'x', length);
  at += length;
  at += (size_t)sprintf((char *)bytes + at, "\",\"z\":0}");
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  static Story other;
  char expected[100];
  snprintf(expected, sizeof expected, "tools=25+%d? z=%d+1 ", (int)length + 2, (int)length + 32);
  tell(&story, (TampText){bytes, at}, at, 0, &arena);
  CHECK(story.status == TAMP_OK && strcmp(story.members, expected) == 0);
  tell(&other, (TampText){bytes, at}, 4096, 0, &arena);
  CHECK(same_story(&story, &other));
  CHECK(tamp_arena_size(&arena) < 4 * TAMP_SPLIT_MEMBER_BYTES);
  free(bytes);
  tamp_arena_free(&arena);
}

static void faults(void) {
  TEST("a fault of an array or object is the first byte that cannot be there, with its line");
  static const struct {
    const char *file;
    long offset;
    int line;
    const char *reason;
  } cases[] = {
      {"[", 1, 1, "expected a value"},
      {"[{}", 3, 1, "expected ',' or ']'"},
      {"[{},\n", 5, 2, "expected a value"},
      {"[{}\n{}]", 4, 2, "expected ',' or ']'"},
      {"[{},]", 4, 1, "expected a value"},
      {"[{\"a\":1]", 7, 1, "expected ',' or '}'"},
      {"[{\"a\" 1}]", 6, 1, "expected ':'"},
      {"[{a:1}]", 2, 1, "expected a member name in quotes"},
      {"[{\"a\":1,}]", 8, 1, "expected a member name in quotes"},
      {"[\"a", 3, 1, "the string does not end"},
      {"[\"a\n\"]", 3, 1, "control characters must be escaped"},
      {"[\"\\x\"]", 3, 1, "no such escape"},
      {"[\"\\u00g0\"]", 6, 1, "expected four hex digits"},
      {"[\"\xe4\xb8\"]", 4, 1, "not UTF-8"},
      {"[\"\xc0\x80\"]", 2, 1, "not UTF-8"},
      {"[\"\xed\xa0\x80\"]", 3, 1, "not UTF-8"},
      {"[-]", 2, 1, "expected a digit"},
      {"[-", 2, 1, "expected a digit"},
      {"[1", 2, 1, "expected ',' or ']'"},
      {"[1.e]", 3, 1, "expected a digit"},
      {"[01]", 2, 1, "expected ',' or ']'"},
      {"[trux]", 4, 1, "expected a value"},
      {"[tru", 4, 1, "expected a value"},
      {"[truex]", 5, 1, "expected ',' or ']'"},
      {"[]\n[]", 3, 2, "expected the end of the text"},
      {"{\"messages\":[{}],\n\"x\":tru}", 25, 2, "expected a value"},
      {"{\"messages\":[{}]} x", 18, 1, "expected the end of the text"},
      {"{\n\"messages\":[{}]}\n{}", 19, 3, "expected the end of the text"},
      {"{\"messages\":[{}", 15, 1, "expected ',' or ']'"},
      {"{\"messages\":[{}]", 16, 1, "expected ',' or '}'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static Story story;
    const TampText file = {(const uint8_t *)cases[i].file, strlen(cases[i].file)};
    const bool same = tell_all_ways(&story, file, 0);
    const bool right = story.status == TAMP_BAD_JSON &&
                       story.fault.offset == (uint64_t)cases[i].offset &&
                       story.fault.line == (uint64_t)cases[i].line &&
                       strcmp(story.fault.reason, cases[i].reason) == 0;
    if (!CHECK(same) || !CHECK(right)) {
      fprintf(stderr, "  %s: status %d offset %d line %d %s\n", cases[i].file, (int)story.status,
              (int)story.fault.offset, (int)story.fault.line,
              story.fault.reason == NULL ? "" : story.fault.reason);
    }
  }

  TEST("a record may nest 1,000 levels and not one more; in lines that is the line's own matter");
  char deep[4200];
  for (int levels = 1000; levels <= 1001; levels++) {
    size_t at = 0;
    deep[at++] = '[';
    for (int i = 0; i < levels; i++) deep[at++] = '[';
    for (int i = 0; i < levels; i++) deep[at++] = ']';
    deep[at++] = ']';
    static Story story;
    CHECK(tell_all_ways(&story, (TampText){(const uint8_t *)deep, at}, 0));
    CHECK(levels == 1000 ? story.status == TAMP_OK && story.count == 1
                         : story.status == TAMP_TOO_DEEP && story.fault.offset == 1001);
    at = (size_t)sprintf(deep, "{\"a\":");
    for (int i = 1; i < levels; i++) deep[at++] = '[';
    for (int i = 1; i < levels; i++) deep[at++] = ']';
    at += (size_t)sprintf(deep + at, "}\n{}\n");
    CHECK(tell_all_ways(&story, (TampText){(const uint8_t *)deep, at}, 0));
    CHECK(story.status == TAMP_OK && story.container == TAMP_CONTAINER_LINES && story.count == 2);
    CHECK(story.opaque == levels - 1000);
  }
}

static void limits(void) {
  TEST("a line over the limit is passed on without its bytes, any other record is too large");
  static Story story;
  const TampText lines = TAMP_TEXT("{\"a\":1}\n{\"a\":\"0123456789\"}\r\n{\"b\":2}\n");
  CHECK(tell_all_ways(&story, lines, 10) && story.status == TAMP_OK);
  CHECK(strcmp(story.records, "0+7@1/1 8+18@2/2? 28+7@3/1 ") == 0);
  const TampText array = TAMP_TEXT("[{\"a\":1},\n{\"a\":\"0123456789\"}]");
  CHECK(tell_all_ways(&story, array, 10) && story.status == TAMP_TOO_LARGE);
  CHECK(story.fault.offset == 10 && story.fault.line == 2);
  const TampText object = TAMP_TEXT("{\"m\":\"0123456789\",\"messages\":[{}]}");
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  tell(&story, object, 4, 10, &arena);
  CHECK(story.status == TAMP_TOO_LARGE);

  TEST("memory stays that of the longest record, however long the file");
  TestHeap heap = {0};
  tamp_arena_free(&arena);
  tamp_arena_init(&arena, test_heap_allocator(&heap));
  TampSplitter splitter;
  memset(&story, 0, sizeof story);
  story.right = true;
  /* Each element again, which is_slice cannot follow: offsets are looked at instead. */
  story.file = TAMP_TEXT("");
  tamp_splitter_init(&splitter, &arena, (TampSplitSink){story_begin, story_record, NULL, &story});
  CHECK(tamp_splitter_feed(&splitter, (const uint8_t *)"[", 1) == TAMP_OK);
  char element[1000];
  memset(element, 'x', sizeof element);
  memcpy(element, "{\"a\":\"", 6);
  memcpy(element + sizeof element - 3, "\"},", 3);
  for (int i = 0; i < 5000; i++) {
    CHECK(tamp_splitter_feed(&splitter, (const uint8_t *)element, 500) == TAMP_OK);
    CHECK(tamp_splitter_feed(&splitter, (const uint8_t *)element + 500, 500) == TAMP_OK);
  }
  CHECK(tamp_splitter_feed(&splitter, (const uint8_t *)"{}]", 3) == TAMP_OK);
  CHECK(tamp_splitter_finish(&splitter) == TAMP_OK && story.count == 5001);
  CHECK(splitter.offset == 5000004 && splitter.list_to == 5000003);
  CHECK(tamp_arena_size(&arena) < 4000 && heap.calls < 10);
  tamp_arena_free(&arena);
}

static TampStatus refuse(void *context, TampSplitRecord *record) {
  (void)context;
  record->fault = (TampFault){3, "no"};
  return TAMP_BAD_MESSAGE;
}

static TampStatus accept(void *context, TampContainer container, const char *path) {
  (void)context;
  (void)container;
  (void)path;
  return TAMP_OK;
}

static void sinks(void) {
  TEST("a sink that fails ends the splitting, and its fault is placed in the file");
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  TampSplitter splitter;
  tamp_splitter_init(&splitter, &arena, (TampSplitSink){accept, refuse, NULL, NULL});
  const TampText file = TAMP_TEXT("[\n{\"a\":1},2]");
  CHECK(tamp_splitter_feed(&splitter, file.bytes, file.length) == TAMP_BAD_MESSAGE);
  CHECK(splitter.fault.offset == 5 && splitter.fault.line == 2);
  CHECK(strcmp(splitter.fault.reason, "no") == 0);
  CHECK(tamp_splitter_feed(&splitter, file.bytes, file.length) == TAMP_BAD_MESSAGE);
  CHECK(tamp_splitter_finish(&splitter) == TAMP_BAD_MESSAGE);
  tamp_arena_free(&arena);

  TEST("a failed allocation anywhere is reported and leaves nothing behind");
  static const char *files[] = {
      "[{\"a\":\"some text that is longer than the chunks it comes in\"},{}]",
      "{\"a\":\"some text that is longer than the chunks\"}\n{\"a\":\"a longer one, once more\"}\n",
      "{\"a\":\"some text that is longer than the chunks\",\n{\"a\":2}\n{\"torn",
      "{\"x\":\"a member before the list that must be kept\",\"messages\":[{\"a\":1}]}"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    static Story story;
    const TampText text = {(const uint8_t *)files[i], strlen(files[i])};
    long failed = 0;
    for (long fail_at = 1; fail_at <= failed + 1; fail_at++) {
      TestHeap heap = {.fail_at = fail_at};
      tamp_arena_init(&arena, test_heap_allocator(&heap));
      tell(&story, text, 5, 0, &arena);
      CHECK(story.status == (heap.calls < fail_at ? TAMP_OK : TAMP_NO_MEMORY));
      if (story.status != TAMP_OK) failed = fail_at;
      tamp_arena_free(&arena);
      CHECK(heap.live == 0);
    }
    CHECK(failed > 0);
  }
}

static size_t random_json(uint8_t *out, size_t room, int depth) {
  static const char *scalars[] = {"null",
                                  "true",
                                  "false",
                                  "0",
                                  "-1.5e3",
                                  "12345678901234567890",
                                  "\"\"",
                                  "\"a\"",
                                  "\" \\\" \\u00e9 \\ud83d\\ude00 \"",
                                  "\"\xc3\xa9\xe4\xb8\x80\xf0\x9f\x98\x80\xed\x9f\xbf plain text\"",
                                  "\"0123456789abcdef0123456789abcdef\\n\""};
  static const char *names[] = {
      "\"a\":", "\"messages\":", "\"state\" :", "\"history\": ", "\"in_memory\":", "\"chat\":"};
  if (room < 120) {
    out[0] = (uint8_t)'1';
    return 1;
  }
  const uint32_t kind = depth < 2 ? 1 + random_below(2) : random_below(depth > 5 ? 1 : 3);
  size_t length = 0;
  if (kind == 0) {
    const char *scalar = scalars[random_below(sizeof scalars / sizeof *scalars)];
    length = strlen(scalar);
    memcpy(out, scalar, length);
    return length;
  }
  out[length++] = kind == 1 ? '[' : '{';
  const uint32_t count = random_below(4);
  for (uint32_t i = 0; i < count && room - length > 130; i++) {
    if (i > 0) out[length++] = ',';
    if (random_below(3) == 0) out[length++] = (uint8_t) " \n\t\r"[random_below(4)];
    if (kind == 2) {
      const char *name = names[random_below(sizeof names / sizeof *names)];
      memcpy(out + length, name, strlen(name));
      length += strlen(name);
    }
    length += random_json(out + length, room - length - 20, depth + 1);
    if (random_below(4) == 0) out[length++] = ' ';
  }
  out[length++] = kind == 1 ? ']' : '}';
  return length;
}

static void random_files(void) {
  TEST("random and damaged files are split the same in chunks of any size, and read as a cursor "
       "reads");
  static const char charset[] = "{}[],:\"\\ \n01-+.eEtfnu\x01\x1f\x80\xc3\xff";
  static uint8_t bytes[1200];
  static Story story;
  int arrays = 0, objects = 0, lines = 0, refused = 0;
  for (int round = 0; round < 12000; round++) {
    TampText file = {bytes, random_json(bytes, 700, 0)};
    while (random_below(4) == 0 && file.length < 900) {
      bytes[file.length++] = '\n';
      file.length += random_json(bytes + file.length, 150, 1);
    }
    const uint32_t edits = random_below(3);
    for (uint32_t i = 0; i < edits && file.length > 1; i++) {
      const uint32_t at = random_below((uint32_t)file.length);
      bytes[at] = (uint8_t)charset[random_below(sizeof charset - 1)];
    }
    if (random_below(6) == 0) file.length = random_below((uint32_t)file.length + 1);
    if (!CHECK(tell_all_ways(&story, file, 0))) {
      fprintf(stderr, "  %.*s\n", (int)file.length, (const char *)bytes);
      return;
    }
    TampCursor cursor = tamp_cursor(bytes, 0, file.length, false);
    TampValue value = {0};
    if (tamp_cursor_value(&cursor, &value)) tamp_cursor_end(&cursor);
    if (story.status != TAMP_OK) {
      refused++;
      CHECK(story.container != TAMP_CONTAINER_LINES && cursor.status == story.status &&
            cursor.fault.offset == story.fault.offset);
    } else if (story.container == TAMP_CONTAINER_ARRAY) {
      arrays++;
      CHECK(cursor.status == TAMP_OK);
      uint32_t state = 0;
      int count = 0;
      TampValue element;
      while (tamp_value_next(bytes, value, &state, &element)) count++;
      CHECK(count == story.count);
    } else if (story.container == TAMP_CONTAINER_OBJECT) {
      objects++;
      CHECK(cursor.status == TAMP_OK);
    } else {
      lines++;
      CHECK(cursor.status != TAMP_OK || story.count <= 1);
    }
  }
  printf("random files: %d arrays, %d objects, %d of lines, %d refused\n", arrays, objects, lines,
         refused);
  CHECK(arrays > 500 && objects > 100 && lines > 500 && refused > 500);

  TEST("a file cut at any byte gives what its whole lines give, and perhaps a torn one");
  uint8_t log[2000];
  size_t length = 0;
  for (int i = 0; i < 12; i++) {
    length +=
        (size_t)sprintf((char *)log + length, "{\"type\":\"user\",\"n\":%d,\"t\":\"\xc3\xa9\"}%s",
                        i, i % 3 == 0 ? "\r\n" : "\n");
  }
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  for (size_t cut = 0; cut <= length; cut++) {
    int newlines = 0;
    for (size_t i = 0; i < cut; i++) newlines += log[i] == '\n';
    tell(&story, (TampText){log, cut}, 7, 0, &arena);
    CHECK(story.status == TAMP_OK && story.right);
    CHECK(story.count - newlines >= 0 && story.count - newlines <= 1 && story.opaque <= 1);
  }
  tamp_arena_free(&arena);
}

int main(void) {
  containers();
  members();
  faults();
  limits();
  sinks();
  random_files();
  return test_end();
}
