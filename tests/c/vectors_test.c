/* The rules as data, run natively: every case of tests/vectors that is the core's to answer. The bytes of a
 * message in the file are its bytes in a limit, so messages go in as they stand there; cJSON reads the
 * expectations. tests/vectors/README.md says what a case means, tests/unit/vectors.test.js runs the same cases
 * through JavaScript. Left out, and counted: `event` cases and a summarizer that throws, which never reach C. */
#include <cJSON.h>
#include <dirent.h>
#include <stdlib.h>

#include "../../src/tamp.h"
#include "test.h"

#define FOLDER "tests/vectors"
#define MAX_ANSWERS 64u

/* ── Files and texts ──────────────────────────────────────────────────────────────────────────────────── */

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  char *bytes = size < 0 ? NULL : malloc((size_t)size + 1);
  if (bytes != NULL) {
    *length = fread(bytes, 1, (size_t)size, file);
    bytes[*length] = '\0';
  }
  fclose(file);
  return bytes;
}

static TampText text_of(const char *string) {
  return (TampText){(const uint8_t *)string, strlen(string)};
}

static TampText span(const char *text, TampValue value) {
  return (TampText){(const uint8_t *)text + value.at, value.length};
}

static cJSON *parse(TampText text) {
  return cJSON_ParseWithLength((const char *)text.bytes, text.length);
}

