/* From a finished run to a plan: what stays, what is written anew, and the check of strategies.md §5 on
 * every result that differs from its input. */
#include "history.h"
#include "strategies/strategy.h"
#include "unit.h"

#include <string.h>

struct TampPlan {
  TampArena arena; /* everything of the plan */
  TampPlanView view;
  TampQuestion question;
  TampText *asked; /* by message of the question: what an earlier step made of it; empty for one of the input's */
  bool asks;
};

/* ── Budgets ──────────────────────────────────────────────────────────────────────────────────────────── */

typedef struct Excess {
  const char *what;
  uint64_t is, limit;
} Excess;

static bool find_excess(const TampRun *run, const TampPolicy *policy, Excess *excess) {
  const TampList *list = run->list;
  if (policy->strategy && policy->strategy->limits) {
    TampLimits limits = {TAMP_UNSET, TAMP_UNSET, TAMP_UNSET};
    policy->strategy->limits(policy->options, &limits);
    uint64_t total = tamp_run_total(run, list->tokens);
    if (total > limits.tokens) {
      *excess = (Excess){" tokens are over the budget of ", total, limits.tokens};
      return true;
    }
    if (list->messages > limits.messages) {
      *excess = (Excess){" messages are over the limit of ", list->messages, limits.messages};
      return true;
    }
    if (list->size > limits.bytes) {
      *excess = (Excess){" bytes are over the limit of ", list->size, limits.bytes};
      return true;
    }
  }
  if (policy->strategy) return false; /* the limits of a budget's steps are not asked */
  for (uint32_t i = 0; i < policy->child_count; i++) {
    if (find_excess(run, policy->children[i], excess)) return true;
  }
  return false;
}

static void write_text(TampWriter *writer, const char *text) {
  tamp_writer_raw(writer, (TampText){(const uint8_t *)text, strlen(text)});
}

static TampStatus set_reason(TampPlan *plan, const char *sentence) {
  plan->view.reason = (TampText){(const uint8_t *)sentence, strlen(sentence)};
  return TAMP_OK;
}

static TampStatus judge_fit(TampPlan *plan, const TampRun *run, const TampPolicy *policy) {
  Excess excess;
  plan->view.fits = true;
  if (run->refusal) {
    plan->view.fits = false;
    return set_reason(plan, run->refusal);
  }
  if (!find_excess(run, policy, &excess)) return TAMP_OK;
  plan->view.fits = false;
  TampWriter writer = tamp_writer(&plan->arena);
  tamp_writer_integer(&writer, excess.is);
  write_text(&writer, excess.what);
  tamp_writer_integer(&writer, excess.limit);
  write_text(&writer, "; what is left may not be removed, or no step of the policy removes it");
  return tamp_writer_finish(&writer, &plan->view.reason);
}

/* ── Invariants (§5) ──────────────────────────────────────────────────────────────────────────────────── */

typedef struct Check {
  const TampRun *run;
  const TampList *input;
  const TampList *result;
  uint32_t *place; /* by entry of the input: its entry in the result, TAMP_NONE */
  bool orphans_may_stay;
  bool stale_may_stay;
} Check;

static const TampPolicy *last_step(const TampPolicy *policy) {
  while (!policy->strategy && policy->child_count > 0) {
    policy = policy->children[policy->child_count - 1];
  }
  return policy;
}

