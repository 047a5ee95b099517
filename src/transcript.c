#include "transcript.h"

#include <string.h>

#include "digest.h"
#include "history.h"

/* What a record says about others, as atoms; TAMP_NONE where nothing. */
typedef struct Facts {
  uint32_t id;
  uint32_t links[TAMP_LINKS];
  uint32_t link_at[TAMP_LINKS]; /* of the value, in the record */
  uint32_t with[2];
  uint32_t said; /* hash of the text that twins have in common, 0 for none */
} Facts;

enum {
  LINE_DEAD = 1 << 0,   /* its owner no longer reads it */
  LINE_UNDONE = 1 << 1, /* nor this, but it has to stay */
  LINE_TWIN = 1 << 2,   /* `said` is what it copies */
  LINE_TIED = 1 << 3,   /* there are facts about it */
  LINE_TAIL = 1 << 4,   /* times the bytes of the line end, of which there are two at most */
};

/* A record of the file, in its order. There are millions of them: 16 bytes. */
typedef struct Line {
  uint32_t offset_low;
  uint32_t length_low; /* without its line end */
  uint32_t message;    /* index in the history, TAMP_NONE for a record that is none, or not alive */
  uint16_t offset_high;
  uint8_t length_high;
  uint8_t flags;       /* LINE_*, and the bytes of the line end */
} Line;

/* Facts as they are kept: what nearly every record has, and the number of the rest. */
typedef struct Tie {
  uint32_t id;
  uint32_t parent;
  uint32_t parent_at;
  uint32_t more; /* in `ties`, TAMP_NONE for nothing more */
} Tie;

typedef struct MoreTies {
  uint32_t links[TAMP_LINKS - 1];
  uint32_t link_at[TAMP_LINKS - 1];
  uint32_t with[2];
  uint32_t said;
} MoreTies;

/* A table that is never moved, so that nothing of it lies about twice. */
typedef struct Table {
  uint8_t **blocks;
  size_t row_size;
  uint32_t block_count, block_capacity;
} Table;

enum { BLOCK_ROWS = 1024 };

/* Numbers of lines are below; above it are atoms (Write.by_id). */
#define ONWARD UINT32_C(0x80000000)

/* A record that waits for the format to be known. */
typedef struct Pending {
  TampSplitRecord record; /* its bytes are at `at` of the sample */
  size_t at;
} Pending;

struct TampTranscript {
  TampArena arena;
  TampArena scratch; /* of the last file written */
  TampSplitter splitter;
  TampSource source;
  TampHistory *history; /* NULL as long as the format is not known */
  const TampFormat *format;
  const TampFormat *wanted; /* what the caller says */
  Table lines;
  Table ties; /* by line, in formats with an envelope */
  Table more;
  TampUnreadable *unreadable;
  TampStatus first_failure; /* of the first unreadable line */
  Pending *pending;
  uint8_t *sample; /* bytes of those that wait */
  uint32_t line_count, more_count;
  uint32_t unreadable_count, unreadable_capacity;
  uint32_t pending_count, pending_capacity;
  size_t sample_length;
  uint32_t sample_capacity;
  uint32_t preserved_line; /* the newest boundary; what it keeps alive: */
  uint32_t *preserved;     /* atoms */
  uint32_t preserved_count, preserved_capacity;
  uint32_t head, tail; /* atoms of a stretch, TAMP_NONE for none */
  bool counted;        /* tokens are estimated */
  bool sidechain;      /* of the first message */
  bool begun;          /* there was one */
  bool settled;        /* the file has ended */
  bool any_dead;
  bool system_beside; /* the list's object has a `system` */
  bool unknown;       /* the format cannot be told */
};

enum { SAMPLE_BYTES = 1 << 20, TWIN_REACH = 64 };

static TampStatus on_begin(void *context, TampContainer container, const char *path);
static TampStatus on_record(void *context, TampSplitRecord *record);
static TampStatus on_member(void *context, const TampSplitMember *member);

TampStatus tamp_transcript_new(TampAllocator allocator, const TampFormat *format, bool counted,
                               TampSource source, TampTranscript **transcript) {
  *transcript = NULL;
  TampTranscript *made = allocator.resize(allocator.context, NULL, sizeof *made);
  if (!made) return TAMP_NO_MEMORY;
  *made = (TampTranscript){.source = source, .wanted = format, .counted = counted};
  made->lines.row_size = sizeof(Line);
  made->ties.row_size = sizeof(Tie);
  made->more.row_size = sizeof(MoreTies);
  tamp_arena_init(&made->arena, allocator);
  tamp_arena_init(&made->scratch, allocator);
  TampSplitSink sink = {on_begin, on_record, on_member, made};
  tamp_splitter_init(&made->splitter, &made->arena, sink);
  *transcript = made;
  return TAMP_OK;
}

void tamp_transcript_free(TampTranscript *transcript) {
  if (!transcript) return;
  TampAllocator allocator = transcript->arena.allocator;
  tamp_history_free(transcript->history);
  tamp_arena_free(&transcript->arena);
  tamp_arena_free(&transcript->scratch);
  allocator.resize(allocator.context, transcript, 0);
}

/* ── Reading ──────────────────────────────────────────────────────────────────────────────────────────── */

static TampStatus grow(TampTranscript *t, void **items, uint32_t *capacity, size_t needed, size_t size) {
  return tamp_arena_grow(&t->arena, items, capacity, needed, size);
}

static void *row(const Table *table, uint32_t index) {
  return table->blocks[index / BLOCK_ROWS] + index % BLOCK_ROWS * table->row_size;
}

/* Makes sure that there is a row `index`, one behind the last at most. */
static TampStatus reach(TampTranscript *t, Table *table, uint32_t index) {
  if (index / BLOCK_ROWS < table->block_count) return TAMP_OK;
  TampStatus status = grow(t, (void **)&table->blocks, &table->block_capacity, (size_t)table->block_count + 1,
                           sizeof *table->blocks);
  if (status) return status;
  uint8_t *block = tamp_arena_alloc(&t->arena, BLOCK_ROWS * table->row_size);
  if (!block) return TAMP_NO_MEMORY;
  table->blocks[table->block_count++] = block;
  return TAMP_OK;
}

