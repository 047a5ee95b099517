#include "run.h"

#include <string.h>

#include "strategies/strategy.h"

/* A policy that still changes something after so many passes goes round in circles: a bug, which the plan
 * reports instead of looping. */
enum { MOST_PASSES = 64 };

/* Entries of a list whose room is kept for the next one. */
enum { MOST_SPARE = 100000 };

uint64_t tamp_run_total(const TampRun *run, uint64_t list_tokens) {
  int64_t total = (int64_t)list_tokens + run->offset;
  return total > 0 ? (uint64_t)total : 0;
}

void tamp_run_fired(TampRun *run) {
  run->fired = true;
}

void tamp_run_note(TampRun *run, const char *sentence) {
  run->note = sentence;
}

void tamp_run_reason(TampRun *run, uint32_t origin, const char *reason) {
  if (origin < run->input_count) run->reasons[origin] = reason;
}

TampStatus tamp_run_added(TampRun *run, const TampRecord *record, const char *reason) {
  TampStatus status =
      tamp_arena_grow(run->arena, (void **)&run->additions, &run->addition_capacity,
                      (size_t)run->addition_count + 1, sizeof *run->additions);
  if (status) return status;
  run->additions[run->addition_count++] = (struct TampAddition){record, reason};
  return TAMP_OK;
}

bool tamp_run_exceeds(const TampRun *run, const TampLimits *limits) {
  const TampList *list = run->list;
  if (run->forced) return true;
  if (limits->tokens == TAMP_UNSET && limits->messages == TAMP_UNSET &&
      limits->bytes == TAMP_UNSET) {
    return true;
  }
  /* Nothing exceeds TAMP_UNSET, the largest number there is. */
  return tamp_run_total(run, list->tokens) > limits->tokens || list->messages > limits->messages ||
         list->size > limits->bytes;
}

static bool holds(const TampRun *run, const TampTrigger *when) {
  const TampList *list = run->list;
  switch (when->kind) {
    case TAMP_WHEN_TOKENS_OVER:
      return tamp_run_total(run, list->tokens) > when->over;
    case TAMP_WHEN_MESSAGES_OVER:
      return list->messages > when->over;
    case TAMP_WHEN_BYTES_OVER:
      return list->size > when->over;
    case TAMP_WHEN_TURNS_OVER:
      return list->turns > when->over;
    case TAMP_WHEN_GROUPS_OVER:
      return list->live_groups > when->over;
    case TAMP_WHEN_HAS_TOOL_CALLS:
      return list->call_count > 0;
    case TAMP_WHEN_ALL:
      for (uint32_t i = 0; i < when->count; i++) {
        if (!holds(run, &when->items[i])) return false;
      }
      return true;
    case TAMP_WHEN_ANY:
      for (uint32_t i = 0; i < when->count; i++) {
        if (holds(run, &when->items[i])) return true;
      }
      return false;
  }
  return false;
}

/* What a step's item is in the list that it leaves. */
static TampUnit unit_of(const TampList *before, const TampItem *item) {
  TampUnit unit = {.record = item->record, .source = item->tail ? item->origin : TAMP_NONE};
  if (item->from == TAMP_NONE) return unit;
  const TampEntry *from = &before->entries[item->from];
  uint8_t kind = before->groups[from->group].kind;
  unit.source = from->source;
  unit.unit = from->unit;
  unit.plain = kind != TAMP_GROUP_SUMMARY && kind != TAMP_GROUP_SYSTEM && item->record->covered == TAMP_NONE;
  return unit;
}

/* Room for the items: as much as there was, but of a long list no more than is needed. */
static TampStatus reserve(TampList *list, const TampList *before, const TampItem *items, uint32_t count) {
  if (before->count <= MOST_SPARE) return tamp_list_reserve(list, before);
  TampList size = {.count = count, .group_count = count < before->group_count ? count : before->group_count};
  for (uint32_t i = 0; i < count; i++) {
    size.call_count += items[i].record->call_count;
    size.result_count += items[i].record->result_count;
  }
  return tamp_list_reserve(list, &size);
}

