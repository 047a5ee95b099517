#include "parts.h"

typedef struct Options {
  uint64_t max_messages, max_tokens;
  uint64_t keep_last;
  uint64_t min_tokens;
  TampText placeholder;
  TampTexts exclude_tools;
  bool clear_inputs;
} Options;

static const Options defaults = {
    .max_messages = TAMP_UNSET,
    .max_tokens = TAMP_UNSET,
    .keep_last = 3,
    .placeholder = {(const uint8_t *)"[tool result cleared]", 21},
};

static const TampField fields[] = {
    {.name = "maxMessages", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_messages)},
    {.name = "maxTokens", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_tokens)},
    {.name = "keepLast", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, keep_last)},
    {.name = "placeholder", .type = TAMP_FIELD_TEXT, .offset = offsetof(Options, placeholder)},
    {.name = "excludeTools", .type = TAMP_FIELD_TEXTS, .offset = offsetof(Options, exclude_tools)},
    {.name = "clearInputs", .type = TAMP_FIELD_BOOL, .offset = offsetof(Options, clear_inputs)},
    {.name = "minTokens", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, min_tokens)},
};

typedef struct Clearing {
  TampStep step;
  const Options *options;
  uint8_t *cleared; /* a byte a call: its results, and its arguments, are to go */
  uint32_t placeholder_tokens;
  uint32_t inputs_tokens; /* of "{}" */
  TampMessage message;
  TampEdits edits;
} Clearing;

/* Every answered call uses up a keep, whatever may be done with it; calls without a result use up
 * none. */
static TampStatus choose_calls(Clearing *clearing) {
  TampRun *run = clearing->step.run;
  const TampList *list = clearing->step.list;
  uint8_t *excluded;
  TampStatus status = tamp_names_mark(run, &clearing->options->exclude_tools, &excluded);
  if (status) return status;
  clearing->cleared = tamp_step_alloc(&clearing->step, list->call_count);
  if (!clearing->cleared) return TAMP_NO_MEMORY;
  uint64_t keep = clearing->options->keep_last;
  for (uint32_t i = list->call_count; i-- > 0;) {
    const TampListCall *call = &list->calls[i];
    if (call->first == TAMP_NONE) continue;
    if (keep > 0) {
      keep--;
      continue;
    }
    uint32_t name = list->entries[call->entry].record->calls[call->index].name;
    clearing->cleared[i] = name == TAMP_NONE || !excluded[name];
  }
  return TAMP_OK;
}

/* Replaces what a part says when that saves tokens. */
static TampStatus replace(Clearing *clearing, uint32_t part, TampEditKind kind, TampText text,
                          uint32_t text_tokens) {
  TampRun *run = clearing->step.run;
  uint32_t tokens;
  TampStatus status = tamp_part_tokens(run, &clearing->message, part, &tokens);
  if (status || tokens <= text_tokens) return status;
  return tamp_edits_add(run, &clearing->edits, kind, part, text);
}

static bool concerns(const Clearing *clearing, uint32_t entry) {
  const TampList *list = clearing->step.list;
  const TampEntry *item = &list->entries[entry];
  const TampRecord *record = item->record;
  for (uint32_t i = 0; i < record->result_count; i++) {
    uint32_t call = list->results[item->results + i].call;
    if (call != TAMP_NONE && clearing->cleared[call]) return true;
  }
  for (uint32_t i = 0; clearing->options->clear_inputs && i < record->call_count; i++) {
    if (clearing->cleared[item->calls + i]) return true;
  }
  return false;
}

/* The record the entry would have; NULL when there is nothing to save. */
static TampStatus clear_entry(Clearing *clearing, uint32_t entry, const TampRecord **record) {
  const TampList *list = clearing->step.list;
  const TampEntry *item = &list->entries[entry];
  const TampMessage *message = &clearing->message;
  *record = NULL;
  TampStatus status = tamp_step_read(&clearing->step, entry, &clearing->message);
  clearing->edits.count = 0;
  uint32_t call = item->calls, result = item->results;
  for (uint32_t i = 0; !status && i < message->count; i++) {
    if (message->parts[i].kind == TAMP_PART_CALL) {
      if (clearing->options->clear_inputs && clearing->cleared[call]) {
        status =
            replace(clearing, i, TAMP_EDIT_ARGUMENTS, TAMP_TEXT("{}"), clearing->inputs_tokens);
      }
      call++;
    } else if (message->parts[i].kind == TAMP_PART_RESULT) {
      uint32_t of = list->results[result++].call;
      if (of != TAMP_NONE && clearing->cleared[of]) {
        status = replace(clearing, i, TAMP_EDIT_RESULT, clearing->options->placeholder,
                         clearing->placeholder_tokens);
      }
    }
  }
  if (status || clearing->edits.count == 0) return status;
  status = tamp_step_edit(&clearing->step, message, clearing->edits.items, clearing->edits.count,
                          record);
  if (!status && (*record)->tokens >= item->record->tokens) *record = NULL;
  return status;
}

static TampStatus clear(Clearing *clearing) {
  TampStep *step = &clearing->step;
  const TampList *list = step->list;
  const TampRecord **records = tamp_step_alloc(step, list->count * sizeof *records);
  if (!records) return TAMP_NO_MEMORY;
  uint64_t saved = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    if (tamp_step_protected(step, entry->group) || !concerns(clearing, i)) continue;
    TampStatus status = clear_entry(clearing, i, &records[i]);
    if (status) return status;
    if (records[i]) saved += entry->record->tokens - records[i]->tokens;
  }
  if (saved == 0) {
    tamp_run_note(step->run, "no older result that would become shorter");
    return TAMP_OK;
  }
  if (saved < clearing->options->min_tokens) {
    tamp_run_note(step->run, "the saving is below minTokens");
    return TAMP_OK;
  }
  for (uint32_t i = 0; i < list->count; i++) {
    if (!records[i]) continue;
    TampStatus status = tamp_step_rewrite(step, i, records[i]);
    if (status) return status;
  }
  return tamp_step_commit(step);
}

static TampStatus run_clear(TampRun *run, const TampPolicy *policy) {
  const Options *options = policy->options;
  TampLimits limits = {options->max_tokens, options->max_messages, TAMP_UNSET};
  if (!tamp_run_exceeds(run, &limits)) return TAMP_OK;
  tamp_run_fired(run);
  Clearing clearing = {.options = options};
  TampStatus status =
      tamp_step_begin(run, "clear-tool-results: the content of an older result", &clearing.step);
  if (!status) status = choose_calls(&clearing);
  if (!status) {
    status = tamp_count_text(run->counter, options->placeholder, &clearing.placeholder_tokens);
  }
  if (!status) status = tamp_count_text(run->counter, TAMP_TEXT("{}"), &clearing.inputs_tokens);
  if (status) return status;
  tamp_message_init(&clearing.message, run->arena);
  status = clear(&clearing);
  tamp_arena_drop(run->arena, clearing.message.parts);
  tamp_arena_drop(run->arena, clearing.edits.items);
  return status;
}

const TampStrategy tamp_strategy_clear_tool_results = {
    .name = "clear-tool-results",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .run = run_clear,
};
