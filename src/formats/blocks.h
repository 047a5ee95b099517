/* What formats share whose messages are one array of typed parts ("blocks"). Each says in tables which types
 * there are and where their values stand; reading and editing is the same walk for all. */
#ifndef TAMP_FORMATS_BLOCKS_H
#define TAMP_FORMATS_BLOCKS_H

#include "chat.h"

enum {
  TAMP_RULE_SILENT = 100, /* kinds beside TampPartKind: not sent to a model, or read by `refine` alone */
  TAMP_RULE_STEP,         /* begins a step; weighs nothing */
};

/* One type of part. Members are indices into TampForm.members; 0 is none, since a part's type is never its text. */
typedef struct TampRule {
  TampText type; /* with a "*" at its end or its beginning: any type that begins or ends so */
  uint8_t kind;  /* TampPartKind or TAMP_RULE_* */
  uint8_t flags; /* TAMP_PART_* */
  uint8_t text;
  uint8_t id;
  uint8_t name;
} TampRule;

enum { TAMP_FORM_MEMBERS = 20 };

typedef struct TampForm {
  const TampText *members; /* the first says the type, the second the text of a type that no rule knows */
  const TampRule *rules;
  uint8_t member_count; /* at most TAMP_FORM_MEMBERS */
  uint8_t rule_count;
  uint8_t other_type; /* the member that says the type where the first does not; 0 for none */
  uint8_t opaque;     /* the member whose presence makes reasoning and calls opaque */
  bool media_is_string; /* media become a string, not a text part */
  bool keeps_silent;  /* what is not sent stays where calls are collapsed: it is for the people who read the chat */
  TampText text_part; /* a text part up to its text: what media and collapsed calls become */
  /* Completes the part at `index`, which was made by `rule` from the members `value`; TAMP_NONE for a silent
   * one. May add parts. */
  TampStatus (*refine)(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                       const TampValue *value);
  /* Writes TAMP_EDIT_RESULT where it is more than a string in the place of the content; NULL where it is not. */
  void (*set_result)(const TampMessage *message, const TampPart *part, TampText text, TampSplices *splices);
  /* What any edit does besides; NULL for nothing. */
  void (*touch)(const TampMessage *message, TampSplices *splices);
  /* Writes TAMP_EDIT_ANSWER; NULL where results have parts of their own. */
  void (*answer)(const TampMessage *message, const TampPart *part, TampText text, TampSplices *splices);
} TampForm;

/* Adds the parts of `list`, a string or an array. With an `owner` they are pieces of that result, else parts of
 * the message, whose list it is then (TampMessage.list). */
TampStatus tamp_blocks_read(TampMessage *message, const TampForm *form, TampValue list, uint32_t owner);

/* The same for one value, an object. */
TampStatus tamp_block_read(TampMessage *message, const TampForm *form, TampValue element, uint32_t owner);

/* For a result whose content is any JSON value: an array has a piece that says it as it is spelled. */
TampStatus tamp_result_is_json(TampMessage *message, uint32_t index);

/* Anthropic's blocks, which Claude Code stores as they are. */
extern const TampForm tamp_anthropic_form;

/* TampFormat.edit. */
TampStatus tamp_blocks_edit(const TampMessage *message, const TampForm *form, const TampEdit *edits,
                            size_t count, TampArena *scratch, TampWriter *writer);

#endif