static Line *line_at(const TampTranscript *t, uint32_t index) {
  return row(&t->lines, index);
}

static uint64_t offset_of(const Line *line) {
  return (uint64_t)line->offset_high << 32 | line->offset_low;
}

static uint64_t length_of(const Line *line) {
  return (uint64_t)line->length_high << 32 | line->length_low;
}

static uint32_t tail_of(const Line *line) {
  return line->flags / LINE_TAIL;
}

_Static_assert(TAMP_LINKS == 3, "a Tie holds the first link, MoreTies the two others");

/* What is known of a line's ties, in `facts`; NULL when nothing is. */
static const Facts *facts_of(const TampTranscript *t, uint32_t index, Facts *facts) {
  if (!(line_at(t, index)->flags & LINE_TIED)) return NULL;
  static const MoreTies none = {{TAMP_NONE, TAMP_NONE}, {0}, {TAMP_NONE, TAMP_NONE}, 0};
  const Tie *tie = row(&t->ties, index);
  const MoreTies *more = tie->more == TAMP_NONE ? &none : row(&t->more, tie->more);
  *facts = (Facts){
      .id = tie->id,
      .links = {tie->parent, more->links[0], more->links[1]},
      .link_at = {tie->parent_at, more->link_at[0], more->link_at[1]},
      .with = {more->with[0], more->with[1]},
      .said = more->said,
  };
  return facts;
}

static TampStatus put_facts(TampTranscript *t, uint32_t index, const Facts *facts) {
  bool more = facts->links[1] != TAMP_NONE || facts->links[2] != TAMP_NONE || facts->with[0] != TAMP_NONE ||
              facts->with[1] != TAMP_NONE || facts->said;
  TampStatus status = more ? reach(t, &t->more, t->more_count) : TAMP_OK;
  if (status) return status;
  *(Tie *)row(&t->ties, index) =
      (Tie){facts->id, facts->links[0], facts->link_at[0], more ? t->more_count : TAMP_NONE};
  if (!more) return TAMP_OK;
  *(MoreTies *)row(&t->more, t->more_count++) = (MoreTies){
      .links = {facts->links[1], facts->links[2]},
      .link_at = {facts->link_at[1], facts->link_at[2]},
      .with = {facts->with[0], facts->with[1]},
      .said = facts->said,
  };
  return TAMP_OK;
}

static TampStatus add_unreadable(TampTranscript *t, const TampSplitRecord *record, TampStatus why) {
  TampFault fault = record->fault;
  TampStatus status = grow(t, (void **)&t->unreadable, &t->unreadable_capacity, (size_t)t->unreadable_count + 1,
                           sizeof *t->unreadable);
  if (status) return status;
  if (t->unreadable_count == 0) t->first_failure = why;
  t->unreadable[t->unreadable_count++] = (TampUnreadable){
      .offset = record->offset + fault.offset,
      .line = record->line,
      .reason = fault.reason ? fault.reason : "the line is too long",
  };
  return TAMP_OK;
}

static TampStatus atom_of(TampTranscript *t, const TampMessage *message, TampValue value, uint32_t *atom) {
  *atom = TAMP_NONE;
  if (value.type != TAMP_JSON_STRING || value.length <= 2) return TAMP_OK;
  return tamp_history_intern(t->history, message, value, atom);
}

/* Texts that say the same have the same number, which is not 0. */
static TampStatus hash_of(TampTranscript *t, const TampMessage *message, TampValue value, uint32_t *hash) {
  TampText text;
  *hash = 0;
  if (value.type != TAMP_JSON_STRING) return TAMP_OK;
  TampMark mark = tamp_arena_mark(&t->arena);
  TampStatus status = tamp_value_text(message->text, value, &t->arena, &text);
  if (!status) {
    TampDigest digest = tamp_digest_text(text.bytes, text.length);
    memcpy(hash, digest.bytes, sizeof *hash);
    *hash |= 1;
  }
  tamp_arena_reset(&t->arena, mark);
  return status;
}

/* The messages of the last `turns` turns are undone. */
static void undo_turns(TampTranscript *t, uint32_t end, uint64_t turns) {
  bool in_run = false;
  for (uint32_t i = end; i-- > 0 && turns > 0;) {
    Line *line = line_at(t, i);
    if (line->message == TAMP_NONE || (line->flags & (LINE_DEAD | LINE_UNDONE))) continue;
    uint8_t role = tamp_history_record(t->history, line->message)->role;
    /* A turn begins with the first of a run of user messages. */
    if (in_run && role != TAMP_ROLE_USER && --turns == 0) return;
    in_run = role == TAMP_ROLE_USER;
    if (role == TAMP_ROLE_SYSTEM) continue;
    line->flags |= LINE_UNDONE;
    t->any_dead = true;
  }
}

static TampStatus keep_alive(TampTranscript *t, const TampMessage *message, const TampEnvelope *envelope) {
  TampValue element;
  uint32_t state = 0;
  t->preserved_count = 0;
  TampStatus status = atom_of(t, message, envelope->head, &t->head);
  if (!status) status = atom_of(t, message, envelope->tail, &t->tail);
  while (!status && tamp_value_next(message->text, envelope->preserved, &state, &element)) {
    status = grow(t, (void **)&t->preserved, &t->preserved_capacity, (size_t)t->preserved_count + 1,
                  sizeof *t->preserved);
    if (!status) status = atom_of(t, message, element, &t->preserved[t->preserved_count++]);
  }
  return status;
}

static bool is_preserved(const TampTranscript *t, uint32_t id) {
  for (uint32_t i = 0; i < t->preserved_count; i++) {
    if (t->preserved[i] == id) return true;
  }
  return false;
}

