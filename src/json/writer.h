/* Writes JSON text into a growing buffer. The first failed allocation sticks: later calls do nothing, and
 * tamp_writer_finish says so. */
#ifndef TAMP_JSON_WRITER_H
#define TAMP_JSON_WRITER_H

#include "value.h"

typedef struct TampWriter {
  TampArena *arena;
  uint8_t *bytes;
  size_t length;
  uint32_t capacity;
  TampStatus status;
} TampWriter;

/* The buffer is an array of `arena` and goes with it. */
TampWriter tamp_writer(TampArena *arena);

/* Bytes as they are: punctuation, or JSON that is known to be JSON. */
void tamp_writer_raw(TampWriter *writer, TampText bytes);

/* A string value: quotes, and what JSON.stringify escapes. `text` is UTF-8; malformed bytes become U+FFFD,
 * so that the result is always valid. */
void tamp_writer_string(TampWriter *writer, TampText text);

/* The inside of a string value, without its quotes: to build one from pieces. */
void tamp_writer_escaped(TampWriter *writer, TampText text);

void tamp_writer_integer(TampWriter *writer, uint64_t number);

/* A value of another text, byte for byte; raw strings inside it are spelled as JSON strings. */
void tamp_writer_value(TampWriter *writer, const uint8_t *text, TampValue value);

/* A stretch of another text that may hold raw strings: [from, to) must begin and end between tokens. */
void tamp_writer_span(TampWriter *writer, const uint8_t *text, uint32_t from, uint32_t to, bool raw);

/* What was written. The text points into the buffer and is valid until the next write. */
TampStatus tamp_writer_finish(TampWriter *writer, TampText *out);

#endif
