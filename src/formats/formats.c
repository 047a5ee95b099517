#include <string.h>

#include "format.h"

static const TampFormat *const formats[] = {
    &tamp_format_ag_ui,
    &tamp_format_openai,
    &tamp_format_anthropic,
    &tamp_format_ai_sdk_ui,
    &tamp_format_ai_sdk_model,
    &tamp_format_pydantic_ai,
    &tamp_format_agent_framework,
    &tamp_format_claude_code,
    &tamp_format_codex,
};

const TampFormat *tamp_format_at(size_t index) {
  return index < sizeof formats / sizeof *formats ? formats[index] : NULL;
}

const TampFormat *tamp_format_named(TampText name) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strlen(formats[i]->name) == name.length &&
        memcmp(formats[i]->name, name.bytes, name.length) == 0) {
      return formats[i];
    }
  }
  return NULL;
}

void tamp_message_init(TampMessage *message, TampArena *arena) {
  *message = (TampMessage){.arena = arena};
}

TampStatus tamp_message_unit(TampMessage *message, uint32_t at) {
  TampStatus status = tamp_arena_grow(message->arena, (void **)&message->units, &message->unit_capacity,
                                      (size_t)message->unit_count + 1, sizeof *message->units);
  if (!status) message->units[message->unit_count++] = at;
  return status;
}

TampPart *tamp_message_part(TampMessage *message, uint8_t kind) {
  if (tamp_arena_grow(message->arena, (void **)&message->parts, &message->capacity,
                      (size_t)message->count + 1, sizeof *message->parts)) {
    return NULL;
  }
  TampPart *part = &message->parts[message->count++];
  *part = (TampPart){.kind = kind, .owner = TAMP_NONE};
  return part;
}

TampStatus tamp_message_read(const TampFormat *format, const uint8_t *text, size_t length, bool raw,
                             TampMessage *message, TampFault *fault) {
  TampMessage fresh = {
      .text = text,
      .raw = raw,
      .arena = message->arena,
      .parts = message->parts,
      .capacity = message->capacity,
      .units = message->units,
      .unit_capacity = message->unit_capacity,
      .transient = message->transient,
      .jumps = {message->jumps.items, 0, message->jumps.capacity},
      .buffer = message->buffer,
      .buffer_capacity = message->buffer_capacity,
  };
  *message = fresh;
  TampCursor cursor = tamp_cursor(text, 0, length, raw);
  if (message->jumps.capacity > 0) cursor.jumps = &message->jumps;
  TampStatus status = format->read(&cursor, message);
  if (!status && !tamp_cursor_end(&cursor)) status = cursor.status;
  *fault = cursor.fault;
  if (status == TAMP_BAD_MESSAGE) {
    *fault = (TampFault){message->whole.at, "expected a message, which is an object"};
  }
  return status;
}
