/* The C end of the bridge: exported functions over linear memory. web/wasm.js is the other end; the two change
 * together, and nothing else knows about either.
 *
 * Handles are numbers into one table: slot and generation, so that a stale, foreign or invented one is
 * TAMP_BAD_HANDLE and never memory. Functions return a TampStatus and leave what they found in `out`, words
 * that stay until the next call. A handle whose history is being counted by the caller's function is busy:
 * using or disposing of it from inside that function is refused. */
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "heap.h"
#include "history.h"
#include "transcript.h"

#define EXPORT(name) __attribute__((export_name(#name), used))

/* The caller's token counter: `key` says which. A negative number means that it failed. */
__attribute__((import_module("tamp"), import_name("count"))) int32_t import_count(uint32_t key,
                                                                                  const uint8_t *text,
                                                                                  uint32_t length);

/* The bytes [offset, offset + length) of the file that transcript `key` is read from. 0, or another number when
 * they cannot be read. */
__attribute__((import_module("tamp"), import_name("read"))) int32_t import_read(uint32_t key, double offset,
                                                                                uint32_t length, uint8_t *to);

/* ── Memory ───────────────────────────────────────────────────────────────────────────────────────────── */

enum { PAGE = 65536, PAGES = 65536 };

extern uint8_t __heap_base; /* the linker's: what is behind it is free */

static TampHeap heap;

static uint8_t *extend_memory(void *context, size_t size) {
  (void)context;
  size_t have = __builtin_wasm_memory_size(0);
  uint64_t pages = ((uint64_t)(uintptr_t)heap.end + size + PAGE - 1) / PAGE;
  if (pages < have) pages = have;
  if (pages >= PAGES) return NULL; /* the end of the last page is no address */
  if (pages > have && __builtin_wasm_memory_grow(0, (size_t)pages - have) == SIZE_MAX) return NULL;
  return (uint8_t *)(uintptr_t)(pages * PAGE);
}

