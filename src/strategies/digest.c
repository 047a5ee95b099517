/* A summary by a fixed rule: what was asked, which tools ran on what, what was named, what was
 * answered last.
 *
 * Its text has one shape, so that the next digest can read it back and go on from it instead of
 * telling it again:
 *
 *   Asked:
 *   - (3 earlier)
 *   - Why does the build fail?
 *   Tools:
 *   - read_file (4 calls, 1 failed): src/main.c, src/list.c
 *   Mentioned: README.md, https://example.com/
 *   Last answer: The header is missing.
 *   Before that: what another summary said
 *
 * Everything behind a dash or a colon is one line. When it is too long, older and longer things go
 * first, level by level. */
#include <string.h>

#include "../text.h"
#include "parts.h"
#include "summary.h"

enum {
  SHORT_VALUE = 80,       /* characters of an argument whose value is told */
  LONGEST_NAME = 64,      /* characters of a tool's name, or of an argument's */
  LONGEST_URL = 200,      /* bytes */
  LONGEST_PATH = 120,     /* bytes */
  SHORTEST_SENTENCE = 12, /* bytes: "Hi." says nothing */
  LEVELS = 10,
};

static const TampSummaryOptions defaults = {
    .max_messages = TAMP_UNSET,
    .max_tokens = TAMP_UNSET,
    .window = {.keep_messages = 20,
               .keep_tokens = TAMP_UNSET,
               .keep_groups = TAMP_UNSET,
               .keep_turns = TAMP_UNSET,
               .keep_first_user = true},
    .max_summary_tokens = 512,
    .max_input_tokens = TAMP_UNSET,
    .label = {(const uint8_t *)"[Conversation summary]", 22},
};

static const TampField fields[] = {TAMP_SUMMARY_FIELDS};

/* ── What a digest knows ───────────────────────────────────────────────────────────────────── */

/* A value a tool ran on. Values of one tool are linked, newest first. */
typedef struct Value {
  TampText text;
  uint32_t older; /* TAMP_NONE */
} Value;

typedef struct Tool {
  TampText name;
  uint64_t calls, failed;
  uint32_t newest; /* in `values`, TAMP_NONE */
} Tool;

typedef struct Digest {
  TampRun *run;
  TampArena *arena;
  TampText *asked;
  uint32_t asked_count, asked_capacity;
  uint64_t asked_earlier; /* questions that are no longer told */
  TampAtoms tool_names;   /* an atom is an index in `tools` */
  Tool *tools;
  uint32_t tool_capacity;
  TampAtoms value_keys; /* tool and value, so that each is told once */
  Value *values;
  uint32_t value_count, value_capacity;
  TampAtoms mentioned;
  TampText answer; /* the last one; empty for none */
  uint8_t *answer_bytes;
  uint32_t answer_capacity;
  TampText before; /* what a summary of another shape said */
} Digest;

/* How much of it is told. */
typedef struct Detail {
  uint32_t asked, tools, values, mentioned; /* how many of each, the newest */
  size_t sentence, answer, before;          /* characters */
} Detail;

static bool is_space(uint8_t byte) {
  return byte <= ' ' || byte == 0x7F;
}

static TampText part_of(TampText text, size_t from, size_t to) {
  return (TampText){text.bytes + from, to - from};
}

static bool starts_with(TampText text, TampText start) {
  return text.length >= start.length && memcmp(text.bytes, start.bytes, start.length) == 0;
}

/* A copy on one line: trimmed, white space and control characters as single spaces. */
static TampStatus one_line(TampArena *arena, TampText text, TampText *line) {
  text = tamp_text_trim(text);
  uint8_t *bytes = tamp_arena_alloc(arena, text.length);
  if (!bytes) return TAMP_NO_MEMORY;
  size_t length = 0;
  for (size_t i = 0; i < text.length; i++) {
    if (!is_space(text.bytes[i])) {
      bytes[length++] = text.bytes[i];
    } else if (length > 0 && bytes[length - 1] != ' ') {
      bytes[length++] = ' ';
    }
  }
  if (length > 0 && bytes[length - 1] == ' ') length--;
  *line = (TampText){bytes, length};
  return TAMP_OK;
}

