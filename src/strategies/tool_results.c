#include "../text.h"
#include "strategy.h"

/* "[Tool results: " + "... [truncated]" + "]": less than this could not hold its own marker. */
enum { SMALLEST_MAX_CHARS = 31 };

const TampToolResultsOptions tamp_tool_results_defaults = {
    .keep_last_tool_call_groups = 2,
    .max_chars = 4096,
};

static const TampField fields[] = {
    {.name = "keepLastToolCallGroups",
     .type = TAMP_FIELD_COUNT,
     .offset = offsetof(TampToolResultsOptions, keep_last_tool_call_groups)},
    {.name = "maxChars",
     .type = TAMP_FIELD_COUNT,
     .minimum = SMALLEST_MAX_CHARS,
     .offset = offsetof(TampToolResultsOptions, max_chars)},
};

/* One group on its way to being one message. The messages are read again for each group. */
typedef struct Collapse {
  TampStep *step;
  TampMessage call;   /* the message with the calls */
  TampMessage result; /* the result that was read last */
  TampWriter bracket; /* "[Tool results: ...]" */
  TampArena texts;    /* of the group's messages, decoded */
} Collapse;

/* The texts of a result, its parts on lines of their own; of a failed one without any, its error text. */
static TampStatus result_text(Collapse *collapse, uint32_t result, TampWriter *out) {
  const TampList *list = collapse->step->list;
  const TampListResult *item = &list->results[result];
  const TampMessage *message = &collapse->result;
  TampStatus status = tamp_step_read(collapse->step, item->entry, &collapse->result);
  if (status) return status;
  uint32_t nth = 0, part = 0;
  while (part < message->count &&
         (message->parts[part].kind != TAMP_PART_RESULT || nth++ != item->index)) {
    part++;
  }
  if (part == message->count) return TAMP_OK;
  size_t start = out->length;
  for (uint32_t i = part; i < message->count; i++) {
    const TampPart *piece = &message->parts[i];
    bool own = i == part ? piece->text.type > TAMP_JSON_NULL && piece->text.type != TAMP_JSON_ARRAY
                         : piece->owner == part && piece->kind == TAMP_PART_TEXT;
    if (!own) continue;
    TampText text;
    status = tamp_message_text(message, piece->text, message->arena, &text);
    if (status) return status;
    if (out->length > start) tamp_writer_raw(out, TAMP_TEXT("\n"));
    tamp_writer_raw(out, text);
  }
  bool blank = out->length == start ||
               tamp_text_is_blank((TampText){out->bytes + start, out->length - start});
  if (blank) {
    out->length = start;
    TampText error;
    status = tamp_value_text(message->text, message->parts[part].error, message->arena, &error);
    if (!status) tamp_writer_raw(out, error);
  }
  return status;
}

/* "name: text" of one call's result, trimmed at both ends. */
static TampStatus write_entry(Collapse *collapse, uint32_t call, uint32_t result) {
  const TampList *list = collapse->step->list;
  TampRun *run = collapse->step->run;
  const TampListCall *item = &list->calls[call];
  const TampRecord *caller = list->entries[item->entry].record;
  const TampListResult *answer = &list->results[result];
  TampWriter text = tamp_writer(run->arena);
  TampStatus status = result_text(collapse, result, &text);
  TampText said = {0};
  if (!status) status = tamp_writer_finish(&text, &said);
  if (status) return status;
  said = tamp_text_trim(said);

  TampWriter entry = tamp_writer(run->arena);
  uint32_t name = caller->calls[item->index].name;
  if (name != TAMP_NONE) {
    uint8_t room[TAMP_ATOM_ROOM];
    tamp_writer_raw(&entry, tamp_atoms_text(run->atoms, name, room));
    tamp_writer_raw(&entry, TAMP_TEXT(": "));
  }
  if (list->entries[answer->entry].record->results[answer->index].failed) {
    tamp_writer_raw(&entry, TAMP_TEXT("error: "));
  }
  tamp_writer_raw(&entry, said);
  TampText line = {0};
  status = tamp_writer_finish(&entry, &line);
  if (!status) tamp_writer_raw(&collapse->bracket, tamp_text_trim(line));
  tamp_arena_drop(run->arena, entry.bytes);
  tamp_arena_drop(run->arena, text.bytes);
  return status;
}

