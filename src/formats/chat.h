/* What formats share that look like chat completions: a list of messages with `content` and a list of calls,
 * and the mark that Tamp leaves on messages of its own. */
#ifndef TAMP_FORMATS_CHAT_H
#define TAMP_FORMATS_CHAT_H

#include "splice.h"

typedef struct TampRoleName {
  TampText name;
  TampRole role;
} TampRoleName;

/* The role of that name in a table; TAMP_ROLE_OTHER when it is not in there. */
uint8_t tamp_role_of(const uint8_t *text, TampValue role, const TampRoleName *roles, size_t count);

/* Writes a new message by a template: its JSON with %i, %t, %c, %n for the draft's id, text, call and name, %r for
 * its role, %m for the value of "tamp", each a whole value; what stands between %? and %; is left out of a draft
 * without flags. */
void tamp_draft_write(const TampDraft *draft, const char *template, TampWriter *writer);

/* Reads `{"tamp": {"pin": true, "summary": {...}, "head": true}}` of a metadata object into the message. Any
 * other value says nothing. */
void tamp_mark_read(TampMessage *message, TampValue metadata);

/* For formats that have no safe place for a mark: a message whose text begins with the label of a summary and a
 * blank line may be one, and a user message with the text of a head may be that. Whether it stands where one
 * stands, the list knows. */
TampStatus tamp_mark_by_label(TampMessage *message);

/* TampFormat.edit for messages with a string or parts in `content` and their calls in the array `calls`. */
TampStatus tamp_edit_chat(const TampMessage *message, const TampEdit *edits, size_t count,
                          TampText calls, TampArena *scratch, TampWriter *writer);

/* Whether a string begins with `start`, which needs no escapes, and with "data:": bytes inline in a URL. */
bool tamp_value_starts(const uint8_t *text, TampValue value, TampText start);
bool tamp_value_is_data_url(const uint8_t *text, TampValue value);

#endif