/* Writes at most `most` characters of a line. */
static void write_cut(TampWriter *out, TampText line, size_t most) {
  bool whole = line.length <= most || tamp_text_characters(line) <= most;
  if (!whole) line.length = tamp_text_head(line, most);
  tamp_writer_raw(out, line);
  if (!whole) tamp_writer_raw(out, TAMP_TEXT("…"));
}

static TampText cut(TampText line, size_t most) {
  line.length = tamp_text_head(line, most);
  return line;
}

static TampStatus add_asked(Digest *digest, TampText line) {
  TampStatus status =
      tamp_arena_grow(digest->arena, (void **)&digest->asked, &digest->asked_capacity,
                      (size_t)digest->asked_count + 1, sizeof *digest->asked);
  if (!status) digest->asked[digest->asked_count++] = line;
  return status;
}

static TampStatus find_tool(Digest *digest, TampText name, uint32_t *tool) {
  uint32_t count = digest->tool_names.count;
  TampStatus status = tamp_atoms_intern(&digest->tool_names, name, NULL, tool);
  if (status || digest->tool_names.count == count) return status;
  status = tamp_arena_grow(digest->arena, (void **)&digest->tools, &digest->tool_capacity,
                           (size_t)*tool + 1, sizeof *digest->tools);
  if (!status) digest->tools[*tool] = (Tool){.name = name, .newest = TAMP_NONE};
  return status;
}

static TampStatus add_value(Digest *digest, uint32_t tool, TampText text) {
  if (text.length == 0) return TAMP_OK;
  TampWriter key = tamp_writer(digest->arena);
  tamp_writer_integer(&key, tool);
  tamp_writer_raw(&key, TAMP_TEXT(":"));
  tamp_writer_raw(&key, text);
  TampText bytes;
  uint32_t count = digest->value_keys.count, atom;
  TampStatus status = tamp_writer_finish(&key, &bytes);
  if (!status) status = tamp_atoms_intern(&digest->value_keys, bytes, NULL, &atom);
  if (status) return status;
  if (digest->value_keys.count == count) {
    tamp_arena_drop(digest->arena, key.bytes);
    return TAMP_OK;
  }
  status = tamp_arena_grow(digest->arena, (void **)&digest->values, &digest->value_capacity,
                           (size_t)digest->value_count + 1, sizeof *digest->values);
  if (status) return status;
  text = part_of(bytes, bytes.length - text.length, bytes.length); /* the message does not stay */
  digest->values[digest->value_count] = (Value){text, digest->tools[tool].newest};
  digest->tools[tool].newest = digest->value_count++;
  return TAMP_OK;
}

/* ── Reading messages ──────────────────────────────────────────────────────────────────────── */

/* The byte behind the first sentence of a text: behind a full stop before white space, or at the
 * end of a line, once enough was said. */
static size_t sentence_end(TampText text) {
  for (size_t i = SHORTEST_SENTENCE; i < text.length; i++) {
    uint8_t byte = text.bytes[i];
    if (byte == '\n') return i;
    if (byte == '.' || byte == '!' || byte == '?') {
      if (i + 1 == text.length || is_space(text.bytes[i + 1])) return i + 1;
    }
    static const TampText wide[] = {
        {(const uint8_t *)"。", 3}, {(const uint8_t *)"！", 3}, {(const uint8_t *)"？", 3}};
    for (size_t k = 0; byte >= 0x80 && k < sizeof wide / sizeof *wide; k++) {
      if (starts_with(part_of(text, i, text.length), wide[k])) return i + 3;
    }
  }
  return text.length;
}

