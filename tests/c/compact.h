/* Compacting from C in one call, for tests that say what a strategy does to a few messages. */
#ifndef TAMP_TEST_COMPACT_H
#define TAMP_TEST_COMPACT_H

#include <string.h>

#include "../../src/tamp.h"
#include "allocator.h"
#include "test.h"

#define COMPACT_ANSWERS 64u

typedef struct Compacted {
  TampStatus status;
  bool changed;
  bool fits;
  uint32_t asked;          /* questions that were put */
  char messages[1 << 16];  /* the result, one message a line */
  char reason[256];        /* why it does not fit */
  char note[256];          /* of the first step */
  char questions[1 << 16]; /* texts of the questions: "<previous|text>" one after the other */
} Compacted;

static inline TampText compact_text(const char *string) {
  return (TampText){(const uint8_t *)string, strlen(string)};
}

/* What does not fit is left out. */
static inline void compact_add(char *out, size_t size, TampText text, const char *end) {
  size_t length = strlen(out);
  if (length + text.length + strlen(end) >= size) return;
  if (text.length > 0) memcpy(out + length, text.bytes, text.length);
  strcpy(out + length + text.length, end);
}

static inline void compact_read(TampHistory *history, const TampPlanView *view, Compacted *out) {
  out->changed = view->changed;
  out->fits = view->fits;
  compact_add(out->reason, sizeof out->reason, view->reason, "");
  if (view->step_count > 0 && view->steps[0].note != NULL) {
    compact_add(out->note, sizeof out->note, compact_text(view->steps[0].note), "");
  }
  for (uint32_t i = 0; i < view->count; i++) {
    uint32_t value = view->order[i];
    TampText message = value < TAMP_PLAN_TEXT
                           ? tamp_history_message(history, value)
                           : (TampText){view->texts[value - TAMP_PLAN_TEXT].bytes,
                                        view->texts[value - TAMP_PLAN_TEXT].length};
    compact_add(out->messages, sizeof out->messages, message, "\n");
  }
}

/* Runs `policy` on `messages`, a JSON array. `answers` are what a summarizer says, NULL at the end;
 * the last one is said again when more is asked. An answer of "\1" is one that is no text. */
static inline void compact_with(TampAllocator allocator, const TampFormat *format,
                                const char *messages, const char *policy,
                                const TampOptions *options, const char *const *answers,
                                Compacted *out) {
  static const TampOptions none = {0};
  memset(out, 0, sizeof *out);
  TampHistory *history = NULL;
  TampArena arena;
  tamp_arena_init(&arena, allocator);
  const TampPolicy *tree = NULL;
  TampText problems;
  uint32_t index;
  TampFault fault;
  out->status = tamp_history_new(allocator, format, &history);
  if (!out->status) {
    out->status = tamp_history_append_array(history, compact_text(messages), &index, &fault);
  }
  if (!out->status) out->status = tamp_policy_read(compact_text(policy), &arena, &tree, &problems);
  TampAnswer given[COMPACT_ANSWERS];
  while (!out->status) {
    TampPlan *plan = NULL;
    out->status = tamp_history_plan(history, tamp_history_length(history), tree,
                                    options ? options : &none, given, out->asked, &plan);
    if (out->status == TAMP_NEEDS_SUMMARY && answers != NULL && out->asked < COMPACT_ANSWERS) {
      const TampQuestion *question = tamp_plan_question(plan);
      compact_add(out->questions, sizeof out->questions, question->previous, "|");
      compact_add(out->questions, sizeof out->questions, question->text, ">");
      given[out->asked++] = (TampAnswer){compact_text(*answers), strcmp(*answers, "\1") == 0};
      if (answers[1] != NULL) answers++;
      out->status = TAMP_OK;
      tamp_plan_free(plan);
      continue;
    }
    if (!out->status) compact_read(history, tamp_plan_view(plan), out);
    tamp_plan_free(plan);
    break;
  }
  tamp_arena_free(&arena);
  tamp_history_free(history);
}

#endif