static const cJSON *get(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *string_of(const cJSON *value) {
  const char *string = cJSON_GetStringValue(value);
  return string == NULL ? "" : string;
}

/* A condition with what it was about, since one line stands for many cases. */
static bool expect(bool held, const char *what, const char *detail) {
  if (!held) {
    fprintf(stderr, "  %s: %s%s%s\n", test_state.title, what, detail[0] == '\0' ? "" : ": ", detail);
    test_state.failures++;
  }
  return held;
}

/* ── Counters ─────────────────────────────────────────────────────────────────────────────────────────── */

static int64_t count_chars(void *context, TampText text) {
  (void)context;
  int64_t count = 0;
  for (size_t i = 0; i < text.length; i++) count += (text.bytes[i] & 0xC0) != 0x80;
  return count;
}

static int64_t count_words(void *context, TampText text) {
  (void)context;
  int64_t count = 0;
  bool inside = false;
  for (size_t i = 0; i < text.length; i++) {
    const uint8_t byte = text.bytes[i];
    const bool blank = byte == ' ' || (byte >= '\t' && byte <= '\r');
    if (!blank && !inside) count++;
    inside = !blank;
  }
  return count;
}

static int64_t count_ten(void *context, TampText text) {
  (void)context;
  (void)text;
  return 10;
}

/* ── Options ──────────────────────────────────────────────────────────────────────────────────────────── */

typedef struct Options {
  TampOptions core;
  TampText pins[16];
} Options;

static uint64_t integer_of(const cJSON *value) {
  const double number = cJSON_IsNumber(value) ? value->valuedouble : 0;
  return number > 0 ? (uint64_t)number : 0;
}

static void read_options(const cJSON *options, Options *out) {
  *out = (Options){0};
  const char *counter = string_of(get(options, "countTokens"));
  if (strcmp(counter, "chars") == 0) out->core.counter.count = count_chars;
  if (strcmp(counter, "words") == 0) out->core.counter.count = count_words;
  if (strcmp(counter, "ten") == 0) out->core.counter.count = count_ten;
  out->core.reserved_tokens = integer_of(get(options, "reservedTokens"));
  const cJSON *usage = get(options, "usage");
  if (usage != NULL) {
    out->core.has_usage = true;
    out->core.usage_message = text_of(string_of(get(usage, "messageId")));
    out->core.usage_input = integer_of(get(usage, "inputTokens"));
    out->core.usage_output = integer_of(get(usage, "outputTokens"));
  }
  const cJSON *pin;
  cJSON_ArrayForEach(pin, get(options, "pin")) {
    if (out->core.pin_count < sizeof out->pins / sizeof *out->pins) {
      out->pins[out->core.pin_count++] = text_of(string_of(pin));
    }
  }
  out->core.pins = out->pins;
}

/* ── Running a policy, asking the stub for summaries ──────────────────────────────────────────────────── */

typedef struct Asked {
  uint32_t count;
  cJSON *ids;      /* of the covered messages of the first request */
  cJSON *previous; /* text of the first request's earlier summary, or JSON null */
  cJSON *text;     /* of the first request */
} Asked;

static cJSON *string_from(TampText text) {
  char *copy = malloc(text.length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text.bytes, text.length);
  copy[text.length] = '\0';
  cJSON *string = cJSON_CreateString(copy);
  free(copy);
  return string;
}

static void remember_question(TampHistory *history, const TampQuestion *question, Asked *asked) {
  if (asked->count++ > 0) return;
  asked->ids = cJSON_CreateArray();
  for (uint32_t i = 0; i < question->count; i++) {
    cJSON *message = question->origins[i] == TAMP_NONE
                         ? NULL
                         : parse(tamp_history_message(history, question->origins[i]));
    cJSON_AddItemToArray(asked->ids, cJSON_CreateString(string_of(get(message, "id"))));
    cJSON_Delete(message);
  }
  asked->previous = question->has_previous ? string_from(question->previous) : cJSON_CreateNull();
  asked->text = string_from(question->text);
}

static void asked_free(Asked *asked) {
  cJSON_Delete(asked->ids);
  cJSON_Delete(asked->previous);
  cJSON_Delete(asked->text);
}

static TampStatus run(TampHistory *history, const TampPolicy *policy, const Options *options,
                      const cJSON *summary, Asked *asked, TampPlan **plan) {
  TampAnswer answers[MAX_ANSWERS];
  for (uint32_t count = 0;; count++) {
    const TampStatus status = tamp_history_plan(history, tamp_history_length(history), policy,
                                                &options->core, answers, count, plan);
    if (status != TAMP_NEEDS_SUMMARY) return status;
    remember_question(history, tamp_plan_question(*plan), asked);
    tamp_plan_free(*plan);
    *plan = NULL;
    if (!expect(count < MAX_ANSWERS, "the stub is not asked for ever", "")) return TAMP_BAD_ARGUMENT;
    answers[count] =
        (TampAnswer){text_of(string_of(summary)), !cJSON_IsString(summary)};
  }
}

/* ── What a plan must be ──────────────────────────────────────────────────────────────────────────────── */

/* Arguments of calls are compared as JSON. */
static void parse_arguments(cJSON *calls) {
  cJSON *call;
  cJSON_ArrayForEach(call, calls) {
    cJSON *function = cJSON_GetObjectItemCaseSensitive(call, "function");
    cJSON *parsed = cJSON_Parse(string_of(get(function, "arguments")));
    if (parsed != NULL) cJSON_ReplaceItemInObjectCaseSensitive(function, "arguments", parsed);
  }
}

static void check_fields(const cJSON *message, const cJSON *fields) {
  const cJSON *field;
  cJSON_ArrayForEach(field, fields) {
    cJSON *found = cJSON_Duplicate(get(message, field->string), true);
    cJSON *wanted = cJSON_Duplicate(field, true);
    if (strcmp(field->string, "toolCalls") == 0) {
      parse_arguments(found);
      parse_arguments(wanted);
    }
    const bool same = cJSON_IsNull(field) ? found == NULL : cJSON_Compare(found, wanted, true);
    char *printed = cJSON_PrintUnformatted(message);
    expect(same, field->string, printed == NULL ? "" : printed);
    free(printed);
    cJSON_Delete(found);
    cJSON_Delete(wanted);
  }
}

static TampText result_message(TampHistory *history, const TampPlanView *view, uint32_t position) {
  const uint32_t value = view->order[position];
  if (value < TAMP_PLAN_TEXT) return tamp_history_message(history, value);
  const TampPlanText *text = &view->texts[value - TAMP_PLAN_TEXT];
  return (TampText){text->bytes, text->length};
}

static void check_numbers(const cJSON *wanted, const TampPlanView *view) {
  const cJSON *value = get(wanted, "before");
  if (value != NULL) expect(view->before == (uint32_t)value->valueint, "before", "");
  value = get(wanted, "after");
  if (value != NULL) expect(view->after == (uint32_t)value->valueint, "after", "");
  value = get(wanted, "removed");
  if (value != NULL) {
    expect((int64_t)view->before - view->after == value->valueint, "removed", "");
  }
  value = get(wanted, "changed");
  expect(view->changed == (bool)cJSON_IsTrue(value), "changed", "");
  value = get(wanted, "fits");
  if (value != NULL) expect(view->fits == (bool)cJSON_IsTrue(value), "fits", "");
}

/* Kept, dropped and rewritten add up to the input. */
static void check_accounts(const TampPlanView *view) {
  uint32_t reasons = 0, kept = 0, rewritten = 0;
  for (uint32_t i = 0; i < view->input_count; i++) reasons += view->reasons[i] != NULL;
  for (uint32_t i = 0; i < view->count; i++) kept += view->order[i] < TAMP_PLAN_TEXT;
  for (uint32_t i = 0; i < view->text_count; i++) {
    rewritten += view->texts[i].origin != TAMP_NONE;
    expect(view->texts[i].reason != NULL, "a rewritten or added message has a reason", "");
  }
  expect(kept + reasons == view->input_count, "kept, dropped and rewritten add up", "");
  expect(kept + view->text_count == view->count, "every text stands in the result", "");
  expect(rewritten <= reasons, "a rewritten message has a reason", "");
}

static void check_result(TampHistory *history, const cJSON *wanted, const TampPlanView *view) {
  cJSON *ids = cJSON_CreateArray();
  const cJSON *rewritten = get(wanted, "rewritten");
  const cJSON *added = get(wanted, "added");
  for (uint32_t i = 0; i < view->count; i++) {
    cJSON *message = parse(result_message(history, view, i));
    const char *id = string_of(get(message, "id"));
    cJSON_AddItemToArray(ids, cJSON_CreateString(id));
    const bool own = view->order[i] < TAMP_PLAN_TEXT;
    expect(own == (get(rewritten, id) == NULL && get(added, id) == NULL) || added == NULL,
           "only what is expected is written", id);
    if (get(rewritten, id) != NULL) {
      expect(!own, "it is written anew", id);
      check_fields(message, get(rewritten, id));
    }
    if (get(added, id) != NULL) check_fields(message, get(added, id));
    cJSON_Delete(message);
  }
  char *got = cJSON_PrintUnformatted(ids);
  expect(cJSON_Compare(ids, get(wanted, "ids"), true), "ids", got == NULL ? "" : got);
  free(got);
  cJSON_Delete(ids);
}

static void check_questions(const cJSON *wanted, const Asked *asked) {
  const cJSON *calls = get(wanted, "summarizeCalls");
  if (cJSON_IsNumber(calls)) expect(asked->count == (uint32_t)calls->valueint, "summarizeCalls", "");
  if (cJSON_IsObject(calls)) {
    expect(asked->count >= (uint32_t)get(calls, "atLeast")->valueint, "summarizeCalls", "");
  }
  if (get(wanted, "previousSummary") != NULL) {
    expect(cJSON_Compare(asked->previous, get(wanted, "previousSummary"), true), "previousSummary", "");
  }
  if (get(wanted, "requestIds") != NULL) {
    expect(cJSON_Compare(asked->ids, get(wanted, "requestIds"), true), "requestIds", "");
  }
  const cJSON *part;
  cJSON_ArrayForEach(part, get(wanted, "textIncludes")) {
    expect(strstr(string_of(asked->text), string_of(part)) != NULL, "textIncludes", string_of(part));
  }
}

/* Compacting the result again changes nothing. */
static void check_again(TampHistory *history, const TampPlanView *view, const TampPolicy *policy,
                        const Options *options, const cJSON *summary) {
  TampHistory *again = NULL;
  if (tamp_history_new(tamp_default_allocator(), &tamp_format_ag_ui, &again) != TAMP_OK) return;
  for (uint32_t i = 0; i < view->count; i++) {
    const TampText message = result_message(history, view, i);
    uint8_t *room;
    size_t capacity;
    TampFault fault;
    if (!expect(tamp_history_room(again, message.length, 0, &room, &capacity) == TAMP_OK, "room", "")) {
      break;
    }
    memcpy(room, message.bytes, message.length);
    expect(tamp_history_append(again, message.length, false, &fault) == TAMP_OK,
           "what was written is a message", "");
  }
  Asked asked = {0};
  TampPlan *plan = NULL;
  if (expect(run(again, policy, options, summary, &asked, &plan) == TAMP_OK, "a second run", "")) {
    expect(!tamp_plan_view(plan)->changed, "compacting the result again changes nothing", "");
  }
  tamp_plan_free(plan);
  asked_free(&asked);
  tamp_history_free(again);
}

/* ── The kinds of cases ───────────────────────────────────────────────────────────────────────────────── */

static TampHistory *read_messages(TampText messages, const cJSON *wanted) {
  TampHistory *history = NULL;
  uint32_t index = TAMP_NONE;
  TampFault fault = {0};
  if (!CHECK(tamp_history_new(tamp_default_allocator(), &tamp_format_ag_ui, &history) == TAMP_OK)) {
    return NULL;
  }
  const TampStatus status = tamp_history_append_array(history, messages, &index, &fault);
  const cJSON *error = get(wanted, "error");
  if (error == NULL && expect(status == TAMP_OK, "the messages are read", "")) return history;
  if (error != NULL) {
    expect(status == TAMP_BAD_MESSAGE, "a message that is none", "");
    expect(index == (uint32_t)get(error, "index")->valueint, "its index", "");
    expect(tamp_history_length(history) == 0, "nothing half done", "");
  }
  tamp_history_free(history);
  return NULL;
}

static void run_compaction(TampText messages, TampText policy_text, const cJSON *vector) {
  const cJSON *wanted = get(vector, "expect");
  TampHistory *history = read_messages(messages, wanted);
  if (history == NULL) return;
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  const TampPolicy *policy;
  TampText problems;
  Options options;
  read_options(get(vector, "options"), &options);
  if (expect(tamp_policy_read(policy_text, &arena, &policy, &problems) == TAMP_OK, "a good policy", "")) {
    const cJSON *summary = get(get(vector, "options"), "summary");
    Asked asked = {0};
    TampPlan *plan = NULL;
    if (expect(run(history, policy, &options, summary, &asked, &plan) == TAMP_OK, "a plan", "")) {
      const TampPlanView *view = tamp_plan_view(plan);
      check_result(history, wanted, view);
      check_numbers(wanted, view);
      check_accounts(view);
      check_questions(wanted, &asked);
      if (!options.core.has_usage) check_again(history, view, policy, &options, summary);
    }
    tamp_plan_free(plan);
    asked_free(&asked);
  }
  tamp_arena_free(&arena);
  tamp_history_free(history);
}

/* Ids of the messages of an array of indices. */
static cJSON *ids_of(TampHistory *history, const cJSON *indices) {
  cJSON *ids = cJSON_CreateArray();
  const cJSON *index;
  cJSON_ArrayForEach(index, indices) {
    cJSON *message = parse(tamp_history_message(history, (uint32_t)index->valueint));
    cJSON_AddItemToArray(ids, cJSON_CreateString(string_of(get(message, "id"))));
    cJSON_Delete(message);
  }
  return ids;
}

/* The same items, in any order. */
static bool same_set(const cJSON *one, const cJSON *other) {
  if (cJSON_GetArraySize(one) != cJSON_GetArraySize(other)) return false;
  const cJSON *item;
  cJSON_ArrayForEach(item, one) {
    int here = 0, there = 0;
    const cJSON *each;
    cJSON_ArrayForEach(each, one) here += cJSON_Compare(each, item, true);
    cJSON_ArrayForEach(each, other) there += cJSON_Compare(each, item, true);
    if (here != there) return false;
  }
  return true;
}

static void check_inspection(TampHistory *history, const cJSON *wanted, const cJSON *inspection) {
  cJSON *groups = cJSON_CreateArray();
  cJSON *pending = cJSON_CreateArray();
  cJSON *kept = cJSON_CreateArray();
  cJSON *problems = cJSON_CreateArray();
  const cJSON *item;
  cJSON_ArrayForEach(item, get(inspection, "groups")) {
    cJSON *ids = ids_of(history, get(item, "indices"));
    const bool activity = strcmp(string_of(get(item, "kind")), "activity") == 0;
    const cJSON *id;
    cJSON_ArrayForEach(id, ids) {
      if (activity) continue;
      if (cJSON_IsTrue(get(item, "pending"))) cJSON_AddItemToArray(pending, cJSON_Duplicate(id, true));
      if (cJSON_IsTrue(get(item, "protected"))) cJSON_AddItemToArray(kept, cJSON_Duplicate(id, true));
    }
    cJSON *group = cJSON_CreateObject();
    cJSON_AddStringToObject(group, "kind", string_of(get(item, "kind")));
    cJSON_AddItemToObject(group, "ids", ids);
    cJSON_AddItemToArray(groups, group);
  }
  cJSON_ArrayForEach(item, get(inspection, "problems")) {
    cJSON *problem = cJSON_CreateObject();
    cJSON_AddStringToObject(problem, "kind", string_of(get(item, "kind")));
    const int index = get(item, "index")->valueint;
    if (index >= 0) {
      cJSON *message = parse(tamp_history_message(history, (uint32_t)index));
      cJSON_AddStringToObject(problem, "id", string_of(get(message, "id")));
      cJSON_Delete(message);
    }
    cJSON_AddItemToArray(problems, problem);
  }
  char *printed = cJSON_PrintUnformatted(inspection);
  const char *detail = printed == NULL ? "" : printed;
  if (get(wanted, "groups") != NULL) {
    expect(cJSON_Compare(groups, get(wanted, "groups"), true), "groups", detail);
  }
  if (get(wanted, "problems") != NULL) {
    expect(same_set(problems, get(wanted, "problems")), "problems", detail);
  }
  if (get(wanted, "pending") != NULL) {
    expect(same_set(pending, get(wanted, "pending")), "pending", detail);
  }
  if (get(wanted, "protected") != NULL) {
    expect(same_set(kept, get(wanted, "protected")), "protected", detail);
  }
  if (get(wanted, "turns") != NULL) {
    expect(cJSON_Compare(get(inspection, "turns"), get(wanted, "turns"), true), "turns", detail);
  }
  if (get(wanted, "count") != NULL) {
    expect(cJSON_Compare(get(inspection, "messages"), get(wanted, "count"), true), "count", detail);
  }
  free(printed);
  cJSON_Delete(groups);
  cJSON_Delete(pending);
  cJSON_Delete(kept);
  cJSON_Delete(problems);
}

static void run_reading(TampText messages, const cJSON *vector) {
  const cJSON *wanted = get(vector, "expect");
  TampHistory *history = read_messages(messages, wanted);
  if (history == NULL) return;
  Options options;
  read_options(get(vector, "options"), &options);
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  TampText json;
  if (expect(tamp_history_inspect(history, &options.core, &arena, &json) == TAMP_OK, "inspect", "")) {
    cJSON *inspection = parse(json);
    if (expect(inspection != NULL, "an inspection is JSON", "")) {
      check_inspection(history, wanted, inspection);
    }
    cJSON_Delete(inspection);
  }
  if (get(wanted, "tokens") != NULL) {
    uint64_t tokens = 0;
    expect(tamp_history_tokens(history, &options.core, &tokens) == TAMP_OK, "tokens are counted", "");
    expect(tokens == (uint64_t)get(wanted, "tokens")->valuedouble, "tokens", "");
  }
  tamp_arena_free(&arena);
  tamp_history_free(history);
}

static void run_policy(TampText policy_text, const cJSON *vector) {
  const cJSON *wanted = get(get(vector, "expect"), "problems");
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  const TampPolicy *policy;
  TampText problems;
  const TampStatus status = tamp_policy_read(policy_text, &arena, &policy, &problems);
  const bool good = cJSON_GetArraySize(wanted) == 0;
  expect(status == (good ? TAMP_OK : TAMP_BAD_POLICY), "whether it is a good policy", "");
  if (status == TAMP_OK || status == TAMP_BAD_POLICY) {
    cJSON *found = parse(problems);
    cJSON *problem;
    cJSON_ArrayForEach(problem, found) {
      expect(string_of(get(problem, "message"))[0] != '\0', "a problem has a sentence", "");
      cJSON_DeleteItemFromObjectCaseSensitive(problem, "message");
    }
    char *printed = cJSON_PrintUnformatted(found);
    expect(same_set(found, wanted), "problems", printed == NULL ? "" : printed);
    free(printed);
    cJSON_Delete(found);
  }
  tamp_arena_free(&arena);
}

/* ── Files ────────────────────────────────────────────────────────────────────────────────────────────── */

typedef struct Tally {
  int run;
  int left_out;
} Tally;

static void run_case(const char *file, const char *text, TampValue whole, Tally *tally) {
  enum { MESSAGES, POLICY, EVENT, MEMBERS };
  static const char *const names[MEMBERS] = {"messages", "policy", "event"};
  TampText name_texts[MEMBERS];
  for (size_t i = 0; i < MEMBERS; i++) name_texts[i] = text_of(names[i]);
  TampValue members[MEMBERS];
  tamp_value_members((const uint8_t *)text, whole, name_texts, MEMBERS, members);
  cJSON *vector = parse(span(text, whole));
  if (!CHECK(vector != NULL)) return;
  const bool has_messages = members[MESSAGES].type != TAMP_JSON_NOTHING;
  const bool has_policy = members[POLICY].type != TAMP_JSON_NOTHING;
  char title[256];
  snprintf(title, sizeof title, "%s: %s", file, string_of(get(vector, "name")));
  TEST(title);
  if (members[EVENT].type != TAMP_JSON_NOTHING ||
      get(get(vector, "options"), "summaryThrows") != NULL) {
    test_state.tests--;
    tally->left_out++;
  } else {
    tally->run++;
    if (!has_messages) {
      run_policy(span(text, members[POLICY]), vector);
    } else if (has_policy) {
      run_compaction(span(text, members[MESSAGES]), span(text, members[POLICY]), vector);
    } else {
      run_reading(span(text, members[MESSAGES]), vector);
    }
  }
  cJSON_Delete(vector);
}

static void run_file(const char *name, Tally *tally) {
  char path[512];
  snprintf(path, sizeof path, FOLDER "/%s", name);
  size_t length = 0;
  char *text = read_file(path, &length);
  if (!CHECK(text != NULL)) return;
  TampCursor cursor = tamp_cursor((const uint8_t *)text, 0, length, false);
  const TampText cases_name = TAMP_TEXT("cases");
  TampValue cases;
  if (CHECK(tamp_cursor_members(&cursor, &cases_name, 1, &cases, NULL))) {
    uint32_t state = 0;
    TampValue vector;
    while (tamp_value_next((const uint8_t *)text, cases, &state, &vector)) {
      run_case(name, text, vector, tally);
    }
  }
  free(text);
}

static int compare_names(const void *one, const void *other) {
  return strcmp(*(char *const *)one, *(char *const *)other);
}

int main(void) {
  TEST("the vectors are there");
  DIR *folder = opendir(FOLDER);
  if (!CHECK(folder != NULL)) return test_end();
  char *names[64];
  size_t count = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    const char *dot = strrchr(entry->d_name, '.');
    if (dot == NULL || strcmp(dot, ".json") != 0 || count == sizeof names / sizeof *names) continue;
    const size_t size = strlen(entry->d_name) + 1;
    names[count] = malloc(size);
    if (names[count] != NULL) memcpy(names[count++], entry->d_name, size);
  }
  closedir(folder);
  CHECK(count > 0);
  qsort(names, count, sizeof *names, compare_names);
  Tally tally = {0};
  for (size_t i = 0; i < count; i++) {
    run_file(names[i], &tally);
    free(names[i]);
  }
  TEST("every vector that is the core's was run");
  CHECK(tally.run > 400);
  printf("%d cases run, %d left to JavaScript\n", tally.run, tally.left_out);
  return test_end();
}