static bool is_alphanumeric(uint8_t byte) {
  uint8_t lower = byte | 0x20;
  return (byte >= '0' && byte <= '9') || (lower >= 'a' && lower <= 'z');
}

/* Extensions that make a word without a slash a file. */
static const char extensions[] = " c h cc cpp hpp cs css csv docx go html ini ipynb java jpeg jpg "
                                 "js json jsonl jsx kt lock log lua md mjs "
                                 "pdf php png pptx py rb rs scss sh sql svelte svg swift toml ts "
                                 "tsx txt vue wasm xlsx xml yaml yml zip ";

static bool is_known_extension(TampText extension) {
  const char *at = extensions;
  while (*at) {
    at++;
    size_t length = strcspn(at, " ");
    if (length == extension.length && length > 0 && memcmp(at, extension.bytes, length) == 0)
      return true;
    at += length;
  }
  return false;
}

/* Whether a word names a file: a path whose last part has an extension, or a name with a known one.
 */
static bool is_file(TampText word) {
  if (word.length < 3 || word.length > LONGEST_PATH) return false;
  size_t slash = word.length, dot = word.length;
  for (size_t i = 0; i < word.length; i++) {
    uint8_t byte = word.bytes[i];
    bool allowed = is_alphanumeric(byte) || byte >= 0x80 || strchr("/._-~+#@", byte);
    if (!allowed) return false;
    if (byte == '/') {
      slash = i;
      dot = word.length;
    } else if (byte == '.') {
      dot = i;
    }
  }
  size_t name = slash == word.length ? 0 : slash + 1;
  if (dot == word.length || dot <= name || dot + 1 == word.length || word.length - dot > 7)
    return false;
  TampText extension = part_of(word, dot + 1, word.length);
  if (slash == word.length) return is_known_extension(extension);
  for (size_t i = 0; i < extension.length; i++) {
    if (!is_alphanumeric(extension.bytes[i])) return false;
  }
  return (extension.bytes[0] | 0x20) >= 'a';
}

static bool ends_word(uint8_t byte) {
  return is_space(byte) || strchr("\"'`()<>[]{},;|*", byte) != NULL;
}

static TampStatus add_mentioned(Digest *digest, TampText word) {
  uint32_t atom = tamp_atoms_find(&digest->mentioned, word);
  if (atom != TAMP_NONE) return TAMP_OK;
  uint8_t *copy = tamp_arena_alloc(digest->arena, word.length);
  if (!copy) return TAMP_NO_MEMORY;
  memcpy(copy, word.bytes, word.length);
  return tamp_atoms_intern(&digest->mentioned, (TampText){copy, word.length}, NULL, &atom);
}

/* The last answer so far, in the place of the one before. */
static TampStatus keep_answer(Digest *digest, TampText text) {
  void *bytes = digest->answer_bytes;
  TampStatus status = tamp_arena_grow(digest->arena, &bytes, &digest->answer_capacity, text.length, 1);
  if (status) return status;
  digest->answer_bytes = bytes;
  if (text.length > 0) memcpy(bytes, text.bytes, text.length);
  digest->answer = (TampText){bytes, text.length};
  return TAMP_OK;
}

/* Files and URLs that a text names. */
static TampStatus find_mentioned(Digest *digest, TampText text) {
  size_t at = 0;
  while (at < text.length) {
    while (at < text.length && ends_word(text.bytes[at])) at++;
    size_t start = at;
    while (at < text.length && !ends_word(text.bytes[at])) at++;
    size_t end = at;
    while (end > start && strchr(".:!?", text.bytes[end - 1])) end--;
    TampText word = part_of(text, start, end);
    bool url = (starts_with(word, TAMP_TEXT("https://")) && word.length > 8) ||
               (starts_with(word, TAMP_TEXT("http://")) && word.length > 7);
    if (!(url && word.length <= LONGEST_URL) && !is_file(word)) continue;
    TampStatus status = add_mentioned(digest, word);
    if (status) return status;
  }
  return TAMP_OK;
}

