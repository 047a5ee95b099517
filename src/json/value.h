/* JSON values as spans: what the cursor gives and the writer copies. Nothing is decoded until asked for. */
#ifndef TAMP_JSON_VALUE_H
#define TAMP_JSON_VALUE_H

#include <stdbool.h>

#include "../memory.h"

typedef enum TampJsonType {
  TAMP_JSON_NOTHING = 0, /* no value there: an absent member */
  TAMP_JSON_NULL,
  TAMP_JSON_FALSE,
  TAMP_JSON_TRUE,
  TAMP_JSON_NUMBER,
  TAMP_JSON_STRING,
  TAMP_JSON_ARRAY,
  TAMP_JSON_OBJECT,
} TampJsonType;

enum {
  TAMP_VALUE_ESCAPED = 1 << 0, /* a string with at least one backslash */
  TAMP_VALUE_RAW = 1 << 1,     /* a string in the bridge's raw form (below) */
};

/* Where a value ends, noted while it was checked, so that whoever walks the text again goes past it in one step.
 * Behind that of a container follow those of what is inside it, in the order of the text: of an object all members,
 * of an array what is long. */
typedef struct TampJump {
  uint32_t at;
  uint32_t length;
  uint32_t inside; /* jumps inside the container; while it is open, the index of the one it is in */
  uint32_t name;   /* of a member: its name, without quotes */
  uint32_t name_length; /* UINT32_MAX when the name is not spelled plainly */
  uint8_t type; /* TampJsonType */
  uint8_t flags;
  bool complete; /* of a container: there was room for all jumps inside it */
} TampJump;

/* Jumps of one text. What finds no room is not noted, and is walked through instead. */
typedef struct TampJumps {
  TampJump *items;
  uint32_t count, capacity;
} TampJumps;

/* A value inside a text; `at` and `length` count bytes from the text's first byte and take in the quotes or
 * brackets. Whoever holds a value knows which text it is in. */
typedef struct TampValue {
  uint32_t at;
  uint32_t length;
  uint8_t type; /* TampJsonType */
  uint8_t flags;
  const TampJump *jump; /* its own; NULL when it has none. Valid until its text is read again. */
} TampValue;

/* The raw form of a string, written only by the bridge and read only by cursors that allow it:
 *   0x01, length as 4 bytes little-endian, that many bytes of UTF-8 without escapes.
 * It exists because JavaScript writes a string into memory in one native copy (`encodeInto`), while escaping
 * it first costs ten times that. 0x01 cannot begin a JSON value, so no text can pretend to be one. */
#define TAMP_RAW_STRING 0x01
#define TAMP_RAW_HEADER 5u

/* A decoded text: UTF-8 bytes, not terminated. */
typedef struct TampText {
  const uint8_t *bytes;
  size_t length;
} TampText;

/* A literal as the initialiser of a text, static ones too, and as a text. */
#define TAMP_TEXT_INIT(literal) {(const uint8_t *)("" literal), sizeof(literal) - 1}
#define TAMP_TEXT(literal) ((TampText)TAMP_TEXT_INIT(literal))

/* The text of a string value. Points into `text` itself when there is nothing to decode, else into `arena`.
 * A lone surrogate escape becomes U+FFFD. Any other type gives an empty text. */
TampStatus tamp_value_text(const uint8_t *text, TampValue value, TampArena *arena, TampText *out);

/* Does the string value say exactly `literal` once decoded? False for other types. Allocates nothing. */
bool tamp_value_is(const uint8_t *text, TampValue value, TampText literal);

/* Length of the value as JSON text the way JSON.stringify spells strings; differs from value.length only
 * where the value holds raw strings. */
size_t tamp_value_json_length(const uint8_t *text, TampValue value);

/* A non-negative integer below 2^53 that a number value spells without fraction or exponent, else false. */
bool tamp_value_integer(const uint8_t *text, TampValue value, uint64_t *out);

#endif
