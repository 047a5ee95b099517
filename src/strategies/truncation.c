#include "strategy.h"

typedef TampTruncationOptions Options;

static const Options defaults = {
    TAMP_UNSET, TAMP_UNSET, TAMP_UNSET, TAMP_UNSET, TAMP_UNSET, TAMP_UNSET, false,
};

static const TampField fields[] = {
    {.name = "maxTokens", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_tokens)},
    {.name = "toTokens", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, to_tokens)},
    {.name = "maxMessages", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_messages)},
    {.name = "toMessages", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, to_messages)},
    {.name = "maxBytes", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_bytes)},
    {.name = "toBytes", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, to_bytes)},
    {.name = "keepFirstUser", .type = TAMP_FIELD_BOOL, .offset = offsetof(Options, keep_first_user)},
};

static void check(const void *given, TampProblems *problems) {
  const Options *options = given;
  const struct {
    const char *max, *to, *sentence;
    uint64_t over, down_to;
  } pairs[] = {
      {"maxTokens", "toTokens", "toTokens (%) must not be more than maxTokens (%)", options->max_tokens,
       options->to_tokens},
      {"maxMessages", "toMessages", "toMessages (%) must not be more than maxMessages (%)",
       options->max_messages, options->to_messages},
      {"maxBytes", "toBytes", "toBytes (%) must not be more than maxBytes (%)", options->max_bytes,
       options->to_bytes},
  };
  uint64_t given_pairs = 0;
  for (size_t i = 0; i < 3; i++) {
    given_pairs += tamp_field_given(problems, pairs[i].max) || tamp_field_given(problems, pairs[i].to);
  }
  if (given_pairs == 0) {
    tamp_problem(problems, NULL, "missing",
                 "a limit is missing: give maxTokens and toTokens, maxMessages and toMessages, or "
                 "maxBytes and toBytes",
                 0, 0);
  } else if (given_pairs > 1) {
    tamp_problem(problems, NULL, "conflict", "only one pair of limits may be given, not %", given_pairs,
                 0);
  }
  for (size_t i = 0; i < 3 && given_pairs == 1; i++) {
    bool has_max = tamp_field_given(problems, pairs[i].max);
    bool has_to = tamp_field_given(problems, pairs[i].to);
    if (has_max && !has_to) {
      tamp_problem(problems, pairs[i].to, "missing", "the size to cut down to is missing", 0, 0);
    } else if (has_to && !has_max) {
      tamp_problem(problems, pairs[i].max, "missing", "the limit is missing", 0, 0);
    } else if (has_max && tamp_field_fine(problems, pairs[i].max) &&
               tamp_field_fine(problems, pairs[i].to) && pairs[i].down_to > pairs[i].over) {
      tamp_problem(problems, pairs[i].to, "conflict", pairs[i].sentence, pairs[i].down_to,
                   pairs[i].over);
    }
  }
}

static bool weighs(const void *given) {
  const Options *options = given;
  return options->max_tokens != TAMP_UNSET;
}

static void limits(const void *given, TampLimits *out) {
  const Options *options = given;
  *out = (TampLimits){options->max_tokens, options->max_messages, options->max_bytes};
}

static bool fits(const TampStep *step, const Options *to) {
  return tamp_run_total(step->run, step->tokens) <= to->to_tokens &&
         step->messages <= to->to_messages && step->size <= to->to_bytes;
}

TampStatus tamp_truncate_to(TampRun *run, const Options *options) {
  TampStep step;
  TampStatus status = tamp_step_begin(run, "truncation: oldest", &step);
  if (status) return status;
  const TampList *list = step.list;
  uint32_t first_user = TAMP_NONE;
  if (options->keep_first_user && list->first_user != TAMP_NONE) {
    first_user = list->entries[list->first_user].group;
  }
  /* Oldest first; summaries only when all else that may go has gone. */
  for (int summaries = 0; summaries < 2; summaries++) {
    for (uint32_t i = 0; i < list->group_count && !fits(&step, options); i++) {
      const TampGroup *group = &list->groups[i];
      if (!tamp_group_is_conversation(group) || tamp_step_protected(&step, i) || i == first_user) continue;
      if ((group->kind == TAMP_GROUP_SUMMARY) != (summaries == 1)) continue;
      tamp_step_drop_group(&step, i);
    }
  }
  if (!step.changed) tamp_run_note(run, "everything that is left is protected");
  return tamp_step_commit(&step);
}

static TampStatus run_truncation(TampRun *run, const TampPolicy *policy) {
  const Options *options = policy->options;
  TampLimits limit = {options->max_tokens, options->max_messages, options->max_bytes};
  if (!tamp_run_exceeds(run, &limit)) return TAMP_OK;
  tamp_run_fired(run);
  return tamp_truncate_to(run, options);
}

const TampStrategy tamp_strategy_truncation = {
    .name = "truncation",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .check = check,
    .run = run_truncation,
    .limits = limits,
    .weighs = weighs,
};
