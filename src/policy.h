/* Policies: JSON in, a checked tree out, or every problem at once (strategies.md §6).
 *
 * cJSON reads the text. What a strategy takes is a table of fields beside it (TampStrategy.fields), so that
 * this file knows types, ranges and paths, and nothing of any strategy. */
#ifndef TAMP_POLICY_H
#define TAMP_POLICY_H

#include "json/writer.h"

typedef struct TampStrategy TampStrategy;
typedef struct TampPolicy TampPolicy;

/* A count that was not given. */
#define TAMP_UNSET UINT64_MAX

/* The largest integer a policy may hold: 2^53 - 1. */
#define TAMP_MAX_INTEGER UINT64_C(9007199254740991)

/* How deep policies and conditions may be nested, all together. */
#define TAMP_MAX_POLICY_DEPTH 64u

typedef enum TampFieldType {
  TAMP_FIELD_COUNT,     /* uint64_t: an integer from `minimum` to TAMP_MAX_INTEGER */
  TAMP_FIELD_FRACTION,  /* double: over 0, at most 1 */
  TAMP_FIELD_BOOL,      /* bool */
  TAMP_FIELD_TEXT,      /* TampText, UTF-8 */
  TAMP_FIELD_CHOICE,    /* uint32_t: index in `choices` */
  TAMP_FIELD_CHOICES,   /* uint32_t: a list of choices as a bit set */
  TAMP_FIELD_TEXTS,     /* TampTexts; an absent list has `items` NULL, an empty one has not */
  TAMP_FIELD_TEXT_MAP,  /* TampTextMap, at least one entry */
  TAMP_FIELD_POLICIES,  /* goes into TampPolicy.children, at least one; `offset` is not used */
} TampFieldType;

typedef struct TampTexts {
  const TampText *items;
  uint32_t count;
} TampTexts;

/* In the order of the text. A key may stand there twice: the last one counts. */
typedef struct TampTextMap {
  const TampText *keys;
  const TampText *values;
  uint32_t count;
} TampTextMap;

typedef struct TampField {
  const char *name;
  TampFieldType type;
  bool required;
  size_t offset;              /* in the strategy's options struct */
  uint64_t minimum;           /* COUNT */
  const char *const *choices; /* CHOICE, CHOICES: NULL-terminated */
} TampField;

typedef enum TampTriggerKind {
  TAMP_WHEN_TOKENS_OVER,
  TAMP_WHEN_MESSAGES_OVER,
  TAMP_WHEN_BYTES_OVER,
  TAMP_WHEN_TURNS_OVER,
  TAMP_WHEN_GROUPS_OVER,
  TAMP_WHEN_HAS_TOOL_CALLS,
  TAMP_WHEN_ALL,
  TAMP_WHEN_ANY,
} TampTriggerKind;

typedef struct TampTrigger {
  TampTriggerKind kind;
  uint64_t over;
  const struct TampTrigger *items; /* ALL, ANY */
  uint32_t count;
} TampTrigger;

struct TampPolicy {
  const TampStrategy *strategy; /* NULL: a pipeline */
  const void *options;          /* the strategy's struct, defaults filled in */
  const TampTrigger *when;      /* NULL: always */
  TampPolicy *const *children;  /* a pipeline's policies, a budget's steps */
  uint32_t child_count;
  uint32_t number; /* of this node among all of the policy, in reading order */
  uint32_t number_count; /* of the root: how many nodes there are */
};

/* The problems found so far, and where the reader stands. */
typedef struct TampProblems TampProblems;

/* For TampStrategy.check: a problem at `field` of the strategy (NULL: at the strategy itself). `code` is one of
 * strategies.md §6. `sentence` may hold up to two "%" that stand for `first` and `second`. */
void tamp_problem(TampProblems *problems, const char *field, const char *code, const char *sentence,
                  uint64_t first, uint64_t second);

/* For TampStrategy.check: whether a field is there at all, whatever its value. */
bool tamp_field_given(const TampProblems *problems, const char *field);

/* Whether nothing was reported about a field, so that a check does not report it again: it has a good value,
 * or is not there and need not be. */
bool tamp_field_fine(const TampProblems *problems, const char *field);

/* Reads a policy. TAMP_OK: `*policy` is a tree in `arena`. TAMP_BAD_POLICY: `*problems` is a JSON array of
 * {"path","code","message"} in `arena`, at least one; text that is not JSON is one problem at "". With
 * TAMP_OK `*problems` is "[]". */
TampStatus tamp_policy_read(TampText json, TampArena *arena, const TampPolicy **policy,
                            TampText *problems);

/* Whether the tree holds a strategy that asks for summaries. */
bool tamp_policy_asks(const TampPolicy *policy);

/* Whether tokens have a say in what it does. Where not, a list that nothing was counted in gives the same plan, but
 * for the tokens it tells. */
bool tamp_policy_weighs(const TampPolicy *policy);

#endif
