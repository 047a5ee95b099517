/* Results are about the same thing when their calls are of the same tool and the named argument has
 * the same value. Each such value becomes a text that equal values share, and that text an atom;
 * what is left is to find, for each atom, the newest call that succeeded. */
#include <string.h>

#include "cJSON.h"

#include "../fit.h"
#include "parts.h"

/* A value nested deeper than this is compared as it is spelled. */
enum { DEEPEST_COMPARED = 64 };

typedef struct Options {
  TampTextMap tools;
  TampText placeholder;
} Options;

static const Options defaults = {
    .placeholder = {(const uint8_t *)"[superseded by a later result]", 30},
};

static const TampField fields[] = {
    {.name = "tools",
     .type = TAMP_FIELD_TEXT_MAP,
     .required = true,
     .offset = offsetof(Options, tools)},
    {.name = "placeholder", .type = TAMP_FIELD_TEXT, .offset = offsetof(Options, placeholder)},
};

typedef struct Dedupe {
  TampStep step;
  const Options *options;
  TampAtoms subjects;    /* what results are about */
  uint32_t *about;       /* by call: its subject, TAMP_NONE when it is not compared */
  uint32_t *newest;      /* by subject: the newest call that succeeded, TAMP_NONE */
  const TampText **keys; /* by atom of a tool's name: its argument, NULL when it is not named */
  uint32_t placeholder_tokens;
  TampMessage message;
  TampEdits edits;
} Dedupe;

/* ── Finding the argument ──────────────────────────────────────────────────────────────────── */

/* The next reference token of a JSON Pointer, decoded. False at its end, and for a "~" that means
 * nothing. */
static bool next_token(TampText *pointer, TampArena *arena, TampText *token, TampStatus *status) {
  if (pointer->length == 0) return false;
  size_t length = 1;
  while (length < pointer->length && pointer->bytes[length] != '/') length++;
  uint8_t *bytes = tamp_arena_alloc(arena, length);
  if (!bytes) {
    *status = TAMP_NO_MEMORY;
    return false;
  }
  size_t count = 0;
  bool fine = true;
  for (size_t i = 1; i < length; i++) {
    uint8_t byte = pointer->bytes[i];
    if (byte == '~') {
      byte = i + 1 < length ? pointer->bytes[++i] : 0;
      fine = fine && (byte == '0' || byte == '1');
      byte = byte == '0' ? '~' : '/';
    }
    bytes[count++] = byte;
  }
  pointer->bytes += length;
  pointer->length -= length;
  *token = (TampText){bytes, count};
  return fine;
}

/* The element of an array that a token names: digits without a leading zero. */
static TampValue element(const uint8_t *text, TampValue array, TampText token) {
  TampValue none = {0}, found;
  if (token.length == 0 || token.length > 9) return none;
  if (token.bytes[0] == '0' && token.length > 1) return none;
  uint32_t index = 0;
  for (size_t i = 0; i < token.length; i++) {
    if (token.bytes[i] < '0' || token.bytes[i] > '9') return none;
    index = index * 10 + (uint32_t)(token.bytes[i] - '0');
  }
  uint32_t state = 0;
  while (tamp_value_next(text, array, &state, &found)) {
    if (index-- == 0) return found;
  }
  return none;
}

static TampValue member(const uint8_t *text, TampValue object, TampText name) {
  TampValue found = {0};
  if (object.type == TAMP_JSON_OBJECT) tamp_value_members(text, object, &name, 1, &found);
  return found;
}

static TampStatus find_argument(const uint8_t *text, TampValue arguments, TampText key,
                                TampArena *arena, TampValue *found) {
  TampStatus status = TAMP_OK;
  if (key.length == 0 || key.bytes[0] != '/') {
    *found = member(text, arguments, key);
    return TAMP_OK;
  }
  *found = arguments;
  while (found->type != TAMP_JSON_NOTHING && key.length > 0) {
    TampText token;
    if (!next_token(&key, arena, &token, &status)) {
      *found = (TampValue){0};
      break;
    }
    *found =
        found->type == TAMP_JSON_ARRAY ? element(text, *found, token) : member(text, *found, token);
  }
  return status;
}

