/* The text of a summary comes from outside, and nothing here waits for it: a question is put, the
 * run stops, and is started again with the answer (run.h). Input that is too long for one question
 * becomes several, each of which gives the answer to the one before as what there is so far. */
#include "../text.h"
#include "render.h"
#include "summary.h"

/* A message that alone is over maxInputTokens is cut, but not into less than this many characters.
 * A piece is not even tried with more characters a token than there ever are, so that cutting costs
 * what the text is long. */
enum { SMALLEST_PIECE = 200, MOST_CHARACTERS_A_TOKEN = 16 };

static const TampSummaryOptions defaults = {
    .max_messages = TAMP_UNSET,
    .max_tokens = TAMP_UNSET,
    .window = {.keep_messages = 20,
               .keep_tokens = TAMP_UNSET,
               .keep_groups = TAMP_UNSET,
               .keep_turns = TAMP_UNSET,
               .keep_first_user = true},
    .max_summary_tokens = TAMP_UNSET,
    .max_input_tokens = TAMP_UNSET,
    .label = {(const uint8_t *)"[Conversation summary]", 22},
};

static const TampField fields[] = {
    TAMP_SUMMARY_FIELDS,
    {.name = "maxInputTokens",
     .type = TAMP_FIELD_COUNT,
     .minimum = 1,
     .offset = offsetof(TampSummaryOptions, max_input_tokens)},
};

/* The question being put together. */
typedef struct Asking {
  TampCover *cover;
  TampRun *run;
  bool has_previous;
  TampText previous; /* what there is so far */
  TampWriter text;
  uint64_t text_tokens;
  uint32_t newest;   /* the entry that was added last */
  uint32_t *origins; /* of the messages in it, as many as `count` */
  const TampRecord **records;
  uint32_t count;
  uint64_t tokens;
  const char *refusal; /* why an answer was refused, NULL while none was */
} Asking;

/* Why an answer cannot be taken, or NULL. */
static TampStatus judge(const Asking *asking, const TampAnswer *answer, const char **refusal) {
  *refusal = NULL;
  if (answer->refused) {
    *refusal = "the summary is not a text";
    return TAMP_OK;
  }
  if (tamp_text_is_blank(answer->text)) {
    *refusal = "the summary is blank";
    return TAMP_OK;
  }
  uint64_t most = asking->cover->options->max_summary_tokens;
  if (most == TAMP_UNSET) return TAMP_OK;
  uint32_t tokens;
  TampStatus status = tamp_count_text(asking->run->counter, answer->text, &tokens);
  if (!status && tokens > most) *refusal = "the summary is over maxSummaryTokens";
  return status;
}

/* Asks what was put together; the answer is what there is then. */
static TampStatus ask(Asking *asking) {
  TampQuestion question = {
      .origins = asking->origins,
      .records = asking->records,
      .count = asking->count,
      .has_previous = asking->has_previous,
      .previous = asking->previous,
      .tokens = asking->tokens,
  };
  TampStatus status = tamp_writer_finish(&asking->text, &question.text);
  const TampAnswer *answer;
  if (!status) status = tamp_run_ask(asking->run, &question, &answer);
  if (!status) status = judge(asking, answer, &asking->refusal);
  if (status) return status;
  asking->has_previous = true;
  asking->previous = answer->text;
  asking->text.length = 0;
  asking->text_tokens = 0;
  asking->count = 0;
  asking->tokens = 0;
  return TAMP_OK;
}

/* Tokens of rendered text that the next question has room for. What there is so far is input too,
 * but leaves at least half of it. */
static TampStatus room(const Asking *asking, uint64_t *tokens) {
  uint64_t most = asking->cover->options->max_input_tokens;
  *tokens = most;
  if (most == TAMP_UNSET || !asking->has_previous) return TAMP_OK;
  uint32_t used;
  TampStatus status = tamp_count_text(asking->run->counter, asking->previous, &used);
  *tokens = used < most / 2 ? most - used : most - most / 2;
  return status;
}

/* Whether all of the message that a unit is of is covered, as it was read. */
static bool whole_of(const Asking *asking, const TampEntry *item) {
  const TampStep *step = &asking->cover->step;
  const TampRecord *whole = item->record->whole;
  for (uint32_t i = 0; whole && i < whole->unit_count; i++) {
    uint32_t at = item->head + i;
    if (at >= step->list->count || step->list->entries[at].record != &whole->units[i] || !step->drops[at]) {
      return false;
    }
  }
  return whole != NULL;
}

/* A message that is cut stands in a question once, however many pieces of it do. */
static void add_message(Asking *asking, uint32_t entry) {
  const TampEntry *item = &asking->cover->step.list->entries[entry];
  const TampRecord *record = whole_of(asking, item) ? item->record->whole : item->record;
  if (asking->count > 0 && asking->newest == entry) return;
  asking->newest = entry;
  asking->tokens += item->record->tokens;
  if (tamp_entry_joined(asking->cover->step.list, entry)) asking->tokens -= TAMP_MESSAGE_TOKENS;
  if (asking->count > 0 && asking->records[asking->count - 1] == record) return;
  asking->origins[asking->count] = item->origin;
  asking->records[asking->count] = record;
  asking->count++;
}

