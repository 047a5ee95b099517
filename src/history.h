/* The inside of a TampHistory, for the files that plan on it. */
#ifndef TAMP_HISTORY_H
#define TAMP_HISTORY_H

#include "tamp.h"

/* What to go back to when a message is forgotten. */
typedef struct TampSlot {
  TampMark mark;
  uint32_t atoms;
  TampMark records;
} TampSlot;

struct TampHistory {
  TampArena arena; /* the bytes of messages, in order; the tables are arrays of it */
  /* Records apart from the bytes they are of: whatever walks a list touches every one, and among the bytes each
   * would be on a page of its own. */
  TampArena records;
  const TampFormat *format;
  TampAtoms atoms;
  TampRecord **items; /* by message */
  TampSlot *slots;    /* the same; none of messages that were appended as spans */
  uint32_t count;
  uint32_t capacity;
  uint32_t slot_capacity;
  TampList list; /* of all messages */
  TampMessage message; /* the one being read; its parts are used again */
  TampSource source;   /* of messages that were appended as spans */
  TampCounter counter; /* what tokens are counted with now */
  uint32_t counted;    /* entries from here on still hold the estimate */
  bool uncounted;      /* messages are read with tamp_counter_none; to be set while there are none */
};

/* Reads a message of a file whose bytes do not stay: it is at `offset` of `history->source`. A record that is no
 * message (TAMP_ROLE_NONE) is read, into `history->message`, but not appended. On failure as tamp_history_append. */
TampStatus tamp_history_append_span(TampHistory *history, const uint8_t *bytes, size_t length, uint64_t offset,
                                    TampFault *fault);

/* For a history of spans, when all are there: takes out the messages whose `gone` is not 0 (NULL: none), those behind
 * move up, and lists the rest. Before, nothing can be planned on it; it cannot be truncated. */
TampStatus tamp_history_settle(TampHistory *history, const uint8_t *gone);

static inline TampRecord *tamp_history_record(const TampHistory *history, uint32_t index) {
  return history->items[index];
}

/* A string value of a message that was read as an atom of the history. */
TampStatus tamp_history_intern(TampHistory *history, const TampMessage *message, TampValue value, uint32_t *atom);

/* Brings every message's tokens to what the options' counter says. */
TampStatus tamp_history_count(TampHistory *history, const TampOptions *options);

/* The pinned ids as sorted atoms, in `arena`. */
TampStatus tamp_history_pins(const TampHistory *history, const TampOptions *options, TampArena *arena,
                             uint32_t **pins, uint32_t *count);

/* What is added to the tokens of the first `length` messages to get the total that budgets see. */
int64_t tamp_history_offset(const TampHistory *history, uint32_t length, const TampOptions *options,
                            bool reserved);

#endif
