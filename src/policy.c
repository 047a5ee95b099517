#include "policy.h"

#include <string.h>

#include "cJSON.h"
#include "fit.h"
#include "strategies/strategy.h"
#include "json/cursor.h"

/* What cJSON cannot hold never reaches it. The text is walked first with our own cursor, which
 * checks that it is JSON and looks for what a cJSON tree would silently change: a U+0000 ends its
 * strings, a lone surrogate or a number of over 63 characters makes it give up without saying why.
 * Each is a problem with its path. After that walk there is one reason left for cJSON to fail: no
 * memory. */

enum {
  MOST_FIELDS = 16,        /* of one strategy */
  MOST_NUMBER_LENGTH = 63, /* that cJSON reads whole */
};

enum {
  FIELD_GIVEN = 1 << 0,
  FIELD_BAD = 1 << 1, /* something about it was reported */
};

struct TampProblems {
  TampArena *arena;
  TampWriter writer; /* the array of problems */
  TampStatus status; /* the first failure outside the writer; sticks */
  uint32_t count;
  uint32_t depth;    /* policies and triggers around what is being read */
  uint32_t numbered; /* policies so far */
  uint32_t path_capacity;
  size_t path_length;
  uint8_t *path;                /* JSON Pointer of what is being read */
  const TampStrategy *strategy; /* while its check runs */
  const uint8_t *states;        /* FIELD_* of its fields */
};

static TampText text_of(const char *string) {
  return (TampText){(const uint8_t *)string, strlen(string)};
}

/* ── The path ──────────────────────────────────────────────────────────────────────────────── */

/* Each push gives the length to go back to with path_pop. */
static size_t path_push(TampProblems *problems, TampText key) {
  size_t before = problems->path_length;
  size_t needed = before + 1 + 2 * key.length;
  TampStatus status = tamp_arena_grow(problems->arena, (void **)&problems->path,
                                      &problems->path_capacity, needed, 1);
  if (status) {
    problems->status = status;
    return before;
  }
  uint8_t *out = problems->path + before;
  *out++ = '/';
  for (size_t i = 0; i < key.length; i++) {
    uint8_t byte = key.bytes[i];
    if (byte == '~' || byte == '/') {
      *out++ = '~';
      *out++ = byte == '~' ? '0' : '1';
    } else {
      *out++ = byte;
    }
  }
  problems->path_length = (size_t)(out - problems->path);
  return before;
}

static size_t path_push_index(TampProblems *problems, uint32_t index) {
  uint8_t digits[10];
  size_t at = sizeof digits;
  do {
    digits[--at] = (uint8_t)('0' + index % 10);
    index /= 10;
  } while (index > 0);
  return path_push(problems, (TampText){digits + at, sizeof digits - at});
}

static void path_pop(TampProblems *problems, size_t length) {
  problems->path_length = length;
}

/* ── Problems ──────────────────────────────────────────────────────────────────────────────── */

/* A problem at the current path: open, say its sentence piece by piece, close. */
static void problem_open(TampProblems *problems, const char *code) {
  TampWriter *writer = &problems->writer;
  tamp_writer_raw(writer,
                  problems->count++ == 0 ? TAMP_TEXT("{\"path\":") : TAMP_TEXT(",{\"path\":"));
  tamp_writer_string(writer, (TampText){problems->path, problems->path_length});
  tamp_writer_raw(writer, TAMP_TEXT(",\"code\":"));
  tamp_writer_string(writer, text_of(code));
  tamp_writer_raw(writer, TAMP_TEXT(",\"message\":\""));
}

static void say(TampProblems *problems, const char *words) {
  tamp_writer_escaped(&problems->writer, text_of(words));
}

static void say_quoted(TampProblems *problems, const char *words) {
  say(problems, "\"");
  say(problems, words);
  say(problems, "\"");
}

static void say_number(TampProblems *problems, uint64_t number) {
  tamp_writer_integer(&problems->writer, number);
}

static void problem_close(TampProblems *problems) {
  tamp_writer_raw(&problems->writer, TAMP_TEXT("\"}"));
}

