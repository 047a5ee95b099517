/* How anything in the core can fail. Every function that can fail returns one of these. */
#ifndef TAMP_STATUS_H
#define TAMP_STATUS_H

#include <stddef.h>
#include <stdint.h>

typedef enum TampStatus {
  TAMP_OK = 0,
  TAMP_NO_MEMORY = 1,      /* an allocation failed; nothing of the call took effect */
  TAMP_BAD_JSON = 2,       /* text that is not JSON (RFC 8259) */
  TAMP_BAD_MESSAGE = 3,    /* JSON, but not a message: not an object */
  TAMP_TOO_DEEP = 4,       /* nesting over TAMP_MAX_DEPTH levels */
  TAMP_TOO_LARGE = 5,      /* one message over TAMP_MAX_MESSAGE_BYTES, or a count over 32 bits */
  TAMP_BAD_POLICY = 6,     /* the policy has problems; they were reported apart */
  TAMP_BAD_HANDLE = 7,     /* a stale, foreign or busy handle (bridge only) */
  TAMP_BAD_COUNT = 8,      /* the caller's token counter failed or gave no count */
  TAMP_NEEDS_SUMMARY = 9,  /* not an error: the plan waits for the text of a summary */
  TAMP_STALE_PLAN = 10,    /* the history is no longer the one that was planned on */
  TAMP_BAD_ARGUMENT = 11,  /* an option outside its documented range */
  TAMP_NO_SUMMARIZER = 12, /* a summarize step in a call that cannot ask for a summary */
  TAMP_BAD_SOURCE = 13,    /* a file could not be read again, or is no longer the one that was read */
} TampStatus;

/* Nesting levels of arrays and objects that are read; the 1,001st is TAMP_TOO_DEEP. */
#define TAMP_MAX_DEPTH 1000u

/* 256 MiB: the longest single message that is read. */
#define TAMP_MAX_MESSAGE_BYTES ((size_t)256 * 1024 * 1024)

/* "No such index", wherever indices are uint32_t. */
#define TAMP_NONE UINT32_MAX

/* Where and why reading failed. `offset` counts bytes from the first byte given to the reader, and `reason`
 * is a static sentence ("expected ',' or '}'"), never text of the input. */
typedef struct TampFault {
  size_t offset;
  const char *reason;
} TampFault;

#endif
