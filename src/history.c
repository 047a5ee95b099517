#include "history.h"

#include <string.h>

#include "sort.h"
#include "unit.h"

/* Noted of a message that passes by; one with more in it is walked through where they end. */
enum { MOST_JUMPS = 2048 };

TampStatus tamp_history_new(TampAllocator allocator, const TampFormat *format,
                            TampHistory **history) {
  *history = NULL;
  TampArena arena;
  tamp_arena_init(&arena, allocator);
  TampHistory *made = allocator.resize(allocator.context, NULL, sizeof *made);
  if (!made) return TAMP_NO_MEMORY;
  *made = (TampHistory){.arena = arena, .records = arena, .format = format};
  tamp_atoms_init(&made->atoms, &made->arena);
  tamp_list_init(&made->list, &made->arena, &made->atoms);
  tamp_message_init(&made->message, &made->arena);
  *history = made;
  return TAMP_OK;
}

void tamp_history_free(TampHistory *history) {
  if (!history) return;
  TampAllocator allocator = history->arena.allocator;
  tamp_arena_free(&history->arena);
  tamp_arena_free(&history->records);
  allocator.resize(allocator.context, history, 0);
}

TampStatus tamp_history_room(TampHistory *history, size_t size, size_t keep, uint8_t **bytes,
                             size_t *capacity) {
  if (size > TAMP_MAX_MESSAGE_BYTES) return TAMP_TOO_LARGE;
  *bytes = tamp_arena_room(&history->arena, size, keep, capacity);
  return *bytes ? TAMP_OK : TAMP_NO_MEMORY;
}

/* For the next message: how things were before it. */
static TampSlot next_slot(const TampHistory *history) {
  return (TampSlot){
      .mark = tamp_arena_mark(&history->arena),
      .atoms = history->atoms.count,
      .records = tamp_arena_mark(&history->records),
  };
}

/* The message that was read becomes the next one; `slot` says what to go back to. */
static TampStatus add_read(TampHistory *history, TampSlot slot) {
  TampStatus status = tamp_arena_grow(&history->arena, (void **)&history->items, &history->capacity,
                                      (size_t)history->count + 1, sizeof *history->items);
  if (!status && !history->message.transient) {
    status = tamp_arena_grow(&history->arena, (void **)&history->slots, &history->slot_capacity,
                             (size_t)history->count + 1, sizeof *history->slots);
  }
  if (status) return status;
  TampArena *records = &history->records;
  TampRecord *record = tamp_arena_alloc(records, sizeof *record);
  if (!record) return TAMP_NO_MEMORY;
  const TampCounter *counter = history->uncounted ? &tamp_counter_none : NULL;
  status = tamp_record_make(&history->message, &history->atoms, records, counter, record);
  if (!status && history->message.unit_count > 0) {
    status = tamp_units_make(history->format, &history->message, &history->atoms, records, counter, record);
  }
  if (status) {
    tamp_arena_reset(records, slot.records);
    return status;
  }
  /* Spans are listed when all are there. */
  if (!history->message.transient) status = tamp_list_append(&history->list, record, history->count);
  if (status) {
    /* Half of it may be in there: go_back makes the list anew. */
    tamp_list_clear(&history->list);
    tamp_arena_reset(records, slot.records);
    return status;
  }
  if (!history->message.transient) history->slots[history->count] = slot;
  history->items[history->count++] = record;
  return TAMP_OK;
}

/* The message at `text` becomes the next one. */
static TampStatus add(TampHistory *history, TampSlot slot, const uint8_t *text, size_t length,
                      bool raw, TampFault *fault) {
  if (length > TAMP_MAX_MESSAGE_BYTES) return TAMP_TOO_LARGE;
  TampStatus status =
      tamp_message_read(history->format, text, length, raw, &history->message, fault);
  return status ? status : add_read(history, slot);
}

/* After a failed append: the messages are those up to `count`, and what was begun is taken back. */
static void go_back(TampHistory *history, uint32_t count, TampMark mark, uint32_t atoms) {
  tamp_atoms_truncate(&history->atoms, atoms);
  tamp_arena_reset(&history->arena, mark);
  if (count < history->count) tamp_arena_reset(&history->records, history->slots[count].records);
  history->count = count;
  if (history->list.heads == count) return;
  tamp_list_clear(&history->list);
  for (uint32_t i = 0; i < count; i++) {
    /* Its tables were as large before, so this cannot fail. */
    (void)tamp_list_append(&history->list, history->items[i], i);
  }
  if (history->counted > history->list.count) history->counted = history->list.count;
}

