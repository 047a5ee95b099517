/* One message of any format, spelled by the grammar or any bytes at all: its reader takes or refuses it; what it took
 * is written again with a few edits, and reads again as the same message with those parts changed and no other
 * byte. SHOW=1 in the environment prints what an input spells. */
#include "grammar.h"

enum { MOST_EDITS = 8 };

static const char *const texts[] = {"", "[tool result cleared]", "\"\\\n\x01\xf0\x9f\x98\x80", "{\"_clamped\":\"x\"}",
                                    "[Conversation summary]\n\nbefore"};

static TampText text_at(uint32_t number) {
  return (TampText){(const uint8_t *)texts[number], strlen(texts[number])};
}

/* An edit that a strategy may make of this part; false when there is none. */
static bool choose_edit(const TampFormat *format, const TampMessage *message, uint32_t at, Input *input,
                        TampEdit *edit) {
  const TampPart *part = &message->parts[at];
  *edit = (TampEdit){.part = at, .text = text_at(take(input, 5))};
  switch (part->kind) {
    case TAMP_PART_TEXT:
    case TAMP_PART_REASONING:
      edit->kind = TAMP_EDIT_TEXT;
      return part->text.type == TAMP_JSON_STRING && !(part->flags & TAMP_PART_OPAQUE);
    case TAMP_PART_CALL:
      edit->kind = TAMP_EDIT_ARGUMENTS;
      if (!(part->flags & TAMP_PART_FREE_TEXT)) edit->text = take(input, 2) ? TAMP_TEXT("{}") : text_at(3);
      return part->text.length > 0;
    case TAMP_PART_RESULT:
      edit->kind = TAMP_EDIT_RESULT;
      return !(part->flags & TAMP_PART_FIXED) && !(format->flags & TAMP_FORMAT_OWN_RESULTS);
    default:
      edit->kind = TAMP_EDIT_MEDIA;
      return part->owner == TAMP_NONE && (part->flags & TAMP_PART_INLINE);
  }
}

/* What an edit may touch: the part's element, or where it is none of several its text. */
static void stretch(const TampMessage *message, uint32_t at, uint32_t *from, uint32_t *to) {
  const TampPart *part = &message->parts[at];
  TampValue touched = part->element.length > 0 ? part->element : part->text;
  if (part->kind == TAMP_PART_RESULT && part->element.length == 0) touched = message->whole;
  if (touched.at < *from) *from = touched.at;
  if (touched.at + touched.length > *to) *to = touched.at + touched.length;
}

static void check_edited(const TampMessage *before, const TampMessage *after, const TampEdit *edits, uint32_t count,
                         TampArena *arena) {
  require(after->role == before->role);
  require((after->flags & TAMP_MESSAGE_PINNED) == (before->flags & TAMP_MESSAGE_PINNED));
  uint32_t calls[2] = {0}, results[2] = {0};
  for (uint32_t i = 0; i < before->count; i++) {
    calls[0] += before->parts[i].kind == TAMP_PART_CALL;
    results[0] += before->parts[i].kind == TAMP_PART_RESULT;
  }
  for (uint32_t i = 0; i < after->count; i++) {
    calls[1] += after->parts[i].kind == TAMP_PART_CALL;
    results[1] += after->parts[i].kind == TAMP_PART_RESULT;
  }
  require(calls[0] == calls[1] && results[0] == results[1]);
  /* A result's pieces become one text; without that, part answers to part. */
  if (before->count != after->count) return;
  for (uint32_t i = 0; i < before->count; i++) {
    const TampPart *is = &after->parts[i];
    const TampPart *was = &before->parts[i];
    const TampEdit *edit = NULL;
    bool pieces = false; /* of it were edited, or it is a piece of what was */
    for (uint32_t k = 0; k < count; k++) {
      if (edits[k].part == i) edit = &edits[k];
      pieces = pieces || edits[k].part == was->owner || before->parts[edits[k].part].owner == i;
    }
    if (pieces) continue;
    if (!edit) {
      require(is->kind == was->kind && is->text.length == was->text.length && is->text.type == was->text.type);
      require(memcmp(after->text + is->text.at, before->text + was->text.at, is->text.length) == 0);
      continue;
    }
    if (edit->kind == TAMP_EDIT_RESULT) continue;
    TampText text;
    require(is->kind == (edit->kind == TAMP_EDIT_MEDIA ? TAMP_PART_TEXT : was->kind));
    require(tamp_message_text(after, is->text, arena, &text) == TAMP_OK);
    require(text.length == edit->text.length && memcmp(text.bytes, edit->text.bytes, text.length) == 0);
  }
}

static TampText write(const TampFormat *format, const TampMessage *message, const TampEdit *edits, uint32_t count,
                      TampArena *arena) {
  TampWriter writer = tamp_writer(arena);
  TampText text;
  require(format->edit(message, edits, count, arena, &writer) == TAMP_OK);
  require(tamp_writer_finish(&writer, &text) == TAMP_OK);
  return text;
}

