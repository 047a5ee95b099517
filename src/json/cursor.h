/* A validating, zero-copy reader of JSON text (RFC 8259).
 *
 * It makes no tree: it walks the bytes once and hands out spans (TampValue). Everything it passes over is
 * checked, also what nobody asked for, so a text that was read to its end is JSON. Strings must be UTF-8 and
 * may hold any escape, lone surrogates included; numbers keep their spelling; one BOM is not skipped here.
 * Depth is counted, not recursed, so the stack is constant.
 *
 * The first failure sticks: later calls do nothing and return false, and `status` with `fault` say what it
 * was. Code that reads can therefore check once, at the end. */
#ifndef TAMP_JSON_CURSOR_H
#define TAMP_JSON_CURSOR_H

#include "value.h"

typedef struct TampCursor {
  const uint8_t *text; /* values count from here */
  size_t length;       /* at most UINT32_MAX */
  size_t at;
  uint32_t depth; /* of the value being read, counted from the cursor's first value */
  bool raw;       /* raw strings are allowed */
  bool started;   /* inside a container: whether a member or element was read already */
  TampJumps *jumps; /* where to note what is checked; NULL for nowhere */
  TampStatus status;
  TampFault fault;
} TampCursor;

/* A cursor over text[at, length). White space before the value is skipped. */
TampCursor tamp_cursor(const uint8_t *text, size_t at, size_t length, bool raw);

/* A cursor on the inside of a value that another cursor gave: to walk an array or object in the middle of
 * the text. Its values count from the same `text`. */
TampCursor tamp_cursor_on(const uint8_t *text, TampValue value, bool raw);

/* Reads one whole value, checking every byte. */
bool tamp_cursor_value(TampCursor *cursor, TampValue *out);

/* After the last value: true when nothing but white space is left, else a fault. */
bool tamp_cursor_end(TampCursor *cursor);

/* Enters the array or object at the cursor. False, with a fault, when there is something else. */
bool tamp_cursor_enter(TampCursor *cursor, TampJsonType container);

/* The next element's first byte (read it with tamp_cursor_value or enter it); false behind the last, having
 * passed the bracket, and on a fault. */
bool tamp_cursor_next(TampCursor *cursor);

/* The next member of an object: its name, a string; the cursor stands at its value. False as above. */
bool tamp_cursor_member(TampCursor *cursor, TampValue *name);

/* Reads a whole object and keeps the values of `count` named members in `out`, TAMP_JSON_NOTHING where the
 * object has none. Of members with one name the last counts, as in JSON.parse. When the value is not an
 * object, all are TAMP_JSON_NOTHING and it is read over; `whole`, unless NULL, gets the value itself. */
bool tamp_cursor_members(TampCursor *cursor, const TampText *names, size_t count, TampValue *out,
                         TampValue *whole);

/* The same for an object inside a value that was read already. It cannot fail: the bytes were checked. */
void tamp_value_members(const uint8_t *text, TampValue value, const TampText *names, size_t count,
                        TampValue *out);

/* Steps through the elements of an array that was read already: start with `*state` 0. False when there are
 * no more, and at once when the value is not an array. */
bool tamp_value_next(const uint8_t *text, TampValue array, uint32_t *state, TampValue *out);

#endif