TampStatus tamp_run_replace(TampRun *run, const TampItem *items, uint32_t count) {
  const TampList *before = run->list;
  uint32_t sent = 0;
  for (uint32_t i = 0; i < count; i++) sent += items[i].record->role != TAMP_ROLE_ACTIVITY;
  if (sent == 0 && before->sent > 0) {
    tamp_run_note(run, "nothing would be left");
    return TAMP_OK;
  }
  TampList *next = run->list == run->spare[0] ? run->spare[1] : run->spare[0];
  if (!next) {
    next = tamp_arena_alloc(run->arena, sizeof *next);
    if (!next) return TAMP_NO_MEMORY;
    tamp_list_init(next, run->arena, run->atoms);
    run->spare[run->spare[0] ? 1 : 0] = next;
  }
  TampUnit *units = tamp_arena_alloc(run->scratch, count * sizeof *units);
  TampStatus status = units ? reserve(next, before, items, count) : TAMP_NO_MEMORY;
  if (status) return status;
  tamp_list_clear(next);
  for (uint32_t i = 0, last; i < count; i = last) {
    for (last = i; last == i || (last < count && items[last].joined); last++) {
      bool waits = items[last].from != TAMP_NONE && items[last].from == before->waiting;
      if (waits) next->waiting = next->count + last - i;
      units[last] = unit_of(before, &items[last]);
    }
    /* One that was not in the list yet comes as a whole. */
    status = items[i].record->unit_count ? tamp_list_append(next, items[i].record, items[i].origin)
                                         : tamp_list_append_units(next, &units[i], last - i, items[i].origin);
    if (status) return status;
  }
  run->list = next;
  run->changes++;
  return TAMP_OK;
}

TampStatus tamp_run_read(TampRun *run, const TampRecord *record, TampMessage *message) {
  TampFault fault;
  TampStatus status = tamp_record_read(run->format, record, message, &fault);
  message->piece = record->piece;
  return status;
}

/* A rewritten message of a file: its text is not kept either, but made again from the original where it is needed. */
typedef struct Recipe {
  TampSource source;
  TampAllocator allocator;
  const TampFormat *format;
  const TampRecord *base;
  const TampEdit *edits;
  size_t count;
} Recipe;

static TampStatus cook(void *context, uint64_t offset, uint32_t length, uint8_t *to) {
  const Recipe *recipe = context;
  TampArena arena;
  TampMessage message;
  TampFault fault;
  TampText json = {0};
  (void)offset;
  tamp_arena_init(&arena, recipe->allocator);
  tamp_message_init(&message, &arena);
  TampWriter writer = tamp_writer(&arena);
  TampStatus status = tamp_record_read(recipe->format, recipe->base, &message, &fault);
  message.piece = recipe->base->piece;
  if (!status) status = recipe->format->edit(&message, recipe->edits, recipe->count, &arena, &writer);
  if (!status) status = tamp_writer_finish(&writer, &json);
  if (!status) status = tamp_source_give(json, length, to);
  tamp_arena_free(&arena);
  return status;
}

/* How to make a message again; `*recipe` is NULL where its text takes little more. */
static TampStatus write_recipe(TampRun *run, const TampMessage *message, const TampEdit *edits, size_t count,
                               size_t length, Recipe **recipe) {
  size_t size = 2 * sizeof **recipe + count * sizeof *edits;
  for (size_t i = 0; i < count; i++) size += edits[i].text.length;
  *recipe = NULL;
  if (!message->record || !message->record->source || size > length) return TAMP_OK;
  Recipe *made = tamp_arena_alloc(run->arena, sizeof *made);
  TampEdit *copies = tamp_arena_alloc(run->arena, count * sizeof *copies);
  if (!made || !copies) return TAMP_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    copies[i] = edits[i];
    if (edits[i].text.length == 0) continue;
    uint8_t *bytes = tamp_arena_alloc(run->arena, edits[i].text.length);
    if (!bytes) return TAMP_NO_MEMORY;
    memcpy(bytes, edits[i].text.bytes, edits[i].text.length);
    copies[i].text.bytes = bytes;
  }
  *made = (Recipe){{cook, made}, run->arena->allocator, run->format, message->record, copies, count};
  *recipe = made;
  return TAMP_OK;
}

/* The record of a message this run wrote. Read like any other, so that what is planned on is what a reader of
 * the result will find. */
static TampStatus make_record(TampRun *run, const TampPiece *piece, TampText json, const TampSource *later,
                              const TampRecord **record) {
  TampRecord *made = tamp_arena_alloc(run->arena, sizeof *made);
  if (!made) return TAMP_NO_MEMORY;
  if (!later) {
    uint8_t *bytes = tamp_arena_alloc(run->arena, json.length);
    if (!bytes) return TAMP_NO_MEMORY;
    memcpy(bytes, json.bytes, json.length);
    json.bytes = bytes;
  }
  TampMessage message;
  TampFault fault;
  tamp_message_init(&message, run->arena);
  message.transient = later != NULL;
  TampStatus status = tamp_message_read(run->format, json.bytes, json.length, false, &message, &fault);
  message.piece = *piece;
  if (!status) status = tamp_record_make(&message, run->atoms, run->arena, run->counter, made);
  made->source = later;
  tamp_arena_drop(run->arena, message.parts);
  tamp_arena_drop(run->arena, message.units);
  *record = made;
  return status;
}

