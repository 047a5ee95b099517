#include "strategy.h"

void tamp_window_check(TampProblems *problems, const TampWindow *window, uint64_t max_messages,
                       uint64_t max_tokens) {
  static const char *const keeps[] = {"keepMessages", "keepTokens", "keepGroups", "keepTurns"};
  int given = 0;
  for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++) {
    given += tamp_field_given(problems, keeps[i]);
  }
  if (given > 1) {
    tamp_problem(problems, NULL, "conflict", "only one of the keeps may be given, not %", (uint64_t)given,
                 0);
    return;
  }
  bool by_messages = given == 0 || tamp_field_given(problems, "keepMessages");
  if (by_messages && max_messages != TAMP_UNSET && window->keep_messages >= max_messages &&
      tamp_field_fine(problems, "keepMessages") && tamp_field_fine(problems, "maxMessages")) {
    tamp_problem(problems, "keepMessages", "conflict",
                 "keepMessages (%) must be less than maxMessages (%)", window->keep_messages,
                 max_messages);
  }
  if (window->keep_tokens != TAMP_UNSET && max_tokens != TAMP_UNSET &&
      window->keep_tokens >= max_tokens && tamp_field_fine(problems, "keepTokens") &&
      tamp_field_fine(problems, "maxTokens")) {
    tamp_problem(problems, "keepTokens", "conflict", "keepTokens (%) must be less than maxTokens (%)",
                 window->keep_tokens, max_tokens);
  }
}

uint32_t tamp_window_cut(const TampStep *step, const TampWindow *window) {
  const TampList *list = step->list;
  if (window->keep_turns != TAMP_UNSET) {
    /* Turn t is kept if t > turns - keep, so turn 0 goes only when there are as many as are kept. */
    for (uint32_t i = 0; i < list->group_count; i++) {
      const TampGroup *group = &list->groups[i];
      if (tamp_group_is_conversation(group) && group->turn + window->keep_turns > list->turns) return i;
    }
    return list->group_count;
  }
  uint64_t messages = 0, tokens = 0, groups = 0;
  uint32_t cut = list->group_count;
  for (uint32_t i = list->group_count; i-- > 0;) {
    const TampGroup *group = &list->groups[i];
    if (!tamp_group_is_conversation(group)) continue;
    if (window->keep_tokens != TAMP_UNSET) {
      tokens += group->tokens;
      if (tokens > window->keep_tokens) break;
    } else if (window->keep_groups != TAMP_UNSET) {
      if (++groups > window->keep_groups) break;
    } else {
      if (messages >= window->keep_messages) break;
      messages += group->messages;
    }
    cut = i;
  }
  return cut;
}

bool tamp_window_removes(const TampStep *step, const TampWindow *window, uint32_t cut,
                         uint32_t group) {
  const TampList *list = step->list;
  const TampGroup *item = &list->groups[group];
  if (group >= cut || tamp_step_protected(step, group)) return false;
  if (!tamp_group_is_conversation(item) || item->kind == TAMP_GROUP_SUMMARY) return false;
  return !(window->keep_first_user && list->first_user != TAMP_NONE &&
           list->entries[list->first_user].group == group);
}
