/* One pass over the text with a stack of open containers. Each value becomes a 16-byte hash, held
 * in an entry of the container it is in; when the container closes, its entries are folded into its
 * own hash and leave. So memory is what is open, and no value is read twice however deep it lies.
 */
#include "digest.h"

#include <string.h>

#include "json/cursor.h"
#include "sort.h"

typedef struct Hash {
  uint64_t low;
  uint64_t high;
} Hash;

/* Seeds keep values of different kinds apart: the string "1" is not the number 1. */
enum {
  SEED_STRING = 1,
  SEED_NUMBER,
  SEED_WORD, /* null, false, true */
  SEED_ARRAY,
  SEED_OBJECT,
  SEED_MEMBER,
  SEED_LIST,
};

typedef struct Entry {
  Hash hash;     /* of the value */
  TampText name; /* of a member; empty in an array */
  uint32_t order;
} Entry;

typedef struct Frame {
  uint32_t first; /* of its entries */
  bool object;
} Frame;

typedef struct Walk {
  const uint8_t *text;
  TampArena *scratch;
  Entry *entries;
  Frame *frames;
  uint32_t entry_count, entry_capacity;
  uint32_t frame_count, frame_capacity;
} Walk;

/* In the machine's byte order: digests are compared on the machine that made them, or on one of its
 * kind (every target is little-endian). Composed of bytes, this would take most of the time. */
