/* Any file in chunks of any size: the splitter tells the same as of the whole, gives only bytes of
 * the file, and of an array or object it refuses what the cursor refuses, at the same byte. */
#include <stdlib.h>
#include <string.h>

#include "../../src/json/cursor.h"
#include "../../src/json/splitter.h"

typedef struct Story {
  const uint8_t *file;
  size_t length;
  uint64_t hash; /* of all that was told since the last `begin` */
  uint64_t end;  /* of the last record */
  TampContainer container;
} Story;

static void require(bool held) {
  if (!held) abort();
}

static void note(Story *story, uint64_t fact) {
  story->hash = (story->hash ^ fact) * UINT64_C(0x9e3779b97f4a7c15);
}

static void require_slice(const Story *story, uint64_t offset, uint64_t length,
                          const uint8_t *bytes) {
  require(offset <= story->length && length <= story->length - offset);
  if (bytes != NULL && length > 0)
    require(memcmp(story->file + offset, bytes, (size_t)length) == 0);
}

static TampStatus begin(void *context, TampContainer container, const char *path) {
  Story *story = context;
  story->container = container;
  story->hash = 0;
  story->end = 0;
  note(story, (uint64_t)container);
  for (; *path != '\0'; path++) note(story, (uint64_t)*path);
  return TAMP_OK;
}

static TampStatus record(void *context, TampSplitRecord *given) {
  Story *story = context;
  require_slice(story, given->offset, given->length, given->bytes);
  require(given->offset >= story->end && given->length > 0);
  story->end = given->offset + given->length + given->tail;
  TampFault fault;
  const TampStatus status = tamp_splitter_check(given, &fault);
  if (story->container != TAMP_CONTAINER_LINES) require(status == TAMP_OK);
  note(story, given->offset);
  note(story, given->length);
  note(story, given->line << 8 | given->tail << 1 | (given->bytes == NULL));
  return TAMP_OK;
}

static TampStatus member(void *context, const TampSplitMember *given) {
  const Story *story = context;
  require_slice(story, given->offset, given->length, given->bytes);
  return TAMP_OK;
}

static TampSplitter tell(Story *story, const uint8_t *file, size_t length, size_t chunk,
                         TampArena *arena) {
  *story = (Story){.file = file, .length = length};
  TampSplitter splitter;
  tamp_splitter_init(&splitter, arena, (TampSplitSink){begin, record, member, story});
  for (size_t at = 0; at < length; at += chunk) {
    const size_t count = length - at < chunk ? length - at : chunk;
    uint8_t *copy = malloc(count);
    require(copy != NULL);
    memcpy(copy, file + at, count);
    const TampStatus status = tamp_splitter_feed(&splitter, copy, count);
    free(copy);
    if (status != TAMP_OK) return splitter;
  }
  tamp_splitter_finish(&splitter);
  return splitter;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  const size_t chunk = 1 + data[0] % 64u;
  const uint8_t *file = data + 1;
  const size_t length = size - 1;
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  Story whole, chunks;
  const TampSplitter first = tell(&whole, file, length, length, &arena);
  const TampSplitter second = tell(&chunks, file, length, chunk, &arena);
  require(first.status == second.status && first.container == second.container);
  require(first.fault.offset == second.fault.offset && first.fault.line == second.fault.line &&
          first.fault.reason == second.fault.reason);
  if (first.status == TAMP_OK) {
    require(whole.hash == chunks.hash && first.list_from == second.list_from &&
            first.list_to == second.list_to && first.offset == length);
  }
  const size_t skipped = length >= 3 && memcmp(file, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  TampCursor cursor = tamp_cursor(file, skipped, length, false);
  TampValue value;
  if (tamp_cursor_value(&cursor, &value)) tamp_cursor_end(&cursor);
  if (first.container == TAMP_CONTAINER_ARRAY || first.container == TAMP_CONTAINER_OBJECT) {
    /* The levels of the file's own containers are not counted. */
    if (cursor.status != TAMP_TOO_DEEP && first.status != TAMP_TOO_DEEP) {
      require(first.status == cursor.status);
      if (first.status != TAMP_OK) require(first.fault.offset == cursor.fault.offset);
    }
  } else {
    require(first.status == TAMP_OK);
  }
  tamp_arena_free(&arena);
  return 0;
}