/* What stands before `end` is dead, but for what the newest boundary keeps. */
static void end_all(TampTranscript *t, uint32_t end, bool keep_users) {
  bool inside = false;
  for (uint32_t i = 0; i < end; i++) {
    Line *line = line_at(t, i);
    Facts known;
    const Facts *facts = facts_of(t, i, &known);
    bool message = line->message != TAMP_NONE;
    if (!facts || (!message && facts->id == TAMP_NONE)) continue;
    if (facts->id != TAMP_NONE && facts->id == t->head) inside = t->tail != TAMP_NONE;
    bool kept = inside || (facts->id != TAMP_NONE && is_preserved(t, facts->id));
    if (facts->id != TAMP_NONE && facts->id == t->tail) inside = false;
    TampRecord *record = message ? tamp_history_record(t->history, line->message) : NULL;
    if (kept) {
      line->flags &= (uint8_t)~LINE_DEAD;
      if (record) record->flags |= TAMP_MESSAGE_PINNED;
    } else if (!keep_users || !record || record->role != TAMP_ROLE_USER) {
      line->flags |= LINE_DEAD;
      t->any_dead = t->any_dead || message;
    }
  }
}

static TampStatus add_facts(TampTranscript *t, const TampMessage *message, const TampEnvelope *envelope, Line *line) {
  TampStatus status = TAMP_OK;
  Facts facts = {.id = TAMP_NONE};
  if (line->message != TAMP_NONE) {
    facts.id = tamp_history_record(t->history, line->message)->id;
    /* An empty id names nothing. */
    uint8_t room[TAMP_ATOM_ROOM];
    if (tamp_atoms_text(&t->history->atoms, facts.id, room).length == 0) facts.id = TAMP_NONE;
  } else {
    status = atom_of(t, message, message->id, &facts.id);
  }
  for (int i = 0; !status && i < TAMP_LINKS; i++) {
    TampValue link = envelope->links[i];
    status = atom_of(t, message, link, &facts.links[i]);
    facts.link_at[i] = link.at - message->whole.at;
    /* Where its value ends must be known without reading it again. */
    if (link.flags & TAMP_VALUE_ESCAPED) facts.links[i] = TAMP_NONE;
  }
  for (int i = 0; !status && i < 2; i++) status = atom_of(t, message, envelope->with[i], &facts.with[i]);
  bool twin = envelope->twin.type == TAMP_JSON_STRING;
  if (!status) status = hash_of(t, message, twin ? envelope->twin : envelope->twin_of, &facts.said);
  if (twin) line->flags |= LINE_TWIN;
  line->flags |= LINE_TIED;
  return status ? status : put_facts(t, t->line_count, &facts);
}

static TampStatus read_again(TampTranscript *t, TampSplitRecord *record, uint8_t **buffer) {
  if (!t->source.read || record->length > t->splitter.limit) return TAMP_TOO_LARGE;
  uint32_t capacity = 0;
  TampStatus status = grow(t, (void **)buffer, &capacity, (size_t)record->length, 1);
  if (!status) status = t->source.read(t->source.context, record->offset, (uint32_t)record->length, *buffer);
  record->bytes = *buffer;
  return status;
}

static TampStatus add_record(TampTranscript *t, TampSplitRecord *record) {
  if (record->offset >> 48 || record->length >> 40) return TAMP_TOO_LARGE;
  TampStatus status = t->line_count == ONWARD - 1 ? TAMP_TOO_LARGE : reach(t, &t->lines, t->line_count);
  /* Rows are added in their order, whether there is something to say or not. */
  if (!status && t->format->envelope) status = reach(t, &t->ties, t->line_count);
  if (status) return status;
  Line line = {.offset_low = (uint32_t)record->offset,
               .offset_high = (uint16_t)(record->offset >> 32),
               .length_low = (uint32_t)record->length,
               .length_high = (uint8_t)(record->length >> 32),
               .message = TAMP_NONE,
               .flags = (uint8_t)(record->tail * LINE_TAIL)};
  uint8_t *buffer = NULL;
  record->fault = (TampFault){0};
  if (!record->bytes) status = read_again(t, record, &buffer);
  const TampMessage *message = &t->history->message;
  uint32_t index = tamp_history_length(t->history);
  TampEnvelope envelope = {0};
  if (!status) {
    status = tamp_history_append_span(t->history, record->bytes, (size_t)record->length, record->offset,
                                      &record->fault);
  }
  if (status == TAMP_BAD_JSON || status == TAMP_BAD_MESSAGE || status == TAMP_TOO_DEEP ||
      status == TAMP_TOO_LARGE) {
    if (t->splitter.container == TAMP_CONTAINER_LINES) status = add_unreadable(t, record, status);
  } else if (!status) {
    if (tamp_history_length(t->history) > index) line.message = index;
    if (t->format->envelope) {
      t->format->envelope(message, &envelope);
      if (line.message != TAMP_NONE) {
        if (!t->begun) t->sidechain = envelope.sidechain;
        t->begun = true;
      }
      status = add_facts(t, message, &envelope, &line);
      if (!status && envelope.ends == TAMP_ENDS_ALL) status = keep_alive(t, message, &envelope);
      /* Of another conversation than the file's: not alive here. */
      if (line.message != TAMP_NONE && envelope.sidechain && !t->sidechain) {
        line.flags |= LINE_UNDONE;
        t->any_dead = true;
      }
    }
  }
  tamp_arena_drop(&t->arena, buffer);
  if (status) return status;
  uint32_t at = t->line_count++;
  *line_at(t, at) = line;
  if (envelope.ends == TAMP_ENDS_TURNS) undo_turns(t, at, envelope.turns);
  if (envelope.ends == TAMP_ENDS_ALL || envelope.ends == TAMP_ENDS_ANSWERS) {
    end_all(t, at, envelope.ends == TAMP_ENDS_ANSWERS);
  }
  return TAMP_OK;
}

