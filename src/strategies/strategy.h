/* What a strategy is, and all it may do.
 *
 * A strategy decides on groups and entries of a list; it sees no JSON and no format. Most have one step:
 *
 *   TampStep step;
 *   tamp_step_begin(run, &step);          // the list as it is now
 *   ... tamp_step_drop_group, tamp_step_rewrite, tamp_step_insert ...
 *   return tamp_step_commit(&step);       // the list as it is then, read anew
 *
 * Those made of others (context-window, budget) run them one after the other instead. A strategy is one file
 * that fills one TampStrategy, and one row in strategies.c. */
#ifndef TAMP_STRATEGY_H
#define TAMP_STRATEGY_H

#include "../list.h"
#include "../policy.h"
#include "../run.h"

struct TampStrategy {
  const char *name;
  const TampField *fields;
  size_t field_count;
  size_t options_size;
  const void *defaults; /* an options struct; copied before the fields are read */
  /* Contradictions between fields. NULL when there can be none. */
  void (*check)(const void *options, TampProblems *problems);
  /* Does its work on run's list. Says whether its limits were exceeded (tamp_run_fired) and, when it could
   * do nothing, why (tamp_run_note). */
  TampStatus (*run)(TampRun *run, const TampPolicy *policy);
  /* The budgets that `fits` is about (strategies.md §3): fills those it names, others stay TAMP_UNSET. NULL
   * when it names none. */
  void (*limits)(const void *options, TampLimits *limits);
  /* Whether tokens have a say in what it does. NULL: always. */
  bool (*weighs)(const void *options);
  bool asks;     /* needs the text of a summary */
  bool composed; /* its steps report for themselves */
};

const TampStrategy *tamp_strategy_named(const char *name); /* NULL when unknown */
const TampStrategy *tamp_strategy_at(size_t index);        /* NULL behind the last */

/* One step: marks on the run's list. Pieces live in the run's scratch. */
typedef struct TampStep {
  TampRun *run;
  const TampList *list;
  const uint8_t *protection;  /* a byte a group: TAMP_GROUP_* */
  uint8_t *drops;             /* a byte an entry: goes */
  struct TampUnitsLeft {
    uint32_t units;
    uint32_t speaking;
  } *left;                    /* by head: what is left of its message; NULL when no message has units */
  const TampRecord **rewrites; /* an entry's new record, or NULL; the array is NULL until the first */
  const TampRecord *added;    /* at most one message is added by a step */
  uint32_t added_before;      /* the entry it stands before; list->count for the end */
  const char *reason;         /* static; why what goes goes, for the report */
  const char *added_reason;
  uint64_t tokens;            /* of the list as marked so far */
  uint64_t size;
  uint32_t messages;
  bool changed;
} TampStep;

TampStatus tamp_step_begin(TampRun *run, const char *reason, TampStep *step);

static inline bool tamp_step_protected(const TampStep *step, uint32_t group) {
  return (step->protection[group] & TAMP_GROUP_PROTECTED) != 0;
}

/* Drops every member but those that stay (TampEntry.stays), and the activity that goes with it. Whoever calls has made sure that the group is not
 * protected. Dropping twice is nothing. */
void tamp_step_drop_group(TampStep *step, uint32_t group);

/* Drops one entry (and its activity) of a group that otherwise stays: reasoning, a result. Nothing where the entry
 * stays whatever goes. */
void tamp_step_drop_entry(TampStep *step, uint32_t entry);

/* Reads the message of an entry again, to look at texts. Valid until the next read of the same TampMessage;
 * initialise it once with tamp_message_init(&message, run->arena). */
TampStatus tamp_step_read(TampStep *step, uint32_t entry, TampMessage *message);

/* Makes the record an entry would have after `edits` of its message (read with tamp_step_read), without
 * taking it: look at its tokens first, for a rewrite that saves none is not done. */
TampStatus tamp_step_edit(TampStep *step, const TampMessage *message, const TampEdit *edits,
                          size_t count, const TampRecord **record);

/* Takes a record in place of an entry's. */
TampStatus tamp_step_rewrite(TampStep *step, uint32_t entry, const TampRecord *record);

