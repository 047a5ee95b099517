/* A text over the limit becomes its head, a line that says how much is missing, and its tail. That
 * line is also how a clamped text is known: it names the number of characters that went and that
 * there were, and the text around it must have just as many as are left. */
#include "../text.h"
#include "parts.h"

typedef struct Options {
  uint64_t max_chars, max_tokens;
  uint64_t head_chars, tail_chars;
  uint32_t roles; /* a bit for each of `role_choices` */
  bool tool_inputs;
} Options;

enum { ASSISTANT = 1 << 0, TOOL = 1 << 1, USER = 1 << 2, REASONING = 1 << 3 };

static const char *const role_choices[] = {"assistant", "tool", "user", "reasoning", NULL};

static const Options defaults = {
    .max_chars = TAMP_UNSET,
    .max_tokens = TAMP_UNSET,
    .head_chars = 2000,
    .tail_chars = 2000,
    .roles = ASSISTANT,
    .tool_inputs = true,
};

static const TampField fields[] = {
    {.name = "maxChars", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_chars)},
    {.name = "maxTokens", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, max_tokens)},
    {.name = "headChars", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, head_chars)},
    {.name = "tailChars", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, tail_chars)},
    {.name = "roles",
     .type = TAMP_FIELD_CHOICES,
     .offset = offsetof(Options, roles),
     .choices = role_choices},
    {.name = "toolInputs", .type = TAMP_FIELD_BOOL, .offset = offsetof(Options, tool_inputs)},
};

static void check(const void *given, TampProblems *problems) {
  (void)given;
  if (!tamp_field_given(problems, "maxChars") && !tamp_field_given(problems, "maxTokens")) {
    tamp_problem(problems, NULL, "missing", "clamp needs maxChars or maxTokens", 0, 0);
  }
}

/* ── The marker ────────────────────────────────────────────────────────────────────────────── */

/* Reads `literal` at `*at`. */
static bool read_literal(TampText text, size_t *at, TampText literal) {
  if (text.length - *at < literal.length) return false;
  for (size_t i = 0; i < literal.length; i++) {
    if (text.bytes[*at + i] != literal.bytes[i]) return false;
  }
  *at += literal.length;
  return true;
}

static bool read_number(TampText text, size_t *at, uint64_t *number) {
  size_t start = *at;
  *number = 0;
  while (*at < text.length && *at - start < 15 && text.bytes[*at] >= '0' &&
         text.bytes[*at] <= '9') {
    *number = *number * 10 + (uint64_t)(text.bytes[(*at)++] - '0');
  }
  return *at > start;
}

/* Whether a text of `characters` holds a marker that is true of it. */
static bool is_clamped(TampText text, uint64_t characters) {
  for (size_t i = 0; i + 1 < text.length; i++) {
    if (text.bytes[i] != '\n' || text.bytes[i + 1] != '[') continue;
    size_t at = i + 2;
    uint64_t removed, total;
    if (!read_number(text, &at, &removed) || !read_literal(text, &at, TAMP_TEXT(" of ")) ||
        !read_number(text, &at, &total) ||
        !read_literal(text, &at, TAMP_TEXT(" characters removed]\n"))) {
      continue;
    }
    /* The marker is ASCII: as many characters as bytes. */
    if (removed > 0 && removed <= total && total - removed == characters - (at - i)) return true;
  }
  return false;
}

static TampStatus write_clamped(TampArena *arena, TampText text, size_t head, size_t tail,
                                uint64_t characters, TampText *out) {
  TampText end = {text.bytes + tail, text.length - tail};
  TampText start = {text.bytes, head};
  uint64_t left = tamp_text_characters(start) + tamp_text_characters(end);
  TampWriter writer = tamp_writer(arena);
  tamp_writer_raw(&writer, start);
  tamp_writer_raw(&writer, TAMP_TEXT("\n["));
  tamp_writer_integer(&writer, characters - left);
  tamp_writer_raw(&writer, TAMP_TEXT(" of "));
  tamp_writer_integer(&writer, characters);
  tamp_writer_raw(&writer, TAMP_TEXT(" characters removed]\n"));
  tamp_writer_raw(&writer, end);
  return tamp_writer_finish(&writer, out);
}