/* ── Telling the format ───────────────────────────────────────────────────────────────────────────────── */

/* The sample as a JSON array of those records that are JSON objects: what else is there says nothing. */
static TampStatus sample_array(TampTranscript *t, TampWriter *writer, TampFault *fault, uint32_t *first_bad) {
  bool any = false, first = true;
  *first_bad = TAMP_NONE;
  tamp_writer_raw(writer, TAMP_TEXT("["));
  for (uint32_t i = 0; i < t->pending_count; i++) {
    Pending *item = &t->pending[i];
    TampFault here;
    if (item->record.bytes) item->record.bytes = t->sample + item->at;
    if (tamp_splitter_check(&item->record, &here)) {
      if (*first_bad == TAMP_NONE) {
        *first_bad = i;
        *fault = here;
      }
      continue;
    }
    any = true;
    if (item->record.bytes[0] != '{') continue;
    if (!first) tamp_writer_raw(writer, TAMP_TEXT(","));
    first = false;
    tamp_writer_raw(writer, (TampText){item->record.bytes, (size_t)item->record.length});
  }
  tamp_writer_raw(writer, TAMP_TEXT("]"));
  if (any) *first_bad = TAMP_NONE;
  return writer->status;
}

static TampStatus set_format(TampTranscript *t, const TampFormat *format) {
  t->format = format;
  TampStatus status = tamp_history_new(t->arena.allocator, format, &t->history);
  if (status) return status;
  t->history->source = t->source;
  t->history->uncounted = !t->counted;
  return TAMP_OK;
}

/* Says which format it is, and reads what has waited. */
static TampStatus decide(TampTranscript *t, TampSplitRecord *at_fault) {
  TampWriter writer = tamp_writer(&t->arena);
  TampFault fault = {0};
  uint32_t bad;
  TampText array = {0};
  const TampFormat *format = t->wanted;
  TampStatus status = sample_array(t, &writer, &fault, &bad);
  if (!status) status = tamp_writer_finish(&writer, &array);
  if (!status && !format) {
    status = tamp_detect(array, &format, &(TampFault){0});
    /* Only Anthropic's requests have their instructions beside the messages. */
    if (format == &tamp_format_openai && t->system_beside) format = &tamp_format_anthropic;
  }
  tamp_arena_drop(&t->arena, writer.bytes);
  if (status) return status;
  if (bad != TAMP_NONE && t->splitter.container == TAMP_CONTAINER_LINES) {
    /* Not a line of it is JSON. */
    *at_fault = t->pending[bad].record;
    at_fault->fault = fault;
    return TAMP_BAD_JSON;
  }
  t->unknown = format == NULL;
  if (t->unknown) return TAMP_OK;
  status = set_format(t, format);
  for (uint32_t i = 0; !status && i < t->pending_count; i++) {
    *at_fault = t->pending[i].record;
    status = add_record(t, at_fault);
  }
  t->pending_count = 0;
  return status;
}

static TampStatus on_begin(void *context, TampContainer container, const char *path) {
  TampTranscript *t = context;
  (void)container;
  (void)path;
  tamp_history_free(t->history);
  t->history = NULL;
  t->format = NULL;
  t->line_count = t->more_count = t->unreadable_count = t->pending_count = t->preserved_count = 0;
  t->sample_length = 0;
  t->head = t->tail = TAMP_NONE;
  t->begun = t->sidechain = t->any_dead = t->unknown = false;
  return TAMP_OK;
}

static TampStatus on_member(void *context, const TampSplitMember *member) {
  TampTranscript *t = context;
  if (member->name.length == 6 && memcmp(member->name.bytes, "system", 6) == 0) t->system_beside = true;
  return TAMP_OK;
}

static TampStatus on_record(void *context, TampSplitRecord *record) {
  TampTranscript *t = context;
  if (t->unknown) return TAMP_OK;
  if (t->history) return add_record(t, record);
  size_t length = record->bytes ? (size_t)record->length : 0;
  TampStatus status = grow(t, (void **)&t->pending, &t->pending_capacity, (size_t)t->pending_count + 1,
                           sizeof *t->pending);
  if (!status) status = grow(t, (void **)&t->sample, &t->sample_capacity, t->sample_length + length, 1);
  if (status) return status;
  if (length > 0) memcpy(t->sample + t->sample_length, record->bytes, length);
  t->pending[t->pending_count++] = (Pending){*record, t->sample_length};
  t->sample_length += length;
  if (t->pending_count < TAMP_DETECT_MESSAGES && t->sample_length < SAMPLE_BYTES) return TAMP_OK;
  TampSplitRecord at_fault = *record;
  status = decide(t, &at_fault);
  /* The splitter adds the record's own place; that at fault may be an earlier one. */
  record->offset = at_fault.offset;
  record->line = at_fault.line;
  record->fault = at_fault.fault;
  return status;
}

TampStatus tamp_transcript_feed(TampTranscript *transcript, const uint8_t *bytes, size_t length) {
  return tamp_splitter_feed(&transcript->splitter, bytes, length);
}

/* Messages that are not alive leave the history. */
static TampStatus settle(TampTranscript *t) {
  if (!t->any_dead) return tamp_history_settle(t->history, NULL);
  uint32_t count = tamp_history_length(t->history), kept = 0;
  uint8_t *dead = tamp_arena_alloc(&t->scratch, count);
  if (!dead) return TAMP_NO_MEMORY;
  memset(dead, 0, count);
  for (uint32_t i = 0; i < t->line_count; i++) {
    Line *line = line_at(t, i);
    if (line->message == TAMP_NONE) continue;
    if (line->flags & (LINE_DEAD | LINE_UNDONE)) {
      dead[line->message] = 1;
      line->message = TAMP_NONE;
    } else {
      line->message = kept++;
    }
  }
  return tamp_history_settle(t->history, dead);
}