/* 1: a batch and its results whole, results directly after their call, in the order of the calls. */
static const char *check_pairs(const Check *check) {
  const TampList *list = check->result;
  for (uint32_t i = 0; i < list->result_count; i++) {
    const TampListResult *result = &list->results[i];
    const TampRecord *owner = list->entries[result->entry].record;
    /* In the part of a call that has no id: nothing else could be its call. */
    if (owner->call_count > 0 && owner->results[result->index].id == TAMP_NONE) continue;
    if (result->call == TAMP_NONE) {
      if (!check->orphans_may_stay) return "internal error: a result without its call";
      continue;
    }
    if (result->next != TAMP_NONE) return "internal error: two results of one call";
  }
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    uint32_t at = i;
    for (uint32_t k = 0; k < entry->record->call_count; k++) {
      const TampListCall *call = &list->calls[entry->calls + k];
      if (call->first == TAMP_NONE) {
        bool pending = tamp_list_call_waits(list, entry->calls + k, list->last_speaker);
        if (entry->record->calls[k].id == TAMP_NONE) continue; /* no result could name it */
        if (!pending && !check->stale_may_stay) return "internal error: a call without its result";
        continue;
      }
      uint32_t to = list->results[call->first].entry;
      if (to == i || to == at || check->run->format->flags & TAMP_FORMAT_IN_PLACE) continue;
      if (to < at) return "internal error: results out of order";
      for (uint32_t j = at + 1; j < to; j++) {
        const TampRecord *between = list->entries[j].record;
        /* An approval, or what a person says in the message of the results. */
        bool beside = list->entries[j].group == entry->group && between->result_count == 0;
        if (between->role != TAMP_ROLE_ACTIVITY && between->role != TAMP_ROLE_REASONING && !beside) {
          return "internal error: a result away from its call";
        }
      }
      at = to;
    }
  }
  return NULL;
}

/* 2: what is protected is there. Of a call's several results only the one that counts has to be. */
static const char *check_protected(const Check *check) {
  const TampRun *run = check->run;
  const TampList *list = check->input;
  uint8_t *flags = tamp_arena_alloc(run->scratch, list->group_count);
  if (!flags) return "out of memory";
  tamp_list_protect(list, run->pins, run->pin_count, flags);
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    const TampGroup *group = &list->groups[entry->group];
    if (check->place[i] != TAMP_NONE || group->kind == TAMP_GROUP_ORPHAN) continue;
    if (!(flags[entry->group] & TAMP_GROUP_PROTECTED)) continue;
    bool counts = entry->record->result_count == 0;
    for (uint32_t k = 0; k < entry->record->result_count; k++) {
      uint32_t result = entry->results + k;
      uint32_t call = list->results[result].call;
      counts = counts || (call != TAMP_NONE && tamp_list_counted_result(list, run->pins, run->pin_count,
                                                                        call) == result);
    }
    if (counts) return "internal error: a protected message is gone";
  }
  return NULL;
}

/* 3: order, but for results that moved and the activity behind them. */
static const char *check_order(const Check *check) {
  const TampList *list = check->result;
  uint32_t last = TAMP_NONE;
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    if (entry->origin == TAMP_NONE || entry->record->role == TAMP_ROLE_ACTIVITY) continue;
    /* What else a message of results says (an approval) goes where they go. */
    bool besides = entry->record->role == TAMP_ROLE_TOOL && tamp_entry_joined(list, i);
    if ((entry->record->result_count > 0 || besides) && entry->record->call_count == 0) continue;
    bool joined = tamp_entry_joined(list, i) && entry->origin == last;
    if (last != TAMP_NONE && entry->origin <= last && !joined) return "internal error: messages out of order";
    last = entry->origin;
  }
  return NULL;
}

/* 4 and 5: nothing became heavier, and all of the input is accounted for. */
static const char *check_sums(const Check *check) {
  const TampRun *run = check->run;
  if (check->result->tokens > check->input->tokens + run->added_tokens) {
    return "internal error: the result is heavier than the input";
  }
  for (uint32_t i = 0; i < check->input->count; i++) {
    if (check->place[i] == TAMP_NONE && !run->reasons[check->input->entries[i].origin]) {
      return "internal error: no reason was given";
    }
  }
  return NULL;
}

