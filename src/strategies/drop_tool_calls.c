#include "parts.h"

typedef struct Options {
  uint64_t keep_last_tool_call_groups;
  TampTexts tools;
} Options;

static const Options defaults = {.keep_last_tool_call_groups = 1};

static const TampField fields[] = {
    {.name = "keepLastToolCallGroups",
     .type = TAMP_FIELD_COUNT,
     .offset = offsetof(Options, keep_last_tool_call_groups)},
    {.name = "tools", .type = TAMP_FIELD_TEXTS, .offset = offsetof(Options, tools)},
};

/* Whether every call of the group is of a tool that is marked. */
static bool all_named(const TampList *list, const TampGroup *group, const uint8_t *marks) {
  for (uint32_t i = group->first; i != TAMP_NONE; i = list->entries[i].next) {
    const TampRecord *record = list->entries[i].record;
    for (uint32_t k = 0; k < record->call_count; k++) {
      uint32_t name = record->calls[k].name;
      if (name == TAMP_NONE || !marks[name]) return false;
    }
  }
  return true;
}

static TampStatus run_drop(TampRun *run, const TampPolicy *policy) {
  const Options *options = policy->options;
  tamp_run_fired(run);
  TampStep step;
  TampStatus status = tamp_step_begin(run, "drop-tool-calls: an older tool call", &step);
  if (status) return status;
  const TampList *list = step.list;
  uint8_t *kept = tamp_step_alloc(&step, list->group_count);
  if (!kept) return TAMP_NO_MEMORY;
  uint8_t *named = NULL;
  if (options->tools.items) {
    status = tamp_names_mark(run, &options->tools, &named);
    if (status) return status;
  }
  tamp_step_keep_tool_groups(&step, options->keep_last_tool_call_groups, kept);
  for (uint32_t i = 0; i < list->group_count; i++) {
    const TampGroup *group = &list->groups[i];
    if (group->kind != TAMP_GROUP_TOOL || kept[i] || tamp_step_protected(&step, i)) continue;
    if (named && !all_named(list, group, named)) continue;
    tamp_step_drop_group(&step, i);
  }
  if (!step.changed) tamp_run_note(run, "no older tool call may go");
  return tamp_step_commit(&step);
}

static bool weighs(const void *options) {
  (void)options;
  return false;
}

const TampStrategy tamp_strategy_drop_tool_calls = {
    .name = "drop-tool-calls",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .run = run_drop,
    .weighs = weighs,
};
