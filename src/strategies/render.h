/* Messages as plain text for whoever summarises them: who spoke, which tools ran on what, what came
 * of it. */
#ifndef TAMP_RENDER_H
#define TAMP_RENDER_H

#include "strategy.h"

/* Appends an entry's message as lines "User: …", "Assistant calls read_file: …", "Result of
 * read_file: …". Each text is bounded, and its further lines are indented, so that no text can pass
 * for another speaker. Nothing is appended for a message that says nothing. `message` is used for
 * reading. */
TampStatus tamp_render_entry(TampStep *step, uint32_t entry, TampMessage *message, TampWriter *out);

#endif