/* Whether a short text says what a call was about: one line, and not a piece of code or markup. */
static bool is_telling(TampText text) {
  for (size_t i = 0; i < text.length; i++) {
    if (text.bytes[i] < ' ' || strchr("{}<>", text.bytes[i])) return false;
  }
  return tamp_text_characters(text) <= SHORT_VALUE;
}

static TampStatus add_telling(Digest *digest, uint32_t tool, TampText text, bool *told) {
  text = tamp_text_trim(text);
  if (text.length == 0 || !is_telling(text)) return TAMP_OK;
  *told = true;
  return add_value(digest, tool, text);
}

/* "name=value" of a number or a truth. */
static TampStatus add_named(Digest *digest, uint32_t tool, const uint8_t *json, TampValue name,
                            TampValue value) {
  TampText text;
  if (value.type < TAMP_JSON_FALSE || value.type > TAMP_JSON_NUMBER || value.length > SHORT_VALUE) {
    return TAMP_OK;
  }
  TampStatus status = tamp_value_text(json, name, digest->arena, &text);
  if (!status) status = one_line(digest->arena, cut(text, LONGEST_NAME), &text);
  TampWriter writer = tamp_writer(digest->arena);
  if (!status) tamp_writer_raw(&writer, text);
  tamp_writer_raw(&writer, TAMP_TEXT("="));
  tamp_writer_raw(&writer, (TampText){json + value.at, value.length});
  if (!status) status = tamp_writer_finish(&writer, &text);
  return status ? status : add_value(digest, tool, text);
}

/* The values of short arguments: texts, and of a call without any, numbers and truths with their
 * names. */
static TampStatus read_arguments(Digest *digest, uint32_t tool, TampText text) {
  TampCursor check = tamp_cursor(text.bytes, 0, text.length, false);
  TampValue whole, name, value;
  bool told = false;
  if (!tamp_cursor_value(&check, &whole) || !tamp_cursor_end(&check)) {
    return add_telling(digest, tool, text, &told); /* not JSON: a command, a query */
  }
  if (whole.type != TAMP_JSON_OBJECT) return TAMP_OK;
  for (int round = 0; round < 2 && !told; round++) {
    TampCursor cursor = tamp_cursor(text.bytes, 0, text.length, false);
    tamp_cursor_enter(&cursor, TAMP_JSON_OBJECT);
    while (tamp_cursor_member(&cursor, &name) && tamp_cursor_value(&cursor, &value)) {
      TampStatus status = TAMP_OK;
      if (round == 1) {
        status = add_named(digest, tool, text.bytes, name, value);
      } else if (value.type == TAMP_JSON_STRING) {
        TampText said;
        status = tamp_value_text(text.bytes, value, digest->arena, &said);
        if (!status) status = add_telling(digest, tool, said, &told);
      }
      if (status) return status;
    }
  }
  return TAMP_OK;
}

static TampStatus read_call(Digest *digest, const TampList *list, const TampMessage *message,
                            const TampPart *part, uint32_t call) {
  TampRun *run = digest->run;
  const TampListCall *item = &list->calls[call];
  uint32_t name = list->entries[item->entry].record->calls[item->index].name;
  uint8_t room[TAMP_ATOM_ROOM];
  TampText text = name == TAMP_NONE ? TAMP_TEXT("a tool") : tamp_atoms_text(run->atoms, name, room);
  uint32_t tool;
  TampStatus status = one_line(digest->arena, cut(text, LONGEST_NAME), &text);
  if (!status) status = find_tool(digest, text, &tool);
  if (!status) status = tamp_message_text(message, part->text, digest->arena, &text);
  if (status) return status;
  digest->tools[tool].calls++;
  uint32_t result = tamp_list_counted_result(list, run->pins, run->pin_count, call);
  if (result != TAMP_NONE) {
    const TampListResult *answer = &list->results[result];
    bool failed = list->entries[answer->entry].record->results[answer->index].failed;
    digest->tools[tool].failed += failed;
  }
  return read_arguments(digest, tool, text);
}

