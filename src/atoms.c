#include "atoms.h"

#include <string.h>

#include "text.h"

/* At nine sixteenths full, the longest probe among a million texts of no ill will is about a hundred. */
enum { LONGEST_PROBE = 160, FIRST_SLOTS = 64, BLOCK = 64 };

static TampAtom *item_at(const TampAtoms *atoms, uint32_t atom) {
  return &atoms->blocks[atom / BLOCK][atom % BLOCK];
}

static uint32_t hash_of(const TampAtoms *atoms, TampText text) {
  uint64_t hash = tamp_text_hash(text, atoms->seed);
  return (uint32_t)(hash ^ hash >> 32);
}

/* UUIDs, which nearly all ids of files are, take 16 bytes instead of 36. */

static const char digits[] = "0123456789abcdef";

static bool is_dash(size_t at) {
  return at == 8 || at == 13 || at == 18 || at == 23;
}

/* The bytes of a UUID as it is commonly spelled, in small letters; false for any other text. */
static bool pack(TampText text, uint8_t out[16]) {
  if (text.length != TAMP_ATOM_ROOM) return false;
  size_t count = 0;
  for (size_t i = 0; i < TAMP_ATOM_ROOM; i++) {
    uint8_t byte = text.bytes[i];
    if (is_dash(i) != (byte == '-')) return false;
    if (byte == '-') continue;
    bool digit = byte >= '0' && byte <= '9';
    if (!digit && (byte < 'a' || byte > 'f')) return false;
    uint8_t value = (uint8_t)(digit ? byte - '0' : byte - 'a' + 10);
    out[count / 2] = (uint8_t)(count % 2 ? out[count / 2] | value : value << 4);
    count++;
  }
  return true;
}

static TampText text_of(const TampAtom *item, uint8_t room[TAMP_ATOM_ROOM]) {
  if (item->length != TAMP_ATOM_UUID) return (TampText){item->bytes, item->length};
  for (size_t i = 0, count = 0; i < TAMP_ATOM_ROOM; i++) {
    if (is_dash(i)) {
      room[i] = '-';
      continue;
    }
    uint8_t byte = item->bytes[count / 2];
    room[i] = (uint8_t)digits[count++ % 2 ? byte & 15 : byte >> 4];
  }
  return (TampText){room, TAMP_ATOM_ROOM};
}

static bool says(const TampAtom *item, TampText text) {
  uint8_t room[TAMP_ATOM_ROOM];
  TampText known = text_of(item, room);
  return known.length == text.length && (text.length == 0 || memcmp(known.bytes, text.bytes, text.length) == 0);
}

void tamp_atoms_init(TampAtoms *atoms, TampArena *arena) {
  *atoms = (TampAtoms){.arena = arena, .seed = 0x9E3779B97F4A7C15u};
}

/* Puts an atom into its slot; false when that took a suspiciously long probe. */
static bool place(const TampAtoms *atoms, uint32_t *slots, uint32_t slot_count, uint32_t atom) {
  uint32_t mask = slot_count - 1;
  uint32_t at = item_at(atoms, atom)->hash & mask;
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
  uint8_t room[TAMP_ATOM_ROOM];
  for (uint32_t i = 0; i < atoms->count; i++) seed = tamp_text_hash(text_of(item_at(atoms, i), room), seed);
  atoms->seed = seed;
  for (uint32_t i = 0; i < atoms->count; i++) {
    TampAtom *item = item_at(atoms, i);
    item->hash = hash_of(atoms, text_of(item, room));
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
static uint32_t seek(const TampAtoms *atoms, TampText text, uint32_t hash, uint32_t *probe) {
  uint32_t mask = atoms->slot_count - 1;
  uint32_t at = hash & mask;
  *probe = 0;
  for (;;) {
    uint32_t slot = atoms->slots[at];
    if (slot == 0) return at;
    const TampAtom *item = item_at(atoms, slot - 1);
    if (item->hash == hash && says(item, text)) return at;
    at = (at + 1) & mask;
    (*probe)++;
  }
}

/* Makes sure that there is room for one more. */
static TampStatus reserve(TampAtoms *atoms) {
  if (atoms->count / BLOCK < atoms->block_count) return TAMP_OK;
  TampStatus status = tamp_arena_grow(atoms->arena, (void **)&atoms->blocks, &atoms->block_capacity,
                                      (size_t)atoms->block_count + 1, sizeof *atoms->blocks);
  void *block = NULL;
  uint32_t capacity = 0;
  if (!status) status = tamp_arena_grow(atoms->arena, &block, &capacity, BLOCK, sizeof(TampAtom));
  if (!status) atoms->blocks[atoms->block_count++] = block;
  return status;
}

TampStatus tamp_atoms_intern(TampAtoms *atoms, TampText text, TampArena *copies, uint32_t *atom) {
  if (text.length >= TAMP_ATOM_UUID) return TAMP_TOO_LARGE;
  if (atoms->count >= atoms->slot_count / 16 * 9) {
    TampStatus status = enlarge(atoms);
    if (status) return status;
  }
  uint32_t hash = hash_of(atoms, text);
  uint32_t probe;
  uint32_t at = seek(atoms, text, hash, &probe);
  if (atoms->slots[at] != 0) {
    *atom = atoms->slots[at] - 1;
    return TAMP_OK;
  }
  TampStatus status = reserve(atoms);
  if (status) return status;
  TampAtom item = {text.bytes, (uint32_t)text.length, hash};
  uint8_t uuid[16];
  if (copies) {
    if (pack(text, uuid)) {
      text = (TampText){uuid, sizeof uuid};
      item.length = TAMP_ATOM_UUID;
    }
    uint8_t *copy = tamp_arena_alloc(copies, text.length);
    if (!copy) return TAMP_NO_MEMORY;
    memcpy(copy, text.bytes, text.length);
    item.bytes = copy;
  }
  *item_at(atoms, atoms->count) = item;
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
  uint32_t at = seek(atoms, text, hash_of(atoms, text), &probe);
  return atoms->slots[at] ? atoms->slots[at] - 1 : TAMP_NONE;
}

TampText tamp_atoms_text(const TampAtoms *atoms, uint32_t atom, uint8_t room[TAMP_ATOM_ROOM]) {
  if (atom >= atoms->count) return (TampText){(const uint8_t *)"", 0};
  return text_of(item_at(atoms, atom), room);
}

void tamp_atoms_truncate(TampAtoms *atoms, uint32_t count) {
  uint32_t mask = atoms->slot_count - 1;
  while (atoms->count > count) {
    /* Nothing was placed after the newest atom, so emptying its slot breaks no probe. */
    uint32_t atom = --atoms->count;
    uint32_t at = item_at(atoms, atom)->hash & mask;
    while (atoms->slots[at] != atom + 1) at = (at + 1) & mask;
    atoms->slots[at] = 0;
  }
}
