/* Any bytes: the cursor reads or refuses them, its fault is the first byte that cannot be there,
 * and what it read can be walked, decoded, measured and written again to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "../../src/json/cursor.h"
#include "../../src/json/writer.h"

static void require(bool held) {
  if (!held) abort();
}

static TampCursor read_whole(const uint8_t *text, size_t length, bool raw, TampValue *value) {
  TampCursor cursor = tamp_cursor(text, 0, length, raw);
  if (tamp_cursor_value(&cursor, value)) tamp_cursor_end(&cursor);
  return cursor;
}

/* Walks one level with a cursor and one with the checked functions: they see the same elements. */
static void walk(const uint8_t *text, TampValue value, bool raw, TampArena *arena) {
  TampText decoded;
  require(tamp_value_text(text, value, arena, &decoded) == TAMP_OK);
  if (value.type == TAMP_JSON_STRING) require(tamp_value_is(text, value, decoded));
  uint64_t number;
  (void)tamp_value_integer(text, value, &number);
  TampCursor cursor = tamp_cursor_on(text, value, raw);
  if (value.type == TAMP_JSON_ARRAY) {
    uint32_t state = 0;
    TampValue element, same;
    require(tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY));
    while (tamp_cursor_next(&cursor)) {
      require(tamp_cursor_value(&cursor, &element));
      require(tamp_value_next(text, value, &state, &same));
      require(element.at == same.at && element.length == same.length && element.type == same.type &&
              element.flags == same.flags);
      if (element.length < 64) walk(text, element, raw, arena);
    }
    require(cursor.status == TAMP_OK && !tamp_value_next(text, value, &state, &same));
  } else if (value.type == TAMP_JSON_OBJECT) {
    const TampText names[] = {TAMP_TEXT("a"), TAMP_TEXT("role"), TAMP_TEXT("")};
    TampValue found[3], again[3], whole;
    require(tamp_cursor_members(&cursor, names, 3, found, &whole));
    require(whole.at == value.at && whole.length == value.length);
    tamp_value_members(text, value, names, 3, again);
    for (int i = 0; i < 3; i++) {
      require(found[i].at == again[i].at && found[i].length == again[i].length &&
              found[i].type == again[i].type && found[i].flags == again[i].flags);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const bool raw = (data[0] & 1) != 0;
  const uint8_t *text = data + 1;
  const size_t length = size - 1;
  TampValue value;
  const TampCursor cursor = read_whole(text, length, raw, &value);
  if (cursor.status != TAMP_OK) {
    require(cursor.fault.offset <= length && cursor.fault.reason != NULL);
    /* A raw string that is too long fails at the end whatever its own length; nothing else does. */
    if (raw) return 0;
    TampValue ignored;
    const TampCursor before = read_whole(text, cursor.fault.offset, false, &ignored);
    require(before.status == TAMP_OK || before.fault.offset == cursor.fault.offset);
    if (cursor.fault.offset < length) {
      const TampCursor with = read_whole(text, cursor.fault.offset + 1, false, &ignored);
      require(with.status == cursor.status && with.fault.offset == cursor.fault.offset);
    }
    return 0;
  }
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  walk(text, value, raw, &arena);
  TampWriter writer = tamp_writer(&arena);
  tamp_writer_value(&writer, text, value);
  TampText written;
  require(tamp_writer_finish(&writer, &written) == TAMP_OK);
  if (!raw) {
    require(written.length == value.length && tamp_value_json_length(text, value) == value.length);
    require(memcmp(written.bytes, text + value.at, value.length) == 0);
  }
  TampValue again;
  require(read_whole(written.bytes, written.length, false, &again).status == TAMP_OK);
  tamp_arena_free(&arena);
  return 0;
}
