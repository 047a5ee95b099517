/* A list as strategies read it (strategies.md §1): pairs, groups, turns.
 *
 * The list is built by appending, and everything it knows is kept up to date with each message, so a history
 * that only grows is never read twice. What depends on messages still to come is settled late: reasoning
 * waits in `floats` until a result or an assistant message claims it, and a call is pending as long as its
 * message is the last speaker. */
#ifndef TAMP_LIST_H
#define TAMP_LIST_H

#include "record.h"

typedef enum TampGroupKind {
  TAMP_GROUP_GONE = 0, /* merged into another; skip it */
  TAMP_GROUP_SYSTEM,
  TAMP_GROUP_USER,
  TAMP_GROUP_ASSISTANT,
  TAMP_GROUP_TOOL,
  TAMP_GROUP_SUMMARY,
  TAMP_GROUP_ACTIVITY,
  TAMP_GROUP_ORPHAN,
  TAMP_GROUP_OTHER,
} TampGroupKind;

/* A message, or one of the units that a message consists of: those stand next to each other. */
typedef struct TampEntry {
  const TampRecord *record;
  uint32_t origin;  /* index in the input list, TAMP_NONE for a message that was added */
  uint32_t source;  /* the message of the input that it was read from: `origin`, but for a unit that repair put into
                       another message; TAMP_NONE for what was added */
  uint32_t unit;    /* which of the units of `source` it was */
  uint32_t head;    /* the first entry of its message */
  uint32_t group;
  uint32_t next;    /* next member of its group in list order, TAMP_NONE at the last */
  uint32_t owner;   /* activity: the nearest entry before it that is not activity, or TAMP_NONE */
  uint32_t calls;   /* its first call in list->calls; as many as the record has */
  uint32_t results; /* likewise */
  bool continues;   /* its message began with an entry before it, of the same batch */
  bool stays;       /* what a person says next to results, or instructions: it is counted with its group, but does
                       not go with it */
} TampEntry;

/* What a message is appended from, when it has more to say than its record. */
typedef struct TampUnit {
  const TampRecord *record;
  uint32_t source; /* as in TampEntry */
  uint32_t unit;
  bool plain; /* no summary and no head, though its text reads like one: it stood elsewhere before */
} TampUnit;

typedef struct TampListCall {
  uint32_t entry;
  uint32_t index;  /* in the record's calls */
  uint32_t first;  /* its results in list->results, TAMP_NONE when unanswered; linked by `next` */
  uint32_t last;
  uint32_t below;  /* the open call with the same id below this one */
} TampListCall;

typedef struct TampListResult {
  uint32_t entry;
  uint32_t index; /* in the record's results */
  uint32_t call;  /* in list->calls, TAMP_NONE for an orphan */
  uint32_t next;  /* next result of the same call */
} TampListResult;

typedef struct TampGroup {
  uint64_t tokens;
  uint64_t size;     /* bytes of JSON */
  uint32_t anchor;   /* the entry it stands at: the call's message, or its only one */
  uint32_t first;    /* members, linked by TampEntry.next, in list order */
  uint32_t last;
  uint32_t messages; /* members; activity is a group of its own and in none of the others */
  uint32_t turn;
  uint8_t kind;      /* TampGroupKind */
  bool pinned;       /* by metadata of a member */
  bool awaits;       /* holds an unanswered call that waits for approval */
} TampGroup;

