/* Finds the records of a transcript while its bytes pass by once, in chunks of any size.
 *
 * A transcript is a JSON array of messages, JSON Lines, or a JSON object that holds the list
 * somewhere known; which of them shows as the bytes come. The splitter keeps only the bytes of the
 * record it is in. Records go to a sink, in order, each with its place in the file, so that whoever
 * writes the trimmed file copies slices of the old one.
 *
 * What is decided late. A file that begins with `{` may be an object with a list or the first of
 * many lines. Until a list is found its bytes are kept; without one, they were a line. And a better
 * list may come after a worse one, or a second line after what looked like the one object. So
 * `begin` can be called again: what was reported before it is void.
 *
 * What is checked. All of an array or object is checked as it passes, also what nobody asked for:
 * the first byte that cannot be there is a fault, and the end of the matter. Lines are not looked
 * into: one that is not JSON is a line like any other, to be found out by who reads it
 * (tamp_splitter_check does no more than that), and kept as it is. */
#ifndef TAMP_JSON_SPLITTER_H
#define TAMP_JSON_SPLITTER_H

#include "value.h"

typedef enum TampContainer {
  TAMP_CONTAINER_NONE = 0, /* not known yet; at the end: nothing but white space */
  TAMP_CONTAINER_ARRAY,
  TAMP_CONTAINER_LINES,
  TAMP_CONTAINER_OBJECT,
} TampContainer;

/* Offsets and lengths of a file are 64 bits, on Wasm too. */
typedef struct TampSplitFault {
  uint64_t offset;
  uint64_t line; /* of the offset, from 1 */
  const char *reason;
} TampSplitFault;

/* A record: an element of the list, or a line. */
typedef struct TampSplitRecord {
  uint64_t offset;      /* of its first byte in the file */
  uint64_t length;      /* of the element, or of the line without its line end */
  uint64_t line;        /* where it begins, from 1 */
  const uint8_t *bytes; /* valid during the call. NULL for a line that was not kept: one over the
                           limit, or a first line that looked like an object with a list */
  uint32_t tail;   /* LINES: bytes of the line end, 1 or 2, which go with it; 0: the file ends without
                      one, and if it is not JSON it is torn. Otherwise 0. */
  TampFault fault; /* to be set, counting from `bytes`, by a sink that fails because of them */
} TampSplitRecord;

/* A member of the file's object that is neither the list nor on the way to it. */
typedef struct TampSplitMember {
  uint64_t offset; /* of its value */
  uint64_t length;
  TampText name; /* as spelled, without quotes; valid during the call */
  const uint8_t
      *bytes; /* of the value, valid during the call; NULL when over TAMP_SPLIT_MEMBER_BYTES */
} TampSplitMember;

#define TAMP_SPLIT_MEMBER_BYTES ((size_t)1024 * 1024)

/* Where records go. What a function returns other than TAMP_OK ends the splitting with that status.
 */
typedef struct TampSplitSink {
  /* Records of this container follow; forget those before. `path` is static: where an OBJECT has
   * its list,
   * "*" for a name that varies ("state.*.messages"); else "". */
  TampStatus (*begin)(void *context, TampContainer container, const char *path);
  TampStatus (*record)(void *context, TampSplitRecord *record);
  /* May be NULL. Members come in file order, those before the list ahead of `begin`, which does not
   * void them when it says OBJECT. */
  TampStatus (*member)(void *context, const TampSplitMember *member);
  void *context;
} TampSplitSink;

/* Levels of known containers: the root, two on the way, the list. */
#define TAMP_SPLIT_KNOWN 4u

/* Of the fields, `container`, `offset`, `status`, `fault`, `list_from` and `list_to` may be read,
 * and `limit` set before the first chunk; the rest is the splitter's own. */
typedef struct TampSplitter {
  TampSplitSink sink;
  TampArena *arena;
  TampContainer container;
  TampStatus status;
  uint64_t offset;    /* bytes fed so far */
  uint64_t list_from; /* ARRAY, OBJECT: behind the list's bracket; LINES: its first record */
  uint64_t list_to;   /* ARRAY, OBJECT: at its closing bracket, once it was read; LINES: the end of
                         the file */
  TampSplitFault fault;
  size_t limit; /* bytes of the longest record that is kept: TAMP_MAX_MESSAGE_BYTES */

  /* The chunk being fed, and what is kept of those before: the buffer holds [base, base + held). */
  const uint8_t *chunk;
  const uint8_t *chunk_end;
  uint8_t *buffer;
  uint32_t capacity;
  size_t held;
  uint64_t base;
  uint64_t keep; /* from here on bytes are kept; UINT64_MAX for none */
  uint64_t line; /* where the splitter stands */
  uint64_t record_line;

  /* Grammar: what may come, the token that a chunk's end cut, and a bit for each open object. */
  uint64_t objects[(TAMP_MAX_DEPTH + TAMP_SPLIT_KNOWN) / 64 + 1];
  uint32_t level;
  uint32_t known; /* of the open containers, how many from the root are on the way to a list */
  uint8_t nodes[TAMP_SPLIT_KNOWN];
  uint8_t mode;
  uint8_t expected;
  uint8_t token;
  uint8_t token_state; /* STRING: of an escape. NUMBER, LITERAL: how far it is */
  uint8_t last;        /* byte of the chunk before */
  uint8_t pending;     /* continuation bytes that must follow, the first of them in [low, high] */
  uint8_t low;
  uint8_t high;
  bool is_name;
  bool unbegun;  /* in a list whose first element was not seen yet */
  bool dropped;  /* the record was not kept */
  uint8_t child; /* node that the member's name leads to */
  uint8_t rank;  /* of the list found, UINT8_MAX for none */
  const char *word;
  uint64_t name_from, name_to; /* the last name directly in a known object */
  uint64_t value_from;         /* the member's value, or the element */
  uint64_t root_from, root_to;
  uint64_t root_line, root_end_line;
  uint64_t newline; /* the first line end behind the root, UINT64_MAX for none */
  uint8_t newline_bytes;
} TampSplitter;

/* The buffer is an array of `arena`. */
void tamp_splitter_init(TampSplitter *splitter, TampArena *arena, TampSplitSink sink);

/* The next `length` bytes of the file. On failure `fault` says where and why; later calls do
 * nothing and return the same. */
TampStatus tamp_splitter_feed(TampSplitter *splitter, const uint8_t *bytes, size_t length);

/* The file has ended. */
TampStatus tamp_splitter_finish(TampSplitter *splitter);

/* Is a record JSON? TAMP_BAD_JSON or TAMP_TOO_DEEP, with `fault`, if not; TAMP_TOO_LARGE when it
 * was not kept. For sinks that do not read records themselves. */
TampStatus tamp_splitter_check(const TampSplitRecord *record, TampFault *fault);

#endif