TampStatus tamp_run_edit_later(TampRun *run, const TampMessage *message, const TampEdit *edits, size_t count,
                               const TampSource *later, const TampRecord **record) {
  TampWriter writer = tamp_writer(run->arena);
  TampText json = {0};
  Recipe *recipe = NULL;
  TampMark mark = tamp_arena_mark(run->scratch);
  TampStatus status = run->format->edit(message, edits, count, run->scratch, &writer);
  tamp_arena_reset(run->scratch, mark);
  if (!status) status = tamp_writer_finish(&writer, &json);
  if (!status && !later) status = write_recipe(run, message, edits, count, json.length, &recipe);
  if (recipe) later = &recipe->source;
  if (!status) status = make_record(run, &message->piece, json, later, record);
  tamp_arena_drop(run->arena, writer.bytes);
  return status;
}

TampStatus tamp_run_edit(TampRun *run, const TampMessage *message, const TampEdit *edits, size_t count,
                         const TampRecord **record) {
  return tamp_run_edit_later(run, message, edits, count, NULL, record);
}

TampStatus tamp_run_draft(TampRun *run, const TampDraft *draft, const TampRecord **record) {
  TampWriter writer = tamp_writer(run->arena);
  TampText json = {0};
  run->format->draft(draft, &writer);
  static const TampPiece alone;
  TampStatus status = tamp_writer_finish(&writer, &json);
  if (!status) status = make_record(run, &alone, json, NULL, record);
  tamp_arena_drop(run->arena, writer.bytes);
  return status;
}

/* Makes `run->taken` speak of every atom there is: of messages of the list as it is now, and of those made for
 * it since. */
static TampStatus update_taken(TampRun *run) {
  bool stale = !run->taken || run->taken_changes != run->changes;
  if (stale) run->taken_count = 0;
  uint32_t count = run->atoms->count;
  TampStatus status = tamp_arena_grow(run->arena, (void **)&run->taken, &run->taken_capacity, count,
                                      sizeof *run->taken);
  if (status) return status;
  for (uint32_t i = run->taken_count; i < count; i++) run->taken[i] = 0;
  run->taken_count = count;
  if (!stale) return TAMP_OK;
  for (uint32_t i = 0; i < run->list->count; i++) {
    uint32_t id = run->list->entries[i].record->id;
    if (id != TAMP_NONE) run->taken[id] = 1;
  }
  run->taken_changes = run->changes;
  return TAMP_OK;
}

TampStatus tamp_run_fresh_id(TampRun *run, TampText prefix, TampText name, TampText *id) {
  TampWriter writer = tamp_writer(run->arena);
  uint32_t base = TAMP_NONE;
  for (uint32_t number = 1;; number++) {
    writer.length = 0;
    tamp_writer_raw(&writer, prefix);
    tamp_writer_raw(&writer, name);
    if (number > 1) {
      tamp_writer_raw(&writer, TAMP_TEXT("-"));
      tamp_writer_integer(&writer, number);
    }
    TampStatus status = tamp_writer_finish(&writer, id);
    if (status) return status;
    uint32_t atom = tamp_atoms_find(run->atoms, *id);
    if (atom == TAMP_NONE) return TAMP_OK;
    status = update_taken(run);
    if (status || !run->taken[atom]) return status;
    if (number == 1) base = atom;
    /* Up to which number all are taken is remembered with the first, so that no number is tried twice. */
    if (number > run->taken[base]) run->taken[base] = number;
    number = run->taken[base];
  }
}

TampStatus tamp_run_take_id(TampRun *run, TampText id) {
  uint32_t atom;
  TampStatus status = tamp_atoms_intern(run->atoms, id, NULL, &atom);
  if (!status) status = update_taken(run);
  if (!status && !run->taken[atom]) run->taken[atom] = 1;
  return status;
}

TampStatus tamp_run_name(TampRun *run, const TampRecord *record, uint32_t origin, TampText *name) {
  if (record->id != TAMP_NONE) {
    uint8_t *room = tamp_arena_alloc(run->arena, TAMP_ATOM_ROOM);
    if (room) *name = tamp_atoms_text(run->atoms, record->id, room);
    return room ? TAMP_OK : TAMP_NO_MEMORY;
  }
  TampWriter writer = tamp_writer(run->arena);
  tamp_writer_raw(&writer, TAMP_TEXT("#"));
  if (origin != TAMP_NONE) tamp_writer_integer(&writer, origin);
  return tamp_writer_finish(&writer, name);
}