static void edit_message(const TampFormat *format, const TampMessage *message, Input *input, TampArena *arena) {
  TampEdit edits[MOST_EDITS];
  uint32_t count = 0;
  uint32_t end = message->whole.at + message->whole.length;
  uint32_t from = end, to = message->whole.at;
  uint32_t mask = take(input, 256);
  for (uint32_t i = 0; i < message->count && count < MOST_EDITS; i++) {
    /* Not a result and a piece of it. */
    bool taken = count > 0 && message->parts[i].owner == edits[count - 1].part;
    if (taken || !(mask >> i % 8 & 1) || !choose_edit(format, message, i, input, &edits[count])) continue;
    stretch(message, i, &from, &to);
    count++;
  }
  TampText text = write(format, message, edits, count, arena);
  if (getenv("SHOW")) fprintf(stderr, "%u edits: %.*s\n", count, (int)text.length, (const char *)text.bytes);
  /* Outside of what was edited every byte is the same. */
  if (count == 0) from = to = end;
  uint32_t head = from - message->whole.at, tail = end - to;
  require(text.length >= (size_t)head + tail);
  require(memcmp(text.bytes, message->text + message->whole.at, head) == 0);
  require(tail == 0 || memcmp(text.bytes + text.length - tail, message->text + to, tail) == 0);
  TampMessage again;
  TampFault fault;
  tamp_message_init(&again, arena);
  require(tamp_message_read(format, text.bytes, text.length, false, &again, &fault) == TAMP_OK);
  check_edited(message, &again, edits, count, arena);
}

/* All calls but one go, or everything becomes one text. */
static void drop_from_message(const TampFormat *format, const TampMessage *message, Input *input, TampArena *arena) {
  TampEdit edits[MOST_EDITS];
  uint32_t count = 0, calls = 0, kept = 0;
  bool collapses = take(input, 2) == 1;
  for (uint32_t i = 0; i < message->count; i++) calls += message->parts[i].kind == TAMP_PART_CALL;
  if (calls == 0 || message->role != TAMP_ROLE_ASSISTANT) return;
  if (collapses) {
    edits[count++] = (TampEdit){.kind = TAMP_EDIT_COLLAPSE, .part = TAMP_NONE, .text = text_at(1 + take(input, 4))};
  } else {
    for (uint32_t i = 0; i < message->count && count < MOST_EDITS; i++) {
      if (message->parts[i].kind != TAMP_PART_CALL) continue;
      if (kept++ > 0) edits[count++] = (TampEdit){.kind = TAMP_EDIT_DROP_CALL, .part = i};
    }
  }
  TampText text = write(format, message, edits, count, arena);
  TampMessage again;
  TampFault fault;
  tamp_message_init(&again, arena);
  require(tamp_message_read(format, text.bytes, text.length, false, &again, &fault) == TAMP_OK);
  require(again.role == message->role);
  uint32_t left = 0;
  for (uint32_t i = 0; i < again.count; i++) left += again.parts[i].kind == TAMP_PART_CALL;
  require(left == (collapses ? 0 : calls - count));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  uint32_t kind = take(&input, 64);
  uint32_t formats = 0;
  while (tamp_format_at(formats)) formats++;
  const TampFormat *format = tamp_format_at(kind / 2 % formats);
  Buffer text = {0};
  put(&text, "");
  if (kind % 2 == 0) {
    format = grammar_format(kind / 2 % GRAMMAR_FORMATS);
    put_message(&text, &input, format, 1);
  } else {
    /* What follows the first line is the message. */
    const uint8_t *line = input.length > 0 ? memchr(input.bytes, '\n', input.length) : NULL;
    if (line) {
      size_t rest = input.length - (size_t)(line + 1 - input.bytes);
      text.bytes = realloc(text.bytes, rest + 1);
      require(text.bytes != NULL);
      memcpy(text.bytes, line + 1, rest);
      text.bytes[rest] = '\0';
      text.length = rest;
      input.length = (size_t)(line - input.bytes);
    }
  }
  if (getenv("SHOW")) fprintf(stderr, "%s %.*s\n", format->name, (int)text.length, text.bytes);
  TampArena arena;
  TampMessage message;
  TampFault fault;
  tamp_arena_init(&arena, tamp_default_allocator());
  tamp_message_init(&message, &arena);
  TampStatus status =
      tamp_message_read(format, (const uint8_t *)text.bytes, text.length, false, &message, &fault);
  if (status == TAMP_OK) {
    edit_message(format, &message, &input, &arena);
    drop_from_message(format, &message, &input, &arena);
  } else {
    require(fault.reason != NULL && fault.offset <= text.length);
  }
  tamp_arena_free(&arena);
  free(text.bytes);
  return 0;
}
