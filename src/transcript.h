/* A transcript: a file of messages that passes by once, in chunks, and whose bytes are not kept.
 *
 * What stays is a record of each message (a TampHistory whose bytes are asked for again where they are needed,
 * TampSource) and where every record of the file begins and ends. A plan on that history is written as slices of
 * the file and the few texts that are new. Records that are no messages stay where they are, but those that go
 * with a message that goes; records that name one that goes name the nearest that stays instead. */
#ifndef TAMP_TRANSCRIPT_H
#define TAMP_TRANSCRIPT_H

#include "json/splitter.h"
#include "tamp.h"

typedef struct TampTranscript TampTranscript;

/* A line that could not be read and is kept as it is. */
typedef struct TampUnreadable {
  uint64_t offset; /* of what cannot be there, in the file */
  uint64_t line;   /* from 1 */
  const char *reason; /* static */
} TampUnreadable;

/* A piece of the written file. */
typedef struct TampSlice {
  uint64_t offset; /* in the file, when `bytes` is NULL */
  uint64_t length;
  const uint8_t *bytes;
} TampSlice;

typedef struct TampTranscriptView {
  const TampFormat *format; /* NULL when it cannot be told */
  TampHistory *history;     /* the messages; NULL without a format. It is the transcript's */
  const TampUnreadable *unreadable;
  uint32_t unreadable_count;
  TampContainer container;
} TampTranscriptView;

/* `format` NULL: it is told from the first messages. `counted` false: tokens are not estimated, for plans of policies
 * that do not weigh (tamp_policy_weighs), or with a counter. `source` reads the file's bytes again; it must live as long
 * as the transcript. `*transcript` is NULL on failure. */
TampStatus tamp_transcript_new(TampAllocator allocator, const TampFormat *format, bool counted,
                               TampSource source, TampTranscript **transcript);

/* NULL is allowed. */
void tamp_transcript_free(TampTranscript *transcript);

/* The next bytes of the file, which are not kept. On failure tamp_transcript_fault says where and why, and
 * later calls return the same. */
TampStatus tamp_transcript_feed(TampTranscript *transcript, const uint8_t *bytes, size_t length);

/* The file has ended. Fails when not one of its lines is JSON. */
TampStatus tamp_transcript_finish(TampTranscript *transcript);

/* Of the last failure: the fault, and the message it is in, TAMP_NONE for none. */
const TampSplitFault *tamp_transcript_fault(const TampTranscript *transcript, uint32_t *index);

/* What was read. Valid until the next call that feeds. */
TampTranscriptView tamp_transcript_view(const TampTranscript *transcript);

/* How many messages were read so far. */
uint32_t tamp_transcript_count(const TampTranscript *transcript);

/* Where a message of the history is in the file. */
TampSlice tamp_transcript_span(const TampTranscript *transcript, uint32_t message);

/* The file as a plan on the transcript's history leaves it. `drop_dead`: without the records that the file's
 * owner no longer reads. The slices are valid until the next call; their bytes as long as the plan, too. */
TampStatus tamp_transcript_write(TampTranscript *transcript, const TampPlan *plan, bool drop_dead,
                                 const TampSlice **slices, uint32_t *count);

#endif