static const char *verify(const TampRun *run, const TampList *input, const uint32_t *heads,
                          const TampPolicy *policy) {
  Check check = {.run = run, .input = input, .result = run->list};
  check.place = tamp_arena_alloc(run->scratch, input->count * sizeof *check.place);
  if (!check.place) return "out of memory";
  for (uint32_t i = 0; i < input->count; i++) check.place[i] = TAMP_NONE;
  for (uint32_t i = 0; i < run->list->count; i++) {
    const TampEntry *entry = &run->list->entries[i];
    if (entry->source == TAMP_NONE) continue;
    uint32_t *place = &check.place[heads[entry->source] + entry->unit];
    if (*place != TAMP_NONE) return "internal error: a message twice";
    *place = i;
  }
  const TampPolicy *last = last_step(policy);
  if (last->strategy == &tamp_strategy_repair) {
    const TampRepairOptions *options = last->options;
    check.orphans_may_stay = options->orphan_results == 1 || last->when;
    check.stale_may_stay = options->stale_calls == 2 || last->when;
  }
  const char *violation = check_pairs(&check);
  if (!violation) violation = check_protected(&check);
  if (!violation) violation = check_order(&check);
  if (!violation) violation = check_sums(&check);
  return violation;
}

/* ── The plan ─────────────────────────────────────────────────────────────────────────────────────────── */

static bool same_list(const TampList *input, const TampList *result) {
  if (input == result) return true;
  if (input->count != result->count) return false;
  for (uint32_t i = 0; i < input->count; i++) {
    if (result->entries[i].origin != input->entries[i].origin ||
        result->entries[i].record != input->entries[i].record) {
      return false;
    }
  }
  return true;
}

static const char *reason_added(const TampRun *run, const TampRecord *record) {
  for (uint32_t i = run->addition_count; i-- > 0;) {
    if (run->additions[i].record == record) return run->additions[i].reason;
  }
  return "added";
}

/* Whether the `count` entries from `at` on are the input's message with their origin, as it was. */
static bool is_kept(const TampList *list, uint32_t at, uint32_t count, const TampList *input, uint32_t head) {
  uint32_t origin = list->entries[at].origin;
  for (uint32_t i = 0; i < count; i++) {
    const TampEntry *before = &input->entries[head + i];
    if (head + i >= input->count || before->origin != origin || before->record != list->entries[at + i].record) {
      return false;
    }
  }
  return head + count == input->count || input->entries[head + count].origin != origin;
}

/* The bytes of a record, which may have to be asked for. */
static TampStatus bytes_of(TampPlan *plan, const TampRecord *record, const uint8_t **bytes) {
  *bytes = record->bytes;
  if (record->bytes) return TAMP_OK;
  uint8_t *room = tamp_arena_alloc(&plan->arena, record->length);
  *bytes = room;
  return room ? record->source->read(record->source->context, record->offset, record->length, room) : TAMP_NO_MEMORY;
}

/* The bytes of a message that is not one of the input's: of its one record, or of its units together. */
static TampStatus write_message(TampPlan *plan, const TampRun *run, uint32_t at, uint32_t count,
                                TampPlanText *text) {
  const TampEntry *entries = &run->list->entries[at];
  const TampRecord *first = entries[0].record;
  text->length = first->length;
  if (count == 1) return bytes_of(plan, first, &text->bytes);
  const TampRecord **units = tamp_arena_alloc(&plan->arena, count * sizeof *units);
  if (!units) return TAMP_NO_MEMORY;
  uint32_t home = 0;
  for (uint32_t i = count; i-- > 0;) {
    units[i] = entries[i].record;
    if (entries[i].source == entries[i].origin) home = i;
  }
  TampWriter writer = tamp_writer(&plan->arena);
  TampText json = {0};
  TampStatus status = tamp_units_join(run->format, units, count, home, &plan->arena, &writer);
  if (!status) status = tamp_writer_finish(&writer, &json);
  text->bytes = json.bytes;
  text->length = (uint32_t)json.length;
  return status;
}