static TampStatus write_bracket(Collapse *collapse, uint32_t group, uint64_t max_chars) {
  const TampList *list = collapse->step->list;
  TampRun *run = collapse->step->run;
  TampWriter *bracket = &collapse->bracket;
  bool any = false;
  bracket->length = 0;
  tamp_writer_raw(bracket, TAMP_TEXT("[Tool results: "));
  for (uint32_t i = list->groups[group].first; i != TAMP_NONE; i = list->entries[i].next) {
    const TampEntry *entry = &list->entries[i];
    for (uint32_t k = 0; k < entry->record->call_count; k++) {
      uint32_t call = entry->calls + k;
      uint32_t result = tamp_list_counted_result(list, run->pins, run->pin_count, call);
      if (result == TAMP_NONE) continue;
      if (any) tamp_writer_raw(bracket, TAMP_TEXT("; "));
      any = true;
      TampStatus status = write_entry(collapse, call, result);
      if (status) return status;
    }
  }
  tamp_writer_raw(bracket, any ? TAMP_TEXT("]") : TAMP_TEXT("no results]"));
  TampText text;
  TampStatus status = tamp_writer_finish(bracket, &text);
  if (status || text.length <= max_chars || tamp_text_characters(text) <= max_chars) return status;
  TampText marker = TAMP_TEXT("... [truncated]]");
  bracket->length = tamp_text_head(text, (size_t)max_chars - marker.length);
  tamp_writer_raw(bracket, marker);
  return bracket->status;
}

/* The call message's own text, if it says something, and a blank line before the bracket. */
static TampStatus write_content(Collapse *collapse, TampWriter *content) {
  const TampMessage *message = &collapse->call;
  TampText text;
  for (uint32_t i = 0; i < message->count; i++) {
    const TampPart *part = &message->parts[i];
    if (part->kind != TAMP_PART_TEXT || part->owner != TAMP_NONE) continue;
    TampStatus status = tamp_value_text(message->text, part->text, message->arena, &text);
    if (status) return status;
    if (tamp_text_is_blank(text)) continue;
    if (content->length > 0) tamp_writer_raw(content, TAMP_TEXT("\n"));
    tamp_writer_raw(content, text);
  }
  if (content->length > 0) tamp_writer_raw(content, TAMP_TEXT("\n\n"));
  TampStatus status = tamp_writer_finish(&collapse->bracket, &text);
  tamp_writer_raw(content, text);
  return status ? status : content->status;
}

/* What is left to say of a group, in `content`; the call's message was read. */
static TampStatus write_group(Collapse *collapse, uint32_t group, uint64_t max_chars, TampWriter *content,
                              TampText *text) {
  TampStatus status = write_bracket(collapse, group, max_chars);
  if (!status) status = tamp_step_read(collapse->step, collapse->step->list->groups[group].anchor, &collapse->call);
  if (!status) status = write_content(collapse, content);
  return status ? status : tamp_writer_finish(content, text);
}

/* Of a file the messages can be read again, and a group be collapsed again, so its text need not be kept: it would be
 * nearly all of the file at once, of which most goes in the next step. */
typedef struct Later {
  TampSource source;
  TampRun *run;
  uint64_t max_chars;
  uint32_t group;
} Later;

static TampStatus collapse_again(void *context, uint64_t offset, uint32_t length, uint8_t *to) {
  const Later *later = context;
  TampRun *run = later->run;
  TampStep step = {.run = run, .list = run->given};
  Collapse collapse = {.step = &step};
  TampText text = {0}, json = {0};
  (void)offset;
  tamp_arena_init(&collapse.texts, run->arena->allocator);
  tamp_message_init(&collapse.call, &collapse.texts);
  tamp_message_init(&collapse.result, &collapse.texts);
  collapse.bracket = tamp_writer(&collapse.texts);
  TampWriter content = tamp_writer(&collapse.texts), writer = tamp_writer(&collapse.texts);
  TampStatus status = write_group(&collapse, later->group, later->max_chars, &content, &text);
  TampEdit edit = {.kind = TAMP_EDIT_COLLAPSE, .part = TAMP_NONE, .text = text};
  if (!status) status = run->format->edit(&collapse.call, &edit, 1, &collapse.texts, &writer);
  if (!status) status = tamp_writer_finish(&writer, &json);
  if (!status) status = tamp_source_give(json, length, to);
  tamp_arena_free(&collapse.texts);
  return status;
}

/* NULL where a text has to be kept. */
static TampStatus make_later(const Collapse *collapse, uint32_t group, uint64_t max_chars, const TampSource **source) {
  TampRun *run = collapse->step->run;
  *source = NULL;
  if (collapse->step->list != run->given || !collapse->call.record->source) return TAMP_OK;
  Later *later = tamp_arena_alloc(run->arena, sizeof *later);
  if (!later) return TAMP_NO_MEMORY;
  *later = (Later){{collapse_again, later}, run, max_chars, group};
  *source = &later->source;
  return TAMP_OK;
}