/* What a person asked: the first sentence of the first text that says something. */
static TampStatus read_question(Digest *digest, TampText text) {
  text = tamp_text_trim(text);
  text.length = sentence_end(text);
  TampStatus status = one_line(digest->arena, text, &text);
  return status ? status : add_asked(digest, text);
}

static TampStatus read_entry(Digest *digest, TampStep *step, uint32_t entry, TampMessage *message) {
  const TampEntry *item = &step->list->entries[entry];
  TampStatus status = tamp_step_read(step, entry, message);
  uint32_t call = item->calls;
  bool asked = false;
  for (uint32_t i = 0; !status && i < message->count; i++) {
    const TampPart *part = &message->parts[i];
    if (part->kind == TAMP_PART_CALL) {
      status = read_call(digest, step->list, message, part, call++);
      continue;
    }
    bool person = item->record->role == TAMP_ROLE_USER;
    bool answer = item->record->role == TAMP_ROLE_ASSISTANT;
    if (part->kind != TAMP_PART_TEXT || !tamp_part_is_own(part) || !(person || answer)) continue;
    TampText text;
    status = tamp_message_text(message, part->text, digest->arena, &text);
    if (status || tamp_text_is_blank(text)) continue;
    if (answer) status = keep_answer(digest, text);
    if (status) return status;
    if (person && !asked) status = read_question(digest, text);
    asked = true;
    if (!status) status = find_mentioned(digest, text);
  }
  return status;
}

/* ── Reading a digest back ─────────────────────────────────────────────────────────────────── */

static bool take(TampText *text, TampText start) {
  if (!starts_with(*text, start)) return false;
  *text = part_of(*text, start.length, text->length);
  return true;
}

static bool take_number(TampText *text, uint64_t *number) {
  size_t at = 0;
  *number = 0;
  while (at < text->length && at < 15 && text->bytes[at] >= '0' && text->bytes[at] <= '9') {
    *number = *number * 10 + (uint64_t)(text->bytes[at++] - '0');
  }
  *text = part_of(*text, at, text->length);
  return at > 0;
}

/* The next of the items of a list "a, b, c"; False at its end. */
static bool take_item(TampText *list, TampText *item) {
  if (list->length == 0) return false;
  size_t end = 0;
  while (end < list->length && !starts_with(part_of(*list, end, list->length), TAMP_TEXT(", ")))
    end++;
  *item = part_of(*list, 0, end);
  *list = part_of(*list, end < list->length ? end + 2 : end, list->length);
  return true;
}

static TampStatus recall_asked(Digest *digest, TampText line) {
  TampText rest = line;
  uint64_t earlier;
  if (take(&rest, TAMP_TEXT("(")) && take_number(&rest, &earlier) &&
      tamp_text_equal(rest, TAMP_TEXT(" earlier)"))) {
    digest->asked_earlier += earlier;
    return TAMP_OK;
  }
  return add_asked(digest, line);
}

/* "name (4 calls, 1 failed): a, b". False when it is not. */
static TampStatus recall_tool(Digest *digest, TampText line, bool *fine) {
  size_t name = 0;
  uint64_t calls = 0, failed = 0;
  TampText rest = {0};
  *fine = false;
  for (; name < line.length; name++) {
    rest = part_of(line, name, line.length);
    if (take(&rest, TAMP_TEXT(" (")) && take_number(&rest, &calls) &&
        take(&rest, TAMP_TEXT(" call")))
      break;
  }
  if (name == line.length) return TAMP_OK;
  take(&rest, TAMP_TEXT("s"));
  if (take(&rest, TAMP_TEXT(", ")) &&
      !(take_number(&rest, &failed) && take(&rest, TAMP_TEXT(" failed")))) {
    return TAMP_OK;
  }
  if (!take(&rest, TAMP_TEXT(")"))) return TAMP_OK;
  if (rest.length > 0 && !take(&rest, TAMP_TEXT(": "))) return TAMP_OK;
  *fine = true;
  uint32_t tool;
  TampStatus status = find_tool(digest, part_of(line, 0, name), &tool);
  if (status) return status;
  digest->tools[tool].calls += calls;
  digest->tools[tool].failed += failed;
  TampText value;
  while (!status && take_item(&rest, &value)) {
    if (!tamp_text_equal(value, TAMP_TEXT("…"))) status = add_value(digest, tool, value);
  }
  return status;
}