static TampStatus list_messages(TampPlan *plan, const TampRun *run, const TampList *input, const uint32_t *heads) {
  const TampList *list = run->list;
  TampPlanView *view = &plan->view;
  uint32_t *order = tamp_arena_alloc(&plan->arena, list->heads * sizeof *order);
  if (!order) return TAMP_NO_MEMORY;
  TampPlanText *texts = NULL;
  uint32_t capacity = 0, next;
  for (uint32_t i = 0; i < list->count; i = next) {
    const TampEntry *entry = &list->entries[i];
    uint32_t origin = entry->origin;
    for (next = i + 1; next < list->count && tamp_entry_joined(list, next); next++) continue;
    if (origin != TAMP_NONE && is_kept(list, i, next - i, input, heads[origin])) {
      order[view->count++] = origin;
      run->reasons[origin] = NULL;
      continue;
    }
    TampStatus status = tamp_arena_grow(&plan->arena, (void **)&texts, &capacity,
                                        (size_t)view->text_count + 1, sizeof *texts);
    if (status) return status;
    if (origin != TAMP_NONE && !run->reasons[origin]) {
      /* Nothing of it went, and nothing came: its results stand before what else it says. */
      run->reasons[origin] = "repair: results put before the rest of their message";
    }
    TampPlanText *text = &texts[view->text_count];
    order[view->count++] = TAMP_PLAN_TEXT | view->text_count++;
    *text = (TampPlanText){
        .origin = origin,
        .reason = origin == TAMP_NONE ? reason_added(run, entry->record) : run->reasons[origin],
    };
    status = write_message(plan, run, i, next - i, text);
    if (status) return status;
  }
  view->order = order;
  view->texts = texts;
  return TAMP_OK;
}

static TampStatus keep_all(TampPlan *plan, const TampRun *run) {
  TampPlanView *view = &plan->view;
  uint32_t count = run->input_count;
  uint32_t *order = tamp_arena_alloc(&plan->arena, count * sizeof *order);
  if (!order) return TAMP_NO_MEMORY;
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  memset((void *)run->reasons, 0, count * sizeof *run->reasons);
  view->order = order;
  view->count = count;
  view->tokens_after = view->tokens_before;
  view->bytes_after = view->bytes_before;
  view->after = view->before;
  view->changed = false;
  return TAMP_OK;
}

/* Messages that came while the plan was made stand behind it; what they break is mended. */
static TampStatus add_tail(TampHistory *history, TampRun *run, uint32_t length,
                           const TampPolicy *policy) {
  if (length == history->count) return TAMP_OK;
  const TampList *list = run->list;
  uint32_t tail = history->count - length;
  TampItem *items = tamp_arena_alloc(run->scratch, ((size_t)list->count + tail) * sizeof *items);
  if (!items) return TAMP_NO_MEMORY;
  for (uint32_t i = 0; i < list->count; i++) {
    items[i] = (TampItem){list->entries[i].record, list->entries[i].origin, i, false, tamp_entry_joined(list, i)};
  }
  for (uint32_t i = 0; i < tail; i++) {
    items[list->count + i] = (TampItem){history->items[length + i], length + i, TAMP_NONE, true, false};
  }
  uint32_t changes = run->changes;
  TampStatus status = tamp_run_replace(run, items, list->count + tail);
  run->changes = changes;
  if (status || changes == 0) return status;
  tamp_list_judge((TampList *)run->list);
  const TampPolicy *last = last_step(policy);
  bool own = last->strategy == &tamp_strategy_repair;
  return tamp_repair(run, own ? last->options : &tamp_repair_defaults);
}

