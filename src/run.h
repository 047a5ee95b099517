/* A run: one compaction under way. It holds the list as it is between two steps and carries it through the
 * policy, pass after pass, until a pass changes nothing (strategies.md §3).
 *
 * Summaries need a model, and nothing here waits. A run that needs a text stops with TAMP_NEEDS_SUMMARY and
 * is started again from the beginning with one answer more: every run is deterministic, so it comes to the
 * same question and goes on from there. */
#ifndef TAMP_RUN_H
#define TAMP_RUN_H

#include "list.h"
#include "policy.h"

typedef struct TampOptions {
  TampCounter counter;      /* count NULL: estimate */
  uint64_t reserved_tokens; /* added to every total that is compared with a budget */
  bool has_usage;
  TampText usage_message;
  uint64_t usage_input;
  uint64_t usage_output;
  const TampText *pins; /* ids of messages that may not be touched */
  uint32_t pin_count;
} TampOptions;

/* An answer to a question of a run. */
typedef struct TampAnswer {
  TampText text;
  bool refused; /* what came was no string */
} TampAnswer;

/* What is asked when a run stops with TAMP_NEEDS_SUMMARY. */
typedef struct TampQuestion {
  const uint32_t *origins; /* covered messages, as indices of the input, in order; TAMP_NONE for one that an
                              earlier step made: then `records` has it */
  const TampRecord *const *records; /* the covered messages as they are now */
  uint32_t count;
  TampText text; /* the rendered messages */
  bool has_previous;
  TampText previous; /* text of the summary already in the history */
  uint64_t tokens;
} TampQuestion;

typedef struct TampLimits {
  uint64_t tokens, messages, bytes;
} TampLimits;

typedef struct TampStepReport {
  const char *strategy;
  const char *note; /* static, or NULL */
  uint64_t tokens_before, tokens_after;
  uint32_t sent_before, sent_after;
  uint32_t rewritten;
  bool fired;
} TampStepReport;

/* A message of a list that a step builds. */
typedef struct TampItem {
  const TampRecord *record;
  uint32_t origin;
  uint32_t from; /* the entry of the list before that it was, TAMP_NONE for a new one */
  bool tail;     /* a new one that is the input's message `origin` */
  bool joined;   /* it is a unit of the message of the item before, and has its origin */
} TampItem;

typedef struct TampRun {
  TampArena *arena; /* everything of the run that lives on after a step */
  TampArena *scratch; /* what a step needs while it is made */
  const TampFormat *format;
  TampAtoms *atoms; /* the history's; what the run adds is taken back at its end */
  const TampOptions *options;
  const TampCounter *counter; /* NULL: estimate */
  const uint32_t *pins;       /* atoms, sorted */
  uint32_t pin_count;
  int64_t offset; /* total that budgets see = list->tokens + offset: reserved tokens, or usage */
  const TampList *given;  /* the list the run began with: it stays as it is to the end */
  const TampList *list;   /* now */
  TampList *spare[2];     /* the lists that steps build in turn */
  const char **reasons;   /* by origin: why it went or was rewritten; NULL while it is as it was */
  uint32_t input_count;   /* length of `reasons` */
  TampStepReport *steps;
  uint32_t step_count, step_capacity;
  uint32_t rewritten;   /* entries rewritten since the step began */
  uint32_t changes;     /* steps that changed the list, over the whole run */
  bool forced;          /* inside a budget: limits and `when` are not asked */
  bool fired;
  bool quiet;           /* a later pass: only steps that change something are reported */
  bool straightened;    /* results were moved to their calls, and nobody has asked for that yet */
  bool nothing_left;    /* the last repair would have emptied the list, so it did nothing */
  const char *note;
  struct TampAddition {
    const TampRecord *record;
    const char *reason;
  } *additions; /* the messages that were added, and why */
  uint32_t addition_count, addition_capacity;
  uint64_t added_tokens;    /* of what repair added: answers and a head */
  const TampAnswer *answers;
  uint32_t answer_count;
  uint32_t asked;       /* questions put so far in this run */
  uint8_t *refused;     /* by policy number: its summary was refused */
  uint32_t policy_count; /* length of `refused` */
  const char *refusal;  /* the last one's reason */
  TampQuestion question;
  uint32_t *taken; /* by atom: 0 for one that is no message's id; else up to which number what is made from it is
                      taken too, 1 for none */
  uint32_t taken_count, taken_capacity;
  uint32_t taken_changes; /* `changes` when it was filled */
} TampRun;

/* The total a budget is compared with. Never below 0. */
uint64_t tamp_run_total(const TampRun *run, uint64_t list_tokens);

/* For strategies: the limits were exceeded, so the step counts as fired. */
void tamp_run_fired(TampRun *run);
void tamp_run_note(TampRun *run, const char *sentence);

/* Runs a policy, with its trigger, on the list. */
TampStatus tamp_run_policy(TampRun *run, const TampPolicy *policy);

/* The list becomes these messages, read anew. A list with nothing in it that would be sent is not taken from
 * one that had something: then nothing changes and a note says so (§5). */
TampStatus tamp_run_replace(TampRun *run, const TampItem *items, uint32_t count);

/* Remembers why a message of the input goes or is rewritten. */
void tamp_run_reason(TampRun *run, uint32_t origin, const char *reason);

/* Remembers why a message was added. */
TampStatus tamp_run_added(TampRun *run, const TampRecord *record, const char *reason);

/* Reads a record's message again, to look at its texts. */
TampStatus tamp_run_read(TampRun *run, const TampRecord *record, TampMessage *message);

/* Makes the record a message would have after `edits`. */
TampStatus tamp_run_edit(TampRun *run, const TampMessage *message, const TampEdit *edits,
                         size_t count, const TampRecord **record);

/* The same where what it says can be made again: then its text is not kept, and `later` is asked for it as long as the
 * run lasts. NULL: as tamp_run_edit. */
TampStatus tamp_run_edit_later(TampRun *run, const TampMessage *message, const TampEdit *edits, size_t count,
                               const TampSource *later, const TampRecord **record);

/* Makes the record of a new message. */
TampStatus tamp_run_draft(TampRun *run, const TampDraft *draft, const TampRecord **record);

/* An id that no message of the list has: `prefix` and `name`, with "-2", "-3"… when taken. */
TampStatus tamp_run_fresh_id(TampRun *run, TampText prefix, TampText name, TampText *id);

/* Until the list changes, no fresh id is this one: for a step that makes several messages. `id` must live as
 * long as the run. */
TampStatus tamp_run_take_id(TampRun *run, TampText id);

/* What reports and made ids call a message: its id, or "#<position in the input>" without one. */
TampStatus tamp_run_name(TampRun *run, const TampRecord *record, uint32_t origin, TampText *name);

/* The whole run: passes until one changes nothing, each closed by a repair (§3, §4). */
TampStatus tamp_run_all(TampRun *run, const TampPolicy *policy);

/* Whether any of the limits that are set is exceeded; with none set, always. In a budget, always. */
bool tamp_run_exceeds(const TampRun *run, const TampLimits *limits);

/* Puts a question. TAMP_OK: `*answer` is what was answered. TAMP_NEEDS_SUMMARY: unwind; the question is in
 * run->question. */
TampStatus tamp_run_ask(TampRun *run, const TampQuestion *question, const TampAnswer **answer);

#endif
