#include "format.h"

/* What the messages that were looked at have in common. */
typedef struct Window {
  uint32_t messages; /* objects with a role */
  uint32_t named;    /* of these, with a string id */
  uint32_t others;   /* elements that are no message of any format */
} Window;

static void look(const uint8_t *text, TampValue element, Window *window) {
  static const TampText names[2] = {TAMP_TEXT_INIT("role"), TAMP_TEXT_INIT("id")};
  TampValue value[2];
  tamp_value_members(text, element, names, 2, value);
  if (element.type != TAMP_JSON_OBJECT || value[0].type != TAMP_JSON_STRING) {
    window->others++;
    return;
  }
  window->messages++;
  window->named += value[1].type == TAMP_JSON_STRING;
}

TampStatus tamp_detect(TampText array, const TampFormat **format, TampFault *fault) {
  TampCursor cursor = tamp_cursor(array.bytes, 0, array.length, false);
  Window window = {0};
  bool conflict = false;
  *format = NULL;
  if (array.length > UINT32_MAX) return TAMP_TOO_LARGE;
  if (tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY)) {
    TampValue element;
    for (uint32_t i = 0; i < TAMP_DETECT_MESSAGES && tamp_cursor_next(&cursor); i++) {
      if (!tamp_cursor_value(&cursor, &element)) break;
      look(array.bytes, element, &window);
      for (size_t k = 0; tamp_format_at(k); k++) {
        const TampFormat *candidate = tamp_format_at(k);
        if (!candidate->claims || !candidate->claims(array.bytes, element)) continue;
        conflict = conflict || (*format && *format != candidate);
        *format = candidate;
      }
    }
  }
  *fault = cursor.fault;
  if (cursor.status) return cursor.status;
  if (conflict) *format = NULL;
  if (*format || conflict || window.others > 0) return TAMP_OK;
  /* Nothing but roles and texts reads alike in every format; ids on all of them are AG-UI's habit. */
  *format = window.messages > 0 && window.named == window.messages ? &tamp_format_ag_ui
                                                                   : &tamp_format_openai;
  return TAMP_OK;
}
