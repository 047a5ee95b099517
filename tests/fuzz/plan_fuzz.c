/* A history, a policy and options spelled by the grammar: whatever they are, what comes out holds strategies.md §5.
 * It is judged here from the resulting messages alone, read anew, and not by the check inside the core, which must
 * never have found anything wrong itself. SHOW=1 in the environment prints what an input spells. */
#include "../../src/strategies/strategy.h"
#include "grammar.h"

enum { MOST_MESSAGES = 48, MOST_ANSWERS = 64 };

/* ── Policies ─────────────────────────────────────────────────────────────────────────────────────────── */

static void put_count(Buffer *buffer, const char *name, uint64_t number) {
  put(buffer, ",\"");
  put(buffer, name);
  put(buffer, "\":");
  put_number(buffer, number);
}

/* A limit and what is kept below it: two members, or the second alone. */
static void put_limit(Buffer *buffer, Input *input, const char *max, const char *keep, uint32_t unit) {
  uint64_t kept = (uint64_t)take(input, 24) * unit;
  if (max) put_count(buffer, max, kept + 1 + take(input, 16) * unit);
  put_count(buffer, keep, kept);
}

static void put_when(Buffer *buffer, Input *input) {
  static const char *const conditions[] = {
      "{\"messagesOver\":4}", "{\"tokensOver\":60}", "{\"hasToolCalls\":true}", "{\"turnsOver\":1}",
      "{\"any\":[{\"groupsOver\":3},{\"all\":[{\"bytesOver\":99},{\"hasToolCalls\":true}]}]}"};
  uint32_t kind = take(input, 20);
  if (kind >= 5) return;
  put(buffer, ",\"when\":");
  put(buffer, conditions[kind]);
}

static void put_policy(Buffer *buffer, Input *input, uint32_t depth);

static void put_policies(Buffer *buffer, Input *input, uint32_t depth) {
  put(buffer, "[");
  for (uint32_t count = 1 + take(input, 3);;) {
    put_policy(buffer, input, depth + 1);
    if (--count == 0) break;
    put(buffer, ",");
  }
  put(buffer, "]");
}

static void put_keep_first(Buffer *buffer, Input *input) {
  if (take(input, 2)) put(buffer, ",\"keepFirstUser\":false");
}

static void put_summary_options(Buffer *buffer, Input *input) {
  switch (take(input, 5)) {
    case 0:
      put_limit(buffer, input, "maxMessages", "keepMessages", 1);
      break;
    case 1:
      put_limit(buffer, input, "maxTokens", "keepTokens", 10);
      break;
    default:
      put_count(buffer, "keepMessages", take(input, 5));
  }
  put_keep_first(buffer, input);
  static const char *const roles[] = {"user", "assistant", "system"};
  put(buffer, ",\"role\":\"");
  put(buffer, roles[take(input, 3)]);
  put(buffer, "\"");
  if (take(input, 4) == 1) put_count(buffer, "maxSummaryTokens", 1 + take(input, 60));
}