TampStatus tamp_transcript_finish(TampTranscript *t) {
  TampStatus status = tamp_splitter_finish(&t->splitter);
  if (!status && !t->history && !t->unknown) {
    TampSplitRecord at_fault = {0};
    status = decide(t, &at_fault);
    if (status) {
      t->splitter.status = status;
      t->splitter.fault =
          (TampSplitFault){at_fault.offset + at_fault.fault.offset, at_fault.line, at_fault.fault.reason};
    }
  }
  tamp_arena_drop(&t->arena, t->sample);
  tamp_arena_drop(&t->arena, t->pending);
  t->sample = NULL;
  t->pending = NULL;
  t->sample_capacity = t->pending_capacity = 0;
  if (status || !t->history || t->settled) return status;
  t->settled = true;
  if (t->line_count > 0 && t->unreadable_count == t->line_count) {
    /* Not one line is a record: this is no transcript. */
    const TampUnreadable *first = &t->unreadable[0];
    t->splitter.fault = (TampSplitFault){first->offset, first->line, first->reason};
    return t->splitter.status = t->first_failure;
  }
  return t->splitter.status = settle(t);
}

const TampSplitFault *tamp_transcript_fault(const TampTranscript *t, uint32_t *index) {
  *index = tamp_transcript_count(t);
  return &t->splitter.fault;
}

uint32_t tamp_transcript_count(const TampTranscript *t) {
  return t->history ? tamp_history_length(t->history) : t->pending_count;
}

TampTranscriptView tamp_transcript_view(const TampTranscript *t) {
  return (TampTranscriptView){
      .format = t->format,
      .history = t->history,
      .unreadable = t->unreadable,
      .unreadable_count = t->unreadable_count,
      .container = t->splitter.container,
  };
}

TampSlice tamp_transcript_span(const TampTranscript *t, uint32_t message) {
  const TampRecord *record = tamp_history_record(t->history, message);
  return (TampSlice){.offset = record->offset, .length = record->length};
}

/* ── Writing ──────────────────────────────────────────────────────────────────────────────────────────── */

typedef struct Write {
  TampTranscript *t;
  const TampPlanView *view;
  TampArena *arena;
  TampSlice *slices;
  uint32_t count, capacity;
  uint32_t *order; /* by message of the input: its place in the plan's order, TAMP_NONE */
  uint32_t *line_of; /* by message */
  uint8_t *gone;   /* by line */
  uint8_t *ids;    /* by atom: WAS, IS */
  uint32_t *by_id; /* by atom: the last line with that id, TAMP_NONE. Of one that goes, once it was looked for: ONWARD and
                      the atom of the nearest that stays */
  struct Added {
    uint32_t behind; /* atom: the id of the record that it stands behind */
    TampText id;
  } *added; /* new records, in their order */
  uint32_t added_count, added_capacity;
  TampText root; /* the id of a new record that stands before all */
  uint32_t atom_count;
  uint32_t usual;  /* the line whose separator new elements get */
  uint32_t placed; /* elements of a list so far */
  bool open;       /* the last line has no line end */
  uint32_t before; /* the last message written, as a line; TAMP_NONE */
  TampText before_id;
  uint8_t before_room[TAMP_ATOM_ROOM];
  TampMessage message; /* one that is looked at */
} Write;

enum { WAS = 1, IS = 2, FOLLOWED = 4 /* by one that was added */ };

static TampStatus put_bytes(Write *w, TampText bytes) {
  if (bytes.length == 0) return TAMP_OK;
  TampStatus status =
      tamp_arena_grow(w->arena, (void **)&w->slices, &w->capacity, (size_t)w->count + 1, sizeof *w->slices);
  if (!status) w->slices[w->count++] = (TampSlice){.bytes = bytes.bytes, .length = bytes.length};
  return status;
}

/* Slices that follow each other are one. */
static TampStatus put_file(Write *w, uint64_t from, uint64_t to) {
  if (from >= to) return TAMP_OK;
  TampSlice *last = w->count > 0 ? &w->slices[w->count - 1] : NULL;
  if (last && !last->bytes && last->offset + last->length == from) {
    last->length += to - from;
    return TAMP_OK;
  }
  TampStatus status =
      tamp_arena_grow(w->arena, (void **)&w->slices, &w->capacity, (size_t)w->count + 1, sizeof *w->slices);
  if (!status) w->slices[w->count++] = (TampSlice){.offset = from, .length = to - from};
  return status;
}

/* Of a line that has an id. */
static uint32_t parent_of(const TampTranscript *t, uint32_t line) {
  return ((const Tie *)row(&t->ties, line))->parent;
}

/* What a record that names `atom` has to name instead: itself when that stays, the nearest before it that stays,
 * or nothing. Every path is walked once: all of it then leads straight to its end. */
static bool resolve(const Write *w, uint32_t atom, uint8_t room[TAMP_ATOM_ROOM], TampText *id) {
  uint32_t end = atom;
  for (uint32_t steps = 0; end < w->atom_count; steps++) {
    uint32_t at = w->by_id[end];
    if (at == TAMP_NONE || (at < ONWARD && !w->gone[at])) break;
    bool round = steps > w->t->line_count; /* they name each other */
    end = round ? TAMP_NONE : at >= ONWARD ? at - ONWARD : parent_of(w->t, at);
    if (end == TAMP_NONE) end = w->atom_count;
  }
  while (atom != end) {
    uint32_t at = w->by_id[atom], next = at >= ONWARD ? at - ONWARD : parent_of(w->t, at);
    if (next == end || next == TAMP_NONE || at == ONWARD + end) break;
    w->by_id[atom] = ONWARD + end;
    atom = next;
  }
  if (end >= w->atom_count) return false;
  *id = tamp_atoms_text(&w->t->history->atoms, end, room);
  /* What hangs on a record follows it soon, and so what was added between is among the last. */
  for (uint32_t i = w->ids[end] & FOLLOWED ? w->added_count : 0; i-- > 0;) {
    if (w->added[i].behind != end) continue;
    *id = w->added[i].id;
    break;
  }
  return true;
}

