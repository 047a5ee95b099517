#include "record.h"

#include <string.h>

#include "text.h"
#include "tokens.h"

static int64_t count_nothing(void *context, TampText text) {
  (void)context;
  (void)text;
  return 0;
}

const TampCounter tamp_counter_none = {count_nothing, NULL};

TampStatus tamp_count_text(const TampCounter *counter, TampText text, uint32_t *tokens) {
  *tokens = 0;
  if (text.length == 0) return TAMP_OK;
  if (!counter || !counter->count) {
    *tokens = tamp_tokens_estimate(text.bytes, text.length);
    return TAMP_OK;
  }
  int64_t count = counter->count(counter->context, text);
  if (count < 0 || count > UINT32_MAX) return TAMP_BAD_COUNT;
  *tokens = (uint32_t)count;
  return TAMP_OK;
}

/* The two values of a part whose texts weigh something; NOTHING where there is none. */
static void segments(const TampPart *part, TampValue out[2]) {
  memset(out, 0, 2 * sizeof *out);
  switch (part->kind) {
    case TAMP_PART_CALL:
      out[0] = part->name;
      out[1] = part->text;
      break;
    case TAMP_PART_RESULT:
      out[0] = part->text.type == TAMP_JSON_ARRAY ? (TampValue){0} : part->text;
      out[1] = part->error;
      break;
    case TAMP_PART_MEDIA:
      break;
    default:
      out[0] = part->text;
  }
}

TampStatus tamp_message_text(const TampMessage *message, TampValue value, TampArena *arena,
                             TampText *text) {
  *text = (TampText){(const uint8_t *)"", 0};
  switch (value.type) {
    case TAMP_JSON_STRING:
      return tamp_value_text(message->text, value, arena, text);
    case TAMP_JSON_NOTHING:
    case TAMP_JSON_NULL:
      return TAMP_OK;
    default: {
      if (!message->raw) {
        *text = (TampText){message->text + value.at, value.length};
        return TAMP_OK;
      }
      TampWriter writer = tamp_writer(arena);
      tamp_writer_value(&writer, message->text, value);
      return tamp_writer_finish(&writer, text);
    }
  }
}

