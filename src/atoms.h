/* Atoms: every id and tool name of a history as a small number.
 *
 * Two texts are the same atom exactly when their bytes are equal, so that pairing compares integers. The
 * table is open addressing over a 64-bit hash. Ids come from transcripts that may be hostile, and a fixed
 * hash can be flooded, so a probe that gets long makes the table choose a new seed from everything it holds
 * and build itself again. Atoms are numbered in the order they came, and the newest can be taken back. */
#ifndef TAMP_ATOMS_H
#define TAMP_ATOMS_H

#include "json/value.h"

typedef struct TampAtom {
  const uint8_t *bytes;
  uint32_t length; /* TAMP_ATOM_UUID: `bytes` are the 16 of a UUID, which are spelled as 36 */
  uint32_t hash;
} TampAtom;

#define TAMP_ATOM_UUID UINT32_MAX

/* Room for a text that is not kept as it is spelled. */
enum { TAMP_ATOM_ROOM = 36 };

typedef struct TampAtoms {
  TampArena *arena;
  TampAtom **blocks; /* of 64: files have millions, and a table that is moved lies about twice */
  uint32_t count;
  uint32_t block_count;
  uint32_t block_capacity;
  uint32_t *slots; /* atom + 1, 0 for empty; a power of two of them */
  uint32_t slot_count;
  uint64_t seed;
} TampAtoms;

void tamp_atoms_init(TampAtoms *atoms, TampArena *arena);

/* The atom of `text`, made when new; then its bytes are copied into `copies`. NULL: they are not copied, and must
 * live as long as the atom. */
TampStatus tamp_atoms_intern(TampAtoms *atoms, TampText text, TampArena *copies, uint32_t *atom);

/* TAMP_NONE when the text is no atom. */
uint32_t tamp_atoms_find(const TampAtoms *atoms, TampText text);

/* Empty for TAMP_NONE. The text may lie in `room`. */
TampText tamp_atoms_text(const TampAtoms *atoms, uint32_t atom, uint8_t room[TAMP_ATOM_ROOM]);

/* Forgets the atoms from `count` on. */
void tamp_atoms_truncate(TampAtoms *atoms, uint32_t count);

#endif