/* ── Comparing values ──────────────────────────────────────────────────────────────────────── */

static bool is_before(const cJSON *a, const cJSON *b) {
  return strcmp(a->string, b->string) <= 0;
}

/* Members by name, those with one name in the order of the text: a merge sort from below. */
static const cJSON **sort_members(TampArena *arena, const cJSON *object, size_t *count) {
  size_t length = 0;
  for (const cJSON *item = object->child; item; item = item->next) length++;
  const cJSON **from = tamp_arena_alloc(arena, length * sizeof *from);
  const cJSON **to = tamp_arena_alloc(arena, length * sizeof *to);
  if (!from || !to) return NULL;
  size_t filled = 0;
  for (const cJSON *item = object->child; item; item = item->next) from[filled++] = item;
  for (size_t width = 1; width < length; width *= 2) {
    for (size_t start = 0; start < length; start += 2 * width) {
      size_t middle = start + width < length ? start + width : length;
      size_t end = middle + width < length ? middle + width : length;
      size_t left = start, right = middle;
      for (size_t i = start; i < end; i++) {
        bool take_left = left < middle && (right == end || is_before(from[left], from[right]));
        to[i] = take_left ? from[left++] : from[right++];
      }
    }
    const cJSON **swap = from;
    from = to;
    to = swap;
  }
  *count = length;
  return from;
}

/* Writes the text that equal values share: members sorted, strings and numbers in one spelling. */
static TampStatus write_canonical(TampArena *arena, const cJSON *item, TampWriter *out) {
  if (cJSON_IsString(item)) {
    const char *string = item->valuestring;
    tamp_writer_string(out, (TampText){(const uint8_t *)string, strlen(string)});
    return TAMP_OK;
  }
  if (cJSON_IsNumber(item)) {
    double number = item->valuedouble + 0.0; /* -0 is 0 */
    uint8_t bytes[sizeof number];
    memcpy(bytes, &number, sizeof number);
    tamp_writer_raw(out, TAMP_TEXT("#"));
    tamp_writer_raw(out, (TampText){bytes, sizeof bytes});
    return TAMP_OK;
  }
  if (cJSON_IsArray(item)) {
    tamp_writer_raw(out, TAMP_TEXT("["));
    for (const cJSON *child = item->child; child; child = child->next) {
      TampStatus status = write_canonical(arena, child, out);
      if (status) return status;
      tamp_writer_raw(out, TAMP_TEXT(","));
    }
    tamp_writer_raw(out, TAMP_TEXT("]"));
    return TAMP_OK;
  }
  if (cJSON_IsObject(item)) {
    size_t count;
    const cJSON **members = sort_members(arena, item, &count);
    if (!members) return TAMP_NO_MEMORY;
    tamp_writer_raw(out, TAMP_TEXT("{"));
    for (size_t i = 0; i < count; i++) {
      const char *name = members[i]->string;
      if (i + 1 < count && strcmp(name, members[i + 1]->string) == 0)
        continue; /* the last counts */
      tamp_writer_string(out, (TampText){(const uint8_t *)name, strlen(name)});
      TampStatus status = write_canonical(arena, members[i], out);
      if (status) return status;
    }
    tamp_writer_raw(out, TAMP_TEXT("}"));
    return TAMP_OK;
  }
  tamp_writer_raw(out, cJSON_IsNull(item)   ? TAMP_TEXT("n")
                       : cJSON_IsTrue(item) ? TAMP_TEXT("t")
                                            : TAMP_TEXT("f"));
  return TAMP_OK;
}

/* Writes what a value is compared by. What a cJSON tree cannot hold is compared as it is spelled.
 */