static void problem(TampProblems *problems, const char *code, const char *sentence) {
  problem_open(problems, code);
  say(problems, sentence);
  problem_close(problems);
}

static const char *type_words(const cJSON *item) {
  if (cJSON_IsString(item)) return "a text";
  if (cJSON_IsNumber(item)) return "a number";
  if (cJSON_IsBool(item)) return cJSON_IsTrue(item) ? "true" : "false";
  if (cJSON_IsArray(item)) return "a list";
  if (cJSON_IsObject(item)) return "an object";
  return "null";
}

static void wrong_type(TampProblems *problems, const char *name, const char *wanted,
                       const cJSON *item) {
  problem_open(problems, "wrong-type");
  say(problems, name);
  say(problems, " must be ");
  say(problems, wanted);
  say(problems, ", not ");
  say(problems, type_words(item));
  problem_close(problems);
}

void tamp_problem(TampProblems *problems, const char *field, const char *code, const char *sentence,
                  uint64_t first, uint64_t second) {
  size_t path = problems->path_length;
  if (field) path = path_push(problems, text_of(field));
  problem_open(problems, code);
  const char *from = sentence;
  for (const char *at = sentence; *at; at++) {
    if (*at != '%') continue;
    tamp_writer_escaped(&problems->writer, (TampText){(const uint8_t *)from, (size_t)(at - from)});
    say_number(problems, first);
    first = second;
    from = at + 1;
  }
  say(problems, from);
  problem_close(problems);
  path_pop(problems, path);
}

static uint8_t field_state(const TampProblems *problems, const char *field) {
  for (size_t i = 0; i < problems->strategy->field_count; i++) {
    if (strcmp(problems->strategy->fields[i].name, field) == 0) return problems->states[i];
  }
  return 0;
}

bool tamp_field_given(const TampProblems *problems, const char *field) {
  return (field_state(problems, field) & FIELD_GIVEN) != 0;
}

bool tamp_field_fine(const TampProblems *problems, const char *field) {
  return (field_state(problems, field) & FIELD_BAD) == 0;
}

/* ── The walk before cJSON ─────────────────────────────────────────────────────────────────── */

static void check_scalar(TampProblems *problems, const uint8_t *text, TampValue value) {
  if ((value.flags & TAMP_VALUE_ESCAPED) &&
      !tamp_fit_string(text + value.at + 1, value.length - 2)) {
    problem(problems, "out-of-range", "a text may hold neither U+0000 nor half a surrogate pair");
  }
  if (value.type == TAMP_JSON_NUMBER && value.length > MOST_NUMBER_LENGTH) {
    problem(problems, "out-of-range", "a number may be written with at most 63 characters");
  }
}

/* A container around the value being walked. */
typedef struct Level {
  size_t path;
  uint32_t index;
  bool object;
} Level;

/* Walks the whole text. Without recursion: the text may be nested as deep as the cursor allows. */
static TampStatus walk(TampProblems *problems, TampText json) {
  TampCursor cursor = tamp_cursor(json.bytes, 0, json.length, false);
  Level *levels = NULL;
  uint32_t capacity = 0;
  uint32_t depth = 0;
  for (;;) {
    if (depth > 0) {
      Level *level = &levels[depth - 1];
      path_pop(problems, level->path);
      TampValue name;
      if (level->object ? !tamp_cursor_member(&cursor, &name) : !tamp_cursor_next(&cursor)) {
        if (cursor.status || --depth == 0) break;
        continue;
      }
      if (level->object) {
        TampText key;
        TampStatus status = tamp_value_text(json.bytes, name, problems->arena, &key);
        if (status) return status;
        path_push(problems, key);
        check_scalar(problems, json.bytes, name);
      } else {
        path_push_index(problems, level->index++);
      }
    }
    uint8_t first = cursor.at < cursor.length ? cursor.text[cursor.at] : 0;
    if (first == '{' || first == '[') {
      TampStatus status = tamp_arena_grow(problems->arena, (void **)&levels, &capacity,
                                          (size_t)depth + 1, sizeof *levels);
      if (status) return status;
      if (!tamp_cursor_enter(&cursor, first == '{' ? TAMP_JSON_OBJECT : TAMP_JSON_ARRAY)) break;
      levels[depth++] = (Level){problems->path_length, 0, first == '{'};
      continue;
    }
    TampValue value;
    if (!tamp_cursor_value(&cursor, &value)) break;
    check_scalar(problems, json.bytes, value);
    if (depth == 0) break;
  }
  path_pop(problems, 0);
  if (!cursor.status) tamp_cursor_end(&cursor);
  tamp_arena_drop(problems->arena, levels);
  if (cursor.status == TAMP_NO_MEMORY) return TAMP_NO_MEMORY;
  if (cursor.status) {
    problem_open(problems, cursor.status == TAMP_TOO_DEEP ? "out-of-range" : "wrong-type");
    say(problems, "the policy is not JSON: ");
    say(problems, cursor.fault.reason ? cursor.fault.reason : "unreadable");
    say(problems, " at byte ");
    say_number(problems, cursor.fault.offset);
    problem_close(problems);
  }
  return problems->status;
}