static void put_policy(Buffer *buffer, Input *input, uint32_t depth) {
  uint32_t kind = take(input, depth < 2 ? 16 : 13);
  if (kind >= 14) {
    put_policies(buffer, input, depth);
    return;
  }
  put(buffer, "{\"strategy\":\"");
  switch (kind) {
    case 0: {
      static const char *const keeps[] = {"keepMessages", "keepGroups", "keepTurns"};
      put(buffer, "sliding-window\"");
      uint32_t keep = take(input, 4);
      if (keep == 3) {
        put_limit(buffer, input, take(input, 2) ? "maxTokens" : NULL, "keepTokens", 10);
      } else {
        put_count(buffer, keeps[keep], take(input, 6));
        if (take(input, 3) == 1) put_count(buffer, "maxTokens", 1 + take(input, 250));
        if (take(input, 3) == 1) put_count(buffer, "maxBytes", 1 + 16 * take(input, 250));
      }
      put_keep_first(buffer, input);
      break;
    }
    case 1: {
      static const char *const pairs[][2] = {
          {"maxTokens", "toTokens"}, {"maxMessages", "toMessages"}, {"maxBytes", "toBytes"}};
      uint32_t pair = take(input, 3);
      put(buffer, "truncation\"");
      put_limit(buffer, input, pairs[pair][0], pairs[pair][1], pair == 0 ? 10 : pair == 1 ? 1 : 100);
      put_keep_first(buffer, input);
      break;
    }
    case 2:
      put(buffer, "tool-results\"");
      put_count(buffer, "keepLastToolCallGroups", take(input, 3));
      put_count(buffer, "maxChars", 31 + take(input, 100));
      break;
    case 3:
      put(buffer, "drop-tool-calls\"");
      put_count(buffer, "keepLastToolCallGroups", take(input, 3));
      if (take(input, 3) == 1) put(buffer, ",\"tools\":[\"grep\",\"sql\"]");
      break;
    case 4:
      put(buffer, "clear-tool-results\"");
      put_count(buffer, "keepLast", take(input, 4));
      if (take(input, 3) == 1) put(buffer, ",\"clearInputs\":true");
      if (take(input, 4) == 1) put(buffer, ",\"excludeTools\":[\"grep\"]");
      if (take(input, 4) == 1) put(buffer, ",\"placeholder\":\"\"");
      if (take(input, 4) == 1) put_count(buffer, "minTokens", take(input, 60));
      break;
    case 5:
      put(buffer, "dedupe-tool-results\",\"tools\":{\"read_file\":\"path\",\"grep\":\"/path\"}");
      break;
    case 6:
      put(buffer, "clamp\"");
      put_count(buffer, take(input, 2) ? "maxChars" : "maxTokens", take(input, 80));
      put_count(buffer, "headChars", take(input, 30));
      put_count(buffer, "tailChars", take(input, 30));
      if (take(input, 2)) put(buffer, ",\"roles\":[\"assistant\",\"tool\",\"user\",\"reasoning\"]");
      break;
    case 7:
      put(buffer, "strip-binary\"");
      put_count(buffer, "keepLastTurns", take(input, 3));
      break;
    case 8:
      put(buffer, "drop-reasoning\"");
      put_count(buffer, "keepLastTurns", take(input, 3));
      break;
    case 9:
      put(buffer, "summarize\"");
      put_summary_options(buffer, input);
      if (take(input, 4) == 1) put_count(buffer, "maxInputTokens", 1 + take(input, 200));
      break;
    case 10:
      put(buffer, "digest\"");
      put_summary_options(buffer, input);
      break;
    case 11: {
      uint64_t output = take(input, 60);
      put(buffer, "context-window\"");
      put_count(buffer, "maxContextWindowTokens", output + 1 + 4 * take(input, 250));
      put_count(buffer, "maxOutputTokens", output);
      break;
    }
    case 12: {
      static const char *const orphans[] = {"drop", "keep"};
      static const char *const stale[] = {"answer", "drop", "keep"};
      put(buffer, "repair\",\"orphanResults\":\"");
      put(buffer, orphans[take(input, 2)]);
      put(buffer, "\",\"staleCalls\":\"");
      put(buffer, stale[take(input, 3)]);
      put(buffer, take(input, 2) ? "\",\"head\":\"user\"" : "\"");
      break;
    }
    default:
      put(buffer, "budget\"");
      put_count(buffer, "maxTokens", 1 + 4 * take(input, 250));
      put(buffer, ",\"steps\":");
      put_policies(buffer, input, depth);
  }
  put_when(buffer, input);
  put(buffer, "}");
}

/* ── Compacting ───────────────────────────────────────────────────────────────────────────────────────── */

static int64_t count_bytes(void *context, TampText text) {
  (void)context;
  return (int64_t)text.length;
}

/* The plan that comes of the policy when every summary is `answer`. NULL when it takes too many of them. */
static TampPlan *compact(TampHistory *history, const TampPolicy *policy, const TampOptions *options,
                         TampAnswer answer) {
  TampAnswer answers[MOST_ANSWERS];
  for (uint32_t count = 0; count < MOST_ANSWERS; count++) {
    TampPlan *plan = NULL;
    TampStatus status = tamp_history_plan(history, tamp_history_length(history), policy, options, answers, count, &plan);
    require(status == TAMP_OK || status == TAMP_NEEDS_SUMMARY);
    if (status == TAMP_OK) return plan;
    const TampQuestion *question = tamp_plan_question(plan);
    require(tamp_policy_asks(policy) && question != NULL && question->count > 0);
    answers[count] = answer;
    tamp_plan_free(plan);
  }
  return NULL;
}