/* ── Texts ─────────────────────────────────────────────────────────────────────────────────── */

typedef struct Clamp {
  TampStep step;
  const Options *options;
  TampMessage message;
  TampEdits edits;
} Clamp;

/* Whether a text is over a limit. */
static TampStatus is_over(const Clamp *clamp, TampText text, uint64_t characters, bool *over) {
  *over = characters > clamp->options->max_chars;
  if (*over || clamp->options->max_tokens == TAMP_UNSET) return TAMP_OK;
  uint32_t tokens;
  TampStatus status = tamp_count_text(clamp->step.run->counter, text, &tokens);
  *over = tokens > clamp->options->max_tokens;
  return status;
}

/* Arguments that are nothing but {"_clamped": text}. */
static bool are_clamped(TampText text) {
  TampCursor cursor = tamp_cursor(text.bytes, 0, text.length, false);
  TampValue name, value;
  if (!tamp_cursor_enter(&cursor, TAMP_JSON_OBJECT) || !tamp_cursor_member(&cursor, &name))
    return false;
  if (!tamp_value_is(text.bytes, name, TAMP_TEXT("_clamped"))) return false;
  if (!tamp_cursor_value(&cursor, &value) || value.type != TAMP_JSON_STRING) return false;
  return !tamp_cursor_member(&cursor, &name) && cursor.status == TAMP_OK;
}

static TampStatus wrap(TampArena *arena, TampText text, TampText *out) {
  TampWriter writer = tamp_writer(arena);
  tamp_writer_raw(&writer, TAMP_TEXT("{\"_clamped\":"));
  tamp_writer_string(&writer, text);
  tamp_writer_raw(&writer, TAMP_TEXT("}"));
  return tamp_writer_finish(&writer, out);
}

/* Clamps one text of the message when it is over a limit and gets shorter. */
static TampStatus clamp_part(Clamp *clamp, uint32_t index, TampEditKind kind) {
  TampRun *run = clamp->step.run;
  const TampPart *part = &clamp->message.parts[index];
  bool as_object = kind == TAMP_EDIT_ARGUMENTS && !(part->flags & TAMP_PART_FREE_TEXT);
  TampText text;
  TampStatus status = tamp_message_text(&clamp->message, part->text, run->arena, &text);
  if (status) return status;
  uint64_t characters = tamp_text_characters(text);
  bool over;
  status = is_over(clamp, text, characters, &over);
  if (status || !over || is_clamped(text, characters)) return status;
  if (as_object && are_clamped(text)) return TAMP_OK;
  const Options *options = clamp->options;
  size_t most = text.length; /* characters are never more */
  size_t head =
      tamp_text_head(text, options->head_chars < most ? (size_t)options->head_chars : most);
  size_t tail =
      tamp_text_tail(text, options->tail_chars < most ? (size_t)options->tail_chars : most);
  if (head >= tail) return TAMP_OK;
  TampText clamped;
  status = write_clamped(run->arena, text, head, tail, characters, &clamped);
  if (!status && as_object) status = wrap(run->arena, clamped, &clamped);
  if (status || tamp_text_characters(clamped) >= characters) return status;
  uint32_t before, after = 0;
  status = tamp_count_text(run->counter, text, &before);
  if (!status) status = tamp_count_text(run->counter, clamped, &after);
  if (status || after >= before) return status;
  return tamp_edits_add(run, &clamp->edits, kind, index, clamped);
}