static void *resize(void *block, size_t size) {
  if (!heap.extend) {
    heap.extend = extend_memory;
    heap.end = (uint8_t *)(((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15);
  }
  return tamp_heap_resize(&heap, block, size);
}

/* The C library's, for whoever calls them. They do not call each other: what the compiler knows about them, as
 * that realloc(NULL, n) is malloc(n), would make them call themselves. */
void *malloc(size_t size) {
  return resize(NULL, size ? size : 1);
}

void *realloc(void *block, size_t size) {
  return resize(block, size);
}

void free(void *block) {
  resize(block, 0);
}

/* ── Results ──────────────────────────────────────────────────────────────────────────────────────────── */

static uint32_t out[24];

static void out_long(size_t at, uint64_t number) {
  out[at] = (uint32_t)number;
  out[at + 1] = (uint32_t)(number >> 32);
}

static void out_text(size_t at, TampText text) {
  out[at] = (uint32_t)(uintptr_t)text.bytes;
  out[at + 1] = (uint32_t)text.length;
}

/* A fault: message index, offset (two words), reason (pointer, length). */
static TampStatus fail(TampStatus status, uint32_t index, TampFault fault) {
  const char *reason = fault.reason ? fault.reason : "";
  out[0] = index;
  out_long(1, fault.offset);
  out_text(3, (TampText){(const uint8_t *)reason, strlen(reason)});
  return status;
}

EXPORT(tamp_out) uint32_t *export_out(void) {
  return out;
}

/* ── Handles ──────────────────────────────────────────────────────────────────────────────────────────── */

typedef enum Kind { FREE = 0, HISTORY, POLICY, PLAN, TEXT, TRANSCRIPT } Kind;

/* A policy or a text: an arena and what lies in it. */
typedef struct Holder {
  TampArena arena;
  const TampPolicy *policy;
} Holder;

typedef struct Slot {
  void *object;
  uint32_t next_free;
  uint16_t generation;
  uint8_t kind;
  bool busy;
} Slot;

enum { SLOT_BITS = 20, GENERATIONS = 1 << (32 - SLOT_BITS) };

static struct {
  TampArena arena;
  Slot *slots;
  uint32_t count, capacity;
  uint32_t first_free; /* slot + 1 */
} table;

/* Reserves a handle before its object is made, so that making the object is the last thing that can fail. */
static TampStatus new_handle(Kind kind, uint32_t *handle) {
  if (!table.arena.allocator.resize) tamp_arena_init(&table.arena, tamp_default_allocator());
  uint32_t slot = table.first_free;
  if (slot) {
    slot--;
    table.first_free = table.slots[slot].next_free;
  } else {
    if (table.count >= (1u << SLOT_BITS) - 1) return TAMP_TOO_LARGE;
    TampStatus status = tamp_arena_grow(&table.arena, (void **)&table.slots, &table.capacity,
                                        (size_t)table.count + 1, sizeof *table.slots);
    if (status) return status;
    slot = table.count++;
    table.slots[slot] = (Slot){.generation = 1};
  }
  table.slots[slot].kind = (uint8_t)kind;
  table.slots[slot].object = NULL;
  table.slots[slot].busy = false;
  *handle = (uint32_t)table.slots[slot].generation << SLOT_BITS | (slot + 1);
  return TAMP_OK;
}

static Slot *find(uint32_t handle, Kind kind) {
  uint32_t slot = (handle & ((1u << SLOT_BITS) - 1)) - 1;
  if (slot >= table.count) return NULL;
  Slot *found = &table.slots[slot];
  if (found->generation != handle >> SLOT_BITS || found->kind == FREE || found->busy) return NULL;
  return kind == FREE || found->kind == (uint8_t)kind ? found : NULL;
}

static void *object_of(uint32_t handle, Kind kind) {
  Slot *slot = find(handle, kind);
  return slot ? slot->object : NULL;
}

/* A transcript's handle stands for its history too, which nobody else may change. */
static TampHistory *history_of(uint32_t handle) {
  TampTranscript *transcript = object_of(handle, TRANSCRIPT);
  return transcript ? tamp_transcript_view(transcript).history : object_of(handle, HISTORY);
}

static void free_holder(Holder *holder) {
  TampAllocator allocator = holder->arena.allocator;
  tamp_arena_free(&holder->arena);
  allocator.resize(allocator.context, holder, 0);
}

static void release(Slot *slot) {
  switch (slot->kind) {
    case HISTORY:
      tamp_history_free(slot->object);
      break;
    case PLAN:
      tamp_plan_free(slot->object);
      break;
    case TRANSCRIPT:
      tamp_transcript_free(slot->object);
      break;
    default:
      if (slot->object) free_holder(slot->object);
  }
  slot->object = NULL;
  slot->kind = FREE;
  slot->generation = (uint16_t)((slot->generation + 1) % GENERATIONS);
  if (slot->generation == 0) slot->generation = 1;
  slot->next_free = table.first_free;
  table.first_free = (uint32_t)(slot - table.slots) + 1;
}

/* Frees what a handle stands for. A stale one is TAMP_BAD_HANDLE and nothing else. */
EXPORT(tamp_dispose) TampStatus export_dispose(uint32_t handle) {
  Slot *slot = find(handle, FREE);
  if (!slot) return TAMP_BAD_HANDLE;
  release(slot);
  return TAMP_OK;
}

/* A holder with a handle, for policies and texts. */
static TampStatus new_holder(Kind kind, uint32_t *handle, Holder **holder) {
  TampStatus status = new_handle(kind, handle);
  if (status) return status;
  TampAllocator allocator = tamp_default_allocator();
  *holder = allocator.resize(allocator.context, NULL, sizeof **holder);
  if (!*holder) {
    release(find(*handle, kind));
    return TAMP_NO_MEMORY;
  }
  **holder = (Holder){.policy = NULL};
  tamp_arena_init(&(*holder)->arena, allocator);
  find(*handle, kind)->object = *holder;
  return TAMP_OK;
}

/* ── Transfer ─────────────────────────────────────────────────────────────────────────────────────────── */

/* A block for one transfer into the module; NULL when there is none. */
EXPORT(tamp_alloc) void *export_alloc(uint32_t size) {
  TampAllocator allocator = tamp_default_allocator();
  return allocator.resize(allocator.context, NULL, size ? size : 1);
}

EXPORT(tamp_free) void export_free(void *block) {
  TampAllocator allocator = tamp_default_allocator();
  allocator.resize(allocator.context, block, 0);
}

/* ── Formats ──────────────────────────────────────────────────────────────────────────────────────────── */

/* out: index of the format, then its id path. */
EXPORT(tamp_format) TampStatus export_format(const uint8_t *name, uint32_t length) {
  const TampFormat *format = tamp_format_named((TampText){name, length});
  if (!format) return TAMP_BAD_ARGUMENT;
  for (uint32_t i = 0; tamp_format_at(i); i++) {
    if (tamp_format_at(i) == format) out[0] = i;
  }
  out_text(1, (TampText){(const uint8_t *)format->id_path, strlen(format->id_path)});
  return TAMP_OK;
}

/* ── History ──────────────────────────────────────────────────────────────────────────────────────────── */

/* out: handle. */
EXPORT(tamp_history_new) TampStatus export_history_new(uint32_t format) {
  uint32_t handle;
  TampHistory *history;
  if (!tamp_format_at(format)) return TAMP_BAD_ARGUMENT;
  TampStatus status = new_handle(HISTORY, &handle);
  if (status) return status;
  status = tamp_history_new(tamp_default_allocator(), tamp_format_at(format), &history);
  if (status) {
    release(find(handle, HISTORY));
    return status;
  }
  find(handle, HISTORY)->object = history;
  out[0] = handle;
  return TAMP_OK;
}

/* out: pointer, capacity. */
EXPORT(tamp_history_room)
TampStatus export_history_room(uint32_t handle, uint32_t size, uint32_t keep) {
  TampHistory *history = object_of(handle, HISTORY);
  uint8_t *bytes;
  size_t capacity;
  if (!history) return TAMP_BAD_HANDLE;
  TampStatus status = tamp_history_room(history, size, keep, &bytes, &capacity);
  if (status) return status;
  out[0] = (uint32_t)(uintptr_t)bytes;
  out[1] = (uint32_t)(capacity > UINT32_MAX ? UINT32_MAX : capacity);
  return TAMP_OK;
}

/* Appends the message in the room. out, on failure: the fault. */
EXPORT(tamp_history_append) TampStatus export_history_append(uint32_t handle, uint32_t length) {
  TampHistory *history = object_of(handle, HISTORY);
  TampFault fault = {0};
  if (!history) return TAMP_BAD_HANDLE;
  TampStatus status = tamp_history_append(history, length, true, &fault);
  return status ? fail(status, tamp_history_length(history), fault) : TAMP_OK;
}

/* Appends every message of a JSON array. out, on failure: the fault. */
EXPORT(tamp_history_append_array)
TampStatus export_history_append_array(uint32_t handle, const uint8_t *text, uint32_t length) {
  TampHistory *history = object_of(handle, HISTORY);
  TampFault fault = {0};
  uint32_t index = TAMP_NONE;
  if (!history) return TAMP_BAD_HANDLE;
  TampStatus status = tamp_history_append_array(history, (TampText){text, length}, &index, &fault);
  return status ? fail(status, index, fault) : TAMP_OK;
}

EXPORT(tamp_history_truncate) TampStatus export_history_truncate(uint32_t handle, uint32_t count) {
  TampHistory *history = object_of(handle, HISTORY);
  return history ? tamp_history_truncate(history, count) : TAMP_BAD_HANDLE;
}

/* out: how many messages there are. */
EXPORT(tamp_history_length) TampStatus export_history_length(uint32_t handle) {
  TampHistory *history = history_of(handle);
  if (!history) return TAMP_BAD_HANDLE;
  out[0] = tamp_history_length(history);
  return TAMP_OK;
}

/* Whether message `index` has the bytes in the room: out[0] is 1 or 0. */
EXPORT(tamp_history_same)
TampStatus export_history_same(uint32_t handle, uint32_t index, uint32_t length) {
  TampHistory *history = object_of(handle, HISTORY);
  uint8_t *bytes;
  size_t capacity;
  if (!history || index >= tamp_history_length(history)) return TAMP_BAD_HANDLE;
  TampStatus status = tamp_history_room(history, length, 0, &bytes, &capacity);
  if (status) return status;
  TampText message = tamp_history_message(history, index);
  out[0] = message.length == length && memcmp(message.bytes, bytes, length) == 0;
  return TAMP_OK;
}

/* Index of the last message with an id; out[0] is TAMP_NONE when there is none. */
EXPORT(tamp_history_find)
TampStatus export_history_find(uint32_t handle, const uint8_t *id, uint32_t length) {
  TampHistory *history = object_of(handle, HISTORY);
  if (!history) return TAMP_BAD_HANDLE;
  out[0] = tamp_history_find(history, (TampText){id, length});
  return TAMP_OK;
}

/* ── Options ──────────────────────────────────────────────────────────────────────────────────────────── */

static int64_t count_by_import(void *context, TampText text) {
  return import_count((uint32_t)(uintptr_t)context, text.bytes, (uint32_t)text.length);
}

/* Reads {"reservedTokens","usage":{"messageId","inputTokens","outputTokens"},"pin":[…]}, written by
 * web/wasm.js. Key 0 is no counter. */
static TampStatus read_options(TampText json, uint32_t counter_key, TampArena *arena,
                               TampOptions *options) {
  static const TampText names[3] = {TAMP_TEXT_INIT("reservedTokens"), TAMP_TEXT_INIT("usage"), TAMP_TEXT_INIT("pin")};
  static const TampText usage_names[3] = {TAMP_TEXT_INIT("messageId"), TAMP_TEXT_INIT("inputTokens"),
                                          TAMP_TEXT_INIT("outputTokens")};
  TampValue value[3], usage[3], element;
  *options = (TampOptions){0};
  if (counter_key) {
    options->counter = (TampCounter){count_by_import, (void *)(uintptr_t)counter_key};
  }
  if (json.length == 0) return TAMP_OK;
  TampCursor cursor = tamp_cursor(json.bytes, 0, json.length, true);
  if (!tamp_cursor_members(&cursor, names, 3, value, NULL)) return TAMP_BAD_ARGUMENT;
  (void)tamp_value_integer(json.bytes, value[0], &options->reserved_tokens);
  if (value[1].type == TAMP_JSON_OBJECT) {
    tamp_value_members(json.bytes, value[1], usage_names, 3, usage);
    options->has_usage = tamp_value_integer(json.bytes, usage[1], &options->usage_input);
    (void)tamp_value_integer(json.bytes, usage[2], &options->usage_output);
    TampStatus status = tamp_value_text(json.bytes, usage[0], arena, &options->usage_message);
    if (status) return status;
  }
  uint32_t count = 0, state = 0;
  while (tamp_value_next(json.bytes, value[2], &state, &element)) count++;
  TampText *pins = tamp_arena_alloc(arena, count * sizeof *pins);
  if (!pins) return TAMP_NO_MEMORY;
  state = 0;
  while (tamp_value_next(json.bytes, value[2], &state, &element)) {
    TampStatus status = tamp_value_text(json.bytes, element, arena, &pins[options->pin_count++]);
    if (status) return status;
  }
  options->pins = pins;
  return TAMP_OK;
}

/* A call that may run the caller's counter: the history is busy meanwhile, and the slot is looked up again
 * behind it, since the counter may have opened others. */
static void set_busy(uint32_t handle, bool busy) {
  table.slots[(handle & ((1u << SLOT_BITS) - 1)) - 1].busy = busy;
}

/* out: tokens. */
EXPORT(tamp_history_tokens)
TampStatus export_history_tokens(uint32_t handle, const uint8_t *json, uint32_t length, uint32_t key) {
  TampHistory *history = history_of(handle);
  if (!history) return TAMP_BAD_HANDLE;
  TampArena arena;
  TampOptions options;
  uint64_t tokens = 0;
  tamp_arena_init(&arena, tamp_default_allocator());
  set_busy(handle, true);
  TampStatus status = read_options((TampText){json, length}, key, &arena, &options);
  if (!status) status = tamp_history_tokens(history, &options, &tokens);
  set_busy(handle, false);
  tamp_arena_free(&arena);
  out_long(0, tokens);
  return status;
}

/* out: handle of a text, pointer, length. */
EXPORT(tamp_history_inspect)
TampStatus export_history_inspect(uint32_t handle, const uint8_t *json, uint32_t length,
                                  uint32_t key) {
  TampHistory *history = history_of(handle);
  if (!history) return TAMP_BAD_HANDLE;
  uint32_t text;
  Holder *holder;
  TampOptions options;
  TampText result = {0};
  TampStatus status = new_holder(TEXT, &text, &holder);
  if (status) return status;
  set_busy(handle, true);
  status = read_options((TampText){json, length}, key, &holder->arena, &options);
  if (!status) status = tamp_history_inspect(history, &options, &holder->arena, &result);
  set_busy(handle, false);
  if (status) {
    release(find(text, TEXT));
    return status;
  }
  out[0] = text;
  out_text(1, result);
  return TAMP_OK;
}

/* out: tokens that a text is estimated at. */
EXPORT(tamp_estimate) TampStatus export_estimate(const uint8_t *text, uint32_t length) {
  return tamp_count_text(NULL, (TampText){text, length}, &out[0]);
}

/* out: the digest, in four words, of the list whose digest is the words a to d (0 for the empty list) with the
 * messages of this array behind it. Raw strings are allowed. */
EXPORT(tamp_digest)
TampStatus export_digest(const uint8_t *array, uint32_t length, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const uint32_t words[] = {a, b, c, d};
  TampDigest list;
  memcpy(list.bytes, words, sizeof list.bytes);
  TampArena scratch;
  TampFault fault;
  tamp_arena_init(&scratch, tamp_default_allocator());
  TampStatus status = tamp_digest_append_array(&list, array, 0, length, true, &scratch, &fault);
  tamp_arena_free(&scratch);
  if (status) return fail(status, TAMP_NONE, fault);
  memcpy(out, list.bytes, sizeof list.bytes);
  return TAMP_OK;
}

/* ── Policy ───────────────────────────────────────────────────────────────────────────────────────────── */

/* out: handle, whether it asks for summaries, and whether it weighs tokens; with TAMP_BAD_POLICY a handle, and the
 * problems as JSON (pointer, length). */
EXPORT(tamp_policy_new) TampStatus export_policy_new(const uint8_t *json, uint32_t length) {
  uint32_t handle;
  Holder *holder;
  TampText problems = {0};
  TampStatus status = new_holder(POLICY, &handle, &holder);
  if (status) return status;
  status = tamp_policy_read((TampText){json, length}, &holder->arena, &holder->policy, &problems);
  if (status && status != TAMP_BAD_POLICY) {
    release(find(handle, POLICY));
    return status;
  }
  out[0] = handle;
  if (status) {
    out_text(1, problems);
  } else {
    out[1] = tamp_policy_asks(holder->policy);
    out[2] = tamp_policy_weighs(holder->policy);
  }
  return status;
}

/* ── Plan ─────────────────────────────────────────────────────────────────────────────────────────────── */

/* Answers come as a JSON array: a string is a text, anything else one that was refused. */
static TampStatus read_answers(TampText json, TampArena *arena, TampAnswer **answers,
                               uint32_t *count) {
  *answers = NULL;
  *count = 0;
  if (json.length == 0) return TAMP_OK;
  TampCursor cursor = tamp_cursor(json.bytes, 0, json.length, true);
  TampValue array, element;
  if (!tamp_cursor_value(&cursor, &array)) return TAMP_BAD_ARGUMENT;
  uint32_t state = 0;
  while (tamp_value_next(json.bytes, array, &state, &element)) (*count)++;
  *answers = tamp_arena_alloc(arena, *count * sizeof **answers);
  if (!*answers) return TAMP_NO_MEMORY;
  state = 0;
  for (uint32_t i = 0; tamp_value_next(json.bytes, array, &state, &element); i++) {
    TampAnswer *answer = &(*answers)[i];
    answer->refused = element.type != TAMP_JSON_STRING;
    TampStatus status = tamp_value_text(json.bytes, element, arena, &answer->text);
    if (status) return status;
  }
  return TAMP_OK;
}

/* Plans a policy on the first `count` messages. TAMP_OK and TAMP_NEEDS_SUMMARY: out is the plan's handle. */
EXPORT(tamp_history_plan)
TampStatus export_history_plan(uint32_t handle, uint32_t count, uint32_t policy, const uint8_t *json,
                               uint32_t json_length, uint32_t key, const uint8_t *answers_json,
                               uint32_t answers_length) {
  TampHistory *history = history_of(handle);
  Holder *holder = object_of(policy, POLICY);
  if (!history || !holder || !holder->policy) return TAMP_BAD_HANDLE;
  uint32_t plan_handle;
  TampStatus status = new_handle(PLAN, &plan_handle);
  if (status) return status;
  TampArena arena;
  TampOptions options;
  TampAnswer *answers = NULL;
  uint32_t answer_count = 0;
  TampPlan *plan = NULL;
  tamp_arena_init(&arena, tamp_default_allocator());
  set_busy(handle, true);
  set_busy(policy, true);
  status = read_options((TampText){json, json_length}, key, &arena, &options);
  if (!status) {
    status = read_answers((TampText){answers_json, answers_length}, &arena, &answers, &answer_count);
  }
  if (!status) {
    status = tamp_history_plan(history, count, holder->policy, &options, answers, answer_count, &plan);
  }
  set_busy(handle, false);
  set_busy(policy, false);
  tamp_arena_free(&arena);
  Slot *slot = find(plan_handle, PLAN);
  if (!plan) {
    release(slot);
    return status;
  }
  slot->object = plan;
  out[0] = plan_handle;
  return status;
}

/* out: order, count, texts (four words each: pointer, length, origin, reason), their count, changed, fits,
 * before, after, tokens before and after, bytes before and after (two words each), reasons by message (a
 * pointer each), messages of the input. Reasons are C strings that live as long as the module. */
EXPORT(tamp_plan_view) TampStatus export_plan_view(uint32_t handle) {
  TampPlan *plan = object_of(handle, PLAN);
  if (!plan) return TAMP_BAD_HANDLE;
  const TampPlanView *view = tamp_plan_view(plan);
  _Static_assert(sizeof(TampPlanText) == 16, "web/wasm.js reads four words");
  out[0] = (uint32_t)(uintptr_t)view->order;
  out[1] = view->count;
  out[2] = (uint32_t)(uintptr_t)view->texts;
  out[3] = view->text_count;
  out[4] = view->changed;
  out[5] = view->fits;
  out[6] = view->before;
  out[7] = view->after;
  out_long(8, view->tokens_before);
  out_long(10, view->tokens_after);
  out_long(12, view->bytes_before);
  out_long(14, view->bytes_after);
  out[16] = (uint32_t)(uintptr_t)view->reasons;
  out[17] = view->input_count;
  return TAMP_OK;
}

/* out: the report as JSON (pointer, length). */
EXPORT(tamp_plan_report) TampStatus export_plan_report(uint32_t handle) {
  TampPlan *plan = object_of(handle, PLAN);
  TampText json = {0};
  if (!plan) return TAMP_BAD_HANDLE;
  TampStatus status = tamp_plan_report(plan, &json);
  out_text(0, json);
  return status;
}

/* out: text (pointer, length), previous summary (pointer, length), whether there is one, tokens (two words),
 * how many messages. */
EXPORT(tamp_plan_question) TampStatus export_plan_question(uint32_t handle) {
  TampPlan *plan = object_of(handle, PLAN);
  const TampQuestion *question = plan ? tamp_plan_question(plan) : NULL;
  if (!question) return TAMP_BAD_HANDLE;
  out_text(0, question->text);
  out_text(2, question->previous);
  out[4] = question->has_previous;
  out_long(5, question->tokens);
  out[7] = question->count;
  return TAMP_OK;
}

/* One covered message. out: its index in the history, or TAMP_NONE and its JSON (pointer, length). */
EXPORT(tamp_plan_question_message)
TampStatus export_plan_question_message(uint32_t handle, uint32_t history_handle, uint32_t at) {
  TampPlan *plan = object_of(handle, PLAN);
  const TampHistory *history = history_of(history_handle);
  const TampQuestion *question = plan ? tamp_plan_question(plan) : NULL;
  if (!question || !history || at >= question->count) return TAMP_BAD_HANDLE;
  TampText json = tamp_plan_question_text(plan, at);
  out[0] = json.length == 0 ? question->origins[at] : TAMP_NONE;
  out_text(1, json);
  return TAMP_OK;
}

/* ── Transcripts ──────────────────────────────────────────────────────────────────────────────────────── */

static TampStatus read_by_import(void *context, uint64_t offset, uint32_t length, uint8_t *to) {
  return import_read((uint32_t)(uintptr_t)context, (double)offset, length, to) == 0 ? TAMP_OK : TAMP_BAD_SOURCE;
}

/* `format` TAMP_NONE: to be told. `counted` 0: tokens are not estimated. out: handle, which is the key of its file. */
EXPORT(tamp_transcript_new) TampStatus export_transcript_new(uint32_t format, uint32_t counted) {
  uint32_t handle;
  TampTranscript *transcript;
  const TampFormat *known = format == TAMP_NONE ? NULL : tamp_format_at(format);
  if (format != TAMP_NONE && !known) return TAMP_BAD_ARGUMENT;
  TampStatus status = new_handle(TRANSCRIPT, &handle);
  if (status) return status;
  TampSource source = {read_by_import, (void *)(uintptr_t)handle};
  status = tamp_transcript_new(tamp_default_allocator(), known, counted != 0, source, &transcript);
  if (status) {
    release(find(handle, TRANSCRIPT));
    return status;
  }
  find(handle, TRANSCRIPT)->object = transcript;
  out[0] = handle;
  return TAMP_OK;
}

static TampStatus transcript_failed(const TampTranscript *transcript, TampStatus status) {
  uint32_t index;
  const TampSplitFault *fault = tamp_transcript_fault(transcript, &index);
  fail(status, index, (TampFault){0, fault->reason});
  out_long(1, fault->offset);
  return status;
}

/* The next bytes of the file. out: how many messages were read so far; on failure the fault. */
EXPORT(tamp_transcript_feed)
TampStatus export_transcript_feed(uint32_t handle, const uint8_t *bytes, uint32_t length) {
  TampTranscript *transcript = object_of(handle, TRANSCRIPT);
  if (!transcript) return TAMP_BAD_HANDLE;
  TampStatus status = tamp_transcript_feed(transcript, bytes, length);
  if (status) return transcript_failed(transcript, status);
  out[0] = tamp_transcript_count(transcript);
  return TAMP_OK;
}

/* The end of the file. out: container, index of the format or TAMP_NONE, how many messages it would send, unreadable
 * lines (pointer, count; six words each: offset and line of two, reason, nothing), name of the format; on failure
 * the fault. */
EXPORT(tamp_transcript_finish) TampStatus export_transcript_finish(uint32_t handle) {
  TampTranscript *transcript = object_of(handle, TRANSCRIPT);
  if (!transcript) return TAMP_BAD_HANDLE;
  TampStatus status = tamp_transcript_finish(transcript);
  if (status) return transcript_failed(transcript, status);
  _Static_assert(sizeof(TampUnreadable) == 24 && sizeof(TampSlice) == 24, "web/wasm.js reads six words");
  TampTranscriptView view = tamp_transcript_view(transcript);
  out[0] = view.container;
  out[1] = TAMP_NONE;
  for (uint32_t i = 0; view.format && tamp_format_at(i); i++) {
    if (tamp_format_at(i) == view.format) out[1] = i;
  }
  out[2] = view.history ? view.history->list.sent : 0;
  out[3] = (uint32_t)(uintptr_t)view.unreadable;
  out[4] = view.unreadable_count;
  const char *name = view.format ? view.format->name : "";
  out_text(5, (TampText){(const uint8_t *)name, strlen(name)});
  return TAMP_OK;
}

/* Where a message is in the file: offset and length of two words. */
EXPORT(tamp_transcript_message) TampStatus export_transcript_message(uint32_t handle, uint32_t index) {
  const TampTranscript *transcript = object_of(handle, TRANSCRIPT);
  const TampHistory *history = transcript ? tamp_transcript_view(transcript).history : NULL;
  if (!history || index >= tamp_history_length(history)) return TAMP_BAD_HANDLE;
  TampSlice slice = tamp_transcript_span(transcript, index);
  out_long(0, slice.offset);
  out_long(2, slice.length);
  return TAMP_OK;
}

/* The ids of the messages from `from` on that a plan takes away or rewrites, one behind the other, as many as find room:
 * `size` bytes at `to`, and `count` lengths at `lengths`, 0 for a message without an id, and for one that stays. out: how
 * many messages, and how many bytes. */
EXPORT(tamp_transcript_ids)
TampStatus export_transcript_ids(uint32_t handle, uint32_t plan_handle, uint32_t from, uint8_t *to, uint32_t size,
                                 uint32_t *lengths, uint32_t count) {
  const TampHistory *history = history_of(handle);
  TampPlan *plan = object_of(plan_handle, PLAN);
  if (!history || !plan) return TAMP_BAD_HANDLE;
  const TampPlanView *view = tamp_plan_view(plan);
  uint8_t room[TAMP_ATOM_ROOM];
  uint32_t done = 0, used = 0;
  for (; done < count && from + done < view->input_count; done++) {
    uint32_t id = view->reasons[from + done] ? tamp_history_record(history, from + done)->id : TAMP_NONE;
    TampText name = tamp_atoms_text(&history->atoms, id, room);
    if (name.length > size - used) break;
    memcpy(to + used, name.bytes, name.length);
    lengths[done] = (uint32_t)name.length;
    used += lengths[done];
  }
  out[0] = done;
  out[1] = used;
  return TAMP_OK;
}

/* out: slices of the file that the plan leaves (pointer, count; six words each: offset and length of two, bytes
 * or NULL, nothing). */
EXPORT(tamp_transcript_write)
TampStatus export_transcript_write(uint32_t handle, uint32_t plan_handle, uint32_t drop_dead) {
  TampTranscript *transcript = object_of(handle, TRANSCRIPT);
  TampPlan *plan = object_of(plan_handle, PLAN);
  if (!transcript || !plan) return TAMP_BAD_HANDLE;
  const TampSlice *slices = NULL;
  uint32_t count = 0;
  TampStatus status = tamp_transcript_write(transcript, plan, drop_dead != 0, &slices, &count);
  out[0] = (uint32_t)(uintptr_t)slices;
  out[1] = count;
  return status;
}