static TampHistory *open_history(const TampFormat *format, TampText list) {
  TampHistory *history;
  TampFault fault;
  uint32_t index;
  require(tamp_history_new(tamp_default_allocator(), format, &history) == TAMP_OK);
  require(tamp_history_append_array(history, list, &index, &fault) == TAMP_OK);
  return history;
}

static TampText result_message(const TampHistory *history, const TampPlanView *view, uint32_t at) {
  uint32_t value = view->order[at];
  if (value < TAMP_PLAN_TEXT) return tamp_history_message(history, value);
  const TampPlanText *text = &view->texts[value - TAMP_PLAN_TEXT];
  return (TampText){text->bytes, text->length};
}

/* ── Judging ──────────────────────────────────────────────────────────────────────────────────────────── */

static void check_accounts(const TampHistory *history, const TampPlanView *view) {
  static const char internal[] = "internal error";
  require(view->reason.length < sizeof internal - 1 || memcmp(view->reason.bytes, internal, sizeof internal - 1) != 0);
  require(view->input_count == tamp_history_length(history));
  require(view->count > 0 || view->input_count == 0);
  require(view->fits || view->reason.length > 0);
  uint8_t seen[MOST_MESSAGES] = {0};
  uint32_t added = 0;
  for (uint32_t i = 0; i < view->count; i++) {
    uint32_t value = view->order[i];
    uint32_t origin = value < TAMP_PLAN_TEXT ? value : view->texts[value - TAMP_PLAN_TEXT].origin;
    if (value >= TAMP_PLAN_TEXT) require(view->texts[value - TAMP_PLAN_TEXT].reason != NULL);
    if (origin == TAMP_NONE) {
      added++;
      continue;
    }
    require(origin < view->input_count && !seen[origin]);
    require((view->reasons[origin] == NULL) == (value < TAMP_PLAN_TEXT));
    seen[origin] = 1;
  }
  for (uint32_t i = 0; i < view->input_count; i++) require(seen[i] || view->reasons[i] != NULL);
  if (!view->changed) {
    require(view->count == view->input_count && added == 0 && view->text_count == 0);
    require(view->tokens_before == view->tokens_after && view->bytes_before == view->bytes_after);
    require(view->before == view->after);
  }
}

/* A call or result of the result, in its order. */
typedef struct Use {
  TampText id;
  uint32_t message;
  bool call, nameless, awaits, closed;
} Use;

typedef struct Reading {
  TampArena arena;
  bool mixed; /* the message read last holds results and something else */
  Use *uses;
  uint32_t count, capacity;
  uint32_t last_speaker;
} Reading;

static void read_message(Reading *reading, const TampFormat *format, TampText text, uint32_t at, uint8_t *role,
                         uint8_t *flags) {
  TampMessage message;
  TampFault fault;
  tamp_message_init(&message, &reading->arena);
  require(tamp_message_read(format, text.bytes, text.length, false, &message, &fault) == TAMP_OK);
  *role = message.role;
  *flags = message.flags;
  bool results = false, others = false;
  for (uint32_t i = 0; i < message.count; i++) {
    const TampPart *part = &message.parts[i];
    results = results || part->kind == TAMP_PART_RESULT;
    others = others || (part->kind != TAMP_PART_RESULT && part->owner == TAMP_NONE);
    if (part->kind != TAMP_PART_CALL && part->kind != TAMP_PART_RESULT) continue;
    require(tamp_arena_grow(&reading->arena, (void **)&reading->uses, &reading->capacity, (size_t)reading->count + 1,
                            sizeof *reading->uses) == TAMP_OK);
    Use *use = &reading->uses[reading->count++];
    *use = (Use){.message = at, .call = part->kind == TAMP_PART_CALL, .nameless = part->id.type != TAMP_JSON_STRING};
    use->awaits = (part->flags & TAMP_PART_AWAITS) != 0;
    require(tamp_value_text(text.bytes, part->id, &reading->arena, &use->id) == TAMP_OK);
  }
  reading->mixed = results && others;
}

