/* What strategies that look into messages share: parts, their weight, and edits gathered for one
 * message. */
#ifndef TAMP_PARTS_H
#define TAMP_PARTS_H

#include "strategy.h"

/* Whether the part is the message's own, not a piece of a result. */
static inline bool tamp_part_is_own(const TampPart *part) {
  return part->owner == TAMP_NONE;
}

/* Tokens of what a part says, its name and error text apart: of a result that is a list, of all its
 * pieces. */
TampStatus tamp_part_tokens(TampRun *run, const TampMessage *message, uint32_t part,
                            uint32_t *tokens);

/* A byte for every atom there is: 1 for those that are one of `names`. */
TampStatus tamp_names_mark(TampRun *run, const TampTexts *names, uint8_t **marks);

/* Edits of one message. `items` is an array of the run's arena and is used again by the next
 * message. */
typedef struct TampEdits {
  TampEdit *items;
  uint32_t count;
  uint32_t capacity;
} TampEdits;

TampStatus tamp_edits_add(TampRun *run, TampEdits *edits, TampEditKind kind, uint32_t part,
                          TampText text);

#endif
