#include <string.h>

#include "../unit.h"
#include "strategy.h"

void *tamp_step_alloc(TampStep *step, size_t size) {
  void *piece = tamp_arena_alloc(step->run->scratch, size);
  if (piece) memset(piece, 0, size);
  return piece;
}

/* Units that are left of a message, and those of them that are no instructions. */
static void count_unit(TampStep *step, uint32_t entry, uint32_t by) {
  struct TampUnitsLeft *left = &step->left[step->list->entries[entry].head];
  left->units += by;
  if (step->list->entries[entry].record->role != TAMP_ROLE_SYSTEM) left->speaking += by;
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
  if (list->heads < list->count) {
    step->left = tamp_step_alloc(step, list->count * sizeof *step->left);
    if (!step->left) return TAMP_NO_MEMORY;
    for (uint32_t i = 0; i < list->count; i++) count_unit(step, i, 1);
  }
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
  struct TampUnitsLeft left = {0};
  step->drops[entry] = 1;
  step->changed = true;
  step->tokens -= record->tokens;
  if (step->left) {
    count_unit(step, entry, UINT32_MAX);
    left = step->left[item->head];
  }
  if (record->role == TAMP_ROLE_ACTIVITY) return;
  step->size -= record->size;
  if (left.units > 0) {
    step->tokens += TAMP_MESSAGE_TOKENS;
    step->size += tamp_unit_shared(record);
  }
  if (step->list->groups[item->group].kind != TAMP_GROUP_SYSTEM && left.speaking == 0) step->messages--;
}

void tamp_step_drop_entry(TampStep *step, uint32_t entry) {
  const TampList *list = step->list;
  if (step->drops[entry] || list->entries[entry].stays) return;
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
  if (before < step->list->count) before = step->list->entries[before].head;
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
  TampItem *items = tamp_arena_alloc(run->scratch, ((size_t)list->count + 1) * sizeof *items);
  if (!items) return TAMP_NO_MEMORY;
  uint32_t count = 0, head = TAMP_NONE;
  for (uint32_t i = 0; i <= list->count; i++) {
    if (step->added && step->added_before == i) {
      items[count++] = (TampItem){step->added, TAMP_NONE, TAMP_NONE, false, false};
    }
    if (i == list->count || step->drops[i]) continue;
    const TampEntry *entry = &list->entries[i];
    items[count++] = (TampItem){record_now(step, i), entry->origin, i, false, entry->head == head};
    head = entry->head;
  }
  uint32_t changes = run->changes;
  TampStatus status = tamp_run_replace(run, items, count);
  if (status || run->changes == changes) return status;
  if (step->added) {
    status = tamp_run_added(run, step->added, step->added_reason);
    if (status) return status;
  }
  for (uint32_t i = 0, next; i < list->count; i = next) {
    bool rewritten = false, kept = false;
    for (next = i; next < list->count && list->entries[next].head == i; next++) {
      rewritten = rewritten || step->drops[next] || (step->rewrites && step->rewrites[next]);
      kept = kept || !step->drops[next];
    }
    run->rewritten += rewritten && kept;
    if (rewritten) tamp_run_reason(run, list->entries[i].origin, step->reason);
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
