#include "splice.h"

#include "../sort.h"

TampSplices tamp_splices(const TampMessage *message, TampArena *arena) {
  return (TampSplices){.arena = arena, .text = message->text, .raw = message->raw};
}

static void add(TampSplices *splices, TampSplice splice) {
  if (splices->status || (splice.at == 0 && splice.length == 0)) return;
  splices->status = tamp_arena_grow(splices->arena, (void **)&splices->items, &splices->capacity,
                                    (size_t)splices->count + 1, sizeof *splices->items);
  if (splices->status) return;
  splices->items[splices->count++] = splice;
}

void tamp_splice_json(TampSplices *splices, TampValue value, TampText json) {
  add(splices, (TampSplice){value.at, value.length, json, false, false});
}

void tamp_splice_string(TampSplices *splices, TampValue value, TampText text) {
  add(splices, (TampSplice){value.at, value.length, text, true, false});
}

void tamp_splice_arguments(TampSplices *splices, const TampPart *part, TampText text) {
  add(splices, (TampSplice){part->text.at, part->text.length, text, part->text.type == TAMP_JSON_STRING, false});
}

void tamp_splice_written(TampSplices *splices, uint32_t at, uint32_t length, TampWriter *writer) {
  TampText json = {0};
  TampStatus status = tamp_writer_finish(writer, &json);
  if (status && !splices->status) splices->status = status;
  add(splices, (TampSplice){.at = at, .length = length, .text = json, .owned = writer->bytes != NULL});
}

void tamp_splice_text_part(TampSplices *splices, TampValue element, TampText text) {
  TampWriter writer = tamp_writer(splices->arena);
  tamp_writer_raw(&writer, TAMP_TEXT("{\"type\":\"text\",\"text\":"));
  tamp_writer_string(&writer, text);
  tamp_writer_raw(&writer, TAMP_TEXT("}"));
  tamp_splice_written(splices, element.at, element.length, &writer);
}

/* Walks a container and takes out runs of its items, each from its own start to the next item's, or at the end
 * from the end of the item before. */
typedef struct Removal {
  TampSplices *splices;
  uint32_t kept_end;   /* end of the last item that stays, 0 before the first */
  uint32_t gone_start; /* of the run that is being taken out */
  bool in_run;
} Removal;

static void visit(Removal *removal, uint32_t start, uint32_t end, bool gone) {
  if (gone) {
    if (!removal->in_run) removal->gone_start = start;
    removal->in_run = true;
    return;
  }
  if (removal->in_run) {
    uint32_t from = removal->gone_start;
    add(removal->splices, (TampSplice){from, start - from, {0}, false, false});
  }
  removal->in_run = false;
  removal->kept_end = end;
}

static void finish(const Removal *removal, uint32_t last_end) {
  if (!removal->in_run) return;
  uint32_t from = removal->kept_end ? removal->kept_end : removal->gone_start;
  add(removal->splices, (TampSplice){from, last_end - from, {0}, false, false});
}

static bool is_named(const TampSplices *splices, TampValue name, const TampText *names,
                     size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (tamp_value_is(splices->text, name, names[i])) return true;
  }
  return false;
}

void tamp_splice_remove_members(TampSplices *splices, TampValue object, const TampText *names,
                                size_t count) {
  TampCursor cursor = tamp_cursor_on(splices->text, object, splices->raw);
  Removal removal = {.splices = splices};
  TampValue name, value;
  uint32_t end = 0;
  if (!tamp_cursor_enter(&cursor, TAMP_JSON_OBJECT)) return;
  while (tamp_cursor_member(&cursor, &name) && tamp_cursor_value(&cursor, &value)) {
    end = value.at + value.length;
    visit(&removal, name.at, end, is_named(splices, name, names, count));
  }
  finish(&removal, end);
}

void tamp_splice_remove_elements(TampSplices *splices, TampValue array, const uint8_t *gone,
                                 size_t count) {
  Removal removal = {.splices = splices};
  TampValue value;
  uint32_t state = 0, end = 0;
  for (size_t i = 0; tamp_value_next(splices->text, array, &state, &value); i++) {
    end = value.at + value.length;
    visit(&removal, value.at, end, i < count && gone[i]);
  }
  finish(&removal, end);
}

void tamp_splice_set_string(TampSplices *splices, TampValue object, TampText name, TampText text) {
  TampValue found;
  tamp_value_members(splices->text, object, &name, 1, &found);
  if (found.type != TAMP_JSON_NOTHING) {
    tamp_splice_string(splices, found, text);
    return;
  }
  TampWriter writer = tamp_writer(splices->arena);
  tamp_writer_raw(&writer, TAMP_TEXT(","));
  tamp_writer_string(&writer, name);
  tamp_writer_raw(&writer, TAMP_TEXT(":"));
  tamp_writer_string(&writer, text);
  tamp_splice_written(splices, object.at + object.length - 1, 0, &writer);
}

static bool is_earlier(const void *a, const void *b) {
  const TampSplice *x = a, *y = b;
  return x->at != y->at ? x->at < y->at : x->length < y->length;
}

TampStatus tamp_splices_write(TampSplices *splices, TampValue whole, TampWriter *writer) {
  if (splices->status) return splices->status;
  tamp_sort(splices->items, splices->count, sizeof *splices->items, is_earlier);
  uint32_t at = whole.at;
  for (uint32_t i = 0; i < splices->count; i++) {
    const TampSplice *splice = &splices->items[i];
    tamp_writer_span(writer, splices->text, at, splice->at, splices->raw);
    if (splice->quoted) {
      tamp_writer_string(writer, splice->text);
    } else {
      tamp_writer_raw(writer, splice->text);
    }
    at = splice->at + splice->length;
    if (splice->owned) tamp_arena_drop(splices->arena, (void *)splice->text.bytes);
  }
  tamp_writer_span(writer, splices->text, at, whole.at + whole.length, splices->raw);
  tamp_arena_drop(splices->arena, splices->items);
  splices->items = NULL;
  return writer->status;
}
