#include "strategy.h"

typedef struct Options {
  uint64_t window, output;
  uint64_t keep_last_tool_call_groups;
  double eviction, truncation;
  bool keep_first_user;
} Options;

static const Options defaults = {
    .keep_last_tool_call_groups = 2, .eviction = 0.5, .truncation = 0.8, .keep_first_user = false};

static const TampField fields[] = {
    {.name = "maxContextWindowTokens",
     .type = TAMP_FIELD_COUNT,
     .required = true,
     .minimum = 1,
     .offset = offsetof(Options, window)},
    {.name = "maxOutputTokens",
     .type = TAMP_FIELD_COUNT,
     .required = true,
     .offset = offsetof(Options, output)},
    {.name = "toolEvictionThreshold",
     .type = TAMP_FIELD_FRACTION,
     .offset = offsetof(Options, eviction)},
    {.name = "truncationThreshold",
     .type = TAMP_FIELD_FRACTION,
     .offset = offsetof(Options, truncation)},
    {.name = "keepLastToolCallGroups",
     .type = TAMP_FIELD_COUNT,
     .offset = offsetof(Options, keep_last_tool_call_groups)},
    {.name = "keepFirstUser", .type = TAMP_FIELD_BOOL, .offset = offsetof(Options, keep_first_user)},
};

static void check(const void *given, TampProblems *problems) {
  const Options *options = given;
  if (tamp_field_fine(problems, "maxContextWindowTokens") &&
      tamp_field_fine(problems, "maxOutputTokens") &&
      tamp_field_given(problems, "maxContextWindowTokens") &&
      tamp_field_given(problems, "maxOutputTokens") && options->output >= options->window) {
    tamp_problem(problems, "maxOutputTokens", "conflict",
                 "maxOutputTokens (%) must be less than maxContextWindowTokens (%)", options->output,
                 options->window);
  }
  if (tamp_field_fine(problems, "toolEvictionThreshold") &&
      tamp_field_fine(problems, "truncationThreshold") && options->eviction > options->truncation) {
    tamp_problem(problems, "toolEvictionThreshold", "conflict",
                 "toolEvictionThreshold must not be more than truncationThreshold", 0, 0);
  }
}

static uint64_t budget_of(const Options *options) {
  return options->window - options->output;
}

static void limits(const void *given, TampLimits *out) {
  out->tokens = budget_of(given);
}

static TampStatus run_context_window(TampRun *run, const TampPolicy *policy) {
  const Options *options = policy->options;
  uint64_t evict_over = (uint64_t)((double)budget_of(options) * options->eviction);
  uint64_t truncate_over = (uint64_t)((double)budget_of(options) * options->truncation);
  if (!run->forced && tamp_run_total(run, run->list->tokens) <= evict_over) return TAMP_OK;
  tamp_run_fired(run);
  TampToolResultsOptions collapse = {options->keep_last_tool_call_groups,
                                     tamp_tool_results_defaults.max_chars};
  TampStatus status = tamp_collapse_tool_results(run, &collapse);
  if (status) return status;
  if (!run->forced && tamp_run_total(run, run->list->tokens) <= truncate_over) return TAMP_OK;
  TampTruncationOptions truncate = {
      .to_tokens = evict_over,
      .to_messages = TAMP_UNSET,
      .to_bytes = TAMP_UNSET,
      .keep_first_user = options->keep_first_user,
  };
  return tamp_truncate_to(run, &truncate);
}

const TampStrategy tamp_strategy_context_window = {
    .name = "context-window",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .check = check,
    .run = run_context_window,
    .limits = limits,
};
