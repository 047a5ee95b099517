#include <string.h>

#include "strategy.h"

void *tamp_step_alloc(TampStep *step, size_t size) {
  void *piece = tamp_arena_alloc(step->run->arena, size);
  if (piece) memset(piece, 0, size);
  return piece;
}

TampStatus tamp_step_begin(TampRun *run, const char *reason, TampStep *step) {
  const TampList *list = run->list;
  *step = (TampStep){
      .run = run,
      .list = list,
      .reason = reason,
      .tokens = list->tokens,
      .size = list->size,
      .messages = list->messages,
  };
  uint8_t *protection = tamp_step_alloc(step, list->group_count);
  step->drops = tamp_step_alloc(step, list->count);
  if (!protection || !step->drops) return TAMP_NO_MEMORY;
  tamp_list_protect(list, run->pins, run->pin_count, protection);
  step->protection = protection;
  return TAMP_OK;
}

static const TampRecord *record_now(const TampStep *step, uint32_t entry) {
  const TampRecord *rewritten = step->rewrites ? step->rewrites[entry] : NULL;
  return rewritten ? rewritten : step->list->entries[entry].record;
}

static void drop(TampStep *step, uint32_t entry) {
  const TampEntry *item = &step->list->entries[entry];
  const TampRecord *record = record_now(step, entry);
  step->drops[entry] = 1;
  step->changed = true;
  step->tokens -= record->tokens;
  if (record->role == TAMP_ROLE_ACTIVITY) return;
  step->size -= record->size;
  if (step->list->groups[item->group].kind != TAMP_GROUP_SYSTEM) step->messages--;
}

void tamp_step_drop_entry(TampStep *step, uint32_t entry) {
  const TampList *list = step->list;
  if (step->drops[entry]) return;
  drop(step, entry);
  /* Activity stands directly behind the message it goes with. */
  for (uint32_t i = entry + 1; i < list->count && list->entries[i].owner == entry; i++) {
    bool pinned = tamp_entry_pinned(&list->entries[i], step->run->pins, step->run->pin_count);
    if (!step->drops[i] && !pinned) drop(step, i);
  }
}

void tamp_step_drop_group(TampStep *step, uint32_t group) {
  const TampList *list = step->list;
  for (uint32_t i = list->groups[group].first; i != TAMP_NONE; i = list->entries[i].next) {
    tamp_step_drop_entry(step, i);
  }
}

TampStatus tamp_step_read(TampStep *step, uint32_t entry, TampMessage *message) {
  return tamp_run_read(step->run, record_now(step, entry), message);
}

TampStatus tamp_step_edit(TampStep *step, const TampMessage *message, const TampEdit *edits,
                          size_t count, const TampRecord **record) {
  return tamp_run_edit(step->run, message, edits, count, record);
}

TampStatus tamp_step_draft(TampStep *step, const TampDraft *draft, const TampRecord **record) {
  return tamp_run_draft(step->run, draft, record);
}

TampStatus tamp_step_rewrite(TampStep *step, uint32_t entry, const TampRecord *record) {
  if (!step->rewrites) {
    step->rewrites = tamp_step_alloc(step, step->list->count * sizeof *step->rewrites);
    if (!step->rewrites) return TAMP_NO_MEMORY;
  }
  const TampRecord *before = record_now(step, entry);
  step->tokens += (uint64_t)record->tokens - before->tokens;
  step->size += (uint64_t)record->size - before->size;
  step->rewrites[entry] = record;
  step->changed = true;
  return TAMP_OK;
}

void tamp_step_insert(TampStep *step, uint32_t before, const TampRecord *record,
                      const char *reason) {
  step->added = record;
  step->added_before = before;
  step->added_reason = reason;
  step->tokens += record->tokens;
  step->size += record->size;
  step->messages++;
  step->changed = true;
}

TampStatus tamp_step_commit(TampStep *step) {
  if (!step->changed) return TAMP_OK;
  TampRun *run = step->run;
  const TampList *list = step->list;
  TampItem *items = tamp_arena_alloc(run->arena, ((size_t)list->count + 1) * sizeof *items);
  if (!items) return TAMP_NO_MEMORY;
  uint32_t count = 0;
  for (uint32_t i = 0; i <= list->count; i++) {
    if (step->added && step->added_before == i) {
      items[count++] = (TampItem){step->added, TAMP_NONE, TAMP_NONE};
    }
    if (i == list->count || step->drops[i]) continue;
    items[count++] = (TampItem){record_now(step, i), list->entries[i].origin, i};
  }
  uint32_t changes = run->changes;
  TampStatus status = tamp_run_replace(run, items, count);
  if (status || run->changes == changes) return status;
  if (step->added) {
    status = tamp_run_added(run, step->added, step->added_reason);
    if (status) return status;
  }
  for (uint32_t i = 0; i < list->count; i++) {
    bool rewritten = !step->drops[i] && step->rewrites && step->rewrites[i];
    run->rewritten += rewritten;
    if (step->drops[i] || rewritten) tamp_run_reason(run, list->entries[i].origin, step->reason);
  }
  return TAMP_OK;
}

void tamp_step_keep_tool_groups(const TampStep *step, uint64_t keep, uint8_t *kept) {
  const TampList *list = step->list;
  for (uint32_t i = list->group_count; i-- > 0 && keep > 0;) {
    if (list->groups[i].kind != TAMP_GROUP_TOOL) continue;
    if (step->protection[i] & TAMP_GROUP_PENDING) continue;
    kept[i] = 1;
    keep--;
  }
}