/* ── Fields ────────────────────────────────────────────────────────────────────────────────── */

static void *alloc(TampProblems *problems, size_t size) {
  void *piece = tamp_arena_alloc(problems->arena, size);
  if (!piece) problems->status = TAMP_NO_MEMORY;
  return piece;
}

static TampText copy_text(TampProblems *problems, const char *string) {
  TampText text = {NULL, strlen(string)};
  uint8_t *bytes = alloc(problems, text.length);
  if (!bytes) return (TampText){0};
  memcpy(bytes, string, text.length);
  text.bytes = bytes;
  return text;
}

static uint32_t count_items(const cJSON *container) {
  uint32_t count = 0;
  for (const cJSON *item = container->child; item; item = item->next) count++;
  return count;
}

/* Each reader of a type gives whether the value was fine; what was not, it reported. */

static bool read_count(TampProblems *problems, const char *name, uint64_t minimum,
                       const cJSON *item, uint64_t *out) {
  if (!cJSON_IsNumber(item)) {
    wrong_type(problems, name, "a whole number", item);
    return false;
  }
  double number = item->valuedouble;
  double most = (double)TAMP_MAX_INTEGER;
  bool small = number >= -most && number <= most; /* false for NaN */
  if (small && number != (double)(int64_t)number) {
    problem_open(problems, "not-integer");
    say(problems, name);
    say(problems, " must be a whole number, not a fraction");
    problem_close(problems);
    return false;
  }
  if (!small || number < (double)minimum) {
    problem_open(problems, "out-of-range");
    say(problems, name);
    bool infinite = !(number - number == 0);
    if (!small && (infinite || number > 0)) {
      say(problems,
          infinite ? " must be a number of JSON, not NaN or infinite" : " must be at most ");
      if (!infinite) say_number(problems, TAMP_MAX_INTEGER);
    } else {
      say(problems, " must be at least ");
      say_number(problems, minimum);
      if (small) {
        say(problems, number < 0 ? ", not -" : ", not ");
        say_number(problems, (uint64_t)(number < 0 ? -number : number));
      }
    }
    problem_close(problems);
    return false;
  }
  *out = (uint64_t)number;
  return true;
}

static bool read_fraction(TampProblems *problems, const char *name, const cJSON *item,
                          double *out) {
  if (!cJSON_IsNumber(item)) {
    wrong_type(problems, name, "a number", item);
    return false;
  }
  if (!(item->valuedouble > 0 && item->valuedouble <= 1)) {
    problem_open(problems, "out-of-range");
    say(problems, name);
    say(problems, " must be over 0 and at most 1");
    problem_close(problems);
    return false;
  }
  *out = item->valuedouble;
  return true;
}

static bool read_choice(TampProblems *problems, const char *name, const char *const *choices,
                        const cJSON *item, uint32_t *out) {
  if (!cJSON_IsString(item)) {
    wrong_type(problems, name, "a text", item);
    return false;
  }
  for (uint32_t i = 0; choices[i]; i++) {
    if (strcmp(choices[i], item->valuestring) == 0) {
      *out = i;
      return true;
    }
  }
  problem_open(problems, "out-of-range");
  say(problems, name);
  say(problems, " must be one of ");
  for (uint32_t i = 0; choices[i]; i++) {
    if (i > 0) say(problems, ", ");
    say_quoted(problems, choices[i]);
  }
  say(problems, ", not ");
  say_quoted(problems, item->valuestring);
  problem_close(problems);
  return false;
}

