/* Tamp's C API: decide what a chat history may lose without breaking it.
 *
 *   history   messages in, facts kept (records, pairs, groups, turns)
 *   policy    JSON in, a checked tree or every problem
 *   plan      what a policy makes of a history: which messages stay, which are written anew
 *
 * Nothing here does I/O, reads a clock or draws a random number; the same calls give the same answers. There
 * is no global state: objects of different histories may be used on different threads. Handles are pointers
 * that the caller frees, in any order but for one rule: a plan's texts live as long as the plan, not the
 * history. The rules are strategies.md's; a number in a comment like §4 points there. */
#ifndef TAMP_H
#define TAMP_H

#include "policy.h"
#include "record.h"
#include "run.h"

typedef struct TampHistory TampHistory;
typedef struct TampPlan TampPlan;

/* ── History ──────────────────────────────────────────────────────────────────────────────────────────── */

/* A history of messages in one format. `*history` is NULL on TAMP_NO_MEMORY. */
TampStatus tamp_history_new(TampAllocator allocator, const TampFormat *format, TampHistory **history);

/* Frees the history and its messages. NULL is allowed. */
void tamp_history_free(TampHistory *history);

/* Room for at least `size` bytes of the next message, to be filled by the caller and then appended with
 * tamp_history_append. `keep` bytes of the room given before are copied to its start. `*capacity` is what
 * there is. Any other call on the history ends the room. */
TampStatus tamp_history_room(TampHistory *history, size_t size, size_t keep, uint8_t **bytes,
                             size_t *capacity);

/* Appends the message in the first `length` bytes of the room. `raw` allows raw strings in it. On failure the
 * history is as it was, and `fault` counts from the message's first byte. */
TampStatus tamp_history_append(TampHistory *history, size_t length, bool raw, TampFault *fault);

/* Copies `text`, a JSON array of messages, and appends them all, or none. On failure `*index` is the message
 * at fault and `fault` counts from the text's first byte. */
TampStatus tamp_history_append_array(TampHistory *history, TampText text, uint32_t *index,
                                     TampFault *fault);

/* Forgets every message from `count` on. */
TampStatus tamp_history_truncate(TampHistory *history, uint32_t count);

uint32_t tamp_history_length(const TampHistory *history);

/* The message's bytes as they were given; raw strings are still raw. */
TampText tamp_history_message(const TampHistory *history, uint32_t index);

/* Index of the last message with this id, TAMP_NONE when there is none. */
uint32_t tamp_history_find(const TampHistory *history, TampText id);

/* What budgets see of the history under these options: estimate or counter, and usage; not the reserved
 * tokens (§2). */
TampStatus tamp_history_tokens(TampHistory *history, const TampOptions *options, uint64_t *tokens);

/* Sizes, groups, turns and problems as JSON: Inspection of api.d.ts. `*json` is a piece of `arena`. */
TampStatus tamp_history_inspect(TampHistory *history, const TampOptions *options, TampArena *arena,
                                TampText *json);

/* ── Plan ─────────────────────────────────────────────────────────────────────────────────────────────── */

/* Runs a policy on the first `length` messages of the history; those behind them stay as they are. Ordinarily
 * `length` is tamp_history_length. `answers` are the summaries given so far, in the order they were asked for.
 *
 * TAMP_OK: `*plan` says what comes of it. TAMP_NEEDS_SUMMARY: `*plan` holds the question (tamp_plan_question);
 * ask it, free the plan and call again with one answer more. Otherwise `*plan` is NULL. */
TampStatus tamp_history_plan(TampHistory *history, uint32_t length, const TampPolicy *policy,
                             const TampOptions *options, const TampAnswer *answers,
                             uint32_t answer_count, TampPlan **plan);

/* NULL is allowed. */
void tamp_plan_free(TampPlan *plan);

/* A message that is not the input's own: rewritten or added. */
typedef struct TampPlanText {
  const uint8_t *bytes; /* its JSON */
  uint32_t length;
  uint32_t origin; /* the message it was written from, TAMP_NONE for an added one */
  const char *reason; /* static */
} TampPlanText;

/* In a plan's order: the message is texts[value - TAMP_PLAN_TEXT]; below it, the input's message at that index. */
#define TAMP_PLAN_TEXT UINT32_C(0x80000000)

typedef struct TampPlanView {
  const uint32_t *order; /* the resulting messages */
  const TampPlanText *texts;
  const char *const *reasons; /* by index of the input: why it went or was rewritten; NULL for kept ones */
  const TampStepReport *steps;
  TampText reason; /* why `fits` is false, or what else there is to say; empty for nothing */
  uint64_t tokens_before, tokens_after;
  uint64_t bytes_before, bytes_after;
  uint32_t count; /* of `order` */
  uint32_t text_count;
  uint32_t input_count;
  uint32_t step_count;
  uint32_t before, after; /* messages that would be sent */
  bool changed;
  bool fits;
} TampPlanView;

/* Valid as long as the plan. */
const TampPlanView *tamp_plan_view(const TampPlan *plan);

/* What is asked; NULL when nothing is. Valid as long as the plan and, for its records, the history. */
const TampQuestion *tamp_plan_question(const TampPlan *plan);

/* The JSON of one of its messages that an earlier step made; empty for one of the input's. Valid as long as the plan. */
TampText tamp_plan_question_text(const TampPlan *plan, uint32_t at);

/* The steps and the reason as JSON: {"fits","reason","steps":[…]} of Report in api.d.ts. */
TampStatus tamp_plan_report(TampPlan *plan, TampText *json);

#endif