typedef struct TampList {
  TampArena *arena;
  const TampAtoms *atoms;
  TampEntry *entries;
  TampListCall *calls;
  TampListResult *results;
  TampGroup *groups; /* in the order of their anchors, GONE ones between */
  uint32_t *open;    /* by atom: the nearest unanswered call, TAMP_NONE */
  uint32_t *answered; /* by atom: the last call with a result, TAMP_NONE */
  uint32_t *floats;  /* reasoning that nothing has claimed yet */
  uint32_t count, capacity;
  uint32_t heads; /* messages: entries that are their own head */
  uint32_t call_count, call_capacity;
  uint32_t result_count, result_capacity;
  uint32_t group_count, group_capacity;
  uint32_t open_count, open_capacity;
  uint32_t answered_capacity;
  uint32_t float_count, float_capacity;
  uint64_t tokens;
  uint64_t size;         /* bytes of JSON, activity apart */
  uint32_t sent;         /* everything but activity */
  uint32_t messages;     /* conversation messages: neither instructions nor activity */
  uint32_t live_groups;  /* conversation groups */
  uint32_t turns;
  uint32_t call_before;  /* the last breaker, when it has calls; TAMP_NONE */
  uint32_t last_speaker; /* last user or assistant message that is no summary and no head */
  uint32_t waiting;      /* the entry whose unanswered calls were pending when the pass began */
  uint32_t last_solid;   /* last entry that is not activity */
  uint32_t question;     /* first user message of the last turn, TAMP_NONE */
  uint32_t question_end; /* last user message of the run it opens */
  uint32_t first_user;   /* TAMP_NONE */
  uint32_t batch;        /* that of the last record that has one, TAMP_NONE behind a user message */
  uint32_t batch_entry;  /* the last record of it that speaks, TAMP_NONE */
  uint32_t due, due_end; /* calls of the last batch whose results should come next */
  bool in_run;           /* the list ends in a run of user messages */
  bool tidy;             /* so far every batch was followed by its results in the order of its calls */
  bool items;            /* there are calls that may have been made together (TAMP_BATCH_ITEMS) */
} TampList;

void tamp_list_init(TampList *list, TampArena *arena, const TampAtoms *atoms);

/* Adds a message at the end. On failure the list must be thrown away or cleared. */
TampStatus tamp_list_append(TampList *list, const TampRecord *record, uint32_t origin);

/* The same for a message that consists of these units, at least one. */
TampStatus tamp_list_append_units(TampList *list, const TampUnit *units, uint32_t count, uint32_t origin);

/* The entry weighs `tokens` from now on; its record says so already. */
void tamp_list_reweigh(TampList *list, uint32_t entry, uint32_t before, uint32_t tokens);

/* Whether an entry stands in the same message as the one before it. */
static inline bool tamp_entry_joined(const TampList *list, uint32_t entry) {
  return list->entries[entry].head != entry;
}

/* Empties it, keeping its memory. */
void tamp_list_clear(TampList *list);

/* Gives its memory back; it is empty and may be used again. */
void tamp_list_free(TampList *list);

/* Makes room for as much as `like` holds, so that a list which is made from it does not grow step by step. */
TampStatus tamp_list_reserve(TampList *list, const TampList *like);

/* Whether repair would find nothing to move, drop or answer: what is not answered is the last batch, and it
 * waits. It may be false of such a list too: of all whose results are not messages of their own. */
bool tamp_list_tidy(const TampList *list);

/* Settles which calls are pending on this list (TampList.waiting): a pass begins with it. */
void tamp_list_judge(TampList *list);

static inline bool tamp_group_is_conversation(const TampGroup *group) {
  return group->kind != TAMP_GROUP_GONE && group->kind != TAMP_GROUP_SYSTEM &&
         group->kind != TAMP_GROUP_ACTIVITY;
}

/* A call without a result that is pending where `speaker` is the entry that spoke last. */
bool tamp_list_call_waits(const TampList *list, uint32_t call, uint32_t speaker);

/* A call without a result that was pending when the pass began, or waits for approval. */
bool tamp_list_call_pending(const TampList *list, uint32_t call);

/* What options add to a list for one compaction: which groups may not be touched. */
enum {
  TAMP_GROUP_PINNED = 1 << 0,
  TAMP_GROUP_PENDING = 1 << 1,
  TAMP_GROUP_PROTECTED = 1 << 2, /* also set for the two above, and for question, newest, instructions */
};

/* Fills `flags`, one byte a group. `pins` are the atoms of pinned ids, sorted. */
void tamp_list_protect(const TampList *list, const uint32_t *pins, size_t pin_count, uint8_t *flags);

/* Of the results of an answered call, the one that counts for every strategy (strategies.md §1). */
uint32_t tamp_list_counted_result(const TampList *list, const uint32_t *pins, size_t pin_count,
                                  uint32_t call);

bool tamp_entry_pinned(const TampEntry *entry, const uint32_t *pins, size_t pin_count);

#endif
