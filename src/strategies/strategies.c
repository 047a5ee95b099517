#include <string.h>

#include "strategy.h"

/* In the order in which they are listed to people. */
static const TampStrategy *const strategies[] = {
    &tamp_strategy_sliding_window,
    &tamp_strategy_truncation,
    &tamp_strategy_context_window,
    &tamp_strategy_tool_results,
    &tamp_strategy_drop_tool_calls,
    &tamp_strategy_clear_tool_results,
    &tamp_strategy_dedupe_tool_results,
    &tamp_strategy_clamp,
    &tamp_strategy_strip_binary,
    &tamp_strategy_drop_reasoning,
    &tamp_strategy_summarize,
    &tamp_strategy_digest,
    &tamp_strategy_budget,
    &tamp_strategy_repair,
};

const TampStrategy *tamp_strategy_at(size_t index) {
  return index < sizeof strategies / sizeof *strategies ? strategies[index] : NULL;
}

const TampStrategy *tamp_strategy_named(const char *name) {
  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    if (strcmp(strategies[i]->name, name) == 0) return strategies[i];
  }
  return NULL;
}
