/* Marks are paths into an object, one a line: members with "/" between them, "*" for any element of an array. A
 * path is there when a value is; with "=" behind it, when that is a string that says one of the texts with "|"
 * between them, a "*" at the beginning of which stands for anything. "&" joins paths that must all be there. */
#include <string.h>

#include "format.h"

/* What tells most is looked at first, and looking ends with a record that is over this. */
enum { MOST_BYTES = 1 << 20 };

typedef struct Mark {
  const char *path;
  size_t length;
} Mark;

/* Cuts off what stands before the first of `ends`, and the end itself. */
static Mark cut(Mark *mark, const char *ends) {
  size_t length = 0;
  while (length < mark->length && !strchr(ends, mark->path[length])) length++;
  Mark piece = {mark->path, length};
  if (length < mark->length) length++;
  mark->path += length;
  mark->length -= length;
  return piece;
}

static bool says(const uint8_t *text, TampValue value, Mark texts) {
  size_t header = value.flags & TAMP_VALUE_RAW ? TAMP_RAW_HEADER : 1;
  while (texts.length > 0) {
    Mark one = cut(&texts, "|");
    bool ends = one.path[0] == '*';
    TampText wanted = {(const uint8_t *)one.path + ends, one.length - ends};
    if (!ends && tamp_value_is(text, value, wanted)) return true;
    if (ends && value.type == TAMP_JSON_STRING && value.length > header + wanted.length &&
        memcmp(text + value.at + value.length - 1 - wanted.length, wanted.bytes, wanted.length) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_there(const uint8_t *text, TampValue value, Mark path) {
  while (path.length > 0) {
    if (path.path[0] == '=') return says(text, value, (Mark){path.path + 1, path.length - 1});
    Mark member = {path.path, strcspn(path.path, "/=&\n")};
    if (member.length > path.length) member.length = path.length;
    path.path += member.length;
    path.length -= member.length;
    if (path.length > 0 && path.path[0] == '/') path = (Mark){path.path + 1, path.length - 1};
    if (member.path[0] == '*') {
      TampValue element;
      uint32_t state = 0;
      while (tamp_value_next(text, value, &state, &element)) {
        if (is_there(text, element, path)) return true;
      }
      return false;
    }
    TampText name = {(const uint8_t *)member.path, member.length};
    TampValue found;
    tamp_value_members(text, value, &name, 1, &found);
    value = found;
  }
  return value.type != TAMP_JSON_NOTHING;
}

static bool claims(const TampFormat *format, const uint8_t *text, TampValue object) {
  if (!format->marks) return false;
  Mark marks = {format->marks, strlen(format->marks)};
  while (marks.length > 0) {
    Mark mark = cut(&marks, "\n");
    bool all = true;
    while (all && mark.length > 0) all = is_there(text, object, cut(&mark, "&"));
    if (all) return true;
  }
  return false;
}

/* Nothing but a role and texts: what every format with a `content` could have written. */
static bool is_plain(const uint8_t *text, TampValue object) {
  static const TampText names[2] = {TAMP_TEXT_INIT("role"), TAMP_TEXT_INIT("content")};
  static const TampText type_name = TAMP_TEXT_INIT("type");
  TampValue value[2], element, type;
  tamp_value_members(text, object, names, 2, value);
  if (value[0].type != TAMP_JSON_STRING) return false;
  uint32_t state = 0;
  while (tamp_value_next(text, value[1], &state, &element)) {
    tamp_value_members(text, element, &type_name, 1, &type);
    if (!tamp_value_is(text, type, TAMP_TEXT("text"))) return false;
  }
  return value[1].type == TAMP_JSON_STRING || value[1].type == TAMP_JSON_ARRAY;
}

TampStatus tamp_detect(TampText array, const TampFormat **format, TampFault *fault) {
  static const TampText id_name = TAMP_TEXT_INIT("id");
  TampCursor cursor = tamp_cursor(array.bytes, 0, array.length, false);
  bool conflict = false, all_plain = true, all_named = true;
  uint32_t count = 0;
  *format = NULL;
  if (array.length > UINT32_MAX) return TAMP_TOO_LARGE;
  if (tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY)) {
    TampValue element, id;
    for (; count < TAMP_DETECT_MESSAGES && cursor.at < MOST_BYTES && tamp_cursor_next(&cursor); count++) {
      if (!tamp_cursor_value(&cursor, &element)) break;
      tamp_value_members(array.bytes, element, &id_name, 1, &id);
      all_named = all_named && id.type == TAMP_JSON_STRING;
      all_plain = all_plain && is_plain(array.bytes, element);
      for (size_t k = 0; tamp_format_at(k); k++) {
        const TampFormat *candidate = tamp_format_at(k);
        if (!claims(candidate, array.bytes, element)) continue;
        conflict = conflict || (*format && *format != candidate);
        *format = candidate;
      }
    }
  }
  *fault = cursor.fault;
  if (cursor.status) return cursor.status;
  if (conflict) *format = NULL;
  if (*format || conflict) return TAMP_OK;
  /* Roles and texts read alike in every format; ids on all of them are AG-UI's habit. */
  if (all_plain) *format = all_named && count > 0 ? &tamp_format_ag_ui : &tamp_format_openai;
  return TAMP_OK;
}
