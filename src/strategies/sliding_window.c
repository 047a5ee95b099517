#include "strategy.h"

typedef struct Options {
  uint64_t max_messages, max_tokens, max_bytes;
  TampWindow window;
} Options;

static const Options defaults = {
    .max_messages = TAMP_UNSET,
    .max_tokens = TAMP_UNSET,
    .max_bytes = TAMP_UNSET,
    .window = {40, TAMP_UNSET, TAMP_UNSET, TAMP_UNSET, true},
};

static const TampField fields[] = {
    {.name = "maxMessages", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_messages)},
    {.name = "maxTokens", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_tokens)},
    {.name = "maxBytes", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_bytes)},
    {.name = "keepMessages",
     .type = TAMP_FIELD_COUNT,
     .offset = offsetof(Options, window.keep_messages)},
    {.name = "keepTokens", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, window.keep_tokens)},
    {.name = "keepGroups", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, window.keep_groups)},
    {.name = "keepTurns", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, window.keep_turns)},
    {.name = "keepFirstUser",
     .type = TAMP_FIELD_BOOL,
     .offset = offsetof(Options, window.keep_first_user)},
};

static void check(const void *given, TampProblems *problems) {
  const Options *options = given;
  tamp_window_check(problems, &options->window, options->max_messages, options->max_tokens);
}

static bool weighs(const void *given) {
  const Options *options = given;
  return options->max_tokens != TAMP_UNSET || options->window.keep_tokens != TAMP_UNSET;
}

static void limits(const void *given, TampLimits *out) {
  const Options *options = given;
  *out = (TampLimits){options->max_tokens, options->max_messages, options->max_bytes};
}

static TampStatus run_window(TampRun *run, const TampPolicy *policy) {
  const Options *options = policy->options;
  TampLimits limit = {options->max_tokens, options->max_messages, options->max_bytes};
  if (!tamp_run_exceeds(run, &limit)) return TAMP_OK;
  tamp_run_fired(run);
  TampStep step;
  TampStatus status = tamp_step_begin(run, "sliding-window: older than the window", &step);
  if (status) return status;
  const TampList *list = step.list;
  uint32_t cut = tamp_window_cut(&step, &options->window);
  for (uint32_t i = 0; i < cut; i++) {
    if (tamp_window_removes(&step, &options->window, cut, i)) tamp_step_drop_group(&step, i);
  }
  for (uint32_t i = 0; i < cut; i++) {
    /* A summary before the cut stays unless a limit is still exceeded. In a budget no limit is asked. */
    bool over = tamp_run_total(run, step.tokens) > limit.tokens || step.messages > limit.messages ||
                step.size > limit.bytes;
    if (!over || run->forced) break;
    if (list->groups[i].kind == TAMP_GROUP_SUMMARY && !tamp_step_protected(&step, i)) {
      tamp_step_drop_group(&step, i);
    }
  }
  if (!step.changed) tamp_run_note(run, "nothing older than the window may go");
  return tamp_step_commit(&step);
}

const TampStrategy tamp_strategy_sliding_window = {
    .name = "sliding-window",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .check = check,
    .run = run_window,
    .limits = limits,
    .weighs = weighs,
};