static TampStatus start_list(TampHistory *history, TampRun *run, uint32_t length,
                             const TampList **input) {
  if (length == history->count) {
    *input = &history->list;
    return TAMP_OK;
  }
  TampList *list = tamp_arena_alloc(run->arena, sizeof *list);
  if (!list) return TAMP_NO_MEMORY;
  tamp_list_init(list, run->arena, &history->atoms);
  for (uint32_t i = 0; i < length; i++) {
    TampStatus status = tamp_list_append(list, history->items[i], i);
    if (status) return status;
  }
  *input = list;
  return TAMP_OK;
}

/* What the run asks. Texts that are not kept are made while it lasts. */
static TampStatus put_question(TampPlan *plan, const TampHistory *history, const TampRun *run) {
  const TampQuestion *question = &run->question;
  plan->question = *question;
  plan->asks = true;
  plan->asked = tamp_arena_alloc(&plan->arena, question->count * sizeof *plan->asked);
  if (!plan->asked) return TAMP_NO_MEMORY;
  for (uint32_t i = 0; i < question->count; i++) {
    const TampRecord *record = question->records[i];
    uint32_t origin = question->origins[i];
    plan->asked[i] = (TampText){0};
    if (origin < history->count && tamp_history_record(history, origin) == record) continue;
    TampStatus status = bytes_of(plan, record, &plan->asked[i].bytes);
    if (status) return status;
    plan->asked[i].length = record->length;
  }
  return TAMP_NEEDS_SUMMARY;
}

static TampStatus fill_plan(TampPlan *plan, TampHistory *history, uint32_t length, TampRun *run,
                            const TampPolicy *policy) {
  const TampList *whole = &history->list;
  TampPlanView *view = &plan->view;
  const TampList *input = run->list;
  TampStatus status = tamp_run_all(run, policy);
  if (status == TAMP_NEEDS_SUMMARY) return put_question(plan, history, run);
  /* Only what repair must drop would be left: the input comes back. */
  if (!status && run->nothing_left) run->list = input;
  if (!status) status = judge_fit(plan, run, policy);
  if (!status) status = add_tail(history, run, length, policy);
  if (status) return status;
  view->input_count = history->count;
  view->before = whole->sent;
  view->tokens_before = whole->tokens;
  view->bytes_before = whole->size;
  view->steps = run->steps;
  view->step_count = run->step_count;
  view->reasons = (const char *const *)run->reasons;
  if (same_list(whole, run->list)) return keep_all(plan, run);
  tamp_list_judge(&history->list);
  uint32_t *heads = tamp_arena_alloc(run->scratch, history->count * sizeof *heads);
  if (!heads) return TAMP_NO_MEMORY;
  for (uint32_t i = whole->count; i-- > 0;) heads[whole->entries[i].origin] = i;
  const char *violation = verify(run, whole, heads, policy);
  if (violation) {
    view->fits = false;
    set_reason(plan, violation);
    return keep_all(plan, run);
  }
  view->changed = true;
  view->after = run->list->sent;
  view->tokens_after = run->list->tokens;
  view->bytes_after = run->list->size;
  return list_messages(plan, run, whole, heads);
}