static uint32_t add(uint32_t a, uint32_t b) {
  return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* What stands before a tool's name in the value that holds it is no part of the name. */
static TampText without(TampText text, uint32_t beginning) {
  size_t length = beginning < text.length ? beginning : text.length;
  return (TampText){text.bytes + length, text.length - length};
}

/* Whether a string value is blank. Most show by their first byte behind spaces that they are not. */
static TampStatus value_is_blank(const TampMessage *message, TampValue value, TampArena *arena, bool *blank) {
  TampText text;
  *blank = false;
  if (!(value.flags & TAMP_VALUE_RAW)) {
    const uint8_t *at = message->text + value.at + 1, *end = message->text + value.at + value.length - 1;
    while (at < end && *at == ' ') at++;
    if (at < end && *at > ' ' && *at < 0x80 && *at != '\\') return TAMP_OK;
  }
  TampMark mark = tamp_arena_mark(arena);
  TampStatus status = tamp_value_text(message->text, value, arena, &text);
  if (!status) *blank = tamp_text_is_blank(text);
  tamp_arena_reset(arena, mark);
  return status;
}

/* What the record keeps of a text besides its tokens. */
static TampStatus note_text(const TampMessage *message, const TampPart *part, TampValue value, size_t length,
                            TampArena *scratch, TampRecord *record) {
  if (length > record->longest) record->longest = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
  if (part->kind != TAMP_PART_TEXT || part->owner != TAMP_NONE || record->flags & TAMP_RECORD_TEXT) return TAMP_OK;
  bool blank = value.type != TAMP_JSON_STRING && value.type <= TAMP_JSON_NULL;
  TampStatus status = value.type == TAMP_JSON_STRING ? value_is_blank(message, value, scratch, &blank) : TAMP_OK;
  if (!blank) record->flags |= TAMP_RECORD_TEXT;
  return status;
}

/* One walk for both uses: `record` NULL only counts. */
static TampStatus weigh(const TampMessage *message, const TampCounter *counter, TampArena *scratch,
                        uint32_t *tokens, TampRecord *record) {
  uint32_t sum = TAMP_MESSAGE_TOKENS;
  for (uint32_t i = 0; i < message->count; i++) {
    const TampPart *part = &message->parts[i];
    if (part->kind == TAMP_PART_MEDIA) {
      sum = add(sum, TAMP_MEDIA_TOKENS);
      continue;
    }
    TampValue values[2];
    segments(part, values);
    for (int k = 0; k < 2; k++) {
      TampStatus status = TAMP_OK;
      if (values[k].type <= TAMP_JSON_NULL) continue;
      if (counter == &tamp_counter_none) {
        if (record) status = note_text(message, part, values[k], values[k].length, scratch, record);
        if (status) return status;
        continue;
      }
      TampText text;
      TampMark mark = tamp_arena_mark(scratch);
      status = tamp_message_text(message, values[k], scratch, &text);
      if (status) return status;
      if (k == 0) text = without(text, part->name_at);
      uint32_t count = 0;
      if (text.length > 0) status = tamp_count_text(counter, text, &count);
      tamp_arena_reset(scratch, mark);
      if (!status && record && text.length > 0) {
        status = note_text(message, part, values[k], text.length, scratch, record);
      }
      if (status) return status;
      sum = add(sum, count);
    }
  }
  bool silent = message->role == TAMP_ROLE_ACTIVITY || message->role == TAMP_ROLE_NONE;
  *tokens = silent ? 0 : sum;
  return TAMP_OK;
}

TampStatus tamp_message_tokens(const TampMessage *message, const TampCounter *counter,
                               TampArena *scratch, uint32_t *tokens) {
  TampMark mark = tamp_arena_mark(scratch);
  TampStatus status = weigh(message, counter, scratch, tokens, NULL);
  tamp_arena_reset(scratch, mark);
  return status;
}

/* An id or a name as an atom. Texts that lie in the message are not copied: the message outlives the atom. */
TampStatus tamp_record_intern(const TampMessage *message, TampValue value, uint32_t beginning, TampAtoms *atoms,
                              TampArena *arena, uint32_t *atom) {
  *atom = TAMP_NONE;
  if (value.type != TAMP_JSON_STRING) return TAMP_OK;
  TampText text;
  TampStatus status = tamp_value_text(message->text, value, arena, &text);
  if (status) return status;
  text = without(text, beginning);
  bool copied = message->transient && !(value.flags & TAMP_VALUE_ESCAPED);
  return tamp_atoms_intern(atoms, text, copied ? arena : NULL, atom);
}

/* A result is blank when no text of it, error apart, says anything and it shows nothing. */
static TampStatus result_is_blank(const TampMessage *message, uint32_t index, TampArena *arena,
                                  bool *blank) {
  *blank = true;
  const TampPart *part = &message->parts[index];
  if (part->text.type == TAMP_JSON_STRING) return value_is_blank(message, part->text, arena, blank);
  if (part->text.type != TAMP_JSON_ARRAY) {
    *blank = part->text.type <= TAMP_JSON_NULL;
    return TAMP_OK;
  }
  for (uint32_t i = index + 1; i < message->count && *blank; i++) {
    const TampPart *piece = &message->parts[i];
    if (piece->owner != index) continue;
    if (piece->kind == TAMP_PART_MEDIA) *blank = false;
    if (piece->kind != TAMP_PART_TEXT) continue;
    TampStatus status = TAMP_OK;
    if (piece->text.type == TAMP_JSON_STRING) {
      status = value_is_blank(message, piece->text, arena, blank);
    } else {
      *blank = piece->text.type <= TAMP_JSON_NULL;
    }
    if (status) return status;
  }
  return TAMP_OK;
}

static TampStatus make_pairs(const TampMessage *message, TampAtoms *atoms, TampArena *arena,
                             TampRecord *record) {
  uint32_t call_count = 0, result_count = 0;
  for (uint32_t i = 0; i < message->count; i++) {
    call_count += message->parts[i].kind == TAMP_PART_CALL;
    result_count += message->parts[i].kind == TAMP_PART_RESULT;
  }
  if (call_count + result_count == 0) return TAMP_OK;
  TampCall *calls = tamp_arena_alloc(arena, call_count * sizeof *calls);
  TampResult *results = tamp_arena_alloc(arena, result_count * sizeof *results);
  if (!calls || !results) return TAMP_NO_MEMORY;
  record->calls = calls;
  record->results = results;
  const TampPart *last_call = NULL;
  for (uint32_t i = 0; i < message->count; i++) {
    const TampPart *part = &message->parts[i];
    TampStatus status = TAMP_OK;
    if (part->kind == TAMP_PART_CALL) {
      last_call = part;
      TampCall *call = &calls[record->call_count++];
      *call = (TampCall){.awaits = (part->flags & TAMP_PART_AWAITS) != 0};
      status = tamp_record_intern(message, part->id, 0, atoms, arena, &call->id);
      if (!status) status = tamp_record_intern(message, part->name, part->name_at, atoms, arena, &call->name);
      uint8_t room[TAMP_ATOM_ROOM];
      if (call->name != TAMP_NONE && tamp_atoms_text(atoms, call->name, room).length == 0) {
        call->name = TAMP_NONE;
      }
    } else if (part->kind == TAMP_PART_RESULT) {
      TampResult *result = &results[record->result_count++];
      *result = (TampResult){.failed = (part->flags & TAMP_PART_FAILED) != 0};
      status = tamp_record_intern(message, part->id, 0, atoms, arena, &result->id);
      bool same_part = last_call && part->element.length > 0 && part->element.at == last_call->element.at;
      if (!status && same_part && result->id != TAMP_NONE && !calls[record->call_count - 1].holds) {
        result->held = calls[record->call_count - 1].holds = true;
      }
      TampMark mark = tamp_arena_mark(arena);
      if (!status) status = result_is_blank(message, i, arena, &result->blank);
      tamp_arena_reset(arena, mark);
    }
    if (status) return status;
  }
  return TAMP_OK;
}

TampStatus tamp_source_give(TampText made, uint32_t length, uint8_t *to) {
  if (made.length != length) return TAMP_BAD_SOURCE;
  memcpy(to, made.bytes, length);
  return TAMP_OK;
}

TampStatus tamp_record_read(const TampFormat *format, const TampRecord *record, TampMessage *message,
                            TampFault *fault) {
  const uint8_t *bytes = record->bytes;
  if (!bytes) {
    TampStatus status = tamp_arena_grow(message->arena, (void **)&message->buffer, &message->buffer_capacity,
                                        record->length, 1);
    if (!status) {
      status = record->source->read(record->source->context, record->offset, record->length, message->buffer);
    }
    if (status) return status;
    bytes = message->buffer;
  }
  TampStatus status =
      tamp_message_read(format, bytes, record->length, (record->flags & TAMP_RECORD_RAW) != 0, message, fault);
  message->record = record;
  /* It was a message when it was read first. */
  bool was_read = status == TAMP_OK || status == TAMP_NO_MEMORY;
  return was_read || record->bytes ? status : TAMP_BAD_SOURCE;
}

TampStatus tamp_record_make(const TampMessage *message, TampAtoms *atoms, TampArena *arena,
                            const TampCounter *counter, TampRecord *out) {
  size_t size = message->raw ? tamp_value_json_length(message->text, message->whole) : message->whole.length;
  if (size > UINT32_MAX) return TAMP_TOO_LARGE;
  *out = (TampRecord){
      .bytes = message->transient ? NULL : message->text + message->whole.at,
      .length = message->whole.length,
      .size = (uint32_t)size,
      .id = TAMP_NONE,
      .batch = message->items ? TAMP_BATCH_ITEMS : TAMP_NONE,
      .covered = message->covered >= TAMP_NONE ? TAMP_NONE - 1 : (uint32_t)message->covered,
      .role = message->role,
      .piece = message->piece,
      .flags = (uint8_t)(message->flags | (message->raw ? TAMP_RECORD_RAW : 0)),
  };
  if (message->covered == TAMP_COVERED_UNKNOWN) out->covered = TAMP_NONE;
  if (message->role == TAMP_ROLE_NONE) {
    /* Among messages it is like what is for people only, and nothing takes it away. */
    out->role = TAMP_ROLE_ACTIVITY;
    out->flags |= TAMP_MESSAGE_PINNED;
  }
  for (uint32_t i = 0; i < message->count; i++) {
    const TampPart *part = &message->parts[i];
    if (part->kind == TAMP_PART_MEDIA && (part->flags & TAMP_PART_INLINE)) {
      out->flags |= TAMP_RECORD_INLINE_MEDIA;
    }
    if (part->kind == TAMP_PART_REASONING && (part->flags & TAMP_PART_REMOVABLE)) {
      out->flags |= TAMP_RECORD_REASONING;
    }
    if (part->kind == TAMP_PART_CALL || part->kind == TAMP_PART_RESULT) {
      /* Whatever its mark says: nothing that we make has these. */
      out->flags &= (uint8_t)~(TAMP_MESSAGE_SUMMARY | TAMP_MESSAGE_HEAD);
    }
  }
  TampStatus status = make_pairs(message, atoms, arena, out);
  if (!status) status = tamp_record_intern(message, message->id, 0, atoms, arena, &out->id);
  if (!status && message->batch.type == TAMP_JSON_STRING) {
    status = tamp_record_intern(message, message->batch, 0, atoms, arena, &out->batch);
  }
  TampMark mark = tamp_arena_mark(arena);
  if (!status) status = weigh(message, counter, arena, &out->tokens, out);
  tamp_arena_reset(arena, mark);
  return status;
}
