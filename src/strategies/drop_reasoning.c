#include "parts.h"

typedef struct Options {
  uint64_t keep_last_turns;
} Options;

static const Options defaults = {.keep_last_turns = 1};

static const TampField fields[] = {
    {.name = "keepLastTurns",
     .type = TAMP_FIELD_COUNT,
     .offset = offsetof(Options, keep_last_turns)},
};

typedef struct Drop {
  TampStep step;
  TampMessage message;
  TampEdits edits;
} Drop;

/* A provider refuses a call whose reasoning item is gone, so an opaque value stays while its calls
 * do. */
static bool must_stay(const TampGroup *group, bool opaque) {
  return opaque && group->kind == TAMP_GROUP_TOOL;
}

/* Takes reasoning out of a message that says other things too; one that says nothing else goes. */
static TampStatus drop_parts(Drop *drop, uint32_t entry) {
  TampStep *step = &drop->step;
  const TampEntry *item = &step->list->entries[entry];
  const TampGroup *group = &step->list->groups[item->group];
  TampStatus status = tamp_step_read(step, entry, &drop->message);
  uint32_t others = 0;
  drop->edits.count = 0;
  for (uint32_t i = 0; !status && i < drop->message.count; i++) {
    const TampPart *part = &drop->message.parts[i];
    bool goes = part->kind == TAMP_PART_REASONING && (part->flags & TAMP_PART_REMOVABLE) &&
                !must_stay(group, (part->flags & TAMP_PART_OPAQUE) != 0);
    if (goes) {
      status = tamp_edits_add(step->run, &drop->edits, TAMP_EDIT_DROP_REASONING, i, (TampText){0});
    } else {
      others++;
    }
  }
  if (status || drop->edits.count == 0) return status;
  if (others == 0) {
    tamp_step_drop_entry(step, entry);
    return TAMP_OK;
  }
  const TampRecord *record;
  status = tamp_step_edit(step, &drop->message, drop->edits.items, drop->edits.count, &record);
  if (status || record->tokens >= item->record->tokens) return status;
  return tamp_step_rewrite(step, entry, record);
}

static TampStatus drop_entry(Drop *drop, uint32_t entry) {
  const TampList *list = drop->step.list;
  const TampRecord *record = list->entries[entry].record;
  if (record->role != TAMP_ROLE_REASONING) {
    return record->flags & TAMP_RECORD_REASONING ? drop_parts(drop, entry) : TAMP_OK;
  }
  const TampGroup *group = &list->groups[list->entries[entry].group];
  if (!must_stay(group, (record->flags & TAMP_MESSAGE_OPAQUE) != 0)) {
    tamp_step_drop_entry(&drop->step, entry);
  }
  return TAMP_OK;
}

static TampStatus run_drop(TampRun *run, const TampPolicy *policy) {
  const Options *options = policy->options;
  Drop drop = {0};
  tamp_run_fired(run);
  TampStatus status = tamp_step_begin(run, "drop-reasoning: of an older turn", &drop.step);
  if (status) return status;
  const TampList *list = drop.step.list;
  tamp_message_init(&drop.message, run->arena);
  for (uint32_t i = 0; !status && i < list->count; i++) {
    uint32_t group = list->entries[i].group;
    if (list->groups[group].turn + options->keep_last_turns > list->turns) continue;
    if (!tamp_step_protected(&drop.step, group)) status = drop_entry(&drop, i);
  }
  tamp_arena_drop(run->arena, drop.message.parts);
  tamp_arena_drop(run->arena, drop.edits.items);
  if (status) return status;
  if (!drop.step.changed) tamp_run_note(run, "no reasoning of an older turn may go");
  return tamp_step_commit(&drop.step);
}

const TampStrategy tamp_strategy_drop_reasoning = {
    .name = "drop-reasoning",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .run = run_drop,
};