static bool read_choices(TampProblems *problems, const TampField *field, const cJSON *item,
                         uint32_t *out) {
  if (!cJSON_IsArray(item)) {
    wrong_type(problems, field->name, "a list", item);
    return false;
  }
  bool fine = true;
  uint32_t set = 0, index = 0;
  for (const cJSON *element = item->child; element; element = element->next) {
    size_t path = path_push_index(problems, index++);
    uint32_t choice;
    if (read_choice(problems, field->name, field->choices, element, &choice)) {
      set |= UINT32_C(1) << choice;
    } else {
      fine = false;
    }
    path_pop(problems, path);
  }
  *out = set;
  return fine;
}

static bool read_texts(TampProblems *problems, const char *name, const cJSON *item,
                       TampTexts *out) {
  if (!cJSON_IsArray(item)) {
    wrong_type(problems, name, "a list of texts", item);
    return false;
  }
  uint32_t count = count_items(item), index = 0;
  TampText *items = alloc(problems, count * sizeof *items);
  if (!items) return false;
  bool fine = true;
  for (const cJSON *element = item->child; element; element = element->next, index++) {
    items[index] = (TampText){0};
    if (cJSON_IsString(element)) {
      items[index] = copy_text(problems, element->valuestring);
      continue;
    }
    size_t path = path_push_index(problems, index);
    wrong_type(problems, name, "a list of texts", element);
    path_pop(problems, path);
    fine = false;
  }
  *out = (TampTexts){items, count};
  return fine;
}

static bool read_text_map(TampProblems *problems, const char *name, const cJSON *item,
                          TampTextMap *out) {
  if (!cJSON_IsObject(item)) {
    wrong_type(problems, name, "an object of texts", item);
    return false;
  }
  uint32_t count = count_items(item), index = 0;
  if (count == 0) {
    problem_open(problems, "empty");
    say(problems, name);
    say(problems, " must not be empty");
    problem_close(problems);
    return false;
  }
  TampText *keys = alloc(problems, count * sizeof *keys);
  TampText *values = alloc(problems, count * sizeof *values);
  if (!keys || !values) return false;
  bool fine = true;
  for (const cJSON *member = item->child; member; member = member->next, index++) {
    keys[index] = copy_text(problems, member->string);
    values[index] = (TampText){0};
    if (cJSON_IsString(member)) {
      values[index] = copy_text(problems, member->valuestring);
      continue;
    }
    size_t path = path_push(problems, text_of(member->string));
    wrong_type(problems, name, "an object of texts", member);
    path_pop(problems, path);
    fine = false;
  }
  *out = (TampTextMap){keys, values, count};
  return fine;
}

static TampPolicy *read_policy(TampProblems *problems, const cJSON *item);

static bool read_policies(TampProblems *problems, const char *name, const cJSON *item,
                          TampPolicy *policy) {
  if (!cJSON_IsArray(item)) {
    wrong_type(problems, name, "a list of policies", item);
    return false;
  }
  uint32_t count = count_items(item), index = 0;
  if (count == 0) {
    problem_open(problems, "empty");
    say(problems, name);
    say(problems, " must hold at least one policy");
    problem_close(problems);
    return false;
  }
  TampPolicy **children = alloc(problems, count * sizeof *children);
  if (!children) return false;
  bool fine = true;
  for (const cJSON *element = item->child; element; element = element->next) {
    size_t path = path_push_index(problems, index);
    children[index] = read_policy(problems, element);
    if (!children[index]) fine = false;
    path_pop(problems, path);
    index++;
  }
  policy->children = children;
  policy->child_count = count;
  return fine;
}

