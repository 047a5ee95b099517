/* A file of messages, spelled by the grammar or any bytes at all, in chunks of any size: what is read does not depend
 * on the chunks, what a plan leaves of it is slices of the file and new texts, and reading that again finds nothing
 * more to do. In every eighth input an allocation fails on the way. SHOW=1 prints what an input spells. */
#include "../../src/transcript.h"
#include "grammar.h"

static const char *const policies[] = {
    "{\"strategy\":\"sliding-window\",\"keepMessages\":2}",
    "{\"strategy\":\"truncation\",\"maxMessages\":3,\"toMessages\":1}",
    "{\"strategy\":\"tool-results\",\"keepLastToolCallGroups\":0,\"maxChars\":60}",
    "{\"strategy\":\"drop-tool-calls\",\"keepLastToolCallGroups\":0}",
    "{\"strategy\":\"clear-tool-results\",\"keepLast\":0,\"clearInputs\":true}",
    "{\"strategy\":\"clamp\",\"maxChars\":20,\"headChars\":4,\"tailChars\":4,\"roles\":[\"assistant\",\"tool\",\"user\"]}",
    "{\"strategy\":\"digest\",\"keepMessages\":1}",
    "[{\"strategy\":\"strip-binary\",\"keepLastTurns\":0},{\"strategy\":\"repair\",\"head\":\"user\"}]",
};

/* The heap of the transcript: its nth allocation fails. */
typedef struct Heap {
  long calls, fail_at;
} Heap;

static void *resize(void *context, void *block, size_t size) {
  Heap *heap = context;
  if (size == 0) {
    free(block);
    return NULL;
  }
  return ++heap->calls == heap->fail_at ? NULL : realloc(block, size);
}

static TampStatus read_file(void *context, uint64_t offset, uint32_t length, uint8_t *to) {
  const TampText *file = context;
  require(offset <= file->length && length <= file->length - offset);
  if (length > 0) memcpy(to, file->bytes + offset, length);
  return TAMP_OK;
}

/* Reads the file. NULL when it is refused; `*status` says how. */
static TampTranscript *read_chunks(TampAllocator allocator, const TampFormat *format, TampText *file, size_t chunk,
                                   TampStatus *status) {
  TampTranscript *transcript;
  *status = tamp_transcript_new(allocator, format, true, (TampSource){read_file, file}, &transcript);
  require((*status == TAMP_OK) == (transcript != NULL));
  for (size_t at = 0; !*status && at < file->length; at += chunk) {
    size_t count = file->length - at < chunk ? file->length - at : chunk;
    /* A copy, so that reading behind a chunk or keeping it is seen. */
    uint8_t *copy = malloc(count);
    require(copy != NULL);
    memcpy(copy, file->bytes + at, count);
    *status = tamp_transcript_feed(transcript, copy, count);
    free(copy);
  }
  if (!*status) *status = tamp_transcript_finish(transcript);
  if (*status) {
    tamp_transcript_free(transcript);
    return NULL;
  }
  return transcript;
}

static TampStatus plan_on(TampTranscript *transcript, const TampPolicy *policy, TampPlan **plan) {
  static const TampOptions options;
  TampHistory *history = tamp_transcript_view(transcript).history;
  *plan = NULL;
  if (!history) return TAMP_BAD_ARGUMENT;
  return tamp_history_plan(history, tamp_history_length(history), policy, &options, NULL, 0, plan);
}

static void put_slices(Buffer *out, const TampText *file, const TampSlice *slices, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const TampSlice *slice = &slices[i];
    const uint8_t *bytes = slice->bytes;
    if (!bytes) {
      require(slice->offset <= file->length && slice->length <= file->length - slice->offset);
      bytes = file->bytes + slice->offset;
    }
    if (out->capacity - out->length < slice->length + 1) {
      out->capacity = 2 * out->capacity + (size_t)slice->length + 1024;
      out->bytes = realloc(out->bytes, out->capacity);
      require(out->bytes != NULL);
    }
    if (slice->length > 0) memcpy(out->bytes + out->length, bytes, (size_t)slice->length);
    out->length += (size_t)slice->length;
  }
}

/* Everything with a heap that fails: no crash and no leak is what is asked. */
static void with_failure(const TampFormat *format, TampText *file, size_t chunk, const TampPolicy *policy,
                         long fail_at) {
  Heap heap = {0, fail_at};
  TampStatus status;
  TampPlan *plan = NULL;
  TampTranscript *transcript = read_chunks((TampAllocator){resize, &heap}, format, file, chunk, &status);
  if (transcript && !plan_on(transcript, policy, &plan)) {
    const TampSlice *slices;
    uint32_t count;
    status = tamp_transcript_write(transcript, plan, true, &slices, &count);
    require(status == TAMP_OK || status == TAMP_NO_MEMORY);
  }
  tamp_plan_free(plan);
  tamp_transcript_free(transcript);
}

