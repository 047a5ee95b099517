/* What formats share that look like chat completions: a list of messages with `content` and a list of calls,
 * and the mark that Tamp leaves on messages of its own. */
#ifndef TAMP_FORMATS_CHAT_H
#define TAMP_FORMATS_CHAT_H

#include "splice.h"

/* Reads `{"tamp": {"pin": true, "summary": {...}, "head": true}}` of a metadata object into the message. Any
 * other value says nothing. */
void tamp_mark_read(TampMessage *message, TampValue metadata);

/* Writes the value of "tamp" for a draft with flags. */
void tamp_mark_write(const TampDraft *draft, TampWriter *writer);

/* For formats that have no safe place for a mark: a message whose text begins with the label of a summary and a
 * blank line may be one, and a user message with the text of a head may be that. Whether it stands where one
 * stands, the list knows. */
TampStatus tamp_mark_by_label(TampMessage *message);

/* TampFormat.edit for messages with a string or parts in `content` and their calls in the array `calls`. */
TampStatus tamp_edit_chat(const TampMessage *message, const TampEdit *edits, size_t count,
                          TampText calls, TampArena *scratch, TampWriter *writer);

/* Whether a string begins with "data:": bytes inline in a URL. */
bool tamp_value_is_data_url(const uint8_t *text, TampValue value);

#endif