/* Which of the roles a part's text belongs to; 0 when it is none of them. */
static uint32_t role_of(const Clamp *clamp, const TampPart *part, uint8_t role) {
  if (part->kind == TAMP_PART_REASONING) {
    bool opaque = (part->flags & TAMP_PART_OPAQUE) ||
                  (role == TAMP_ROLE_REASONING && (clamp->message.flags & TAMP_MESSAGE_OPAQUE));
    return opaque ? 0 : REASONING; /* a shortened text would no longer fit its signature */
  }
  if (part->kind == TAMP_PART_RESULT) return part->text.type == TAMP_JSON_ARRAY ? 0 : TOOL;
  if (part->kind != TAMP_PART_TEXT) return 0;
  if (!tamp_part_is_own(part) || role == TAMP_ROLE_TOOL) return TOOL;
  if (role == TAMP_ROLE_REASONING)
    return clamp->message.flags & TAMP_MESSAGE_OPAQUE ? 0 : REASONING;
  return role == TAMP_ROLE_ASSISTANT ? ASSISTANT : role == TAMP_ROLE_USER ? USER : 0;
}

static TampStatus clamp_entry(Clamp *clamp, uint32_t entry) {
  TampStep *step = &clamp->step;
  const TampRecord *before = step->list->entries[entry].record;
  TampStatus status = tamp_step_read(step, entry, &clamp->message);
  clamp->edits.count = 0;
  for (uint32_t i = 0; !status && i < clamp->message.count; i++) {
    const TampPart *part = &clamp->message.parts[i];
    TampMark mark = tamp_arena_mark(step->run->arena);
    uint32_t edits = clamp->edits.count;
    if (part->kind == TAMP_PART_CALL) {
      if (clamp->options->tool_inputs) status = clamp_part(clamp, i, TAMP_EDIT_ARGUMENTS);
    } else if (clamp->options->roles & role_of(clamp, part, before->role)) {
      status =
          clamp_part(clamp, i, part->kind == TAMP_PART_RESULT ? TAMP_EDIT_RESULT : TAMP_EDIT_TEXT);
    }
    if (clamp->edits.count == edits) tamp_arena_reset(step->run->arena, mark);
  }
  if (status || clamp->edits.count == 0) return status;
  const TampRecord *record;
  status = tamp_step_edit(step, &clamp->message, clamp->edits.items, clamp->edits.count, &record);
  if (status || record->tokens >= before->tokens) return status;
  return tamp_step_rewrite(step, entry, record);
}

/* A cheap look at the record: no text of it can be over a limit. A text has at most as many
 * characters as bytes and at most the tokens of its message. */
static bool is_small(const Options *options, const TampRecord *record) {
  return record->longest <= options->max_chars &&
         (options->max_tokens == TAMP_UNSET || record->tokens <= options->max_tokens);
}

static TampStatus run_clamp(TampRun *run, const TampPolicy *policy) {
  Clamp clamp = {.options = policy->options};
  tamp_run_fired(run);
  TampStatus status = tamp_step_begin(run, "clamp: a long text", &clamp.step);
  if (status) return status;
  const TampList *list = clamp.step.list;
  tamp_message_init(&clamp.message, run->arena);
  for (uint32_t i = 0; !status && i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    uint8_t kind = list->groups[entry->group].kind;
    /* A summary stays recognisable by its first words, and is bounded by its own limit. */
    if (kind == TAMP_GROUP_SUMMARY || kind == TAMP_GROUP_ACTIVITY) continue;
    if (is_small(clamp.options, entry->record) || tamp_step_protected(&clamp.step, entry->group))
      continue;
    status = clamp_entry(&clamp, i);
  }
  tamp_arena_drop(run->arena, clamp.message.parts);
  tamp_arena_drop(run->arena, clamp.edits.items);
  if (status) return status;
  if (!clamp.step.changed) tamp_run_note(run, "no text over the limit that would become shorter");
  return tamp_step_commit(&clamp.step);
}

const TampStrategy tamp_strategy_clamp = {
    .name = "clamp",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .check = check,
    .run = run_clamp,
};