/* What the link of a record says now. */
static bool mend(const Write *w, const Facts *facts, int link, uint8_t room[TAMP_ATOM_ROOM], TampText *id) {
  if (resolve(w, facts->links[link], room, id)) return true;
  /* A record that hung on nothing that is left hangs on what was put in front. */
  *id = w->root;
  return link == 0 && w->root.bytes != NULL;
}

static TampStatus quoted(Write *w, bool found, TampText id, TampText *json) {
  TampWriter writer = tamp_writer(w->arena);
  if (found) {
    tamp_writer_string(&writer, id);
  } else {
    tamp_writer_raw(&writer, TAMP_TEXT("null"));
  }
  return tamp_writer_finish(&writer, json);
}

/* A record as it is but for the links that have to be mended. */
static TampStatus put_line(Write *w, uint32_t at) {
  const Line *line = line_at(w->t, at);
  Facts known;
  const Facts *facts = facts_of(w->t, at, &known);
  const uint64_t offset = offset_of(line);
  uint64_t from = offset;
  TampStatus status = TAMP_OK;
  for (int done = 0; facts && !status && done < TAMP_LINKS; done++) {
    /* In the order of the text. */
    int next = -1;
    for (int i = 0; i < TAMP_LINKS; i++) {
      if (facts->links[i] == TAMP_NONE || offset + facts->link_at[i] < from) continue;
      if (next < 0 || facts->link_at[i] < facts->link_at[next]) next = i;
    }
    if (next < 0) break;
    uint8_t old_room[TAMP_ATOM_ROOM], room[TAMP_ATOM_ROOM];
    TampText old = tamp_atoms_text(&w->t->history->atoms, facts->links[next], old_room), id = {0}, json;
    uint64_t start = offset + facts->link_at[next];
    bool found = mend(w, facts, next, room, &id);
    if (!found || id.length != old.length || memcmp(id.bytes, old.bytes, id.length) != 0) {
      status = quoted(w, found, id, &json);
      if (!status) status = put_file(w, from, start);
      if (!status) status = put_bytes(w, json);
    } else {
      status = put_file(w, from, start + old.length + 2);
    }
    from = start + old.length + 2;
  }
  return status ? status : put_file(w, from, offset + length_of(line));
}

/* A rewritten record, whose links stand elsewhere than they did. */
static TampStatus put_rewritten(Write *w, uint32_t at, TampText text) {
  Facts known;
  const Facts *facts = facts_of(w->t, at, &known);
  if (!facts || !w->t->format->parent.length) return put_bytes(w, text);
  TampFault fault;
  TampEnvelope envelope = {0};
  TampStatus status = tamp_message_read(w->t->format, text.bytes, text.length, false, &w->message, &fault);
  if (status) return status;
  w->t->format->envelope(&w->message, &envelope);
  TampValue link = envelope.links[0];
  if (link.type != TAMP_JSON_STRING || facts->links[0] == TAMP_NONE) return put_bytes(w, text);
  TampText id = {0}, json = {0};
  uint8_t room[TAMP_ATOM_ROOM];
  bool found = mend(w, facts, 0, room, &id);
  status = quoted(w, found, id, &json);
  if (!status) status = put_bytes(w, (TampText){text.bytes, link.at});
  if (!status) status = put_bytes(w, json);
  uint32_t end = link.at + link.length;
  return status ? status : put_bytes(w, (TampText){text.bytes + end, text.length - end});
}

/* A new record: with what its neighbour has that all records of the file have, and hung on the one before it. */
static TampStatus put_added(Write *w, uint32_t neighbour, TampText text) {
  const TampFormat *format = w->t->format;
  if (!format->inherited || neighbour == TAMP_NONE) return put_bytes(w, text);
  enum { MOST = 12 };
  TampValue value[MOST];
  size_t count = 0;
  TampFault fault;
  TampWriter writer = tamp_writer(w->arena);
  const TampRecord *record = tamp_history_record(w->t->history, line_at(w->t, neighbour)->message);
  TampStatus status = tamp_record_read(format, record, &w->message, &fault);
  if (status) return status;
  while (count < MOST && format->inherited[count].length > 0) count++;
  tamp_value_members(w->message.text, w->message.whole, format->inherited, count, value);
  tamp_writer_raw(&writer, TAMP_TEXT("{"));
  if (format->parent.length > 0) {
    tamp_writer_string(&writer, format->parent);
    tamp_writer_raw(&writer, TAMP_TEXT(":"));
    if (w->before_id.bytes) {
      tamp_writer_string(&writer, w->before_id);
    } else {
      tamp_writer_raw(&writer, TAMP_TEXT("null"));
    }
    tamp_writer_raw(&writer, TAMP_TEXT(","));
  }
  for (size_t i = 0; i < count; i++) {
    if (value[i].type == TAMP_JSON_NOTHING) continue;
    tamp_writer_string(&writer, format->inherited[i]);
    tamp_writer_raw(&writer, TAMP_TEXT(":"));
    tamp_writer_value(&writer, w->message.text, value[i]);
    tamp_writer_raw(&writer, TAMP_TEXT(","));
  }
  tamp_writer_raw(&writer, (TampText){text.bytes + 1, text.length - 1});
  TampText json = {0};
  status = tamp_writer_finish(&writer, &json);
  if (!status) status = put_bytes(w, json);
  if (status) return status;
  /* From here on it stands between the one before and what hung on that. */
  status = tamp_message_read(format, text.bytes, text.length, false, &w->message, &fault);
  TampText id = {0};
  if (!status) status = tamp_value_text(w->message.text, w->message.id, w->arena, &id);
  if (status || id.length == 0) return status;
  Facts known;
  const Facts *facts = w->before == TAMP_NONE ? NULL : facts_of(w->t, w->before, &known);
  if (facts && facts->id != TAMP_NONE) {
    status = tamp_arena_grow(w->arena, (void **)&w->added, &w->added_capacity, (size_t)w->added_count + 1,
                             sizeof *w->added);
    if (status) return status;
    w->added[w->added_count++] = (struct Added){facts->id, id};
    w->ids[facts->id] |= FOLLOWED;
  }
  if (!facts) w->root = id;
  w->before_id = id;
  return TAMP_OK;
}