static bool same_id(const Use *a, const Use *b) {
  return a->id.length == b->id.length && memcmp(a->id.bytes, b->id.bytes, a->id.length) == 0;
}

/* Every result answers the nearest open call with its id, and every call but pending ones is answered once. */
static void check_pairs(Reading *reading) {
  for (uint32_t i = 0; i < reading->count; i++) {
    Use *use = &reading->uses[i];
    if (use->call) continue;
    /* A part without an id may hold both. */
    if (use->nameless && i > 0 && reading->uses[i - 1].call && reading->uses[i - 1].nameless) continue;
    Use *call = NULL;
    for (uint32_t k = i; k-- > 0 && !call;) {
      Use *before = &reading->uses[k];
      if (before->call && !before->closed && !before->nameless && same_id(before, use)) call = before;
    }
    require(call != NULL && !use->nameless);
    call->closed = true;
  }
  for (uint32_t i = 0; i < reading->count; i++) {
    const Use *use = &reading->uses[i];
    if (!use->call || use->closed || use->nameless || use->awaits) continue;
    require(reading->last_speaker != TAMP_NONE && use->message >= reading->last_speaker);
  }
}

/* Instructions and what is pinned, results apart, are still there. */
static void check_protected(const TampHistory *history, const TampPlanView *view, const TampFormat *format) {
  uint8_t there[MOST_MESSAGES] = {0};
  for (uint32_t i = 0; i < view->count; i++) {
    uint32_t value = view->order[i];
    uint32_t origin = value < TAMP_PLAN_TEXT ? value : view->texts[value - TAMP_PLAN_TEXT].origin;
    if (origin != TAMP_NONE) there[origin] = 1;
  }
  Reading reading = {0};
  tamp_arena_init(&reading.arena, tamp_default_allocator());
  uint32_t last_user = TAMP_NONE;
  for (uint32_t i = 0; i < view->input_count; i++) {
    uint8_t role, flags;
    reading.count = 0;
    read_message(&reading, format, tamp_history_message(history, i), i, &role, &flags);
    bool results = false;
    for (uint32_t k = 0; k < reading.count; k++) results = results || !reading.uses[k].call;
    bool pinned = (flags & TAMP_MESSAGE_PINNED) && !results;
    bool instructions = role == TAMP_ROLE_SYSTEM && !(flags & TAMP_MESSAGE_SUMMARY);
    if (instructions || pinned) require(there[i]);
    bool made = (flags & (TAMP_MESSAGE_SUMMARY | TAMP_MESSAGE_HEAD)) != 0; /* without results */
    if (role == TAMP_ROLE_USER && !made && !results) last_user = i;
    if (role == TAMP_ROLE_USER && reading.mixed) last_user = TAMP_NONE; /* a part of it is the question */
  }
  if (last_user != TAMP_NONE) require(there[last_user]);
  tamp_arena_free(&reading.arena);
}

static bool may_keep_what_is_broken(const TampPolicy *policy) {
  /* A repair of its own that keeps something, or that does not run, may leave anything. */
  while (!policy->strategy && policy->child_count > 0) policy = policy->children[policy->child_count - 1];
  return policy->strategy == tamp_strategy_named("repair");
}

