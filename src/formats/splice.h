/* Edits by span: a text copied with some stretches replaced, all else byte for byte. What formats use to
 * write a changed message. Stretches must not overlap; they may be given in any order. */
#ifndef TAMP_SPLICE_H
#define TAMP_SPLICE_H

#include "format.h"

typedef struct TampSplice {
  uint32_t at;
  uint32_t length;
  TampText text;  /* what stands there instead */
  bool quoted;    /* `text` is written as a JSON string */
  bool owned;     /* `text` is an array of the arena, which goes when it was written */
} TampSplice;

typedef struct TampSplices {
  TampArena *arena;
  const uint8_t *text;
  bool raw;
  TampSplice *items;
  uint32_t count;
  uint32_t capacity;
  TampStatus status; /* the first failure sticks */
} TampSplices;

TampSplices tamp_splices(const TampMessage *message, TampArena *arena);

/* The value becomes JSON that is given as it is, or a string. Nothing is done to a value that is not there. */
void tamp_splice_json(TampSplices *splices, TampValue value, TampText json);
void tamp_splice_string(TampSplices *splices, TampValue value, TampText text);

/* Arguments that are a string stay one; those that are a JSON value stay that. */
void tamp_splice_arguments(TampSplices *splices, const TampPart *part, TampText text);

/* What `writer`, of the splices' arena, wrote, in the place of a stretch. */
void tamp_splice_written(TampSplices *splices, uint32_t at, uint32_t length, TampWriter *writer);

/* A text part in the place of a value: {"type":"text","text":…}, the same in every format that has parts. */
void tamp_splice_text_part(TampSplices *splices, TampValue element, TampText text);

/* Takes members out of an object: those whose name is one of `names`. At least one must stay. */
void tamp_splice_remove_members(TampSplices *splices, TampValue object, const TampText *names,
                                size_t count);

/* Sets a member to a string, behind the others when there was none. The object must keep another. */
void tamp_splice_set_string(TampSplices *splices, TampValue object, TampText name, TampText text);

/* Takes elements out of an array: the nth where `gone[n]`. Commas and white space go with them. */
void tamp_splice_remove_elements(TampSplices *splices, TampValue array, const uint8_t *gone,
                                 size_t count);

/* Writes the value with all splices done. */
TampStatus tamp_splices_write(TampSplices *splices, TampValue whole, TampWriter *writer);

#endif