static TampStatus recall_line(Digest *digest, TampText line, uint8_t *section, bool *fine) {
  *fine = true;
  if (tamp_text_equal(line, TAMP_TEXT("Asked:"))) {
    *section = 'a';
  } else if (tamp_text_equal(line, TAMP_TEXT("Tools:"))) {
    *section = 't';
  } else if (take(&line, TAMP_TEXT("- "))) {
    if (*section == 'a') return recall_asked(digest, line);
    if (*section == 't') return recall_tool(digest, line, fine);
    *fine = false;
  } else if (take(&line, TAMP_TEXT("Mentioned: "))) {
    TampText word;
    TampStatus status = TAMP_OK;
    while (!status && take_item(&line, &word)) {
      if (!tamp_text_equal(word, TAMP_TEXT("…"))) status = add_mentioned(digest, word);
    }
    return status;
  } else if (take(&line, TAMP_TEXT("Last answer: "))) {
    digest->answer = line;
  } else if (take(&line, TAMP_TEXT("Before that: "))) {
    digest->before = line;
  } else {
    *fine = false;
  }
  return TAMP_OK;
}

static void forget(Digest *digest) {
  digest->asked_count = digest->value_count = 0;
  digest->asked_earlier = 0;
  tamp_atoms_truncate(&digest->tool_names, 0);
  tamp_atoms_truncate(&digest->value_keys, 0);
  tamp_atoms_truncate(&digest->mentioned, 0);
  digest->answer = digest->before = (TampText){0};
}

/* Takes in an earlier summary: a digest line by line, anything else as the text it is. */
static TampStatus recall(Digest *digest, TampText text) {
  uint8_t section = 0;
  bool fine = text.length > 0;
  size_t at = 0;
  while (fine && at < text.length) {
    size_t end = at;
    while (end < text.length && text.bytes[end] != '\n') end++;
    TampStatus status = recall_line(digest, part_of(text, at, end), &section, &fine);
    if (status) return status;
    at = end + 1;
  }
  if (fine) return TAMP_OK;
  forget(digest);
  return one_line(digest->arena, text, &digest->before);
}

/* ── Writing ───────────────────────────────────────────────────────────────────────────────── */

static void begin_line(TampWriter *out) {
  if (out->length > 0) tamp_writer_raw(out, TAMP_TEXT("\n"));
}

static void write_asked(const Digest *digest, const Detail *detail, TampWriter *out) {
  uint32_t count = digest->asked_count;
  uint32_t told = count < detail->asked ? count : detail->asked;
  uint64_t earlier = digest->asked_earlier + (count - told);
  if (count == 0 && earlier == 0) return;
  begin_line(out);
  tamp_writer_raw(out, TAMP_TEXT("Asked:"));
  if (earlier > 0) {
    tamp_writer_raw(out, TAMP_TEXT("\n- ("));
    tamp_writer_integer(out, earlier);
    tamp_writer_raw(out, TAMP_TEXT(" earlier)"));
  }
  for (uint32_t i = count - told; i < count; i++) {
    tamp_writer_raw(out, TAMP_TEXT("\n- "));
    write_cut(out, digest->asked[i], detail->sentence);
  }
}

