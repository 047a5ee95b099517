#include "atoms.h"

#include <string.h>

#include "text.h"

enum { LONGEST_PROBE = 48, FIRST_SLOTS = 64 };

void tamp_atoms_init(TampAtoms *atoms, TampArena *arena) {
  *atoms = (TampAtoms){.arena = arena, .seed = 0x9E3779B97F4A7C15u};
}

/* Puts an atom into its slot; false when that took a suspiciously long probe. */
static bool place(const TampAtoms *atoms, uint32_t *slots, uint32_t slot_count, uint32_t atom) {
  uint32_t mask = slot_count - 1;
  uint32_t at = (uint32_t)atoms->items[atom].hash & mask;
  uint32_t probe = 0;
  while (slots[at] != 0) {
    at = (at + 1) & mask;
    probe++;
  }
  slots[at] = atom + 1;
  return probe <= LONGEST_PROBE;
}

/* A seed that depends on every byte of every atom: whoever chose the ids to collide under the old seed cannot
 * have foreseen it without solving for all of them at once. */
static void reseed(TampAtoms *atoms) {
  uint64_t seed = atoms->seed;
  for (uint32_t i = 0; i < atoms->count; i++) {
    TampAtom *item = &atoms->items[i];
    seed = tamp_text_hash((TampText){item->bytes, item->length}, seed);
  }
  atoms->seed = seed;
  for (uint32_t i = 0; i < atoms->count; i++) {
    TampAtom *item = &atoms->items[i];
    item->hash = tamp_text_hash((TampText){item->bytes, item->length}, seed);
  }
}

static void fill(TampAtoms *atoms, uint32_t *slots, uint32_t slot_count) {
  /* Two new seeds are enough to tell bad luck from an attack; after that long probes are lived with. */
  for (int attempt = 0; attempt < 3; attempt++) {
    memset(slots, 0, slot_count * sizeof *slots);
    bool fine = true;
    for (uint32_t i = 0; i < atoms->count; i++) {
      fine = place(atoms, slots, slot_count, i) && fine;
    }
    if (fine) break;
    if (attempt < 2) reseed(atoms);
  }
  atoms->slots = slots;
  atoms->slot_count = slot_count;
}

static TampStatus enlarge(TampAtoms *atoms) {
  uint32_t slot_count = atoms->slot_count ? atoms->slot_count * 2 : FIRST_SLOTS;
  uint32_t *slots = NULL;
  uint32_t capacity = 0;
  if (slot_count < atoms->slot_count) return TAMP_TOO_LARGE;
  TampStatus status =
      tamp_arena_grow(atoms->arena, (void **)&slots, &capacity, slot_count, sizeof *slots);
  if (status) return status;
  uint32_t *old = atoms->slots;
  fill(atoms, slots, slot_count);
  tamp_arena_drop(atoms->arena, old);
  return TAMP_OK;
}

/* The slot of the text, or the empty slot where it belongs. */
static uint32_t seek(const TampAtoms *atoms, TampText text, uint64_t hash, uint32_t *probe) {
  uint32_t mask = atoms->slot_count - 1;
  uint32_t at = (uint32_t)hash & mask;
  *probe = 0;
  for (;;) {
    uint32_t slot = atoms->slots[at];
    if (slot == 0) return at;
    const TampAtom *item = &atoms->items[slot - 1];
    if (item->hash == hash && item->length == text.length &&
        (text.length == 0 || memcmp(item->bytes, text.bytes, text.length) == 0)) {
      return at;
    }
    at = (at + 1) & mask;
    (*probe)++;
  }
}

TampStatus tamp_atoms_intern(TampAtoms *atoms, TampText text, TampArena *copies, uint32_t *atom) {
  if (text.length > UINT32_MAX) return TAMP_TOO_LARGE;
  /* At most half full, so that probes are short. */
  if (atoms->count >= atoms->slot_count / 2) {
    TampStatus status = enlarge(atoms);
    if (status) return status;
  }
  uint64_t hash = tamp_text_hash(text, atoms->seed);
  uint32_t probe;
  uint32_t at = seek(atoms, text, hash, &probe);
  if (atoms->slots[at] != 0) {
    *atom = atoms->slots[at] - 1;
    return TAMP_OK;
  }
  TampStatus status = tamp_arena_grow(atoms->arena, (void **)&atoms->items, &atoms->capacity,
                                      (size_t)atoms->count + 1, sizeof *atoms->items);
  if (status) return status;
  if (copies) {
    uint8_t *copy = tamp_arena_alloc(copies, text.length);
    if (!copy) return TAMP_NO_MEMORY;
    memcpy(copy, text.bytes, text.length);
    text.bytes = copy;
  }
  atoms->items[atoms->count] = (TampAtom){text.bytes, (uint32_t)text.length, hash};
  *atom = atoms->count++;
  atoms->slots[at] = *atom + 1;
  if (probe > LONGEST_PROBE) {
    reseed(atoms);
    fill(atoms, atoms->slots, atoms->slot_count);
  }
  return TAMP_OK;
}

uint32_t tamp_atoms_find(const TampAtoms *atoms, TampText text) {
  if (atoms->slot_count == 0) return TAMP_NONE;
  uint32_t probe;
  uint32_t at = seek(atoms, text, tamp_text_hash(text, atoms->seed), &probe);
  return atoms->slots[at] ? atoms->slots[at] - 1 : TAMP_NONE;
}

TampText tamp_atoms_text(const TampAtoms *atoms, uint32_t atom) {
  if (atom >= atoms->count) return (TampText){(const uint8_t *)"", 0};
  return (TampText){atoms->items[atom].bytes, atoms->items[atom].length};
}

void tamp_atoms_truncate(TampAtoms *atoms, uint32_t count) {
  uint32_t mask = atoms->slot_count - 1;
  while (atoms->count > count) {
    /* Nothing was placed after the newest atom, so emptying its slot breaks no probe. */
    uint32_t atom = --atoms->count;
    uint32_t at = (uint32_t)atoms->items[atom].hash & mask;
    while (atoms->slots[at] != atom + 1) at = (at + 1) & mask;
    atoms->slots[at] = 0;
  }
}