TampStatus tamp_run_ask(TampRun *run, const TampQuestion *question, const TampAnswer **answer) {
  if (run->asked < run->answer_count) {
    *answer = &run->answers[run->asked++];
    return TAMP_OK;
  }
  run->question = *question;
  return TAMP_NEEDS_SUMMARY;
}

static TampStatus add_step(TampRun *run, const char *strategy, uint32_t *step) {
  TampStatus status = tamp_arena_grow(run->arena, (void **)&run->steps, &run->step_capacity,
                                      (size_t)run->step_count + 1, sizeof *run->steps);
  if (status) return status;
  *step = run->step_count++;
  run->steps[*step] = (TampStepReport){
      .strategy = strategy,
      .tokens_before = run->list->tokens,
      .tokens_after = run->list->tokens,
      .sent_before = run->list->sent,
      .sent_after = run->list->sent,
  };
  return TAMP_OK;
}

/* What a step needed goes, and the list that it began with when that was a long one. */
static void end_step(TampRun *run, TampMark mark) {
  tamp_arena_reset(run->scratch, mark);
  TampList *other = run->list == run->spare[0] ? run->spare[1] : run->spare[0];
  if (other && other->count > MOST_SPARE) tamp_list_free(other);
}

TampStatus tamp_run_policy(TampRun *run, const TampPolicy *policy) {
  if (!policy->strategy) {
    for (uint32_t i = 0; i < policy->child_count; i++) {
      TampStatus status = tamp_run_policy(run, policy->children[i]);
      if (status) return status;
    }
    return TAMP_OK;
  }
  uint32_t step;
  uint32_t changes = run->changes;
  uint32_t rewritten = run->rewritten;
  TampStatus status = add_step(run, policy->strategy->name, &step);
  if (status) return status;
  run->fired = false;
  run->note = NULL;
  if (!run->forced && policy->when && !holds(run, policy->when)) {
    run->note = "its `when` does not hold";
  } else {
    TampMark mark = tamp_arena_mark(run->scratch);
    status = policy->strategy->run(run, policy);
    end_step(run, mark);
    if (status) return status;
  }
  if (run->quiet && run->changes == changes) {
    run->step_count = step; /* a later pass that found nothing says nothing */
    return TAMP_OK;
  }
  TampStepReport *report = &run->steps[step];
  report->fired = run->fired;
  report->note = run->note;
  report->tokens_after = run->list->tokens;
  report->sent_after = run->list->sent;
  report->rewritten = run->rewritten - rewritten;
  return TAMP_OK;
}

/* Whether the policy closes with a repair of its own, which then stands for the one that runs by itself. */
static bool closes_with_repair(const TampPolicy *policy) {
  while (!policy->strategy && policy->child_count > 0) {
    policy = policy->children[policy->child_count - 1];
  }
  return policy->strategy == &tamp_strategy_repair;
}

static TampStatus close_with_repair(TampRun *run) {
  uint32_t step;
  uint32_t changes = run->changes;
  uint32_t rewritten = run->rewritten;
  TampStatus status = add_step(run, tamp_strategy_repair.name, &step);
  if (status) return status;
  TampMark mark = tamp_arena_mark(run->scratch);
  status = tamp_repair(run, &tamp_repair_defaults);
  end_step(run, mark);
  if (status) return status;
  if (run->changes == changes) {
    run->step_count = step;
    return TAMP_OK;
  }
  TampStepReport *report = &run->steps[step];
  report->fired = true;
  report->tokens_after = run->list->tokens;
  report->sent_after = run->list->sent;
  report->rewritten = run->rewritten - rewritten;
  return TAMP_OK;
}

TampStatus tamp_run_all(TampRun *run, const TampPolicy *policy) {
  bool own_repair = closes_with_repair(policy);
  const TampList *given = run->given = run->list;
  /* The history's own list: judging it changes only what this run reads. */
  tamp_list_judge((TampList *)run->list);
  TampStatus status = tamp_straighten(run);
  tamp_arena_reset(run->scratch, (TampMark){0});
  if (status) return status;
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    uint32_t changes = run->changes;
    run->quiet = pass > 0;
    tamp_list_judge((TampList *)run->list);
    status = tamp_run_policy(run, policy);
    if (!status && run->changes > 0 && !own_repair) status = close_with_repair(run);
    if (status) return status;
    if (run->changes == changes) {
      if (changes == 0) run->list = given; /* nothing but the order was touched */
      return TAMP_OK;
    }
  }
  run->refusal = "internal error: the policy does not come to rest";
  return TAMP_OK;
}