TampStatus tamp_history_plan(TampHistory *history, uint32_t length, const TampPolicy *policy,
                             const TampOptions *options, const TampAnswer *answers,
                             uint32_t answer_count, TampPlan **plan) {
  static const TampOptions no_options;
  *plan = NULL;
  if (!options) options = &no_options;
  if (length > history->count) return TAMP_STALE_PLAN;
  TampStatus status = tamp_history_count(history, options);
  if (status) return status;
  TampAllocator allocator = history->arena.allocator;
  TampPlan *made = allocator.resize(allocator.context, NULL, sizeof *made);
  if (!made) return TAMP_NO_MEMORY;
  *made = (TampPlan){.question = {0}};
  tamp_arena_init(&made->arena, allocator);
  TampArena scratch;
  tamp_arena_init(&scratch, allocator);

  uint32_t atoms = history->atoms.count;
  TampRun run = {
      .arena = &made->arena,
      .scratch = &scratch,
      .format = history->format,
      .atoms = &history->atoms,
      .options = options,
      .counter = options->counter.count ? &options->counter : history->uncounted ? &tamp_counter_none : NULL,
      .input_count = history->count,
      .answers = answers,
      .answer_count = answer_count,
      .policy_count = policy->number_count,
  };
  uint32_t *pins = NULL;
  status = tamp_history_pins(history, options, &made->arena, &pins, &run.pin_count);
  run.pins = pins;
  run.offset = tamp_history_offset(history, length, options, true);
  run.reasons = tamp_arena_alloc(&made->arena, history->count * sizeof *run.reasons);
  run.refused = tamp_arena_alloc(&made->arena, policy->number_count);
  if (!status && (!run.reasons || !run.refused)) status = TAMP_NO_MEMORY;
  if (!status) {
    memset((void *)run.reasons, 0, history->count * sizeof *run.reasons);
    memset(run.refused, 0, policy->number_count);
    status = start_list(history, &run, length, &run.list);
  }
  if (!status) status = fill_plan(made, history, length, &run, policy);
  /* Ids that the run made go with it; what the plan says of them are bytes of its own. */
  tamp_atoms_truncate(&history->atoms, atoms);
  tamp_arena_free(&scratch);
  if (status && status != TAMP_NEEDS_SUMMARY) {
    tamp_plan_free(made);
    return status;
  }
  *plan = made;
  return status;
}

void tamp_plan_free(TampPlan *plan) {
  if (!plan) return;
  TampAllocator allocator = plan->arena.allocator;
  tamp_arena_free(&plan->arena);
  allocator.resize(allocator.context, plan, 0);
}

const TampPlanView *tamp_plan_view(const TampPlan *plan) {
  return &plan->view;
}

const TampQuestion *tamp_plan_question(const TampPlan *plan) {
  return plan->asks ? &plan->question : NULL;
}

TampText tamp_plan_question_text(const TampPlan *plan, uint32_t at) {
  return plan->asked[at];
}

static void write_string(TampWriter *writer, const char *text) {
  tamp_writer_string(writer, (TampText){(const uint8_t *)text, strlen(text)});
}

static void write_member(TampWriter *writer, const char *name, uint64_t number) {
  write_text(writer, ",\"");
  write_text(writer, name);
  write_text(writer, "\":");
  tamp_writer_integer(writer, number);
}

TampStatus tamp_plan_report(TampPlan *plan, TampText *json) {
  const TampPlanView *view = &plan->view;
  TampWriter writer = tamp_writer(&plan->arena);
  write_text(&writer, view->fits ? "{\"fits\":true,\"reason\":" : "{\"fits\":false,\"reason\":");
  if (view->reason.length > 0) {
    tamp_writer_string(&writer, view->reason);
  } else {
    write_text(&writer, "null");
  }
  write_text(&writer, ",\"steps\":[");
  for (uint32_t i = 0; i < view->step_count; i++) {
    const TampStepReport *step = &view->steps[i];
    write_text(&writer, i > 0 ? ",{\"strategy\":" : "{\"strategy\":");
    write_string(&writer, step->strategy);
    write_text(&writer, step->fired ? ",\"fired\":true,\"removed\":" : ",\"fired\":false,\"removed\":");
    if (step->sent_after > step->sent_before) {
      write_text(&writer, "-");
      tamp_writer_integer(&writer, step->sent_after - step->sent_before);
    } else {
      tamp_writer_integer(&writer, step->sent_before - step->sent_after);
    }
    write_member(&writer, "rewritten", step->rewritten);
    write_member(&writer, "tokensBefore", step->tokens_before);
    write_member(&writer, "tokensAfter", step->tokens_after);
    if (step->note) {
      write_text(&writer, ",\"note\":");
      write_string(&writer, step->note);
    }
    write_text(&writer, "}");
  }
  write_text(&writer, "]}");
  return tamp_writer_finish(&writer, json);
}