static bool read_field(TampProblems *problems, const TampField *field, const cJSON *item,
                       uint8_t *options, TampPolicy *policy) {
  void *out = options + field->offset;
  switch (field->type) {
  case TAMP_FIELD_COUNT:
    return read_count(problems, field->name, field->minimum, item, out);
  case TAMP_FIELD_FRACTION:
    return read_fraction(problems, field->name, item, out);
  case TAMP_FIELD_BOOL:
    if (cJSON_IsBool(item)) {
      *(bool *)out = cJSON_IsTrue(item);
      return true;
    }
    wrong_type(problems, field->name, "true or false", item);
    return false;
  case TAMP_FIELD_TEXT:
    if (cJSON_IsString(item)) {
      *(TampText *)out = copy_text(problems, item->valuestring);
      return true;
    }
    wrong_type(problems, field->name, "a text", item);
    return false;
  case TAMP_FIELD_CHOICE:
    return read_choice(problems, field->name, field->choices, item, out);
  case TAMP_FIELD_CHOICES:
    return read_choices(problems, field, item, out);
  case TAMP_FIELD_TEXTS:
    return read_texts(problems, field->name, item, out);
  case TAMP_FIELD_TEXT_MAP:
    return read_text_map(problems, field->name, item, out);
  case TAMP_FIELD_POLICIES:
    return read_policies(problems, field->name, item, policy);
  }
  return false;
}

/* ── Triggers ──────────────────────────────────────────────────────────────────────────────── */

static const char *const conditions[] = {
    [TAMP_WHEN_TOKENS_OVER] = "tokensOver",
    [TAMP_WHEN_MESSAGES_OVER] = "messagesOver",
    [TAMP_WHEN_BYTES_OVER] = "bytesOver",
    [TAMP_WHEN_TURNS_OVER] = "turnsOver",
    [TAMP_WHEN_GROUPS_OVER] = "groupsOver",
    [TAMP_WHEN_HAS_TOOL_CALLS] = "hasToolCalls",
    [TAMP_WHEN_ALL] = "all",
    [TAMP_WHEN_ANY] = "any",
};

enum { CONDITIONS = sizeof conditions / sizeof *conditions };

static bool enter(TampProblems *problems) {
  if (problems->depth < TAMP_MAX_POLICY_DEPTH) {
    problems->depth++;
    return true;
  }
  problem_open(problems, "out-of-range");
  say(problems, "policies and conditions may be nested at most ");
  say_number(problems, TAMP_MAX_POLICY_DEPTH);
  say(problems, " deep");
  problem_close(problems);
  return false;
}

static void read_trigger(TampProblems *problems, const cJSON *item, TampTrigger *out);

static void read_triggers(TampProblems *problems, const char *name, const cJSON *item,
                          TampTrigger *out) {
  if (!cJSON_IsArray(item)) {
    wrong_type(problems, name, "a list of conditions", item);
    return;
  }
  uint32_t count = count_items(item), index = 0;
  if (count == 0) {
    problem_open(problems, "empty");
    say(problems, name);
    say(problems, " must hold at least one condition");
    problem_close(problems);
    return;
  }
  TampTrigger *items = alloc(problems, count * sizeof *items);
  if (!items) return;
  for (const cJSON *element = item->child; element; element = element->next, index++) {
    size_t path = path_push_index(problems, index);
    read_trigger(problems, element, &items[index]);
    path_pop(problems, path);
  }
  out->items = items;
  out->count = count;
}

static void read_condition(TampProblems *problems, TampTriggerKind kind, const cJSON *item,
                           TampTrigger *out) {
  const char *name = conditions[kind];
  out->kind = kind;
  switch (kind) {
  case TAMP_WHEN_HAS_TOOL_CALLS:
    if (!cJSON_IsBool(item)) {
      wrong_type(problems, name, "true", item);
    } else if (!cJSON_IsTrue(item)) {
      problem(problems, "out-of-range", "hasToolCalls must be true, not false");
    }
    return;
  case TAMP_WHEN_ALL:
  case TAMP_WHEN_ANY:
    read_triggers(problems, name, item, out);
    return;
  default:
    read_count(problems, name, 0, item, &out->over);
  }
}

