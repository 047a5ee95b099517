#include "strategy.h"

typedef struct Options {
  uint64_t keep_last_turns;
} Options;

static const Options defaults = {.keep_last_turns = 1};

static const TampField fields[] = {
    {.name = "keepLastTurns",
     .type = TAMP_FIELD_COUNT,
     .offset = offsetof(Options, keep_last_turns)},
};

/* A provider refuses a call whose reasoning item is gone, so an opaque value stays while its calls
 * do. */
static bool may_go(const TampGroup *group, const TampRecord *record) {
  return record->role == TAMP_ROLE_REASONING &&
         !(group->kind == TAMP_GROUP_TOOL && (record->flags & TAMP_MESSAGE_OPAQUE));
}

static TampStatus run_drop(TampRun *run, const TampPolicy *policy) {
  const Options *options = policy->options;
  tamp_run_fired(run);
  TampStep step;
  TampStatus status = tamp_step_begin(run, "drop-reasoning: of an older turn", &step);
  if (status) return status;
  const TampList *list = step.list;
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    const TampGroup *group = &list->groups[entry->group];
    if (group->turn + options->keep_last_turns > list->turns) continue;
    if (!may_go(group, entry->record) || tamp_step_protected(&step, entry->group)) continue;
    tamp_step_drop_entry(&step, i);
  }
  if (!step.changed) tamp_run_note(run, "no reasoning of an older turn may go");
  return tamp_step_commit(&step);
}

const TampStrategy tamp_strategy_drop_reasoning = {
    .name = "drop-reasoning",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .run = run_drop,
};