static TampText line_end(const Write *w) {
  const TampTranscript *t = w->t;
  return t->line_count > 0 && tail_of(line_at(t, 0)) == 2 ? TAMP_TEXT("\r\n") : TAMP_TEXT("\n");
}

static bool is_list(const Write *w) {
  return w->t->splitter.container != TAMP_CONTAINER_LINES;
}

static uint64_t end_of(const TampTranscript *t, uint32_t line) {
  const Line *at = line_at(t, line);
  return offset_of(at) + length_of(at) + tail_of(at);
}

/* What stands before a record: in a list its comma, a line's end before it where that is missing. */
static TampStatus put_separator(Write *w, uint32_t line) {
  const TampTranscript *t = w->t;
  if (!is_list(w)) {
    TampStatus status = w->open ? put_bytes(w, line_end(w)) : TAMP_OK;
    w->open = false;
    return status;
  }
  if (w->placed++ == 0) return TAMP_OK;
  uint32_t like = line == TAMP_NONE || line == 0 ? w->usual : line;
  if (like == TAMP_NONE) return put_bytes(w, TAMP_TEXT(","));
  return put_file(w, end_of(t, like - 1), offset_of(line_at(t, like)));
}

/* The blank lines behind a line, which stay where they are. */
static TampStatus put_gap(Write *w, uint32_t line) {
  const TampTranscript *t = w->t;
  if (is_list(w)) return TAMP_OK;
  uint64_t to = line + 1 < t->line_count ? offset_of(line_at(t, line + 1)) : t->splitter.offset;
  return put_file(w, end_of(t, line), to);
}

/* A record of the file, as it is or rewritten. */
static TampStatus put_record(Write *w, uint32_t at, const TampPlanText *text) {
  const Line *line = line_at(w->t, at);
  TampStatus status = put_separator(w, at);
  if (!status && text) status = put_rewritten(w, at, (TampText){text->bytes, text->length});
  if (!status && !text) status = put_line(w, at);
  if (status || is_list(w)) return status;
  w->open = tail_of(line) == 0;
  uint64_t end = offset_of(line) + length_of(line);
  return put_file(w, end, end + tail_of(line));
}

static TampStatus put_new(Write *w, uint32_t neighbour, const TampPlanText *text) {
  TampStatus status = put_separator(w, TAMP_NONE);
  if (!status) status = put_added(w, neighbour, (TampText){text->bytes, text->length});
  if (status || is_list(w)) return status;
  return put_bytes(w, line_end(w));
}

/* The records before `to` that no message of the plan stands for. */
static TampStatus pass_lines(Write *w, uint32_t *at, uint32_t to) {
  TampStatus status = TAMP_OK;
  for (; !status && *at < to; (*at)++) {
    const Line *line = line_at(w->t, *at);
    if (line->message == TAMP_NONE && !w->gone[*at]) status = put_record(w, *at, NULL);
    if (!status) status = put_gap(w, *at);
  }
  return status;
}

static const TampPlanText *text_at(const TampPlanView *view, uint32_t place) {
  uint32_t at = view->order[place];
  return at & TAMP_PLAN_TEXT ? &view->texts[at & ~TAMP_PLAN_TEXT] : NULL;
}

static uint32_t origin_at(const TampPlanView *view, uint32_t place) {
  const TampPlanText *text = text_at(view, place);
  return text ? text->origin : view->order[place];
}

/* The nearest message behind a place of the plan, or else before it, that a new record takes after. */
static uint32_t neighbour_of(const Write *w, uint32_t place) {
  for (uint32_t i = place + 1; i < w->view->count; i++) {
    if (origin_at(w->view, i) != TAMP_NONE) return w->line_of[origin_at(w->view, i)];
  }
  for (uint32_t i = place; i-- > 0;) {
    if (origin_at(w->view, i) != TAMP_NONE) return w->line_of[origin_at(w->view, i)];
  }
  return TAMP_NONE;
}

static TampStatus put_all(Write *w) {
  const TampTranscript *t = w->t;
  const TampPlanView *view = w->view;
  uint32_t at = 0;
  /* What stands behind a message that comes later in the file was moved. */
  uint32_t *least = tamp_arena_alloc(w->arena, ((size_t)view->count + 1) * sizeof *least);
  if (!least) return TAMP_NO_MEMORY;
  least[view->count] = TAMP_NONE;
  for (uint32_t i = view->count; i-- > 0;) {
    uint32_t origin = origin_at(view, i);
    least[i] = origin < least[i + 1] ? origin : least[i + 1];
  }
  TampStatus status = put_file(w, 0, offset_of(line_at(t, 0)));
  for (uint32_t i = 0; !status && i < view->count; i++) {
    const TampPlanText *text = text_at(view, i);
    uint32_t origin = origin_at(view, i);
    if (origin == TAMP_NONE) {
      status = put_new(w, neighbour_of(w, i), text);
      continue;
    }
    uint32_t line = w->line_of[origin];
    bool stands = origin < least[i + 1] && line >= at;
    if (stands) status = pass_lines(w, &at, line);
    if (!status) status = put_record(w, line, text);
    if (!status && stands) {
      at = line + 1;
      status = put_gap(w, line);
    }
    Facts known;
    const Facts *facts = facts_of(t, line, &known);
    w->before = line;
    if (facts && facts->id != TAMP_NONE) {
      w->before_id = tamp_atoms_text(&t->history->atoms, facts->id, w->before_room);
    }
  }
  if (!status) status = pass_lines(w, &at, t->line_count);
  if (!status && is_list(w)) status = put_file(w, end_of(t, t->line_count - 1), t->splitter.offset);
  return status;
}