static void read_trigger(TampProblems *problems, const cJSON *item, TampTrigger *out) {
  *out = (TampTrigger){0};
  if (!cJSON_IsObject(item)) {
    wrong_type(problems, "a condition", "an object", item);
    return;
  }
  if (!item->child) {
    problem(problems, "empty", "a condition must say what it waits for");
    return;
  }
  if (!enter(problems)) return;
  const cJSON *given[CONDITIONS] = {0};
  uint32_t count = 0;
  for (const cJSON *member = item->child; member; member = member->next) {
    size_t kind = 0;
    while (kind < CONDITIONS && strcmp(conditions[kind], member->string) != 0) kind++;
    if (kind < CONDITIONS) {
      if (!given[kind]) count++;
      given[kind] = member;
      continue;
    }
    size_t path = path_push(problems, text_of(member->string));
    problem_open(problems, "unknown-key");
    say(problems, "there is no condition ");
    say_quoted(problems, member->string);
    problem_close(problems);
    path_pop(problems, path);
  }
  if (count > 1) {
    problem_open(problems, "conflict");
    say(problems, "one condition only, not ");
    say_number(problems, count);
    say(problems, ": use \"all\" or \"any\" for several");
    problem_close(problems);
  }
  for (uint32_t kind = 0; kind < CONDITIONS; kind++) {
    if (!given[kind]) continue;
    size_t path = path_push(problems, text_of(conditions[kind]));
    read_condition(problems, (TampTriggerKind)kind, given[kind], out);
    path_pop(problems, path);
  }
  problems->depth--;
}

/* ── Policies ──────────────────────────────────────────────────────────────────────────────── */

static void unknown_key(TampProblems *problems, const TampStrategy *strategy, const char *key) {
  size_t path = path_push(problems, text_of(key));
  problem_open(problems, "unknown-key");
  say(problems, strategy->name);
  say(problems, " has no option ");
  say_quoted(problems, key);
  for (size_t i = 0; i < strategy->field_count; i++) {
    say(problems, i == 0 ? "; it has " : ", ");
    say(problems, strategy->fields[i].name);
  }
  problem_close(problems);
  path_pop(problems, path);
}

static const TampStrategy *read_strategy_name(TampProblems *problems, const cJSON *object) {
  const cJSON *name = NULL;
  for (const cJSON *member = object->child; member; member = member->next) {
    if (strcmp(member->string, "strategy") == 0) name = member;
  }
  const TampStrategy *strategy =
      name && cJSON_IsString(name) ? tamp_strategy_named(name->valuestring) : NULL;
  if (strategy) return strategy;
  size_t path = path_push(problems, TAMP_TEXT("strategy"));
  if (!name) {
    problem(problems, "missing", "a policy must name its strategy");
  } else if (!cJSON_IsString(name)) {
    wrong_type(problems, "strategy", "a text", name);
  } else {
    problem_open(problems, "unknown-strategy");
    say(problems, "there is no strategy ");
    say_quoted(problems, name->valuestring);
    for (size_t i = 0; tamp_strategy_at(i); i++) {
      say(problems, i == 0 ? "; there are " : ", ");
      say(problems, tamp_strategy_at(i)->name);
    }
    problem_close(problems);
  }
  path_pop(problems, path);
  return NULL;
}

