#include "parts.h"

static TampStatus add_text(TampRun *run, const TampMessage *message, TampValue value,
                           uint64_t *tokens) {
  TampMark mark = tamp_arena_mark(run->arena);
  TampText text;
  uint32_t count = 0;
  TampStatus status = tamp_message_text(message, value, run->arena, &text);
  if (!status) status = tamp_count_text(run->counter, text, &count);
  tamp_arena_reset(run->arena, mark);
  *tokens += count;
  return status;
}

TampStatus tamp_part_tokens(TampRun *run, const TampMessage *message, uint32_t part,
                            uint32_t *tokens) {
  const TampPart *item = &message->parts[part];
  uint64_t sum = 0;
  TampStatus status = TAMP_OK;
  if (item->kind == TAMP_PART_MEDIA) {
    sum = TAMP_MEDIA_TOKENS;
  } else if (item->kind != TAMP_PART_RESULT || item->text.type != TAMP_JSON_ARRAY) {
    status = add_text(run, message, item->text, &sum);
  }
  for (uint32_t i = part + 1; !status && item->kind == TAMP_PART_RESULT && i < message->count;
       i++) {
    const TampPart *piece = &message->parts[i];
    if (piece->owner != part) break; /* the pieces of a result stand directly behind it */
    if (piece->kind == TAMP_PART_MEDIA) {
      sum += TAMP_MEDIA_TOKENS;
    } else {
      status = add_text(run, message, piece->text, &sum);
    }
  }
  *tokens = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
  return status;
}

TampStatus tamp_names_mark(TampRun *run, const TampTexts *names, uint8_t **marks) {
  uint32_t count = run->atoms->count;
  uint8_t *found = tamp_arena_alloc(run->arena, count);
  if (!found) return TAMP_NO_MEMORY;
  for (uint32_t i = 0; i < count; i++) found[i] = 0;
  for (uint32_t i = 0; i < names->count; i++) {
    uint32_t atom = tamp_atoms_find(run->atoms, names->items[i]);
    if (atom != TAMP_NONE) found[atom] = 1;
  }
  *marks = found;
  return TAMP_OK;
}

TampStatus tamp_edits_add(TampRun *run, TampEdits *edits, TampEditKind kind, uint32_t part,
                          TampText text) {
  TampStatus status = tamp_arena_grow(run->arena, (void **)&edits->items, &edits->capacity,
                                      (size_t)edits->count + 1, sizeof *edits->items);
  if (!status) edits->items[edits->count++] = (TampEdit){.kind = kind, .part = part, .text = text};
  return status;
}
