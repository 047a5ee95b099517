#include "summary.h"

#include "../text.h"

enum { USER = 0, ASSISTANT = 1, SYSTEM = 2 };

const char *const tamp_summary_roles[] = {"user", "assistant", "system", NULL};

void tamp_summary_check(const void *given, TampProblems *problems) {
  const TampSummaryOptions *options = given;
  tamp_window_check(problems, &options->window, options->max_messages, options->max_tokens);
}

void tamp_summary_limits(const void *given, TampLimits *limits) {
  const TampSummaryOptions *options = given;
  limits->tokens = options->max_tokens;
  limits->messages = options->max_messages;
}

/* ── What is covered ───────────────────────────────────────────────────────────────────────── */

/* What is in `taken`, a byte an entry. */
enum { ENTRY = 1, MESSAGE = 2 };

static void add_entry(TampCover *cover, uint32_t entry, uint8_t *taken) {
  uint32_t head = cover->step.list->entries[entry].head;
  if (taken[entry] & ENTRY) return;
  cover->entries[cover->count++] = entry;
  cover->covered += !(taken[head] & MESSAGE);
  taken[entry] |= ENTRY;
  taken[head] |= MESSAGE;
}

/* Adds the members of a group, each once: a call's results directly behind it, in the order of the
 * calls, wherever they stand in the list. */
static void cover_group(TampCover *cover, uint32_t group, uint8_t *taken) {
  const TampList *list = cover->step.list;
  for (uint32_t i = list->groups[group].first; i != TAMP_NONE; i = list->entries[i].next) {
    const TampEntry *entry = &list->entries[i];
    if (entry->stays) continue;
    add_entry(cover, i, taken);
    for (uint32_t k = 0; k < entry->record->call_count; k++) {
      uint32_t result = list->calls[entry->calls + k].first;
      for (; result != TAMP_NONE; result = list->results[result].next) {
        add_entry(cover, list->results[result].entry, taken);
      }
    }
  }
}

/* Takes a known label off, or whatever stands before the first blank line. */
static TampText without_label(TampText text, TampText label) {
  TampText gap = TAMP_TEXT("\n\n");
  size_t start = label.length;
  bool known = text.length >= start + gap.length &&
               tamp_text_equal((TampText){text.bytes, start}, label) && text.bytes[start] == '\n' &&
               text.bytes[start + 1] == '\n';
  if (!known) {
    start = 0;
    while (start + 1 < text.length && !(text.bytes[start] == '\n' && text.bytes[start + 1] == '\n'))
      start++;
    if (start + 1 >= text.length) return text;
  }
  start += gap.length;
  return (TampText){text.bytes + start, text.length - start};
}

/* Appends the text of an earlier summary to `out`. */
static TampStatus read_summary(TampCover *cover, uint32_t entry, TampWriter *out) {
  TampRun *run = cover->step.run;
  TampWriter content = tamp_writer(run->arena);
  TampMessage message;
  tamp_message_init(&message, run->arena);
  TampStatus status = tamp_step_read(&cover->step, entry, &message);
  for (uint32_t i = 0; !status && i < message.count; i++) {
    const TampPart *part = &message.parts[i];
    if (part->kind != TAMP_PART_TEXT || part->owner != TAMP_NONE) continue;
    TampText text;
    status = tamp_message_text(&message, part->text, run->arena, &text);
    if (content.length > 0) tamp_writer_raw(&content, TAMP_TEXT("\n"));
    if (!status) tamp_writer_raw(&content, text);
  }
  TampText text = {0};
  if (!status) status = tamp_writer_finish(&content, &text);
  if (out->length > 0) tamp_writer_raw(out, TAMP_TEXT("\n\n"));
  tamp_writer_raw(out, without_label(text, cover->options->label));
  tamp_arena_drop(run->arena, content.bytes);
  tamp_arena_drop(run->arena, message.parts);
  return status;
}

/* Finds the earlier summaries, wherever they stand: there is never more than one in the result.
 * False in
 * `*free` when one of them may not go. */
static TampStatus cover_summaries(TampCover *cover, bool *free) {
  TampStep *step = &cover->step;
  const TampList *list = step->list;
  TampWriter previous = tamp_writer(step->run->arena);
  *free = true;
  for (uint32_t i = 0; i < list->group_count; i++) {
    if (list->groups[i].kind != TAMP_GROUP_SUMMARY) continue;
    if (tamp_step_protected(step, i)) {
      *free = false;
      return TAMP_OK;
    }
    TampStatus status = read_summary(cover, list->groups[i].anchor, &previous);
    if (status) return status;
    cover->has_previous = true;
    uint32_t covered = list->entries[list->groups[i].anchor].record->covered;
    if (covered != TAMP_NONE) cover->covered += covered;
    tamp_step_drop_group(step, i);
  }
  return tamp_writer_finish(&previous, &cover->previous);
}