static void add_text(Asking *asking, TampText text, uint64_t tokens) {
  if (asking->text.length > 0 && text.length > 0) tamp_writer_raw(&asking->text, TAMP_TEXT("\n\n"));
  tamp_writer_raw(&asking->text, text);
  asking->text_tokens += tokens;
}

/* Bytes of the beginning of a text of at most `characters`: behind white space where there is some
 * in its second half. */
static size_t cut_text(TampText text, size_t characters) {
  size_t length = tamp_text_head(text, characters);
  if (length == 0 || length == text.length) return text.length; /* one cluster is not cut */
  for (size_t i = length; i > length / 2; i--) {
    if (text.bytes[i - 1] <= ' ') return i;
  }
  return length;
}

/* The beginning of a text that has at most `most` tokens, as nearly as a few tries find it. */
static TampStatus cut_piece(const Asking *asking, TampText text, uint64_t most, TampText *piece,
                            uint32_t *tokens) {
  *piece = text;
  if (most < text.length / MOST_CHARACTERS_A_TOKEN) {
    piece->length = cut_text(text, (size_t)most * MOST_CHARACTERS_A_TOKEN + SMALLEST_PIECE);
  }
  size_t characters = tamp_text_characters(*piece);
  TampStatus status = tamp_count_text(asking->run->counter, *piece, tokens);
  while (!status && *tokens > most && characters > SMALLEST_PIECE) {
    characters = characters / 2 > SMALLEST_PIECE ? characters / 2 : SMALLEST_PIECE;
    piece->length = cut_text(text, characters);
    status = tamp_count_text(asking->run->counter, *piece, tokens);
  }
  return status;
}

/* Adds a message to the question, asking first when it has no room left. */
static TampStatus add_entry(Asking *asking, uint32_t entry, TampText text) {
  for (;;) {
    uint64_t most;
    uint32_t tokens;
    TampText piece;
    TampStatus status = room(asking, &most);
    if (!status) status = cut_piece(asking, text, most, &piece, &tokens);
    if (!status && asking->count > 0 && asking->text_tokens + tokens > most) {
      status = ask(asking);
      if (!status && asking->refusal) return TAMP_OK;
      if (!status) status = room(asking, &most);
      if (!status) status = cut_piece(asking, text, most, &piece, &tokens);
    }
    if (status) return status;
    add_message(asking, entry);
    add_text(asking, piece, tokens);
    if (piece.length == text.length) return asking->text.status;
    text.bytes += piece.length;
    text.length -= piece.length;
  }
}

static TampStatus ask_all(Asking *asking) {
  TampCover *cover = asking->cover;
  TampRun *run = asking->run;
  TampMessage message;
  tamp_message_init(&message, run->arena);
  TampWriter rendered = tamp_writer(run->arena);
  TampStatus status = TAMP_OK;
  for (uint32_t i = 0; !status && !asking->refusal && i < cover->count; i++) {
    TampText text;
    rendered.length = 0;
    status = tamp_render_entry(&cover->step, cover->entries[i], &message, &rendered);
    if (!status) status = tamp_writer_finish(&rendered, &text);
    if (!status) status = add_entry(asking, cover->entries[i], text);
  }
  if (!status && !asking->refusal && asking->count > 0) status = ask(asking);
  tamp_arena_drop(run->arena, rendered.bytes);
  tamp_arena_drop(run->arena, message.parts);
  return status;
}

static void refuse(TampRun *run, const TampPolicy *policy, const char *why) {
  run->refused[policy->number] = 1;
  run->refusal = why;
  tamp_run_note(run, why);
}

static TampStatus run_summarize(TampRun *run, const TampPolicy *policy) {
  TampCover cover;
  bool ready;
  TampStatus status =
      tamp_cover_begin(run, policy->options, "summarize: covered by the summary", &cover, &ready);
  if (status || !ready) return status;
  if (run->refused[policy->number]) {
    tamp_run_note(run, "its summary was refused, and is not asked for again");
    return TAMP_OK;
  }
  Asking asking = {
      .cover = &cover,
      .run = run,
      .has_previous = cover.has_previous,
      .previous = cover.previous,
      .text = tamp_writer(run->arena),
      .origins = tamp_arena_alloc(run->arena, cover.count * sizeof *asking.origins),
      .records = tamp_arena_alloc(run->arena, cover.count * sizeof *asking.records),
  };
  if (!asking.origins || !asking.records) return TAMP_NO_MEMORY;
  status = ask_all(&asking);
  const TampRecord *record;
  if (!status && !asking.refusal) {
    status = tamp_cover_draft(&cover, asking.previous, &record);
    if (!status && !tamp_cover_saves(&cover, record)) {
      asking.refusal = "the summary does not weigh less than what it replaces";
    }
  }
  if (status) return status;
  if (asking.refusal) {
    refuse(run, policy, asking.refusal);
    return TAMP_OK;
  }
  return tamp_cover_commit(&cover, record, "summarize: stands for the messages it covers");
}

const TampStrategy tamp_strategy_summarize = {
    .name = "summarize",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(TampSummaryOptions),
    .defaults = &defaults,
    .check = tamp_summary_check,
    .run = run_summarize,
    .limits = tamp_summary_limits,
    .asks = true,
};
