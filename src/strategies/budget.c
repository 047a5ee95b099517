#include "strategy.h"

typedef struct Options {
  uint64_t max_tokens;
} Options;

static const Options defaults = {.max_tokens = 0};

static const TampField fields[] = {
    {.name = "maxTokens",
     .type = TAMP_FIELD_COUNT,
     .required = true,
     .offset = offsetof(Options, max_tokens)},
    {.name = "steps", .type = TAMP_FIELD_POLICIES, .required = true},
};

static void limits(const void *given, TampLimits *out) {
  const Options *options = given;
  out->tokens = options->max_tokens;
}

/* A budget inside a budget still stops at its own maxTokens: that is where it goes, as a truncation
 * goes to its `to`. */
static TampStatus run_budget(TampRun *run, const TampPolicy *policy) {
  const Options *options = policy->options;
  bool forced = run->forced;
  bool over = tamp_run_total(run, run->list->tokens) > options->max_tokens;
  bool fired = over;
  TampStatus status = TAMP_OK;
  run->forced = true;
  for (uint32_t i = 0; over && !status && i < policy->child_count; i++) {
    status = tamp_run_policy(run, policy->children[i]);
    over = tamp_run_total(run, run->list->tokens) > options->max_tokens;
  }
  run->forced = forced;
  /* The steps said these of themselves. */
  run->fired = fired;
  run->note = over ? "out of steps and still over maxTokens" : NULL;
  return status;
}

const TampStrategy tamp_strategy_budget = {
    .name = "budget",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .run = run_budget,
    .limits = limits,
    .composed = true,
};
