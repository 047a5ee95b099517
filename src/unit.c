#include "unit.h"

#include <string.h>

/* Where the elements of a message's list begin and end: of an empty one, both behind its bracket. */
static void find_elements(const TampMessage *message, uint32_t *start, uint32_t *end) {
  TampValue element;
  uint32_t state = 0;
  bool any = false;
  *start = *end = message->list.type == TAMP_JSON_ARRAY ? message->list.at + 1 : 0;
  while (tamp_value_next(message->text, message->list, &state, &element)) {
    if (!any) *start = element.at;
    any = true;
    *end = element.at + element.length;
  }
}

/* The record of the unit whose elements are [from, to). */
static TampStatus make_unit(const TampFormat *format, const TampMessage *message, uint32_t from, uint32_t to,
                            uint32_t first, uint32_t last, TampAtoms *atoms, TampArena *arena,
                            const TampCounter *counter, TampRecord *unit) {
  TampMessage part;
  TampFault fault;
  TampText json;
  tamp_message_init(&part, arena);
  TampWriter writer = tamp_writer(arena);
  tamp_writer_span(&writer, message->text, message->whole.at, first, message->raw);
  tamp_writer_span(&writer, message->text, from, to, message->raw);
  tamp_writer_span(&writer, message->text, last, message->whole.at + message->whole.length, message->raw);
  TampStatus status = tamp_writer_finish(&writer, &json);
  uint8_t *bytes = status ? NULL : tamp_arena_alloc(arena, json.length);
  if (!status && !bytes) status = TAMP_NO_MEMORY;
  if (!status) memcpy(bytes, json.bytes, json.length);
  if (!status) status = tamp_message_read(format, bytes, json.length, false, &part, &fault);
  if (!status) status = tamp_record_make(&part, atoms, arena, counter, unit);
  tamp_arena_drop(arena, part.parts);
  tamp_arena_drop(arena, part.units);
  tamp_arena_drop(arena, writer.bytes);
  return status;
}

TampStatus tamp_units_make(const TampFormat *format, const TampMessage *message, TampAtoms *atoms, TampArena *arena,
                           const TampCounter *counter, TampRecord *whole) {
  uint32_t count = message->unit_count + 1;
  TampRecord *units = tamp_arena_alloc(arena, count * sizeof *units);
  if (!units) return TAMP_NO_MEMORY;
  uint32_t first, last;
  find_elements(message, &first, &last);
  uint32_t from = first, separator = 0, nth = 0, state = 0, end = 0;
  uint64_t size = 0, separators = 0;
  TampValue element;
  while (nth < count) {
    /* Up to the element that begins the next unit, or the end. */
    uint32_t next = nth < message->unit_count ? message->units[nth] : UINT32_MAX;
    uint32_t begin = last;
    while (tamp_value_next(message->text, message->list, &state, &element)) {
      begin = element.at;
      if (element.at >= next) break;
      end = element.at + element.length;
      begin = last;
    }
    TampRecord *unit = &units[nth++];
    TampStatus status = make_unit(format, message, from, end, first, last, atoms, arena, counter, unit);
    if (status) return status;
    unit->whole = whole;
    unit->piece.separator_length = separator;
    unit->piece.separator = separator ? message->text + from - separator : NULL;
    if (separator && message->transient) {
      uint8_t *copy = tamp_arena_alloc(arena, separator);
      if (!copy) return TAMP_NO_MEMORY;
      memcpy(copy, unit->piece.separator, separator);
      unit->piece.separator = copy;
    }
    size += unit->size;
    separators += separator;
    separator = begin - end;
    from = begin;
    end = begin + element.length;
  }
  whole->units = units;
  whole->unit_count = count;
  whole->tokens = 0;
  for (uint32_t i = 0; i < count; i++) {
    units[i].piece.shared = (uint32_t)((size + separators - whole->size) / (count - 1));
    whole->tokens += units[i].tokens - (i > 0 ? TAMP_MESSAGE_TOKENS : 0);
  }
  return TAMP_OK;
}

TampStatus tamp_units_join(const TampFormat *format, const TampRecord *const *units, uint32_t count, uint32_t home,
                           TampArena *scratch, TampWriter *writer) {
  TampMessage message;
  tamp_message_init(&message, scratch);
  TampStatus status = TAMP_OK;
  bool any = false;
  for (uint32_t i = 0; !status && i <= count + 1; i++) {
    /* Before the units and behind them, what stands around those of the home. */
    const TampRecord *unit = units[i == 0 || i > count ? home : i - 1];
    TampFault fault;
    uint32_t start, end;
    status = tamp_record_read(format, unit, &message, &fault);
    if (status) break;
    find_elements(&message, &start, &end);
    if (i == 0) {
      end = start;
      start = message.whole.at;
    } else if (i > count) {
      start = end;
      end = message.whole.at + message.whole.length;
    } else {
      TampText separator = {unit->piece.separator, unit->piece.separator_length};
      /* A message whose list is empty is a unit too, and adds no element. */
      if (any && end > start) tamp_writer_raw(writer, unit->piece.separator ? separator : TAMP_TEXT(","));
      any = any || end > start;
    }
    tamp_writer_span(writer, message.text, start, end, message.raw);
  }
  tamp_arena_drop(scratch, message.parts);
  tamp_arena_drop(scratch, message.units);
  return status ? status : writer->status;
}

TampStatus tamp_unit_of(const TampFormat *format, const TampRecord *record, TampArena *arena,
                        const TampRecord **unit) {
  TampMessage message;
  TampFault fault;
  tamp_message_init(&message, arena);
  TampRecord *made = tamp_arena_alloc(arena, sizeof *made);
  if (!made) return TAMP_NO_MEMORY;
  *made = *record;
  TampStatus status = tamp_record_read(format, record, &message, &fault);
  uint32_t start, end;
  if (!status) find_elements(&message, &start, &end);
  TampWriter writer = tamp_writer(arena);
  if (!status) tamp_writer_span(&writer, message.text, start, end, message.raw);
  if (!status) status = writer.status;
  made->piece.shared = record->size - (uint32_t)writer.length;
  tamp_arena_drop(arena, writer.bytes);
  tamp_arena_drop(arena, message.parts);
  tamp_arena_drop(arena, message.units);
  *unit = made;
  return status;
}