TampStatus tamp_history_append(TampHistory *history, size_t length, bool raw, TampFault *fault) {
  TampSlot slot = next_slot(history);
  const uint8_t *text = tamp_arena_take(&history->arena, length);
  TampStatus status = add(history, slot, text, length, raw, fault);
  /* A list that failed half-way has one entry too many, which go_back sees. */
  if (status) go_back(history, history->count, slot.mark, slot.atoms);
  return status;
}

TampStatus tamp_history_append_span(TampHistory *history, const uint8_t *bytes, size_t length, uint64_t offset,
                                    TampFault *fault) {
  if (length > TAMP_MAX_MESSAGE_BYTES) return TAMP_TOO_LARGE;
  TampMessage *message = &history->message;
  /* All of it is walked several times: by its format, for its envelope, for its texts. */
  if (message->jumps.capacity == 0) {
    void *jumps = NULL;
    TampStatus grown = tamp_arena_grow(&history->arena, &jumps, &message->jumps.capacity, MOST_JUMPS, sizeof(TampJump));
    if (grown) return grown;
    message->jumps.items = jumps;
  }
  TampSlot slot = next_slot(history);
  message->transient = true;
  TampStatus status = tamp_message_read(history->format, bytes, length, false, message, fault);
  if (!status && message->role != TAMP_ROLE_NONE) {
    status = add_read(history, slot);
    if (!status) {
      TampRecord *record = history->items[history->count - 1];
      record->source = &history->source;
      record->offset = offset + message->whole.at;
    }
  }
  message->transient = false;
  if (status) {
    tamp_atoms_truncate(&history->atoms, slot.atoms);
    tamp_arena_reset(&history->arena, slot.mark);
  }
  return status;
}

/* Room in the list for what the messages are, no more: of its tables some would be half empty otherwise, and those
 * that they outgrew lie about. */
static TampStatus reserve(TampHistory *history) {
  TampList size = {.count = 0};
  for (uint32_t i = 0; i < history->count; i++) {
    const TampRecord *record = history->items[i];
    uint32_t units = record->unit_count ? record->unit_count : 1;
    size.count += units;
    size.call_count += record->call_count;
    size.result_count += record->result_count;
    /* Most results are in the groups of their calls. */
    if (units > 1 || record->result_count == 0 || record->call_count > 0) size.group_count += units;
  }
  return tamp_list_reserve(&history->list, &size);
}

TampStatus tamp_history_settle(TampHistory *history, const uint8_t *gone) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < history->count; i++) {
    if (!gone || !gone[i]) history->items[count++] = history->items[i];
  }
  history->count = count;
  history->counter = (TampCounter){0};
  TampStatus status = reserve(history);
  tamp_list_clear(&history->list);
  for (uint32_t i = 0; !status && i < count; i++) {
    status = tamp_list_append(&history->list, history->items[i], i);
  }
  history->counted = history->list.count;
  return status;
}

TampStatus tamp_history_intern(TampHistory *history, const TampMessage *message, TampValue value, uint32_t *atom) {
  TampMessage copied = *message;
  copied.transient = true;
  return tamp_record_intern(&copied, value, 0, &history->atoms, &history->arena, atom);
}

TampStatus tamp_history_append_array(TampHistory *history, TampText text, uint32_t *index,
                                     TampFault *fault) {
  uint32_t count = history->count;
  TampSlot slot = next_slot(history);
  *index = TAMP_NONE;
  *fault = (TampFault){0};
  if (text.length > UINT32_MAX) return TAMP_TOO_LARGE;
  uint8_t *copy = tamp_arena_alloc(&history->arena, text.length);
  if (!copy) return TAMP_NO_MEMORY;
  memcpy(copy, text.bytes, text.length);

  TampSlot next = slot;
  TampCursor cursor = tamp_cursor(copy, 0, text.length, false);
  TampStatus status = TAMP_OK;
  if (tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY)) {
    while (!status && tamp_cursor_next(&cursor)) {
      TampValue value;
      *index = history->count - count;
      if (!tamp_cursor_value(&cursor, &value)) break;
      status = add(history, next, copy + value.at, value.length, false, fault);
      if (status) fault->offset += value.at;
      next = next_slot(history);
    }
    if (!status && !cursor.status) tamp_cursor_end(&cursor);
  }
  if (!status && cursor.status) {
    status = cursor.status;
    *fault = cursor.fault;
  }
  if (status) go_back(history, count, slot.mark, slot.atoms);
  return status;
}