/* The newest values of a tool, oldest of them first; "…" stands for those before. */
static TampStatus write_values(const Digest *digest, const Tool *tool, uint32_t most,
                               TampWriter *out) {
  if (tool->newest == TAMP_NONE || most == 0) return TAMP_OK;
  uint32_t *told = tamp_arena_alloc(digest->arena, most * sizeof *told);
  if (!told) return TAMP_NO_MEMORY;
  uint32_t count = 0, next = tool->newest;
  for (; next != TAMP_NONE && count < most; next = digest->values[next].older) told[count++] = next;
  tamp_writer_raw(out, TAMP_TEXT(": "));
  if (next != TAMP_NONE) tamp_writer_raw(out, TAMP_TEXT("…, "));
  for (uint32_t i = count; i-- > 0;) {
    tamp_writer_raw(out, digest->values[told[i]].text);
    if (i > 0) tamp_writer_raw(out, TAMP_TEXT(", "));
  }
  return TAMP_OK;
}

static TampStatus write_tools(const Digest *digest, const Detail *detail, TampWriter *out) {
  uint32_t count = digest->tool_names.count;
  if (count == 0 || detail->tools == 0) return TAMP_OK;
  begin_line(out);
  tamp_writer_raw(out, TAMP_TEXT("Tools:"));
  for (uint32_t i = count < detail->tools ? 0 : count - detail->tools; i < count; i++) {
    const Tool *tool = &digest->tools[i];
    tamp_writer_raw(out, TAMP_TEXT("\n- "));
    tamp_writer_raw(out, tool->name);
    tamp_writer_raw(out, TAMP_TEXT(" ("));
    tamp_writer_integer(out, tool->calls);
    tamp_writer_raw(out, tool->calls == 1 ? TAMP_TEXT(" call") : TAMP_TEXT(" calls"));
    if (tool->failed > 0) {
      tamp_writer_raw(out, TAMP_TEXT(", "));
      tamp_writer_integer(out, tool->failed);
      tamp_writer_raw(out, TAMP_TEXT(" failed"));
    }
    tamp_writer_raw(out, TAMP_TEXT(")"));
    TampStatus status = write_values(digest, tool, detail->values, out);
    if (status) return status;
  }
  return TAMP_OK;
}

static void write_mentioned(const Digest *digest, const Detail *detail, TampWriter *out) {
  uint32_t count = digest->mentioned.count;
  if (count == 0 || detail->mentioned == 0) return;
  begin_line(out);
  tamp_writer_raw(out, TAMP_TEXT("Mentioned: "));
  uint32_t first = count < detail->mentioned ? 0 : count - detail->mentioned;
  if (first > 0) tamp_writer_raw(out, TAMP_TEXT("…, "));
  for (uint32_t i = first; i < count; i++) {
    if (i > first) tamp_writer_raw(out, TAMP_TEXT(", "));
    uint8_t room[TAMP_ATOM_ROOM];
    tamp_writer_raw(out, tamp_atoms_text(&digest->mentioned, i, room));
  }
}

static void write_line(TampWriter *out, TampText name, TampText line, size_t most) {
  if (line.length == 0 || most == 0) return;
  begin_line(out);
  tamp_writer_raw(out, name);
  write_cut(out, line, most);
}

static TampStatus write_digest(const Digest *digest, const Detail *detail, TampWriter *out,
                               TampText *text) {
  out->length = 0;
  write_asked(digest, detail, out);
  TampStatus status = write_tools(digest, detail, out);
  write_mentioned(digest, detail, out);
  write_line(out, TAMP_TEXT("Last answer: "), digest->answer, detail->answer);
  write_line(out, TAMP_TEXT("Before that: "), digest->before, detail->before);
  return status ? status : tamp_writer_finish(out, text);
}

