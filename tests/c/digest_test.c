#include "../../src/digest.h"

#include "allocator.h"
#include "test.h"

#include <stdlib.h>

static TampStatus digest(const char *text, TampDigest *out, TampFault *fault) {
  TestHeap heap = {0};
  TampArena arena;
  tamp_arena_init(&arena, test_heap_allocator(&heap));
  TampStatus status =
      tamp_digest_message((const uint8_t *)text, 0, strlen(text), false, &arena, out, fault);
  tamp_arena_free(&arena);
  CHECK(heap.live == 0);
  return status;
}

static bool same(const char *a, const char *b) {
  TampDigest first, second;
  TampFault fault;
  if (!CHECK(digest(a, &first, &fault) == TAMP_OK)) return false;
  if (!CHECK(digest(b, &second, &fault) == TAMP_OK)) return false;
  return memcmp(first.bytes, second.bytes, sizeof first.bytes) == 0;
}

static void spelling(void) {
  TEST("white space, the order of members and escapes do not count");
  CHECK(same("{\"a\":1,\"b\":[true,null,{\"c\":\"\\u0041\\/\"}]}",
             " { \"b\" : [ true , null , { \"c\" : \"A/\" } ] ,\n\"a\" : 1 } "));
  CHECK(same("{\"\\u0061\":1}", "{\"a\":1}"));
  CHECK(same("{\"x\":\"\\ud83c\\udf89\"}", "{\"x\":\"\xf0\x9f\x8e\x89\"}"));

  TEST("of members with one name the last counts");
  CHECK(same("{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":2,\"a\":3}"));
  CHECK(!same("{\"a\":3,\"a\":1}", "{\"a\":3}"));

  TEST("metadata of the message does not count, that of anything in it does");
  CHECK(same("{\"id\":\"m\",\"metadata\":{\"tamp\":{\"pin\":true}}}", "{\"id\":\"m\"}"));
  CHECK(same("{\"metad\\u0061ta\":1}", "{}"));
  CHECK(!same("{\"call\":{\"metadata\":1}}", "{\"call\":{}}"));
}

static void differences(void) {
  TEST("what reads differently has another digest");
  const char *texts[] = {
      "{}",
      "{\"a\":1}",
      "{\"a\":\"1\"}",
      "{\"a\":[1]}",
      "{\"a\":[[1]]}",
      "{\"a\":[]}",
      "{\"a\":{}}",
      "{\"a\":null}",
      "{\"a\":\"null\"}",
      "{\"a\":false}",
      "{\"a\":\"\"}",
      "{\"a\":\"\\u0000\"}",
      "{\"a\":\"\\u0000\\u0000\"}",
      "{\"a\":[1,2]}",
      "{\"a\":[2,1]}",
      "{\"a\":[12]}",
      "{\"ab\":1}",
      "{\"a\":{\"b\":1}}",
      "{\"a\":1,\"b\":{}}",
      "{\"b\":1}",
      "{\"a\":\"0123456789abcdef\"}",
      "{\"a\":\"0123456789abcdef0\"}",
  };
  const size_t count = sizeof texts / sizeof *texts;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++) CHECK(same(texts[i], texts[j]) == (i == j));
}

static void many_members(void) {
  TEST("a message with very many members is sorted like any other");
  enum { MEMBERS = 5000 };
  char *forwards = malloc(MEMBERS * 16 + 8), *backwards = malloc(MEMBERS * 16 + 8);
  size_t a = 0, b = 0;
  for (int i = 0; i < MEMBERS; i++) {
    a += (size_t)sprintf(forwards + a, "%c\"k%d\":%d", i == 0 ? '{' : ',', i, i);
    b += (size_t)sprintf(backwards + b, "%c\"k%d\":%d", i == 0 ? '{' : ',', MEMBERS - 1 - i,
                         MEMBERS - 1 - i);
  }
  memcpy(forwards + a, "}", 2);
  memcpy(backwards + b, "}", 2);
  CHECK(same(forwards, backwards));
  free(forwards);
  free(backwards);
}

