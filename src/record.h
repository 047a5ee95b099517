/* A message as strategies know it: facts and a byte span, no JSON. */
#ifndef TAMP_RECORD_H
#define TAMP_RECORD_H

#include "atoms.h"
#include "formats/format.h"

typedef struct TampCall {
  uint32_t id;   /* atom, TAMP_NONE when the call has none */
  uint32_t name; /* atom, TAMP_NONE when unknown or empty */
  bool awaits;   /* approval was asked for */
  bool holds;    /* its result stands in the part that it stands in */
} TampCall;

typedef struct TampResult {
  uint32_t id; /* atom, TAMP_NONE when it names no call */
  bool blank;
  bool failed;
  bool held; /* by its call, of which there is one for each such result, in the same order */
} TampResult;

enum {
  TAMP_RECORD_INLINE_MEDIA = 1 << 4, /* beside the TAMP_MESSAGE_* flags, which records keep */
  TAMP_RECORD_RAW = 1 << 5,          /* the bytes may hold raw strings */
  TAMP_RECORD_TEXT = 1 << 6,         /* has text of its own that is not blank */
  TAMP_RECORD_REASONING = 1 << 7,    /* has reasoning that can be taken out of it */
};

/* A file whose bytes are not kept: they are asked for again where they are needed. */
typedef struct TampSource {
  /* Writes the bytes at [offset, offset + length) to `to`. What it returns other than TAMP_OK ends the call. */
  TampStatus (*read)(void *context, uint64_t offset, uint32_t length, uint8_t *to);
  void *context;
} TampSource;

/* For a source that makes its bytes anew: gives them, or TAMP_BAD_SOURCE when they are no longer `length` bytes, since
 * what they are made of has changed. */
TampStatus tamp_source_give(TampText made, uint32_t length, uint8_t *to);

typedef struct TampRecord {
  const uint8_t *bytes; /* as they were given; NULL when they are at `offset` of `source` */
  const TampSource *source;
  uint64_t offset;
  const struct TampRecord *units; /* of a message that has several; then lists hold these in its place */
  const struct TampRecord *whole; /* of a unit as it was read: its message */
  const TampCall *calls;
  const TampResult *results;
  uint32_t call_count;
  uint32_t result_count;
  uint32_t length;  /* of `bytes` */
  uint32_t size;    /* length of its JSON text in UTF-8 */
  uint32_t tokens;  /* strategies.md §2; 0 for activity */
  uint32_t longest; /* bytes of its longest single text, arguments included; not less, if nothing was counted */
  uint32_t id;      /* atom, TAMP_NONE without one */
  uint32_t covered; /* of a summary; TAMP_NONE when it is known by its label alone */
  uint32_t batch;   /* atom that the records of one message have in common; TAMP_NONE; or TAMP_BATCH_ITEMS */
  uint32_t unit_count; /* 0, or at least 2 */
  TampPiece piece;     /* of a unit: its place in its message */
  uint8_t role;     /* TampRole */
  uint8_t flags;    /* TAMP_MESSAGE_*, TAMP_RECORD_* */
} TampRecord;

/* Counts the tokens of a text. Returns a count, or a negative number when it could not; then whatever
 * asked fails with TAMP_BAD_COUNT. */
typedef struct TampCounter {
  int64_t (*count)(void *context, TampText text);
  void *context;
} TampCounter;

/* Counts nothing: no text is decoded for it, and all but media weigh nothing. For lists on which nobody asks for
 * tokens. */
extern const TampCounter tamp_counter_none;

/* A call that may have been made together with the calls next to it. */
#define TAMP_BATCH_ITEMS (TAMP_NONE - 1)

#define TAMP_MESSAGE_TOKENS 4u  /* what every message weighs besides its texts */
#define TAMP_MEDIA_TOKENS 1024u /* what a media part weighs, whatever its bytes */

/* Makes the record of a message that was read. Calls, results and decoded texts are pieces of `arena`;
 * `counter` NULL estimates. */
TampStatus tamp_record_make(const TampMessage *message, TampAtoms *atoms, TampArena *arena,
                            const TampCounter *counter, TampRecord *out);

/* Reads the message of a record again: from its bytes, or from its source into the message's buffer. TAMP_BAD_SOURCE when
 * that gives no message any more. */
TampStatus tamp_record_read(const TampFormat *format, const TampRecord *record, TampMessage *message,
                            TampFault *fault);

/* A string value, from its `beginning`th byte on, as an atom; TAMP_NONE for anything else. Texts that lie in the
 * message are copied only when it is transient. */
TampStatus tamp_record_intern(const TampMessage *message, TampValue value, uint32_t beginning, TampAtoms *atoms,
                              TampArena *arena, uint32_t *atom);

/* What the message weighs with `counter` (NULL: the estimate). `scratch` is used for decoded texts. */
TampStatus tamp_message_tokens(const TampMessage *message, const TampCounter *counter,
                               TampArena *scratch, uint32_t *tokens);

/* The text of one of its values: a string decoded, arguments that are a JSON value as they are spelled, empty
 * for null and nothing. Points into the message or into `arena`. */
TampStatus tamp_message_text(const TampMessage *message, TampValue value, TampArena *arena,
                             TampText *text);

/* Tokens of one text: the counter's, or the estimate. 0 for an empty text. */
TampStatus tamp_count_text(const TampCounter *counter, TampText text, uint32_t *tokens);

#endif
