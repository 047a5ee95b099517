/* Digests of messages: equal for two messages exactly when they say the same, however their JSON is
 * spelled.
 *
 * What is hashed is the canonical form of a JSON value: members sorted by name, of members with one
 * name the last, strings decoded to UTF-8, numbers as they are spelled (JSON.stringify has one
 * spelling for each), white space nowhere. A lone surrogate counts as U+FFFD. The top-level member
 * `metadata` of a message is left out: it holds what an application notes about a message, not what
 * the message says.
 *
 * The hash is MurmurHash3 (x64, 128 bits), applied to each value and then to the hashes of what a
 * container holds. It tells accidental changes apart; it is no defence against somebody who builds
 * a collision, who in Tamp would win a summary that stands for the wrong one of two messages he
 * wrote himself. */
#ifndef TAMP_DIGEST_H
#define TAMP_DIGEST_H

#include <stdbool.h>

#include "memory.h"

#define TAMP_DIGEST_BYTES 16u

typedef struct TampDigest {
  uint8_t bytes[TAMP_DIGEST_BYTES];
} TampDigest;

/* The digest of one message: the JSON object text[at, length), white space around it allowed. `raw`
 * allows raw strings, which digest like the strings they stand for. `scratch` is used and then
 * reset to where it was; its arrays are given back too. On TAMP_BAD_JSON, TAMP_TOO_DEEP and
 * TAMP_TOO_LARGE `fault` says where and why, on TAMP_BAD_MESSAGE it is not an object; `out` is then
 * not written. Time is O(length * log of the largest number of members in one object). */
TampStatus tamp_digest_message(const uint8_t *text, size_t at, size_t length, bool raw,
                               TampArena *scratch, TampDigest *out, TampFault *fault);

/* The digest of a text: to make an id from another. */
TampDigest tamp_digest_text(const uint8_t *text, size_t length);

/* The digest of the empty list, to start from. */
TampDigest tamp_digest_empty(void);

/* Makes `list`, the digest of a list, that of the list with `message` behind it. Order matters. */
void tamp_digest_append(TampDigest *list, const TampDigest *message);

/* Appends each message of the JSON array text[at, length) to `*list`. Statuses as above; on
 * TAMP_BAD_MESSAGE, `fault->offset` is that of the element. `*list` changes only on TAMP_OK. */
TampStatus tamp_digest_append_array(TampDigest *list, const uint8_t *text, size_t at, size_t length,
                                    bool raw, TampArena *scratch, TampFault *fault);

#endif