static void check_result(TampHistory *history, const TampPlanView *view, const TampFormat *format,
                         const TampPolicy *policy, const TampOptions *options, TampAnswer answer) {
  Reading reading = {.last_speaker = TAMP_NONE};
  Buffer list = {0};
  bool refused = false;
  uint32_t last = TAMP_NONE;
  tamp_arena_init(&reading.arena, tamp_default_allocator());
  put(&list, "[");
  for (uint32_t i = 0; i < view->count; i++) {
    TampText text = result_message(history, view, i);
    uint8_t role, flags;
    uint32_t before = reading.count;
    read_message(&reading, format, text, i, &role, &flags);
    bool made = (flags & (TAMP_MESSAGE_SUMMARY | TAMP_MESSAGE_HEAD)) && reading.count == before;
    bool results = reading.count > before;
    for (uint32_t k = before; k < reading.count; k++) results = results && !reading.uses[k].call;
    bool only_results = results && role != TAMP_ROLE_ASSISTANT;
    if ((role == TAMP_ROLE_USER && !only_results && !made) || (role == TAMP_ROLE_ASSISTANT && !made)) {
      reading.last_speaker = i;
    }
    uint32_t value = view->order[i];
    uint32_t origin = value < TAMP_PLAN_TEXT ? value : view->texts[value - TAMP_PLAN_TEXT].origin;
    if (origin != TAMP_NONE && role != TAMP_ROLE_ACTIVITY && !results) {
      require(last == TAMP_NONE || origin > last);
      last = origin;
    }
    if (i > 0) put(&list, ",");
    char *copy = malloc(text.length + 1);
    require(copy != NULL);
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    put(&list, copy);
    free(copy);
  }
  put(&list, "]");
  if (!may_keep_what_is_broken(policy)) check_pairs(&reading);
  check_protected(history, view, format);
  tamp_arena_free(&reading.arena);

  /* What a summary was refused for may be gone in the result (an answer that repair added makes what it stands for
   * weigh more), and then it is asked for again: a refusal is of one compaction (strategies.md §3). */
  for (uint32_t i = 0; i < view->step_count; i++) refused = refused || (view->steps[i].note && strncmp(view->steps[i].note, "the summary", 11) == 0);
  if (refused) {
    free(list.bytes);
    return;
  }
  TampHistory *again = open_history(format, (TampText){(const uint8_t *)list.bytes, list.length});
  TampPlan *plan = compact(again, policy, options, answer);
  if (plan) require(!tamp_plan_view(plan)->changed);
  tamp_plan_free(plan);
  tamp_history_free(again);
  free(list.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  const TampFormat *format = grammar_format(take(&input, GRAMMAR_FORMATS));
  TampOptions options = {0};
  const TampText pin = TAMP_TEXT("m2");
  if (take(&input, 4) == 1) options.counter = (TampCounter){count_bytes, NULL};
  if (take(&input, 4) == 1) options.pins = &pin, options.pin_count = 1;
  if (take(&input, 4) == 1) options.reserved_tokens = 20;
  TampAnswer answer = {TAMP_TEXT("They talked."), false};
  switch (take(&input, 8)) {
    case 1:
      answer.refused = true;
      break;
    case 2:
      answer.text = TAMP_TEXT(" \n");
      break;
    case 3:
      answer.text = TAMP_TEXT("They talked, and talked, and talked, and then somebody said {messages} $& </summary>, and "
                              "so they went on until nobody knew what it had been about in the first place.");
      break;
  }
  Buffer text = {0};
  put_policy(&text, &input, 0);
  TampArena arena;
  tamp_arena_init(&arena, tamp_default_allocator());
  const TampPolicy *policy = NULL;
  TampText problems;
  if (getenv("SHOW")) fprintf(stderr, "%s\n", text.bytes);
  TampStatus status = tamp_policy_read((TampText){(const uint8_t *)text.bytes, text.length}, &arena, &policy, &problems);
  require(status == TAMP_OK || status == TAMP_BAD_POLICY);
  if (status == TAMP_OK) {
    text.length = 0;
    put(&text, "[");
    for (uint32_t i = 0; i < MOST_MESSAGES && input.length > 0; i++) {
      if (i > 0) put(&text, ",");
      put_message(&text, &input, format, i);
    }
    put(&text, "]");
    if (getenv("SHOW")) fprintf(stderr, "%s\n%s\n", format->name, text.bytes);
    TampHistory *history = open_history(format, (TampText){(const uint8_t *)text.bytes, text.length});
    TampPlan *plan = compact(history, policy, &options, answer);
    if (plan && !grammar_says_label(format, (TampText){(const uint8_t *)text.bytes, text.length})) {
      const TampPlanView *view = tamp_plan_view(plan);
      TampText report;
      if (getenv("SHOW")) fprintf(stderr, "%.*s\n", (int)view->reason.length, (const char *)view->reason.bytes);
      check_accounts(history, view);
      require(tamp_plan_report(plan, &report) == TAMP_OK);
      if (view->changed) check_result(history, view, format, policy, &options, answer);
    }
    tamp_plan_free(plan);
    TampText json;
    require(tamp_history_inspect(history, &options, &arena, &json) == TAMP_OK);
    tamp_history_free(history);
  }
  tamp_arena_free(&arena);
  free(text.bytes);
  return 0;
}