static uint64_t read_u64(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

static void write_u64(uint8_t *bytes, uint64_t word) {
  memcpy(bytes, &word, sizeof word);
}

static uint64_t rotate(uint64_t word, unsigned by) {
  return (word << by) | (word >> (64 - by));
}

static uint64_t finish(uint64_t word) {
  word ^= word >> 33;
  word *= 0xff51afd7ed558ccdu;
  word ^= word >> 33;
  word *= 0xc4ceb9fe1a85ec53u;
  return word ^ (word >> 33);
}

#define MURMUR_A 0x87c37b91114253d5u
#define MURMUR_B 0x4cf5ad432745937fu

static Hash murmur(TampText text, uint32_t seed) {
  uint64_t low = seed, high = seed;
  const uint8_t *bytes = text.bytes;
  size_t left = text.length;
  for (; left >= 16; bytes += 16, left -= 16) {
    low ^= rotate(read_u64(bytes) * MURMUR_A, 31) * MURMUR_B;
    low = (rotate(low, 27) + high) * 5 + 0x52dce729u;
    high ^= rotate(read_u64(bytes + 8) * MURMUR_B, 33) * MURMUR_A;
    high = (rotate(high, 31) + low) * 5 + 0x38495ab5u;
  }
  if (left > 0) {
    uint8_t tail[16] = {0};
    memcpy(tail, bytes, left);
    low ^= rotate(read_u64(tail) * MURMUR_A, 31) * MURMUR_B;
    high ^= rotate(read_u64(tail + 8) * MURMUR_B, 33) * MURMUR_A;
  }
  low ^= text.length;
  high ^= text.length;
  low += high;
  high += low;
  low = finish(low);
  high = finish(high);
  low += high;
  high += low;
  return (Hash){low, high};
}

static void write_hash(uint8_t *bytes, Hash hash) {
  write_u64(bytes, hash.low);
  write_u64(bytes + 8, hash.high);
}

/* The hash of two hashes in this order. */
static Hash murmur_pair(Hash first, Hash second, uint32_t seed) {
  uint8_t bytes[32];
  write_hash(bytes, first);
  write_hash(bytes + 16, second);
  return murmur((TampText){bytes, sizeof bytes}, seed);
}

static TampDigest digest_of(Hash hash) {
  TampDigest digest;
  write_hash(digest.bytes, hash);
  return digest;
}

static Hash hash_of(const TampDigest *digest) {
  return (Hash){read_u64(digest->bytes), read_u64(digest->bytes + 8)};
}

/* Members by name, those of one name in the order of the text. */
static bool entry_before(const void *left, const void *right) {
  const Entry *a = left, *b = right;
  size_t shorter = a->name.length < b->name.length ? a->name.length : b->name.length;
  int order = shorter == 0 ? 0 : memcmp(a->name.bytes, b->name.bytes, shorter);
  if (order != 0) return order < 0;
  if (a->name.length != b->name.length) return a->name.length < b->name.length;
  return a->order < b->order;
}

static bool same_name(const Entry *a, const Entry *b) {
  return a->name.length == b->name.length &&
         (a->name.length == 0 || memcmp(a->name.bytes, b->name.bytes, a->name.length) == 0);
}

static void swap_entries(Entry *a, Entry *b) {
  Entry kept = *a;
  *a = *b;
  *b = kept;
}

/* Insertion for the few members a message has, a heap for the many that a hostile one may have. */
static void sort_entries(Entry *entries, size_t count) {
  if (count <= 24) {
    for (size_t i = 1; i < count; i++)
      for (size_t j = i; j > 0 && entry_before(&entries[j], &entries[j - 1]); j--)
        swap_entries(&entries[j], &entries[j - 1]);
    return;
  }
  tamp_sort(entries, count, sizeof *entries, entry_before);
}

static TampStatus push_entry(Walk *walk, TampText name) {
  void *items = walk->entries;
  TampStatus status = tamp_arena_grow(walk->scratch, &items, &walk->entry_capacity,
                                      (size_t)walk->entry_count + 1, sizeof(Entry));
  if (status != TAMP_OK) return status;
  walk->entries = items;
  walk->entries[walk->entry_count] = (Entry){{0, 0}, name, walk->entry_count};
  walk->entry_count++;
  return TAMP_OK;
}

static TampStatus push_frame(Walk *walk, bool object) {
  void *items = walk->frames;
  TampStatus status = tamp_arena_grow(walk->scratch, &items, &walk->frame_capacity,
                                      (size_t)walk->frame_count + 1, sizeof(Frame));
  if (status != TAMP_OK) return status;
  walk->frames = items;
  walk->frames[walk->frame_count++] = (Frame){walk->entry_count, object};
  return TAMP_OK;
}

static Hash hash_array(const Entry *entries, size_t count) {
  Hash hash = {count, 0};
  for (size_t i = 0; i < count; i++) hash = murmur_pair(hash, entries[i].hash, SEED_ARRAY);
  return murmur_pair(hash, (Hash){count, 0}, SEED_ARRAY);
}

static Hash hash_object(Entry *entries, size_t count, bool message) {
  static const TampText left_out = {(const uint8_t *)"metadata", 8};
  const Entry skipped = {{0, 0}, left_out, 0};
  sort_entries(entries, count);
  Hash hash = {0, 0};
  uint64_t members = 0;
  for (size_t i = 0; i < count; i++) {
    if (i + 1 < count && same_name(&entries[i], &entries[i + 1])) continue;
    if (message && same_name(&entries[i], &skipped)) continue;
    Hash member = murmur_pair(murmur(entries[i].name, SEED_MEMBER), entries[i].hash, SEED_MEMBER);
    hash = murmur_pair(hash, member, SEED_OBJECT);
    members++;
  }
  return murmur_pair(hash, (Hash){members, 0}, SEED_OBJECT);
}

static TampStatus hash_scalar(Walk *walk, TampValue value, Hash *out) {
  TampText text = {walk->text + value.at, value.length};
  uint32_t seed = value.type == TAMP_JSON_NUMBER ? SEED_NUMBER : SEED_WORD;
  if (value.type == TAMP_JSON_STRING) {
    TampMark mark = tamp_arena_mark(walk->scratch);
    TampStatus status = tamp_value_text(walk->text, value, walk->scratch, &text);
    if (status == TAMP_OK) *out = murmur(text, SEED_STRING);
    tamp_arena_reset(walk->scratch, mark);
    return status;
  }
  *out = murmur(text, seed);
  return TAMP_OK;
}

/* Closes the innermost container and gives its hash. */
static Hash close_frame(Walk *walk) {
  Frame frame = walk->frames[--walk->frame_count];
  Entry *entries = walk->entries + frame.first;
  size_t count = walk->entry_count - frame.first;
  walk->entry_count = frame.first;
  return frame.object ? hash_object(entries, count, walk->frame_count == 0)
                      : hash_array(entries, count);
}

/* Moves to the next value in the innermost container, with an entry ready for its hash. False when
 * the container is over or something failed: `*status` and the cursor say which. */
static bool next_value(Walk *walk, TampCursor *cursor, TampStatus *status) {
  TampText name = {NULL, 0};
  if (walk->frames[walk->frame_count - 1].object) {
    TampValue value;
    if (!tamp_cursor_member(cursor, &value)) return false;
    *status = tamp_value_text(walk->text, value, walk->scratch, &name);
    if (*status != TAMP_OK) return false;
  } else if (!tamp_cursor_next(cursor)) {
    return false;
  }
  *status = push_entry(walk, name);
  return *status == TAMP_OK;
}

/* The hash of the message at the cursor, which must stand at an object. Names that hold escapes are
 * decoded into the arena and stay there until the message is done. */
static TampStatus hash_message(Walk *walk, TampCursor *cursor, Hash *out) {
  TampStatus status = TAMP_OK;
  for (;;) {
    uint8_t first = cursor->at < cursor->length ? walk->text[cursor->at] : 0;
    Hash hash = {0, 0};
    if (first == '{' || first == '[') {
      if (!tamp_cursor_enter(cursor, first == '{' ? TAMP_JSON_OBJECT : TAMP_JSON_ARRAY))
        return cursor->status;
      status = push_frame(walk, first == '{');
    } else {
      TampValue value;
      if (!tamp_cursor_value(cursor, &value)) return cursor->status;
      status = hash_scalar(walk, value, &hash);
      walk->entries[walk->entry_count - 1].hash = hash;
    }
    while (status == TAMP_OK && !next_value(walk, cursor, &status)) {
      if (status != TAMP_OK || cursor->status != TAMP_OK) break;
      hash = close_frame(walk);
      if (walk->frame_count == 0) {
        *out = hash;
        return TAMP_OK;
      }
      walk->entries[walk->entry_count - 1].hash = hash;
    }
    if (status != TAMP_OK) return status;
    if (cursor->status != TAMP_OK) return cursor->status;
  }
}

/* Reads the object at the cursor and gives everything back that it took from the arena but its
 * arrays. */
static TampStatus read_message(Walk *walk, TampCursor *cursor, Hash *out) {
  if (cursor->at < cursor->length && walk->text[cursor->at] != '{') {
    cursor->fault = (TampFault){cursor->at, "expected an object"};
    return TAMP_BAD_MESSAGE;
  }
  TampMark mark = tamp_arena_mark(walk->scratch);
  TampStatus status = hash_message(walk, cursor, out);
  tamp_arena_reset(walk->scratch, mark);
  return status;
}

static void walk_end(Walk *walk) {
  tamp_arena_drop(walk->scratch, walk->entries);
  tamp_arena_drop(walk->scratch, walk->frames);
}

static bool is_space(uint8_t byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

TampStatus tamp_digest_message(const uint8_t *text, size_t at, size_t length, bool raw,
                               TampArena *scratch, TampDigest *out, TampFault *fault) {
  while (at < length && is_space(text[at])) at++;
  Walk walk = {.text = text, .scratch = scratch};
  TampCursor cursor = tamp_cursor(text, at, length, raw);
  Hash hash;
  TampStatus status = read_message(&walk, &cursor, &hash);
  if (status == TAMP_OK && !tamp_cursor_end(&cursor)) status = cursor.status;
  if (status == TAMP_OK)
    *out = digest_of(hash);
  else
    *fault = cursor.fault;
  walk_end(&walk);
  return status;
}

TampDigest tamp_digest_text(const uint8_t *text, size_t length) {
  return digest_of(murmur((TampText){text, length}, SEED_STRING));
}

TampDigest tamp_digest_empty(void) {
  return digest_of((Hash){0, 0});
}

void tamp_digest_append(TampDigest *list, const TampDigest *message) {
  *list = digest_of(murmur_pair(hash_of(list), hash_of(message), SEED_LIST));
}

TampStatus tamp_digest_append_array(TampDigest *list, const uint8_t *text, size_t at, size_t length,
                                    bool raw, TampArena *scratch, TampFault *fault) {
  while (at < length && is_space(text[at])) at++;
  Walk walk = {.text = text, .scratch = scratch};
  TampCursor cursor = tamp_cursor(text, at, length, raw);
  TampDigest longer = *list;
  TampStatus status = TAMP_OK;
  if (!tamp_cursor_enter(&cursor, TAMP_JSON_ARRAY)) status = cursor.status;
  while (!status && tamp_cursor_next(&cursor)) {
    Hash hash;
    status = read_message(&walk, &cursor, &hash);
    if (status) break;
    TampDigest message = digest_of(hash);
    tamp_digest_append(&longer, &message);
  }
  if (!status && (cursor.status || !tamp_cursor_end(&cursor))) status = cursor.status;
  if (!status)
    *list = longer;
  else
    *fault = cursor.fault;
  walk_end(&walk);
  return status;
}