TampStatus tamp_history_truncate(TampHistory *history, uint32_t count) {
  if (count >= history->count) return TAMP_OK;
  go_back(history, count, history->slots[count].mark, history->slots[count].atoms);
  return TAMP_OK;
}

uint32_t tamp_history_length(const TampHistory *history) {
  return history->count;
}

TampText tamp_history_message(const TampHistory *history, uint32_t index) {
  const TampRecord *record = history->items[index];
  return (TampText){record->bytes, record->length};
}

uint32_t tamp_history_find(const TampHistory *history, TampText id) {
  uint32_t atom = tamp_atoms_find(&history->atoms, id);
  if (atom == TAMP_NONE) return TAMP_NONE;
  for (uint32_t i = history->count; i-- > 0;) {
    if (history->items[i]->id == atom) return i;
  }
  return TAMP_NONE;
}

TampStatus tamp_history_count(TampHistory *history, const TampOptions *options) {
  const TampCounter *counter = options && options->counter.count ? &options->counter : NULL;
  TampCounter wanted = counter ? *counter : (TampCounter){0};
  if (wanted.count != history->counter.count || wanted.context != history->counter.context) {
    history->counter = wanted;
    history->counted = 0;
  } else if (!counter) {
    history->counted = history->list.count; /* appended messages hold the estimate already */
  }
  TampList *list = &history->list;
  for (; history->counted < list->count; history->counted++) {
    TampRecord *record = (TampRecord *)list->entries[history->counted].record; /* the history's own */
    TampFault fault;
    TampStatus status =
        tamp_record_read(history->format, record, &history->message, &fault);
    uint32_t tokens = 0;
    if (!status) status = tamp_message_tokens(&history->message, counter, &history->arena, &tokens);
    if (status) return status;
    tamp_list_reweigh(list, history->counted, record->tokens, tokens);
    record->tokens = tokens;
  }
  return TAMP_OK;
}

static bool is_smaller(const void *a, const void *b) {
  return *(const uint32_t *)a < *(const uint32_t *)b;
}

TampStatus tamp_history_pins(const TampHistory *history, const TampOptions *options, TampArena *arena,
                             uint32_t **pins, uint32_t *count) {
  *pins = NULL;
  *count = 0;
  if (!options || options->pin_count == 0) return TAMP_OK;
  uint32_t *atoms = tamp_arena_alloc(arena, options->pin_count * sizeof *atoms);
  if (!atoms) return TAMP_NO_MEMORY;
  for (uint32_t i = 0; i < options->pin_count; i++) {
    uint32_t atom = tamp_atoms_find(&history->atoms, options->pins[i]);
    if (atom != TAMP_NONE) atoms[(*count)++] = atom;
  }
  tamp_sort(atoms, *count, sizeof *atoms, is_smaller);
  *pins = atoms;
  return TAMP_OK;
}

int64_t tamp_history_offset(const TampHistory *history, uint32_t length, const TampOptions *options,
                            bool reserved) {
  if (!options) return 0;
  if (options->has_usage && options->usage_input > 0) {
    uint32_t at = tamp_history_find(history, options->usage_message);
    if (at < length) {
      uint64_t estimated = 0;
      for (uint32_t i = 0; i < history->list.count && history->list.entries[i].origin <= at; i++) {
        estimated += history->list.entries[i].record->tokens;
        if (tamp_entry_joined(&history->list, i)) estimated -= TAMP_MESSAGE_TOKENS;
      }
      return (int64_t)(options->usage_input + options->usage_output) - (int64_t)estimated;
    }
  }
  return reserved ? (int64_t)options->reserved_tokens : 0;
}

TampStatus tamp_history_tokens(TampHistory *history, const TampOptions *options, uint64_t *tokens) {
  *tokens = 0;
  TampStatus status = tamp_history_count(history, options);
  if (status) return status;
  int64_t total =
      (int64_t)history->list.tokens + tamp_history_offset(history, history->count, options, false);
  *tokens = total > 0 ? (uint64_t)total : 0;
  return TAMP_OK;
}