/* Less and less from level to level, down to a few words of each. */
static Detail detail_at(size_t level) {
  static const uint8_t percent[LEVELS] = {100, 75, 55, 40, 30, 20, 14, 10, 6, 2};
  uint32_t share = percent[level];
  Detail detail = {
      .asked = 40 * share / 100,
      .tools = 40 * share / 100,
      .values = 12 * share / 100,
      .mentioned = 40 * share / 100,
      .sentence = (size_t)200 * share / 100,
      .answer = (size_t)600 * share / 100,
      .before = (size_t)1200 * share / 100,
  };
  if (detail.asked < 1) detail.asked = 1;
  if (detail.tools < 1) detail.tools = 1;
  if (detail.sentence < 40) detail.sentence = 40;
  if (detail.answer < 40) detail.answer = 40;
  if (detail.before < 40) detail.before = 40;
  return detail;
}

/* Takes the text when it fits: `*record` is then its message. */
static TampStatus try_text(TampCover *cover, TampText text, const TampRecord **record) {
  uint32_t tokens;
  *record = NULL;
  if (tamp_text_is_blank(text)) return TAMP_OK;
  TampStatus status = tamp_count_text(cover->step.run->counter, text, &tokens);
  if (status || tokens > cover->options->max_summary_tokens) return status;
  status = tamp_cover_draft(cover, text, record);
  if (!status && !tamp_cover_saves(cover, *record)) *record = NULL;
  return status;
}

/* The most detail that fits; in the end a mere beginning of the least. NULL when not even that
 * fits. */
static TampStatus find_fit(Digest *digest, TampCover *cover, const TampRecord **record) {
  TampWriter out = tamp_writer(digest->arena);
  TampText text = {0};
  TampStatus status = TAMP_OK;
  *record = NULL;
  for (size_t level = 0; !status && !*record && level < LEVELS; level++) {
    Detail detail = detail_at(level);
    status = write_digest(digest, &detail, &out, &text);
    if (!status) status = try_text(cover, text, record);
  }
  while (!status && !*record && text.length > SHORTEST_SENTENCE) {
    text.length = tamp_text_head(text, tamp_text_characters(text) / 2);
    status = try_text(cover, tamp_text_trim(text), record);
  }
  tamp_arena_drop(digest->arena, out.bytes);
  return status;
}

static TampStatus read_all(Digest *digest, TampCover *cover) {
  TampMessage message;
  tamp_message_init(&message, digest->arena);
  TampStatus status = cover->has_previous ? recall(digest, cover->previous) : TAMP_OK;
  for (uint32_t i = 0; !status && i < cover->count; i++) {
    status = read_entry(digest, &cover->step, cover->entries[i], &message);
  }
  if (!status) status = one_line(digest->arena, digest->answer, &digest->answer);
  tamp_arena_drop(digest->arena, message.parts);
  return status;
}

static TampStatus run_digest(TampRun *run, const TampPolicy *policy) {
  TampCover cover;
  bool ready;
  TampStatus status =
      tamp_cover_begin(run, policy->options, "digest: covered by the digest", &cover, &ready);
  if (status || !ready) return status;
  Digest digest = {.run = run, .arena = run->arena};
  tamp_atoms_init(&digest.tool_names, run->arena);
  tamp_atoms_init(&digest.value_keys, run->arena);
  tamp_atoms_init(&digest.mentioned, run->arena);
  const TampRecord *record = NULL;
  status = read_all(&digest, &cover);
  if (!status) status = find_fit(&digest, &cover, &record);
  if (status) return status;
  if (!record) {
    tamp_run_note(run, "a digest would not weigh less than what it replaces");
    return TAMP_OK;
  }
  return tamp_cover_commit(&cover, record, "digest: stands for the messages it covers");
}

const TampStrategy tamp_strategy_digest = {
    .name = "digest",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(TampSummaryOptions),
    .defaults = &defaults,
    .check = tamp_summary_check,
    .run = run_digest,
    .limits = tamp_summary_limits,
};