static TampStatus write_value(TampArena *arena, TampText json, TampWriter *out) {
  if (!tamp_fit_value(json.bytes, json.length, DEEPEST_COMPARED)) {
    tamp_writer_raw(out, TAMP_TEXT("="));
    tamp_writer_raw(out, json);
    return TAMP_OK;
  }
  cJSON *item = cJSON_ParseWithLengthOpts((const char *)json.bytes, json.length, NULL, 0);
  if (!item) return TAMP_NO_MEMORY;
  TampStatus status = write_canonical(arena, item, out);
  cJSON_Delete(item);
  return status;
}

/* ── The strategy ──────────────────────────────────────────────────────────────────────────── */

/* What a call is about; nothing is noted when its arguments are not whole JSON or lack the key. */
static TampStatus find_subject(Dedupe *dedupe, const TampPart *part, uint32_t name,
                               uint32_t *about) {
  TampArena *arena = dedupe->step.run->arena;
  TampText text;
  TampStatus status = tamp_message_text(&dedupe->message, part->text, arena, &text);
  if (status || (part->flags & TAMP_PART_FREE_TEXT)) return status;
  TampValue arguments, found;
  TampCursor cursor = tamp_cursor(text.bytes, 0, text.length, false);
  if (!tamp_cursor_value(&cursor, &arguments) || !tamp_cursor_end(&cursor)) {
    return cursor.status == TAMP_NO_MEMORY ? TAMP_NO_MEMORY : TAMP_OK;
  }
  status = find_argument(text.bytes, arguments, *dedupe->keys[name], arena, &found);
  if (status || found.type == TAMP_JSON_NOTHING) return status;
  TampWriter writer = tamp_writer(arena);
  tamp_writer_integer(&writer, name);
  tamp_writer_raw(&writer, TAMP_TEXT(":"));
  status = write_value(arena, (TampText){text.bytes + found.at, found.length}, &writer);
  TampText subject;
  if (!status) status = tamp_writer_finish(&writer, &subject);
  if (!status) status = tamp_atoms_intern(&dedupe->subjects, subject, NULL, about);
  return status;
}

static bool is_compared(const Dedupe *dedupe, const TampEntry *entry, uint32_t index) {
  uint32_t name = entry->record->calls[index].name;
  return name != TAMP_NONE && dedupe->keys[name] &&
         dedupe->step.list->calls[entry->calls + index].first != TAMP_NONE;
}

static TampStatus find_subjects(Dedupe *dedupe) {
  const TampList *list = dedupe->step.list;
  for (uint32_t i = 0; i < list->call_count; i++) dedupe->about[i] = TAMP_NONE;
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    bool any = false;
    for (uint32_t k = 0; k < entry->record->call_count; k++) {
      any = any || is_compared(dedupe, entry, k);
    }
    if (!any) continue;
    TampStatus status = tamp_step_read(&dedupe->step, i, &dedupe->message);
    uint32_t index = 0;
    for (uint32_t k = 0; !status && k < dedupe->message.count; k++) {
      const TampPart *part = &dedupe->message.parts[k];
      if (part->kind != TAMP_PART_CALL || !is_compared(dedupe, entry, index++)) continue;
      uint32_t call = entry->calls + index - 1;
      status =
          find_subject(dedupe, part, entry->record->calls[index - 1].name, &dedupe->about[call]);
    }
    if (status) return status;
  }
  return TAMP_OK;
}

static TampStatus find_newest(Dedupe *dedupe) {
  TampRun *run = dedupe->step.run;
  const TampList *list = dedupe->step.list;
  uint32_t count = dedupe->subjects.count;
  dedupe->newest = tamp_step_alloc(&dedupe->step, count * sizeof *dedupe->newest);
  if (!dedupe->newest) return TAMP_NO_MEMORY;
  for (uint32_t i = 0; i < count; i++) dedupe->newest[i] = TAMP_NONE;
  for (uint32_t i = 0; i < list->call_count; i++) {
    if (dedupe->about[i] == TAMP_NONE) continue;
    const TampListResult *result =
        &list->results[tamp_list_counted_result(list, run->pins, run->pin_count, i)];
    if (list->entries[result->entry].record->results[result->index].failed) continue;
    dedupe->newest[dedupe->about[i]] = i;
  }
  return TAMP_OK;
}