/* Whether a member of the group stays beside what it collapses to: where a message is several records, what it says. */
static bool stays(const TampEntry *entry, bool anchor) {
  const TampRecord *record = entry->record;
  bool says = record->role == TAMP_ROLE_ASSISTANT && record->call_count + record->result_count == 0;
  return !anchor && (entry->stays || says);
}

/* What a message weighs besides its texts is counted where its last unit stands (list.h): when that goes and others stay
 * that are in another group, it goes on to those. */
static uint64_t passed_on(const TampList *list, uint32_t at) {
  const TampEntry *entry = &list->entries[at];
  bool last = at + 1 == list->count || !tamp_entry_joined(list, at + 1);
  for (uint32_t i = entry->head; last && i < at; i++) {
    if (list->entries[i].group != entry->group) return TAMP_MESSAGE_TOKENS;
  }
  return 0;
}

static TampStatus collapse_group(Collapse *collapse, uint32_t group, uint64_t max_chars) {
  TampStep *step = collapse->step;
  const TampList *list = step->list;
  uint32_t anchor = list->groups[group].anchor;
  TampWriter content = tamp_writer(step->run->arena);
  TampText text = {0};
  const TampSource *later = NULL;
  TampStatus status = write_group(collapse, group, max_chars, &content, &text);
  if (!status) status = make_later(collapse, group, max_chars, &later);
  if (status) return status;
  TampEdit edit = {.kind = TAMP_EDIT_COLLAPSE, .part = TAMP_NONE, .text = text};
  const TampRecord *record;
  status = tamp_run_edit_later(step->run, &collapse->call, &edit, 1, later, &record);
  tamp_arena_drop(step->run->arena, content.bytes);
  if (status) return status;
  /* A rewrite that saves nothing is not done. */
  uint64_t tokens = record->tokens;
  for (uint32_t i = list->groups[group].first; i != TAMP_NONE; i = list->entries[i].next) {
    bool kept = stays(&list->entries[i], i == anchor);
    tokens += kept ? list->entries[i].record->tokens : i == anchor ? 0 : passed_on(list, i);
  }
  if (tokens >= list->groups[group].tokens) return TAMP_OK;
  for (uint32_t i = list->groups[group].first; i != TAMP_NONE; i = list->entries[i].next) {
    if (i != anchor && !stays(&list->entries[i], false)) tamp_step_drop_entry(step, i);
  }
  return tamp_step_rewrite(step, anchor, record);
}

TampStatus tamp_collapse_tool_results(TampRun *run, const TampToolResultsOptions *options) {
  TampStep step;
  TampStatus status = tamp_step_begin(run, "tool-results: collapsed into the call's message", &step);
  if (status) return status;
  const TampList *list = step.list;
  uint8_t *kept = tamp_step_alloc(&step, list->group_count);
  if (!kept) return TAMP_NO_MEMORY;
  tamp_step_keep_tool_groups(&step, options->keep_last_tool_call_groups, kept);
  Collapse collapse = {.step = &step, .bracket = tamp_writer(run->arena)};
  tamp_arena_init(&collapse.texts, run->arena->allocator);
  tamp_message_init(&collapse.call, &collapse.texts);
  tamp_message_init(&collapse.result, &collapse.texts);
  for (uint32_t i = 0; i < list->group_count && !status; i++) {
    if (list->groups[i].kind != TAMP_GROUP_TOOL || kept[i] || tamp_step_protected(&step, i)) continue;
    status = collapse_group(&collapse, i, options->max_chars);
    tamp_arena_reset(&collapse.texts, (TampMark){0});
  }
  tamp_arena_free(&collapse.texts);
  tamp_arena_drop(run->arena, collapse.bracket.bytes);
  if (status) return status;
  if (!step.changed) tamp_run_note(run, "no older tool group that would become shorter");
  return tamp_step_commit(&step);
}

static TampStatus run_tool_results(TampRun *run, const TampPolicy *policy) {
  tamp_run_fired(run);
  return tamp_collapse_tool_results(run, policy->options);
}

const TampStrategy tamp_strategy_tool_results = {
    .name = "tool-results",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(TampToolResultsOptions),
    .defaults = &tamp_tool_results_defaults,
    .run = run_tool_results,
};