/* The last covered message that can be named: one that an earlier step made has a name only by its
 * id. */
static TampStatus name_last(TampCover *cover) {
  const TampList *list = cover->step.list;
  uint32_t last = cover->count - 1;
  for (uint32_t i = cover->count; i-- > 0;) {
    const TampEntry *entry = &list->entries[cover->entries[i]];
    if (entry->record->id == TAMP_NONE && entry->origin == TAMP_NONE) continue;
    last = i;
    break;
  }
  const TampEntry *entry = &list->entries[cover->entries[last]];
  return tamp_run_name(cover->step.run, entry->record, entry->origin, &cover->through);
}

TampStatus tamp_cover_begin(TampRun *run, const TampSummaryOptions *options, const char *reason,
                            TampCover *cover, bool *ready) {
  *cover = (TampCover){.options = options};
  *ready = false;
  TampLimits limits = {options->max_tokens, options->max_messages, TAMP_UNSET};
  if (!tamp_run_exceeds(run, &limits)) return TAMP_OK;
  tamp_run_fired(run);
  TampStep *step = &cover->step;
  TampStatus status = tamp_step_begin(run, reason, step);
  if (status) return status;
  const TampList *list = step->list;
  uint8_t *taken = tamp_step_alloc(step, list->count);
  cover->entries = tamp_step_alloc(step, list->count * sizeof *cover->entries);
  if (!taken || !cover->entries) return TAMP_NO_MEMORY;
  uint32_t cut = tamp_window_cut(step, &options->window);
  for (uint32_t i = 0; i < cut; i++) {
    if (!tamp_window_removes(step, &options->window, cut, i)) continue;
    cover_group(cover, i, taken);
    tamp_step_drop_group(step, i);
  }
  if (cover->count == 0) {
    tamp_run_note(run, "nothing older than the window may go");
    return TAMP_OK;
  }
  bool free;
  status = cover_summaries(cover, &free);
  if (status) return status;
  if (!free) {
    tamp_run_note(run, "an earlier summary may not be replaced");
    return TAMP_OK;
  }
  cover->replaced = list->tokens - step->tokens;
  *ready = true;
  return name_last(cover);
}

/* ── What takes its place ──────────────────────────────────────────────────────────────────── */

/* Behind the leading instructions and, if it stays and stands before the cut, the first user
 * message. Activity goes with the message before it, so it is not parted from it. */
static uint32_t place(const TampCover *cover) {
  const TampList *list = cover->step.list;
  uint32_t at = 0;
  while (at < list->count) {
    uint8_t kind = list->groups[list->entries[at].group].kind;
    if (kind != TAMP_GROUP_SYSTEM && kind != TAMP_GROUP_ACTIVITY) break;
    at++;
  }
  uint32_t first_user = list->first_user;
  uint32_t cut = tamp_window_cut(&cover->step, &cover->options->window);
  /* What a person said beside results that go is the first user message then. */
  uint32_t kept = at;
  while (kept < list->count && cover->step.drops[kept]) kept++;
  if (kept < list->count && list->entries[kept].stays && list->entries[kept].record->role == TAMP_ROLE_USER) {
    first_user = kept;
  } else if (list->question < first_user) {
    return at; /* it stands before the first user message, and its results stay */
  }
  if (first_user == TAMP_NONE || cover->step.drops[first_user]) return at;
  if (list->entries[first_user].group >= cut) return at;
  at = first_user + 1;
  while (at < list->count && (list->entries[at].owner == first_user || tamp_entry_joined(list, at))) at++;
  return at;
}

TampStatus tamp_cover_draft(TampCover *cover, TampText text, const TampRecord **record) {
  static const TampRole roles[] = {
      [USER] = TAMP_ROLE_USER, [ASSISTANT] = TAMP_ROLE_ASSISTANT, [SYSTEM] = TAMP_ROLE_SYSTEM};
  TampRun *run = cover->step.run;
  TampDraft draft = {
      .role = roles[cover->options->role],
      .flags = TAMP_MESSAGE_SUMMARY,
      .through = cover->through,
      .covered = cover->covered,
  };
  TampStatus status = tamp_run_fresh_id(run, TAMP_TEXT("summary-"), cover->through, &draft.id);
  if (status) return status;
  TampWriter content = tamp_writer(run->arena);
  tamp_writer_raw(&content, cover->options->label);
  tamp_writer_raw(&content, TAMP_TEXT("\n\n"));
  tamp_writer_raw(&content, text);
  status = tamp_writer_finish(&content, &draft.text);
  if (!status) status = tamp_step_draft(&cover->step, &draft, record);
  tamp_arena_drop(run->arena, content.bytes);
  return status;
}

TampStatus tamp_cover_commit(TampCover *cover, const TampRecord *record, const char *reason) {
  tamp_step_insert(&cover->step, place(cover), record, reason);
  return tamp_step_commit(&cover->step);
}