static bool superseded(const Dedupe *dedupe, uint32_t result) {
  uint32_t call = dedupe->step.list->results[result].call;
  if (call == TAMP_NONE || dedupe->about[call] == TAMP_NONE) return false;
  uint32_t newest = dedupe->newest[dedupe->about[call]];
  return newest != TAMP_NONE && call < newest;
}

static TampStatus replace_results(Dedupe *dedupe, uint32_t entry) {
  TampStep *step = &dedupe->step;
  const TampEntry *item = &step->list->entries[entry];
  const TampMessage *message = &dedupe->message;
  bool any = false;
  for (uint32_t i = 0; i < item->record->result_count; i++) {
    any = any || superseded(dedupe, item->results + i);
  }
  if (!any || tamp_step_protected(step, item->group)) return TAMP_OK;
  TampStatus status = tamp_step_read(step, entry, &dedupe->message);
  dedupe->edits.count = 0;
  uint32_t result = item->results;
  for (uint32_t i = 0; !status && i < message->count; i++) {
    if (message->parts[i].kind != TAMP_PART_RESULT || !superseded(dedupe, result++)) continue;
    uint32_t tokens;
    status = tamp_part_tokens(step->run, message, i, &tokens);
    if (status || tokens <= dedupe->placeholder_tokens) continue;
    status = tamp_edits_add(step->run, &dedupe->edits, TAMP_EDIT_RESULT, i,
                            dedupe->options->placeholder);
  }
  if (status || dedupe->edits.count == 0) return status;
  const TampRecord *record;
  status = tamp_step_edit(step, message, dedupe->edits.items, dedupe->edits.count, &record);
  if (status || record->tokens >= item->record->tokens) return status;
  return tamp_step_rewrite(step, entry, record);
}

static TampStatus dedupe_results(Dedupe *dedupe) {
  TampStep *step = &dedupe->step;
  const TampList *list = step->list;
  TampRun *run = step->run;
  const TampTextMap *tools = &dedupe->options->tools;
  dedupe->about = tamp_step_alloc(step, list->call_count * sizeof *dedupe->about);
  dedupe->keys = tamp_step_alloc(step, run->atoms->count * sizeof *dedupe->keys);
  if (!dedupe->about || !dedupe->keys) return TAMP_NO_MEMORY;
  for (uint32_t i = 0; i < tools->count; i++) {
    uint32_t atom = tamp_atoms_find(run->atoms, tools->keys[i]);
    if (atom != TAMP_NONE) dedupe->keys[atom] = &tools->values[i];
  }
  TampStatus status = find_subjects(dedupe);
  if (!status) status = find_newest(dedupe);
  if (!status)
    status =
        tamp_count_text(run->counter, dedupe->options->placeholder, &dedupe->placeholder_tokens);
  for (uint32_t i = 0; !status && i < list->count; i++) status = replace_results(dedupe, i);
  if (status) return status;
  if (!step->changed) tamp_run_note(run, "no result that a later one supersedes");
  return tamp_step_commit(step);
}

static TampStatus run_dedupe(TampRun *run, const TampPolicy *policy) {
  tamp_run_fired(run);
  Dedupe dedupe = {.options = policy->options};
  tamp_atoms_init(&dedupe.subjects, run->arena);
  tamp_message_init(&dedupe.message, run->arena);
  TampStatus status =
      tamp_step_begin(run, "dedupe-tool-results: superseded by a later result", &dedupe.step);
  if (!status) status = dedupe_results(&dedupe);
  tamp_arena_drop(run->arena, dedupe.message.parts);
  tamp_arena_drop(run->arena, dedupe.edits.items);
  return status;
}

const TampStrategy tamp_strategy_dedupe_tool_results = {
    .name = "dedupe-tool-results",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .run = run_dedupe,
};
