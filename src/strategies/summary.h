/* What summarize and digest share: which messages are covered, what stood for earlier ones, and the
 * message that takes their place. The two differ only in where the text comes from. */
#ifndef TAMP_SUMMARY_H
#define TAMP_SUMMARY_H

#include "strategy.h"

typedef struct TampSummaryOptions {
  uint64_t max_messages, max_tokens;
  TampWindow window;
  uint64_t max_summary_tokens; /* of the text alone */
  uint64_t max_input_tokens;   /* summarize only */
  TampText label;
  uint32_t role; /* index in tamp_summary_roles */
} TampSummaryOptions;

extern const char *const tamp_summary_roles[];

/* The fields of both, to be listed in a strategy's table. */
#define TAMP_SUMMARY_FIELD(field, kind, member)                                                    \
  { .name = field, .type = kind, .offset = offsetof(TampSummaryOptions, member) }
#define TAMP_SUMMARY_FIELDS                                                                        \
  TAMP_SUMMARY_FIELD("maxMessages", TAMP_FIELD_COUNT, max_messages),                               \
      TAMP_SUMMARY_FIELD("maxTokens", TAMP_FIELD_COUNT, max_tokens),                               \
      TAMP_SUMMARY_FIELD("keepMessages", TAMP_FIELD_COUNT, window.keep_messages),                  \
      TAMP_SUMMARY_FIELD("keepTokens", TAMP_FIELD_COUNT, window.keep_tokens),                      \
      TAMP_SUMMARY_FIELD("keepFirstUser", TAMP_FIELD_BOOL, window.keep_first_user),                \
      {.name = "role",                                                                             \
       .type = TAMP_FIELD_CHOICE,                                                                  \
       .offset = offsetof(TampSummaryOptions, role),                                               \
       .choices = tamp_summary_roles},                                                             \
      TAMP_SUMMARY_FIELD("label", TAMP_FIELD_TEXT, label),                                         \
      TAMP_SUMMARY_FIELD("maxSummaryTokens", TAMP_FIELD_COUNT, max_summary_tokens)

/* TampStrategy.check and TampStrategy.limits of both. */
void tamp_summary_check(const void *options, TampProblems *problems);
void tamp_summary_limits(const void *options, TampLimits *limits);

/* What one summary will stand for. */
typedef struct TampCover {
  TampStep step; /* with everything that is replaced marked as dropped */
  const TampSummaryOptions *options;
  uint32_t *entries; /* covered messages in the order they are read in: results behind their call */
  uint32_t count;
  uint64_t replaced; /* tokens of what goes, earlier summaries included */
  uint64_t covered;  /* messages it stands for, those of earlier summaries included */
  bool has_previous;
  TampText previous; /* the text of earlier summaries, without their label */
  TampText through;  /* name of the last covered message */
} TampCover;

/* Looks at the limits and finds what there is to cover. `*ready` is false when there is nothing to
 * do; the run was told why. */
TampStatus tamp_cover_begin(TampRun *run, const TampSummaryOptions *options, const char *reason,
                            TampCover *cover, bool *ready);

/* Makes the record of the message that would say `text`. */
TampStatus tamp_cover_draft(TampCover *cover, TampText text, const TampRecord **record);

/* Whether that message weighs less than what it replaces. */
static inline bool tamp_cover_saves(const TampCover *cover, const TampRecord *record) {
  return record->tokens < cover->replaced;
}

/* Puts the message in the place of what is covered. */
TampStatus tamp_cover_commit(TampCover *cover, const TampRecord *record, const char *reason);

#endif