static void raw_strings(void) {
  TEST("a raw string counts like the one it stands for");
  const uint8_t raw[] = "{\x01\x01\0\0\0k:\x01\x04\0\0\0a\"b\\}";
  TampArena arena;
  TampDigest first, second;
  TampFault fault;
  tamp_arena_init(&arena, tamp_default_allocator());
  CHECK(tamp_digest_message(raw, 0, sizeof raw - 1, true, &arena, &first, &fault) == TAMP_OK);
  CHECK(digest("{\"k\":\"a\\\"b\\\\\"}", &second, &fault) == TAMP_OK);
  CHECK(memcmp(first.bytes, second.bytes, sizeof first.bytes) == 0);
  tamp_arena_free(&arena);
}

static void lists(void) {
  TEST("a list counts each message in its order, whether appended one by one or as an array");
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  TampDigest one, two, by_one = tamp_digest_empty(), at_once = tamp_digest_empty(),
                           swapped = tamp_digest_empty();
  TampFault fault;
  CHECK(digest("{\"id\":\"1\"}", &one, &fault) == TAMP_OK);
  CHECK(digest("{\"id\":\"2\"}", &two, &fault) == TAMP_OK);
  tamp_digest_append(&by_one, &one);
  tamp_digest_append(&by_one, &two);
  tamp_digest_append(&swapped, &two);
  tamp_digest_append(&swapped, &one);
  const char *array = " [{\"id\":\"1\"}, {\"id\":\"2\"}] ";
  CHECK(tamp_digest_append_array(&at_once, (const uint8_t *)array, 0, strlen(array), false, &arena,
                                 &fault) == TAMP_OK);
  CHECK(memcmp(by_one.bytes, at_once.bytes, sizeof by_one.bytes) == 0);
  CHECK(memcmp(by_one.bytes, swapped.bytes, sizeof by_one.bytes) != 0);

  TEST("an array that is not one of messages leaves the list as it was");
  TampDigest kept = by_one;
  const char *bad[] = {"[{\"id\":\"1\"},2]", "[{}", "{}", "[{\"a\":}]", "[{}] x", ""};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    TampStatus status = tamp_digest_append_array(&by_one, (const uint8_t *)bad[i], 0,
                                                 strlen(bad[i]), false, &arena, &fault);
    CHECK(status == (i == 0 ? TAMP_BAD_MESSAGE : TAMP_BAD_JSON));
    CHECK(memcmp(by_one.bytes, kept.bytes, sizeof kept.bytes) == 0);
  }
  CHECK(fault.reason != NULL);
  tamp_arena_free(&arena);
}

static void faults(void) {
  TEST("nesting over the limit is an error, and so is what is no object");
  char deep[2600] = "{\"a\":";
  memset(deep + 5, '[', 1200);
  TampDigest out;
  TampFault fault;
  CHECK(digest(deep, &out, &fault) == TAMP_TOO_DEEP);
  CHECK(digest("[]", &out, &fault) == TAMP_BAD_MESSAGE);
  CHECK(digest("\"text\"", &out, &fault) == TAMP_BAD_MESSAGE);
  CHECK(digest("{\"a\":1", &out, &fault) == TAMP_BAD_JSON && fault.offset == 6);

  TEST("every allocation may fail: no memory, nothing leaks");
  const char *text = "{\"\\u0061\":[[[{\"b\":\"\\n\"}]]],\"c\":{\"d\":[1,2,3]}}";
  bool done = false;
  for (long nth = 1; !done && nth < 100; nth++) {
    TestHeap heap = {.fail_at = nth};
    TampArena arena;
    tamp_arena_init(&arena, test_heap_allocator(&heap));
    TampStatus status =
        tamp_digest_message((const uint8_t *)text, 0, strlen(text), false, &arena, &out, &fault);
    done = status == TAMP_OK;
    CHECK(done || status == TAMP_NO_MEMORY);
    tamp_arena_free(&arena);
    CHECK(heap.live == 0);
  }
  CHECK(done);
}

int main(void) {
  spelling();
  differences();
  many_members();
  raw_strings();
  lists();
  faults();
  return test_end();
}