/* Makes the record of a new message. */
TampStatus tamp_step_draft(TampStep *step, const TampDraft *draft, const TampRecord **record);

/* Adds it before an entry (list->count: at the end). At most once a step. */
void tamp_step_insert(TampStep *step, uint32_t before, const TampRecord *record, const char *reason);

/* Applies the marks: the run's list becomes what they leave. */
TampStatus tamp_step_commit(TampStep *step);

/* Tool groups, newest first, that "keep the newest n" counts: pending ones use up no keep. Marks in `kept`
 * (a byte a group, zeroed by the caller) the newest `keep` of them. */
void tamp_step_keep_tool_groups(const TampStep *step, uint64_t keep, uint8_t *kept);

/* A piece that lives until the policy's step is over, zeroed; NULL on TAMP_NO_MEMORY. */
void *tamp_step_alloc(TampStep *step, size_t size);

/* What a sliding window with these keeps would remove: shared by sliding-window, summarize and digest. */
typedef struct TampWindow {
  uint64_t keep_messages, keep_tokens, keep_groups, keep_turns; /* TAMP_UNSET where not given */
  bool keep_first_user;
} TampWindow;

/* Reports two keeps at once, and a keep that is not below its max (§6): for the `check` of strategies with a
 * window. A max that does not exist is TAMP_UNSET. The last keep given counts; without one `keepMessages`
 * holds, whose default the options carry. */
void tamp_window_check(TampProblems *problems, const TampWindow *window, uint64_t max_messages,
                       uint64_t max_tokens);

/* The first group that is kept: all before it that may go are outside. list->group_count when none is. */
uint32_t tamp_window_cut(const TampStep *step, const TampWindow *window);

/* Whether a group before the cut may be removed: not protected, not kept as the first user message, not a
 * summary, not instructions or activity. */
bool tamp_window_removes(const TampStep *step, const TampWindow *window, uint32_t cut, uint32_t group);

/* The strategies others are made of. */
typedef struct TampTruncationOptions {
  uint64_t max_tokens, to_tokens, max_messages, to_messages, max_bytes, to_bytes;
  bool keep_first_user;
} TampTruncationOptions;

typedef struct TampToolResultsOptions {
  uint64_t keep_last_tool_call_groups;
  uint64_t max_chars;
} TampToolResultsOptions;

typedef struct TampRepairOptions {
  uint32_t orphan_results; /* 0 drop, 1 keep */
  uint32_t stale_calls;    /* 0 answer, 1 drop, 2 keep */
  uint32_t head;           /* 0 any, 1 user */
  TampText placeholder;
} TampRepairOptions;

TampStatus tamp_truncate_to(TampRun *run, const TampTruncationOptions *options);
TampStatus tamp_collapse_tool_results(TampRun *run, const TampToolResultsOptions *options);
TampStatus tamp_repair(TampRun *run, const TampRepairOptions *options);

/* Before a run: the list becomes what it is read as (strategies.md §1, Order), results directly behind their
 * calls, so that whatever goes does not change what reasoning belongs to. It shows in the result only when
 * something else changed or a repair was asked for. */
TampStatus tamp_straighten(TampRun *run);

extern const TampToolResultsOptions tamp_tool_results_defaults;
extern const TampRepairOptions tamp_repair_defaults;

extern const TampStrategy tamp_strategy_sliding_window;
extern const TampStrategy tamp_strategy_truncation;
extern const TampStrategy tamp_strategy_context_window;
extern const TampStrategy tamp_strategy_tool_results;
extern const TampStrategy tamp_strategy_drop_tool_calls;
extern const TampStrategy tamp_strategy_clear_tool_results;
extern const TampStrategy tamp_strategy_dedupe_tool_results;
extern const TampStrategy tamp_strategy_clamp;
extern const TampStrategy tamp_strategy_strip_binary;
extern const TampStrategy tamp_strategy_drop_reasoning;
extern const TampStrategy tamp_strategy_summarize;
extern const TampStrategy tamp_strategy_digest;
extern const TampStrategy tamp_strategy_budget;
extern const TampStrategy tamp_strategy_repair;

#endif
