#include "render.h"

#include "../text.h"

/* Characters of one text: over the limit its head and tail are given. */
enum { MOST_CHARACTERS = 2000, HEAD_CHARACTERS = 1500, TAIL_CHARACTERS = 450 };

typedef struct Render {
  TampStep *step;
  const TampEntry *entry;
  const TampMessage *message;
  TampWriter *out;
} Render;

static void write_indented(TampWriter *out, TampText text) {
  size_t start = 0;
  for (size_t i = 0; i < text.length; i++) {
    if (text.bytes[i] != '\n') continue;
    tamp_writer_raw(out, (TampText){text.bytes + start, i + 1 - start});
    tamp_writer_raw(out, TAMP_TEXT("  "));
    start = i + 1;
  }
  tamp_writer_raw(out, (TampText){text.bytes + start, text.length - start});
}

static void write_bounded(TampWriter *out, TampText text) {
  text = tamp_text_trim(text);
  size_t characters = text.length <= MOST_CHARACTERS ? text.length : tamp_text_characters(text);
  if (characters <= MOST_CHARACTERS) {
    write_indented(out, text);
    return;
  }
  TampText head = {text.bytes, tamp_text_head(text, HEAD_CHARACTERS)};
  size_t at = tamp_text_tail(text, TAIL_CHARACTERS);
  TampText tail = {text.bytes + at, text.length - at};
  write_indented(out, head);
  tamp_writer_raw(out, TAMP_TEXT("\n  [... "));
  tamp_writer_integer(out, characters - tamp_text_characters(head) - tamp_text_characters(tail));
  tamp_writer_raw(out, TAMP_TEXT(" characters left out ...]\n  "));
  write_indented(out, tail);
}

static void begin_line(Render *render) {
  if (render->out->length > 0) tamp_writer_raw(render->out, TAMP_TEXT("\n"));
}

static void write_name(Render *render, uint32_t atom) {
  if (atom == TAMP_NONE) {
    tamp_writer_raw(render->out, TAMP_TEXT("a tool"));
  } else {
    uint8_t room[TAMP_ATOM_ROOM];
    write_bounded(render->out, tamp_atoms_text(render->step->run->atoms, atom, room));
  }
}

static TampText speaker(const Render *render) {
  switch (render->entry->record->role) {
  case TAMP_ROLE_SYSTEM:
    return TAMP_TEXT("System");
  case TAMP_ROLE_USER:
    return TAMP_TEXT("User");
  case TAMP_ROLE_ASSISTANT:
    return TAMP_TEXT("Assistant");
  case TAMP_ROLE_REASONING:
    return TAMP_TEXT("Assistant thinks");
  case TAMP_ROLE_TOOL:
    return TAMP_TEXT("Tool");
  default:
    return TAMP_TEXT("Other");
  }
}

static TampStatus value_text(const Render *render, TampValue value, TampText *text) {
  return tamp_message_text(render->message, value, render->step->run->arena, text);
}

static TampStatus write_text(Render *render, const TampPart *part, TampText who) {
  TampText text;
  TampStatus status = value_text(render, part->text, &text);
  if (status || tamp_text_is_blank(text)) return status;
  begin_line(render);
  tamp_writer_raw(render->out, who);
  tamp_writer_raw(render->out, TAMP_TEXT(": "));
  write_bounded(render->out, text);
  return TAMP_OK;
}

static TampStatus write_media(Render *render, const TampPart *part) {
  TampText type;
  TampStatus status = value_text(render, part->name, &type);
  tamp_writer_raw(render->out, TAMP_TEXT("["));
  write_bounded(render->out, type.length > 0 ? type : TAMP_TEXT("media"));
  tamp_writer_raw(render->out, TAMP_TEXT("]"));
  return status;
}

static TampStatus write_call(Render *render, const TampPart *part, uint32_t index) {
  TampText text;
  TampStatus status = value_text(render, part->text, &text);
  if (status) return status;
  begin_line(render);
  tamp_writer_raw(render->out, TAMP_TEXT("Assistant calls "));
  write_name(render, render->entry->record->calls[index].name);
  tamp_writer_raw(render->out, TAMP_TEXT(": "));
  write_bounded(render->out, text);
  return TAMP_OK;
}

static TampStatus write_result(Render *render, uint32_t part, uint32_t index) {
  const TampMessage *message = render->message;
  const TampPart *item = &message->parts[part];
  const TampList *list = render->step->list;
  uint32_t call = list->results[render->entry->results + index].call;
  uint32_t name = TAMP_NONE;
  if (call != TAMP_NONE) {
    const TampListCall *of = &list->calls[call];
    name = list->entries[of->entry].record->calls[of->index].name;
  }
  begin_line(render);
  tamp_writer_raw(render->out, TAMP_TEXT("Result of "));
  write_name(render, name);
  if (item->flags & TAMP_PART_FAILED) tamp_writer_raw(render->out, TAMP_TEXT(" (failed)"));
  tamp_writer_raw(render->out, TAMP_TEXT(":"));
  TampText text;
  TampStatus status = value_text(render, item->error, &text);
  if (status) return status;
  if (!tamp_text_is_blank(text)) {
    tamp_writer_raw(render->out, TAMP_TEXT(" "));
    write_bounded(render->out, text);
  }
  if (item->text.type != TAMP_JSON_ARRAY) {
    status = value_text(render, item->text, &text);
    tamp_writer_raw(render->out, TAMP_TEXT(" "));
    write_bounded(render->out, text);
  }
  for (uint32_t i = part + 1; !status && i < message->count; i++) {
    const TampPart *piece = &message->parts[i];
    if (piece->owner != part) break;
    tamp_writer_raw(render->out, TAMP_TEXT(" "));
    if (piece->kind == TAMP_PART_MEDIA) {
      status = write_media(render, piece);
      continue;
    }
    status = value_text(render, piece->text, &text);
    if (!status) write_bounded(render->out, text);
  }
  return status;
}

TampStatus tamp_render_entry(TampStep *step, uint32_t entry, TampMessage *message,
                             TampWriter *out) {
  Render render = {step, &step->list->entries[entry], message, out};
  TampStatus status = tamp_step_read(step, entry, message);
  TampMark mark = tamp_arena_mark(step->run->arena);
  uint32_t calls = 0, results = 0;
  for (uint32_t i = 0; !status && i < message->count; i++) {
    const TampPart *part = &message->parts[i];
    switch (part->kind) {
    case TAMP_PART_TEXT:
      if (part->owner == TAMP_NONE) status = write_text(&render, part, speaker(&render));
      break;
    case TAMP_PART_REASONING:
      status = write_text(&render, part, TAMP_TEXT("Assistant thinks"));
      break;
    case TAMP_PART_CALL:
      status = write_call(&render, part, calls++);
      break;
    case TAMP_PART_RESULT:
      status = write_result(&render, i, results++);
      break;
    default:
      if (part->owner != TAMP_NONE) break;
      begin_line(&render);
      tamp_writer_raw(out, speaker(&render));
      tamp_writer_raw(out, TAMP_TEXT(": "));
      status = write_media(&render, part);
    }
  }
  tamp_arena_reset(step->run->arena, mark);
  return status ? status : out->status;
}