static void read_strategy(TampProblems *problems, const cJSON *object, const TampStrategy *strategy,
                          TampPolicy *policy) {
  const cJSON *given[MOST_FIELDS] = {0};
  uint8_t states[MOST_FIELDS] = {0};
  const cJSON *when = NULL;
  for (const cJSON *member = object->child; member; member = member->next) {
    /* Of members with one name the last counts, as in JSON.parse. */
    if (strcmp(member->string, "strategy") == 0) continue;
    if (strcmp(member->string, "when") == 0) {
      when = member;
      continue;
    }
    size_t i = 0;
    while (i < strategy->field_count && strcmp(strategy->fields[i].name, member->string) != 0) i++;
    if (i < strategy->field_count) {
      given[i] = member;
    } else {
      unknown_key(problems, strategy, member->string);
    }
  }
  uint8_t *options = alloc(problems, strategy->options_size);
  if (!options) return;
  if (strategy->options_size > 0) memcpy(options, strategy->defaults, strategy->options_size);
  for (size_t i = 0; i < strategy->field_count; i++) {
    const TampField *field = &strategy->fields[i];
    if (!given[i] && !field->required) continue;
    size_t path = path_push(problems, text_of(field->name));
    if (!given[i]) {
      problem_open(problems, "missing");
      say(problems, strategy->name);
      say(problems, " needs ");
      say(problems, field->name);
      problem_close(problems);
      states[i] = FIELD_BAD;
    } else {
      bool fine = read_field(problems, field, given[i], options, policy);
      states[i] = fine ? FIELD_GIVEN : FIELD_GIVEN | FIELD_BAD;
    }
    path_pop(problems, path);
  }
  if (when) {
    TampTrigger *trigger = alloc(problems, sizeof *trigger);
    if (!trigger) return;
    size_t path = path_push(problems, TAMP_TEXT("when"));
    read_trigger(problems, when, trigger);
    path_pop(problems, path);
    policy->when = trigger;
  }
  policy->strategy = strategy;
  policy->options = options;
  if (strategy->check) {
    problems->strategy = strategy;
    problems->states = states;
    strategy->check(options, problems);
    problems->strategy = NULL;
    problems->states = NULL;
  }
}

/* NULL when the policy had a problem or memory ran out; either was noted in `problems`. */
static TampPolicy *read_policy(TampProblems *problems, const cJSON *item) {
  uint32_t count = problems->count;
  if (!cJSON_IsArray(item) && !cJSON_IsObject(item)) {
    wrong_type(problems, "a policy", "an object or a list of policies", item);
    return NULL;
  }
  if (!enter(problems)) return NULL;
  TampPolicy *policy = alloc(problems, sizeof *policy);
  if (policy) {
    *policy = (TampPolicy){.number = problems->numbered++};
    if (cJSON_IsArray(item)) {
      read_policies(problems, "a pipeline", item, policy);
    } else {
      const TampStrategy *strategy = read_strategy_name(problems, item);
      if (strategy) read_strategy(problems, item, strategy, policy);
    }
  }
  problems->depth--;
  return problems->status || problems->count > count ? NULL : policy;
}

TampStatus tamp_policy_read(TampText json, TampArena *arena, const TampPolicy **policy,
                            TampText *problems) {
  TampProblems found = {.arena = arena, .writer = tamp_writer(arena)};
  *policy = NULL;
  *problems = (TampText){0};
  tamp_writer_raw(&found.writer, TAMP_TEXT("["));
  TampStatus status = walk(&found, json);
  if (!status && found.count == 0) {
    cJSON *tree = cJSON_ParseWithLengthOpts((const char *)json.bytes, json.length, NULL, 0);
    if (!tree) return TAMP_NO_MEMORY;
    TampPolicy *root = read_policy(&found, tree);
    if (root) root->number_count = found.numbered;
    *policy = root;
    cJSON_Delete(tree);
    status = found.status;
  }
  tamp_writer_raw(&found.writer, TAMP_TEXT("]"));
  if (!status) status = tamp_writer_finish(&found.writer, problems);
  if (!status && found.count > 0) status = TAMP_BAD_POLICY;
  if (status) *policy = NULL;
  return status;
}

bool tamp_policy_asks(const TampPolicy *policy) {
  if (policy->strategy && policy->strategy->asks) return true;
  for (uint32_t i = 0; i < policy->child_count; i++) {
    if (tamp_policy_asks(policy->children[i])) return true;
  }
  return false;
}

static bool trigger_weighs(const TampTrigger *when) {
  if (when->kind == TAMP_WHEN_TOKENS_OVER) return true;
  for (uint32_t i = 0; i < when->count; i++) {
    if (trigger_weighs(&when->items[i])) return true;
  }
  return false;
}

bool tamp_policy_weighs(const TampPolicy *policy) {
  const TampStrategy *strategy = policy->strategy;
  if (policy->when && trigger_weighs(policy->when)) return true;
  if (strategy && (!strategy->weighs || strategy->weighs(policy->options))) return true;
  for (uint32_t i = 0; i < policy->child_count; i++) {
    if (tamp_policy_weighs(policy->children[i])) return true;
  }
  return false;
}