static void trim(const TampFormat *format, TampText *file, size_t chunk, const TampPolicy *policy, bool drop_dead) {
  TampStatus whole_status, status;
  TampTranscript *whole = read_chunks(tamp_default_allocator(), format, file, file->length + 1, &whole_status);
  TampTranscript *transcript = read_chunks(tamp_default_allocator(), format, file, chunk, &status);
  require(status == whole_status);
  TampPlan *plan = NULL;
  if (transcript) {
    TampTranscriptView one = tamp_transcript_view(transcript), other = tamp_transcript_view(whole);
    require(one.format == other.format && one.container == other.container);
    require(one.unreadable_count == other.unreadable_count);
    require((one.history == NULL) == (other.history == NULL));
    if (one.history) require(tamp_history_length(one.history) == tamp_history_length(other.history));
  }
  if (transcript && !plan_on(transcript, policy, &plan)) {
    static const char internal[] = "internal error";
    const TampPlanView *view = tamp_plan_view(plan);
    bool judged = !grammar_says_label(tamp_transcript_view(transcript).format, *file);
    require(!judged || view->reason.length < sizeof internal - 1 || memcmp(view->reason.bytes, internal, sizeof internal - 1) != 0);
    const TampSlice *slices;
    uint32_t count;
    require(tamp_transcript_write(transcript, plan, drop_dead, &slices, &count) == TAMP_OK);
    Buffer out = {0};
    put(&out, "");
    put_slices(&out, file, slices, count);
    if (!view->changed && !drop_dead) {
      require(out.length == file->length && memcmp(out.bytes, file->bytes, out.length) == 0);
    }
    if (getenv("SHOW")) fprintf(stderr, "becomes\n%.*s\n", (int)out.length, out.bytes);
    TampText trimmed = {(const uint8_t *)out.bytes, out.length};
    TampPlan *second = NULL;
    TampTranscript *again =
        read_chunks(tamp_default_allocator(), tamp_transcript_view(transcript).format, &trimmed, chunk, &status);
    if (view->count > 0) require(again != NULL);
    if (judged && again && !plan_on(again, policy, &second)) require(!tamp_plan_view(second)->changed);
    tamp_plan_free(second);
    tamp_transcript_free(again);
    free(out.bytes);
  }
  tamp_plan_free(plan);
  tamp_transcript_free(transcript);
  tamp_transcript_free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  size_t chunk = 1 + take(&input, 64);
  uint32_t formats = 0;
  while (tamp_format_at(formats)) formats++;
  uint32_t kind = take(&input, 64);
  const TampFormat *format = tamp_format_at(kind / 2 % (formats + 1)); /* NULL behind the last: it is told */
  uint32_t flags = take(&input, 256);
  TampArena arena;
  const TampPolicy *policy;
  TampText problems;
  tamp_arena_init(&arena, tamp_default_allocator());
  const char *json = policies[flags % 8];
  require(tamp_policy_read((TampText){(const uint8_t *)json, strlen(json)}, &arena, &policy, &problems) == TAMP_OK);
  Buffer text = {0};
  put(&text, "");
  TampText file = {input.bytes, input.length};
  if (kind % 2 == 0) {
    const TampFormat *spelled = grammar_format(kind / 2 % GRAMMAR_FORMATS);
    bool lines = (flags >> 3 & 1) != 0;
    format = spelled;
    if (!lines) put(&text, flags >> 4 & 1 ? "{\"title\":\"x\",\"messages\":[\n" : "[ ");
    for (uint32_t i = 0; i < 32 && input.length > 0; i++) {
      if (i > 0) put(&text, lines ? "\n" : ",\n");
      put_message(&text, &input, spelled, i);
    }
    if (!lines) put(&text, flags >> 4 & 1 ? "\n],\"end\":{}}" : "]");
    file = (TampText){(const uint8_t *)text.bytes, text.length};
  }
  if (getenv("SHOW")) fprintf(stderr, "%s %s\n%.*s\n", format ? format->name : "auto", json, (int)file.length, (const char *)file.bytes);
  if (flags >> 5 == 7) {
    with_failure(format, &file, chunk, policy, 1 + (long)take(&input, 256));
  } else {
    trim(format, &file, chunk, policy, (flags >> 5 & 1) != 0);
  }
  tamp_arena_free(&arena);
  free(text.bytes);
  return 0;
}