static void mark_id(Write *w, uint32_t atom, uint8_t how) {
  if (atom != TAMP_NONE && atom < w->atom_count) w->ids[atom] |= how;
}

/* Which ids there were, and which there still are. */
static TampStatus mark_ids(Write *w) {
  const TampTranscript *t = w->t;
  TampHistory *history = t->history;
  for (uint32_t i = 0; i < w->view->input_count; i++) {
    const TampRecord *record = tamp_history_record(history, i);
    uint32_t place = w->order[i];
    const TampPlanText *text = place == TAMP_NONE ? NULL : text_at(w->view, place);
    uint8_t how = place == TAMP_NONE ? WAS : WAS | IS;
    mark_id(w, record->id, how);
    for (uint32_t k = 0; k < record->call_count; k++) mark_id(w, record->calls[k].id, text ? WAS : how);
    if (!text) continue;
    TampFault fault;
    TampStatus status = tamp_message_read(t->format, text->bytes, text->length, false, &w->message, &fault);
    for (uint32_t k = 0; !status && k < w->message.count; k++) {
      const TampPart *part = &w->message.parts[k];
      TampText id;
      if (part->kind != TAMP_PART_CALL || part->id.type != TAMP_JSON_STRING) continue;
      status = tamp_value_text(w->message.text, part->id, w->arena, &id);
      if (!status) mark_id(w, tamp_atoms_find(&history->atoms, id), IS);
    }
    if (status) return status;
  }
  return TAMP_OK;
}

/* The message near a display copy that says the same. */
static uint32_t find_original(const Write *w, uint32_t at) {
  const TampTranscript *t = w->t;
  Facts known;
  uint32_t said = facts_of(t, at, &known)->said;
  for (uint32_t reach = 1; reach <= TWIN_REACH; reach++) {
    uint32_t near[2] = {at >= reach ? at - reach : TAMP_NONE, at + reach < t->line_count ? at + reach : TAMP_NONE};
    for (int i = 0; i < 2; i++) {
      if (near[i] == TAMP_NONE || line_at(t, near[i])->message == TAMP_NONE) continue;
      if (facts_of(t, near[i], &known)->said == said) return near[i];
    }
  }
  return TAMP_NONE;
}

static bool goes_with(const Write *w, uint32_t atom) {
  return atom != TAMP_NONE && atom < w->atom_count && w->ids[atom] == WAS;
}

/* Which records go: messages that the plan leaves out, and what goes with them. */
static TampStatus judge_lines(Write *w, bool drop_dead) {
  const TampTranscript *t = w->t;
  for (uint32_t i = 0; i < t->line_count; i++) {
    const Line *line = line_at(t, i);
    if (line->message != TAMP_NONE) w->gone[i] = w->order[line->message] == TAMP_NONE;
    if (line->flags & LINE_DEAD) w->gone[i] = drop_dead;
  }
  if (!t->format->envelope) return TAMP_OK;
  TampStatus status = mark_ids(w);
  for (uint32_t i = 0; !status && i < t->line_count; i++) {
    const Line *line = line_at(t, i);
    Facts known;
    const Facts *facts = facts_of(t, i, &known);
    if (!facts) continue;
    if (facts->id != TAMP_NONE) w->by_id[facts->id] = i;
    if (line->message != TAMP_NONE || (line->flags & (LINE_DEAD | LINE_UNDONE))) continue;
    w->gone[i] = goes_with(w, facts->with[0]) || goes_with(w, facts->with[1]);
    if (!w->gone[i] && (line->flags & LINE_TWIN)) {
      uint32_t original = find_original(w, i);
      w->gone[i] = original != TAMP_NONE && w->gone[original];
    }
  }
  return status;
}

static void *filled(TampArena *arena, size_t size, int byte) {
  void *bytes = tamp_arena_alloc(arena, size);
  if (bytes) memset(bytes, byte, size);
  return bytes;
}

TampStatus tamp_transcript_write(TampTranscript *t, const TampPlan *plan, bool drop_dead, const TampSlice **slices,
                                 uint32_t *count) {
  tamp_arena_free(&t->scratch);
  TampAllocator allocator = t->arena.allocator;
  tamp_arena_init(&t->scratch, allocator);
  Write w = {
      .t = t,
      .view = tamp_plan_view(plan),
      .arena = &t->scratch,
      .usual = t->line_count > 1 ? 1 : TAMP_NONE,
      .before = TAMP_NONE,
      .atom_count = t->history->atoms.count,
  };
  size_t messages = w.view->input_count;
  tamp_message_init(&w.message, w.arena);
  w.order = filled(w.arena, messages * sizeof *w.order, 0xff);
  w.line_of = filled(w.arena, messages * sizeof *w.line_of, 0xff);
  w.gone = filled(w.arena, t->line_count, 0);
  bool links = t->format->envelope != NULL;
  size_t atoms = links ? w.atom_count : 0;
  w.ids = filled(w.arena, atoms, 0);
  w.by_id = filled(w.arena, atoms * sizeof *w.by_id, 0xff);
  if (!w.order || !w.line_of || !w.gone || !w.ids || !w.by_id) return TAMP_NO_MEMORY;
  for (uint32_t i = 0; i < w.view->count; i++) {
    uint32_t origin = origin_at(w.view, i);
    if (origin != TAMP_NONE) w.order[origin] = i;
  }
  for (uint32_t i = 0; i < t->line_count; i++) {
    if (line_at(t, i)->message != TAMP_NONE) w.line_of[line_at(t, i)->message] = i;
  }
  TampStatus status = judge_lines(&w, drop_dead);
  if (!status) status = t->line_count > 0 ? put_all(&w) : put_file(&w, 0, t->splitter.offset);
  *slices = w.slices;
  *count = w.count;
  return status;
}
