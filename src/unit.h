/* Messages in units (format.h): taking one apart when it is read, and putting together what is left of it.
 *
 * A unit is a message of its own: the bytes around its elements are those of the whole message. So everything that
 * reads, weighs and edits messages does the same with units, and knows nothing of them. */
#ifndef TAMP_UNIT_H
#define TAMP_UNIT_H

#include "record.h"

/* Makes the records of the units of a message that was read and has several, counted as tamp_record_make does, and
 * hangs them on its own record. They are pieces of `arena`. */
TampStatus tamp_units_make(const TampFormat *format, const TampMessage *message, TampAtoms *atoms, TampArena *arena,
                           const TampCounter *counter, TampRecord *whole);

/* Writes the message that consists of these units, in this order. What stands around them is that of
 * units[home]. */
TampStatus tamp_units_join(const TampFormat *format, const TampRecord *const *units, uint32_t count, uint32_t home,
                           TampArena *scratch, TampWriter *writer);

/* A record like this one, for what becomes a unit of a message though it was one of its own. */
TampStatus tamp_unit_of(const TampFormat *format, const TampRecord *record, TampArena *arena,
                        const TampRecord **unit);

/* Bytes that a unit takes less behind another one than as a message of its own. */
static inline uint32_t tamp_unit_shared(const TampRecord *unit) {
  uint32_t separator = unit->piece.separator ? unit->piece.separator_length : 1;
  return unit->piece.shared - separator;
}

#endif
