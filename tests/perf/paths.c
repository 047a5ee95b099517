/* Runs one hot path of the core on a file, once, between two marks that callgrind counts between.
 *
 * usage: paths PATH FILE
 *
 * FILE is a JSON array of AG-UI messages, for `transcript` JSON Lines of them, for `estimate` any text. What a path
 * needs beforehand is done outside of `measured`, and what it gives is checked, so that nothing fast and wrong is
 * taken for an improvement. tests/perf/instructions.test.js compares the counts with the committed ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/digest.h"
#include "../../src/json/cursor.h"
#include "../../src/tamp.h"
#include "../../src/tokens.h"
#include "../../src/transcript.h"

enum { CHUNK = 64 * 1024 };

typedef struct Bench {
  TampText text;
  TampArena arena;
  TampHistory *history;
  const TampPolicy *policy;
  bool right;
} Bench;

static const TampOptions no_options;

static bool read_policy(Bench *bench, const char *json) {
  TampText problems;
  return tamp_policy_read((TampText){(const uint8_t *)json, strlen(json)}, &bench->arena, &bench->policy,
                          &problems) == TAMP_OK;
}

static bool open_history(Bench *bench) {
  uint32_t index;
  TampFault fault;
  return tamp_history_new(tamp_default_allocator(), &tamp_format_ag_ui, &bench->history) == TAMP_OK &&
         tamp_history_append_array(bench->history, bench->text, &index, &fault) == TAMP_OK;
}

/* Half of the tokens, which nobody knows before the messages were read. */
static bool plan_half(Bench *bench) {
  uint64_t tokens;
  char policy[96];
  if (tamp_history_tokens(bench->history, &no_options, &tokens) != TAMP_OK) return false;
  snprintf(policy, sizeof policy, "{\"strategy\":\"truncation\",\"maxTokens\":%llu,\"toTokens\":%llu}",
           (unsigned long long)tokens / 2, (unsigned long long)tokens / 2);
  return read_policy(bench, policy);
}

static bool plan(Bench *bench) {
  TampPlan *made;
  TampText report;
  TampStatus status = tamp_history_plan(bench->history, tamp_history_length(bench->history), bench->policy,
                                        &no_options, NULL, 0, &made);
  bool right = status == TAMP_OK && tamp_plan_view(made)->changed && tamp_plan_view(made)->fits &&
               tamp_plan_report(made, &report) == TAMP_OK;
  tamp_plan_free(made);
  return right;
}

/* ── The paths: what is done before, and what is counted ──────────────────────────────────────────────── */

static bool nothing(Bench *bench) {
  return bench->text.length > 0;
}

static bool scan(Bench *bench) {
  TampCursor cursor = tamp_cursor(bench->text.bytes, 0, bench->text.length, false);
  TampValue value;
  return tamp_cursor_value(&cursor, &value) && tamp_cursor_end(&cursor);
}

static bool estimate(Bench *bench) {
  return tamp_tokens_estimate(bench->text.bytes, bench->text.length) > bench->text.length / 16;
}

static bool append(Bench *bench) {
  return open_history(bench);
}

static bool before_plan(Bench *bench) {
  return open_history(bench) && plan_half(bench);
}

/* A message more, and the plan before the next run. */
static bool turn(Bench *bench) {
  static const char message[] = "{\"id\":\"new\",\"role\":\"user\",\"content\":\"And what about the next one?\"}";
  uint8_t *room;
  size_t capacity;
  TampFault fault;
  if (tamp_history_room(bench->history, sizeof message, 0, &room, &capacity) != TAMP_OK) return false;
  memcpy(room, message, sizeof message - 1);
  return tamp_history_append(bench->history, sizeof message - 1, false, &fault) == TAMP_OK && plan(bench);
}

static bool digest(Bench *bench) {
  TampDigest list = tamp_digest_empty();
  TampFault fault;
  return tamp_digest_append_array(&list, bench->text.bytes, 0, bench->text.length, false, &bench->arena, &fault) ==
         TAMP_OK;
}

static TampStatus read_file(void *context, uint64_t offset, uint32_t length, uint8_t *to) {
  const Bench *bench = context;
  memcpy(to, bench->text.bytes + offset, length);
  return TAMP_OK;
}

static bool before_transcript(Bench *bench) {
  return read_policy(bench, "{\"strategy\":\"sliding-window\",\"keepMessages\":100,\"keepFirstUser\":false}");
}

static bool transcript(Bench *bench) {
  TampTranscript *made;
  TampSource source = {read_file, bench};
  TampStatus status = tamp_transcript_new(tamp_default_allocator(), &tamp_format_ag_ui, true, source, &made);
  for (size_t at = 0; !status && at < bench->text.length; at += CHUNK) {
    size_t left = bench->text.length - at;
    status = tamp_transcript_feed(made, bench->text.bytes + at, left < CHUNK ? left : CHUNK);
  }
  if (!status) status = tamp_transcript_finish(made);
  bool right = status == TAMP_OK;
  if (right) {
    const TampSlice *slices;
    uint32_t count;
    TampPlan *planned;
    TampHistory *history = tamp_transcript_view(made).history;
    right = tamp_history_plan(history, tamp_history_length(history), bench->policy, &no_options, NULL, 0, &planned) ==
                TAMP_OK &&
            tamp_plan_view(planned)->changed &&
            tamp_transcript_write(made, planned, false, &slices, &count) == TAMP_OK && count > 0;
    tamp_plan_free(planned);
  }
  tamp_transcript_free(made);
  return right;
}

typedef struct Path {
  const char *name;
  bool (*before)(Bench *bench);
  bool (*run)(Bench *bench);
} Path;

static const Path paths[] = {
    {"scan", nothing, scan},
    {"estimate", nothing, estimate},
    {"append", nothing, append},
    {"plan", before_plan, plan},
    {"turn", before_plan, turn},
    {"digest", nothing, digest},
    {"transcript", before_transcript, transcript},
};

/* callgrind counts only inside of this function: it must stay one. */
void measured(const Path *path, Bench *bench);
__attribute__((noinline)) void measured(const Path *path, Bench *bench) {
  bench->right = path->run(bench);
}

static bool read_whole(const char *name, TampText *text) {
  FILE *file = fopen(name, "rb");
  if (!file) return false;
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  uint8_t *bytes = length > 0 ? malloc((size_t)length) : NULL;
  bool right = bytes && fread(bytes, 1, (size_t)length, file) == (size_t)length;
  fclose(file);
  *text = (TampText){bytes, right ? (size_t)length : 0};
  return right;
}

int main(int count, char **arguments) {
  Bench bench = {.right = false};
  tamp_arena_init(&bench.arena, tamp_default_allocator());
  for (size_t i = 0; count == 3 && i < sizeof paths / sizeof *paths; i++) {
    if (strcmp(paths[i].name, arguments[1]) != 0) continue;
    if (read_whole(arguments[2], &bench.text) && paths[i].before(&bench)) measured(&paths[i], &bench);
  }
  tamp_history_free(bench.history);
  tamp_arena_free(&bench.arena);
  free((void *)(uintptr_t)bench.text.bytes);
  if (!bench.right) fputs("the path did not give what it should\n", stderr);
  return bench.right ? 0 : 1;
}
