/* The splitter is two machines. LINES looks for line ends. WALK is a strict reader of JSON that can
 * stop at any byte: what it needs to go on is in its fields, and its grammar is the cursor's.
 *
 * WALK knows the way to a list as a chain of nodes. As long as the open containers are on it
 * (`known` of `level`), names are compared; in the list, elements are records; what is deeper is
 * only checked. */
#include "splitter.h"

#include "cursor.h"
#include "simd.h"
#include "utf8.h"

#define NOWHERE UINT64_MAX

enum { MODE_START, MODE_WALK, MODE_TAIL, MODE_LINES };

enum { TOKEN_NONE, TOKEN_STRING, TOKEN_NUMBER, TOKEN_LITERAL };

enum {
  EXPECT_FIRST, /* an item or the end of the container */
  EXPECT_NAME,
  EXPECT_COLON,
  EXPECT_VALUE,
  EXPECT_BEHIND, /* a comma or the end of the container */
};

/* TOKEN_NUMBER: what was read last. Those that may end a number have NUMBER_ENDS. */
enum {
  NUMBER_MINUS = 0,
  NUMBER_POINT = 1,
  NUMBER_E = 2,
  NUMBER_SIGN = 3,
  NUMBER_ENDS = 4,
  NUMBER_ZERO = 4,
  NUMBER_INTEGER = 5,
  NUMBER_FRACTION = 6,
  NUMBER_EXPONENT = 7,
};

/* TOKEN_STRING: nothing, behind a backslash, or as many hex digits to come. */
enum { ESCAPE_NONE = 0, ESCAPE_DIGITS = 4, ESCAPE_BEGUN = 5 };

/* --- Where lists are */

enum {
  NODE_NONE = 0,
  NODE_ROOT,
  NODE_STATE,
  NODE_STATE_MAIN,
  NODE_STATE_OTHER,
  NODE_BAG,
  NODE_BAG_MAIN,
  NODE_BAG_OTHER,
  NODE_THREAD,
  NODE_CHAT,
  NODE_LIST, /* NODE_LIST + rank: the lower the rank, the rather it is the list */
};

static const char *const paths[] = {
    "messages",
    "loglines",
    "history",
    "state.in_memory.messages",
    "state.*.messages",
    "stateBag.InMemoryChatHistoryProvider.messages",
    "stateBag.*.messages",
    "thread.messages",
    "chat.messages",
};

typedef struct Way {
  uint8_t from;
  uint8_t to;
  TampText name; /* empty: any other */
} Way;

static const Way ways[] = {
    {NODE_ROOT, NODE_LIST + 0, TAMP_TEXT_INIT("messages")},
    {NODE_ROOT, NODE_LIST + 1, TAMP_TEXT_INIT("loglines")},
    {NODE_ROOT, NODE_LIST + 2, TAMP_TEXT_INIT("history")},
    {NODE_ROOT, NODE_STATE, TAMP_TEXT_INIT("state")},
    {NODE_STATE, NODE_STATE_MAIN, TAMP_TEXT_INIT("in_memory")},
    {NODE_STATE, NODE_STATE_OTHER, TAMP_TEXT_INIT("")},
    {NODE_STATE_MAIN, NODE_LIST + 3, TAMP_TEXT_INIT("messages")},
    {NODE_STATE_OTHER, NODE_LIST + 4, TAMP_TEXT_INIT("messages")},
    {NODE_ROOT, NODE_BAG, TAMP_TEXT_INIT("stateBag")},
    {NODE_BAG, NODE_BAG_MAIN, TAMP_TEXT_INIT("InMemoryChatHistoryProvider")},
    {NODE_BAG, NODE_BAG_OTHER, TAMP_TEXT_INIT("")},
    {NODE_BAG_MAIN, NODE_LIST + 5, TAMP_TEXT_INIT("messages")},
    {NODE_BAG_OTHER, NODE_LIST + 6, TAMP_TEXT_INIT("messages")},
    {NODE_ROOT, NODE_THREAD, TAMP_TEXT_INIT("thread")},
    {NODE_THREAD, NODE_LIST + 7, TAMP_TEXT_INIT("messages")},
    {NODE_ROOT, NODE_CHAT, TAMP_TEXT_INIT("chat")},
    {NODE_CHAT, NODE_LIST + 8, TAMP_TEXT_INIT("messages")},
};

/* Of two lists at one rank the later counts, as of two members with one name; but where "*" stands
 * for different names, the first that exists. */
static bool is_better(uint8_t rank, uint8_t than) {
  return rank < than || (rank == than && rank != 4 && rank != 6);
}

static uint8_t way_from(uint8_t node, const uint8_t *name, size_t length) {
  TampValue value = {.length = (uint32_t)length, .type = TAMP_JSON_STRING};
  if (tamp_scan_byte(name, name + length, '\\') < name + length) value.flags = TAMP_VALUE_ESCAPED;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    const Way *way = &ways[i];
    if (way->from == node && (way->name.length == 0 || tamp_value_is(name, value, way->name))) {
      return way->to;
    }
  }
  return NODE_NONE;
}

/* --- Bytes that are kept */

static uint64_t offset_of(const TampSplitter *splitter, const uint8_t *at) {
  return splitter->offset + (uint64_t)(at - splitter->chunk);
}

static TampStatus fail(TampSplitter *splitter, TampStatus status, uint64_t offset,
                       const char *reason) {
  splitter->status = status;
  splitter->fault = (TampSplitFault){offset, splitter->line, reason};
  return status;
}

static const uint8_t *fail_at(TampSplitter *splitter, const uint8_t *at, const char *reason) {
  fail(splitter, TAMP_BAD_JSON, offset_of(splitter, at), reason);
  return NULL;
}

static void release(TampSplitter *splitter) {
  splitter->keep = NOWHERE;
  splitter->held = 0;
  splitter->dropped = false;
}

/* Copies what is kept of the chunk before `to` behind what is held already. */
static TampStatus hold(TampSplitter *splitter, uint64_t to) {
  if (splitter->held == 0) splitter->base = splitter->keep;
  const uint64_t from = splitter->base + splitter->held;
  if (to <= from) return TAMP_OK;
  const size_t count = (size_t)(to - from);
  void *buffer = splitter->buffer;
  const TampStatus status =
      tamp_arena_grow(splitter->arena, &buffer, &splitter->capacity, splitter->held + count, 1);
  if (status != TAMP_OK) return fail(splitter, status, from, NULL);
  splitter->buffer = buffer;
  memcpy(splitter->buffer + splitter->held, splitter->chunk + (from - splitter->offset), count);
  splitter->held += count;
  return TAMP_OK;
}

/* The bytes of the file in [from, to), which are kept or in the chunk. */
static const uint8_t *bytes_of(TampSplitter *splitter, uint64_t from, uint64_t to) {
  if (from >= splitter->offset) return splitter->chunk + (from - splitter->offset);
  if (hold(splitter, to) != TAMP_OK) return NULL;
  return splitter->buffer + (from - splitter->base);
}

static bool is_undecided(const TampSplitter *splitter) {
  return splitter->container == TAMP_CONTAINER_NONE;
}

/* Directly in a container on the way to a list, or in the list? */
static bool is_near(const TampSplitter *splitter) {
  return splitter->level == splitter->known;
}

/* Is the nearest such container the list? Then what is kept is an element. */
static bool is_element(const TampSplitter *splitter) {
  return splitter->known > 0 && splitter->nodes[splitter->known - 1] >= NODE_LIST;
}

static TampStatus fail_too_large(TampSplitter *splitter) {
  splitter->line = splitter->record_line;
  return fail(splitter, TAMP_TOO_LARGE, splitter->keep, "the message is too large");
}

/* Of a member whose value is too long to be kept its name remains; of a long name nothing. */
static TampStatus drop_member(TampSplitter *splitter) {
  const bool in_name = splitter->is_name && splitter->token == TOKEN_STRING && is_near(splitter);
  splitter->dropped = true;
  if (in_name) {
    splitter->held = 0;
    return TAMP_OK;
  }
  const TampStatus status = hold(splitter, splitter->name_to);
  splitter->held = (size_t)(splitter->name_to - splitter->keep);
  return status;
}

/* The chunk goes: what is kept of it moves to the buffer. */
static TampStatus end_chunk(TampSplitter *splitter) {
  const uint64_t end = offset_of(splitter, splitter->chunk_end);
  if (splitter->chunk < splitter->chunk_end) splitter->last = splitter->chunk_end[-1];
  if (splitter->keep == NOWHERE || splitter->dropped) return TAMP_OK;
  const uint64_t length = end - splitter->keep;
  if (splitter->mode == MODE_LINES) {
    if (length <= splitter->limit) return hold(splitter, end);
    splitter->held = 0;
    splitter->dropped = true;
    return TAMP_OK;
  }
  if (is_undecided(splitter) || is_element(splitter)) {
    return length <= splitter->limit ? hold(splitter, end) : fail_too_large(splitter);
  }
  return length <= 2 * TAMP_SPLIT_MEMBER_BYTES ? hold(splitter, end) : drop_member(splitter);
}

/* --- What the sink is told */

static TampStatus told(TampSplitter *splitter, TampStatus status, uint64_t offset) {
  if (status != TAMP_OK && splitter->status == TAMP_OK) fail(splitter, status, offset, NULL);
  return splitter->status;
}

static TampStatus begin(TampSplitter *splitter, TampContainer container, uint64_t from,
                        const char *path) {
  splitter->container = container;
  splitter->list_from = from;
  return told(splitter, splitter->sink.begin(splitter->sink.context, container, path), from);
}

static TampStatus give_record(TampSplitter *splitter, TampSplitRecord *record) {
  const TampStatus status = splitter->sink.record(splitter->sink.context, record);
  if (status == TAMP_OK) return TAMP_OK;
  splitter->line = record->line;
  return fail(splitter, status, record->offset + record->fault.offset, record->fault.reason);
}

static TampStatus give_element(TampSplitter *splitter, uint64_t to) {
  TampSplitRecord record = {.offset = splitter->value_from,
                            .length = to - splitter->value_from,
                            .line = splitter->record_line};
  if (record.length > splitter->limit) return fail_too_large(splitter);
  record.bytes = bytes_of(splitter, record.offset, to);
  if (record.bytes == NULL) return splitter->status;
  const TampStatus status = give_record(splitter, &record);
  release(splitter);
  return status;
}

static TampStatus give_member(TampSplitter *splitter, uint64_t to) {
  if (splitter->sink.member == NULL) return TAMP_OK;
  TampSplitMember member = {.offset = splitter->value_from, .length = to - splitter->value_from};
  const uint64_t name_from = splitter->name_from + 1;
  const uint64_t name_to = splitter->name_to - 1;
  if (!splitter->dropped && member.length <= TAMP_SPLIT_MEMBER_BYTES) {
    member.bytes = bytes_of(splitter, splitter->value_from, to);
    if (member.bytes == NULL) return splitter->status;
  }
  /* The buffer may have moved for the value, so the name is looked up after it. */
  if (!splitter->dropped || splitter->held > 0) {
    member.name = (TampText){bytes_of(splitter, name_from, name_to), (size_t)(name_to - name_from)};
    if (member.name.bytes == NULL) return splitter->status;
  }
  return told(splitter, splitter->sink.member(splitter->sink.context, &member), member.offset);
}

/* --- Lines */

static bool is_white(uint8_t byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static bool is_blank(const uint8_t *at, uint64_t length) {
  const uint8_t *const end = at + length;
  while (at < end && is_white(*at)) at++;
  return at == end;
}

/* The line that is kept ends at `to`; `tail` bytes of line end follow. */
static TampStatus give_line(TampSplitter *splitter, uint64_t to, uint32_t tail) {
  TampSplitRecord record = {.offset = splitter->keep,
                            .length = to - splitter->keep,
                            .line = splitter->record_line,
                            .tail = tail};
  if (!splitter->dropped) {
    record.bytes = bytes_of(splitter, record.offset, to);
    if (record.bytes == NULL) return splitter->status;
    if (is_blank(record.bytes, record.length)) {
      release(splitter);
      return TAMP_OK;
    }
  }
  if (tail > 0) {
    const uint8_t before =
        to > splitter->offset ? splitter->chunk[to - splitter->offset - 1] : splitter->last;
    record.length -= before == '\r';
    record.tail += before == '\r';
  }
  if (record.length > splitter->limit) record.bytes = NULL;
  const TampStatus status = give_record(splitter, &record);
  release(splitter);
  return status;
}

static TampStatus split_lines(TampSplitter *splitter, const uint8_t *at) {
  const uint8_t *const end = splitter->chunk_end;
  while (at < end) {
    if (splitter->keep == NOWHERE) {
      splitter->keep = offset_of(splitter, at);
      splitter->record_line = splitter->line;
    }
    const uint8_t *const newline = tamp_scan_byte(at, end, '\n');
    if (newline == end) return TAMP_OK;
    const TampStatus status = give_line(splitter, offset_of(splitter, newline), 1);
    if (status != TAMP_OK) return status;
    splitter->line++;
    at = newline + 1;
  }
  return TAMP_OK;
}

/* What was kept, and the rest of the chunk, were lines and no object. */
static TampStatus fall_back(TampSplitter *splitter) {
  const uint64_t from = splitter->keep;
  const uint64_t end = offset_of(splitter, splitter->chunk_end);
  splitter->status = TAMP_OK;
  splitter->fault = (TampSplitFault){0};
  splitter->mode = MODE_LINES;
  splitter->line = splitter->root_line;
  if (begin(splitter, TAMP_CONTAINER_LINES, from, "") != TAMP_OK) return splitter->status;
  if (from >= splitter->offset) {
    splitter->keep = NOWHERE;
    return split_lines(splitter, splitter->chunk + (from - splitter->offset));
  }
  if (hold(splitter, end) != TAMP_OK) return splitter->status;
  uint8_t *const buffer = splitter->buffer;
  splitter->chunk = buffer;
  splitter->chunk_end = buffer + splitter->held;
  splitter->offset = from;
  splitter->buffer = NULL;
  splitter->capacity = 0;
  release(splitter);
  TampStatus status = split_lines(splitter, buffer);
  if (status == TAMP_OK) status = end_chunk(splitter);
  tamp_arena_drop(splitter->arena, buffer);
  /* Nothing is left of the chunk. */
  splitter->chunk = splitter->chunk_end = NULL;
  splitter->offset = end;
  return status;
}

/* --- Tokens: each goes on where the last chunk ended, and clears `token` when it is whole */

static const char unterminated[] = "the string does not end";

/* A sequence that the chunk cuts: `count` bytes of it are at `at`. */
static void begin_sequence(TampSplitter *splitter, const uint8_t *at, size_t count) {
  const uint8_t lead = at[0];
  const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  splitter->pending = (uint8_t)(length - count);
  splitter->low = count > 1 ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  splitter->high = count > 1 ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
}

static bool is_hex(uint8_t byte) {
  return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

static const uint8_t *read_escape(TampSplitter *splitter, const uint8_t *at) {
  if (splitter->token_state <= ESCAPE_DIGITS) {
    if (!is_hex(*at)) return fail_at(splitter, at, "expected four hex digits");
    splitter->token_state--;
    return at + 1;
  }
  switch (*at) {
  case '"':
  case '\\':
  case '/':
  case 'b':
  case 'f':
  case 'n':
  case 'r':
  case 't':
    splitter->token_state = ESCAPE_NONE;
    return at + 1;
  case 'u':
    splitter->token_state = ESCAPE_DIGITS;
    return at + 1;
  default:
    return fail_at(splitter, at, "no such escape");
  }
}

static const uint8_t *read_string(TampSplitter *splitter, const uint8_t *at) {
  const uint8_t *const end = splitter->chunk_end;
  while (at < end) {
    if (splitter->token_state != ESCAPE_NONE) {
      at = read_escape(splitter, at);
      if (at == NULL) return NULL;
      continue;
    }
    if (splitter->pending > 0) {
      if (*at < splitter->low || *at > splitter->high) return fail_at(splitter, at, "not UTF-8");
      splitter->low = 0x80;
      splitter->high = 0xbf;
      splitter->pending--;
      at++;
      continue;
    }
    bool high = false;
    const uint8_t *const stop = tamp_scan_string(at, end, &high);
    if (high) {
      const uint8_t *const valid = tamp_utf8_valid(at, stop);
      if (valid < stop) {
        bool whole;
        const size_t count = tamp_utf8_prefix(valid, stop, &whole);
        if (valid + count < end) return fail_at(splitter, valid + count, "not UTF-8");
        begin_sequence(splitter, valid, count);
        return end;
      }
    }
    at = stop;
    if (at == end) return end;
    if (*at == '"') {
      splitter->token = TOKEN_NONE;
      return at + 1;
    }
    if (*at != '\\') return fail_at(splitter, at, "control characters must be escaped");
    splitter->token_state = ESCAPE_BEGUN;
    at++;
  }
  return at;
}

static const uint8_t *read_number(TampSplitter *splitter, const uint8_t *at) {
  const uint8_t *const end = splitter->chunk_end;
  for (; at < end; at++) {
    const uint8_t state = splitter->token_state;
    if (*at >= '0' && *at <= '9' && state != NUMBER_ZERO) {
      if (state == NUMBER_MINUS)
        splitter->token_state = *at == '0' ? NUMBER_ZERO : NUMBER_INTEGER;
      else if (state == NUMBER_POINT)
        splitter->token_state = NUMBER_FRACTION;
      else if (state == NUMBER_E || state == NUMBER_SIGN)
        splitter->token_state = NUMBER_EXPONENT;
    } else if (*at == '.' && (state == NUMBER_ZERO || state == NUMBER_INTEGER)) {
      splitter->token_state = NUMBER_POINT;
    } else if ((*at | 0x20) == 'e' && (state & NUMBER_ENDS) != 0 && state != NUMBER_EXPONENT) {
      splitter->token_state = NUMBER_E;
    } else if ((*at == '+' || *at == '-') && state == NUMBER_E) {
      splitter->token_state = NUMBER_SIGN;
    } else {
      if ((state & NUMBER_ENDS) == 0) return fail_at(splitter, at, "expected a digit");
      splitter->token = TOKEN_NONE;
      return at;
    }
  }
  return at;
}

static const uint8_t *read_literal(TampSplitter *splitter, const uint8_t *at) {
  const uint8_t *const end = splitter->chunk_end;
  for (; at < end; at++) {
    const char wanted = splitter->word[splitter->token_state];
    if (wanted == '\0') break;
    if (*at != (uint8_t)wanted) return fail_at(splitter, at, "expected a value");
    splitter->token_state++;
  }
  if (splitter->word[splitter->token_state] == '\0') splitter->token = TOKEN_NONE;
  return at;
}

static const uint8_t *read_token(TampSplitter *splitter, const uint8_t *at) {
  if (splitter->token == TOKEN_STRING) return read_string(splitter, at);
  if (splitter->token == TOKEN_NUMBER) return read_number(splitter, at);
  return read_literal(splitter, at);
}

/* --- Grammar */

static bool in_object(const TampSplitter *splitter) {
  const uint32_t top = splitter->level - 1;
  return (splitter->objects[top / 64] >> top % 64 & 1) != 0;
}

static void open_container(TampSplitter *splitter, bool object) {
  const uint32_t top = splitter->level++;
  const uint64_t bit = UINT64_C(1) << top % 64;
  if (object)
    splitter->objects[top / 64] |= bit;
  else
    splitter->objects[top / 64] &= ~bit;
  splitter->expected = EXPECT_FIRST;
}

static void open_known(TampSplitter *splitter, bool object, uint8_t node) {
  open_container(splitter, object);
  splitter->nodes[splitter->known++] = node;
}

/* A name directly in a known object was read up to `to`. */
static TampStatus end_name(TampSplitter *splitter, uint64_t to) {
  const uint8_t node = splitter->nodes[splitter->known - 1];
  splitter->name_to = to;
  splitter->child = NODE_NONE;
  if (splitter->dropped) return TAMP_OK;
  const uint8_t *const name = bytes_of(splitter, splitter->name_from, to);
  if (name == NULL) return splitter->status;
  splitter->child = way_from(node, name, (size_t)(to - splitter->name_from));
  /* The root's members are given with their names. */
  if (!is_undecided(splitter) && (node != NODE_ROOT || splitter->sink.member == NULL)) {
    release(splitter);
  }
  return TAMP_OK;
}

static TampStatus end_value(TampSplitter *splitter, uint64_t to) {
  splitter->expected = EXPECT_BEHIND;
  if (!is_near(splitter)) return TAMP_OK;
  if (is_element(splitter)) return give_element(splitter, to);
  if (splitter->nodes[splitter->known - 1] != NODE_ROOT) return TAMP_OK;
  const TampStatus status = give_member(splitter, to);
  if (!is_undecided(splitter)) release(splitter);
  return status;
}

/* The list's first byte that tells whether it is one: its end, an object, or something else. */
static TampStatus begin_list(TampSplitter *splitter, const uint8_t *at) {
  splitter->unbegun = false;
  if (*at != '{' && *at != ']') {
    splitter->known--;
    return TAMP_OK;
  }
  const uint8_t rank = (uint8_t)(splitter->nodes[splitter->known - 1] - NODE_LIST);
  splitter->rank = rank;
  release(splitter);
  return begin(splitter, TAMP_CONTAINER_OBJECT, splitter->value_from + 1, paths[rank]);
}

static TampStatus start_container(TampSplitter *splitter, const uint8_t *at) {
  const bool object = *at == '{';
  const uint8_t child = is_near(splitter) && !is_element(splitter) ? splitter->child : NODE_NONE;
  if (child != NODE_NONE && object == (child < NODE_LIST)) {
    if (object || is_better((uint8_t)(child - NODE_LIST), splitter->rank)) {
      /* Whether a list is one shows with its first element; until then it may be any member. */
      splitter->unbegun = !object;
      if (object && !is_undecided(splitter)) release(splitter);
      open_known(splitter, object, child);
      return TAMP_OK;
    }
  }
  if (splitter->level - splitter->known == TAMP_MAX_DEPTH) {
    return fail(splitter, TAMP_TOO_DEEP, offset_of(splitter, at), "nested too deeply");
  }
  open_container(splitter, object);
  return TAMP_OK;
}

/* The value whose first byte is at `at`. Gives the position to go on from. */
static const uint8_t *start_value(TampSplitter *splitter, const uint8_t *at) {
  if (is_near(splitter)) {
    splitter->value_from = offset_of(splitter, at);
    if (is_element(splitter)) {
      splitter->keep = splitter->value_from;
      splitter->record_line = splitter->line;
    }
  }
  splitter->is_name = false;
  switch (*at) {
  case '{':
  case '[':
    return start_container(splitter, at) == TAMP_OK ? at + 1 : NULL;
  case '"':
    splitter->token = TOKEN_STRING;
    splitter->token_state = ESCAPE_NONE;
    return at + 1;
  case 't':
    splitter->word = "true";
    break;
  case 'f':
    splitter->word = "false";
    break;
  case 'n':
    splitter->word = "null";
    break;
  default:
    if (*at != '-' && (*at < '0' || *at > '9')) {
      return fail_at(splitter, at, "expected a value");
    }
    splitter->token = TOKEN_NUMBER;
    splitter->token_state = *at == '-' ? NUMBER_MINUS : *at == '0' ? NUMBER_ZERO : NUMBER_INTEGER;
    return at + 1;
  }
  splitter->token = TOKEN_LITERAL;
  splitter->token_state = 1;
  return at + 1;
}

static const uint8_t *start_name(TampSplitter *splitter, const uint8_t *at) {
  if (*at != '"') return fail_at(splitter, at, "expected a member name in quotes");
  if (is_near(splitter)) {
    splitter->name_from = offset_of(splitter, at);
    if (splitter->keep == NOWHERE) splitter->keep = splitter->name_from;
  }
  splitter->is_name = true;
  splitter->token = TOKEN_STRING;
  splitter->token_state = ESCAPE_NONE;
  return at + 1;
}

/* The root was closed at `to`. */
static TampStatus end_root(TampSplitter *splitter, uint64_t to) {
  splitter->root_to = to;
  splitter->root_end_line = splitter->line;
  if (!is_undecided(splitter)) {
    splitter->mode = MODE_TAIL;
    return TAMP_OK;
  }
  /* An object without a list is a line, and its bytes are still kept. */
  splitter->mode = MODE_LINES;
  splitter->record_line = splitter->root_line;
  return begin(splitter, TAMP_CONTAINER_LINES, splitter->root_from, "");
}

static const uint8_t *close_container(TampSplitter *splitter, const uint8_t *at) {
  const uint64_t to = offset_of(splitter, at) + 1;
  TampStatus status;
  if (is_near(splitter)) {
    if (is_element(splitter)) splitter->list_to = to - 1;
    splitter->known--;
    splitter->level--;
    splitter->expected = EXPECT_BEHIND;
    status = splitter->level == 0 ? end_root(splitter, to) : TAMP_OK;
  } else {
    splitter->level--;
    status = end_value(splitter, to);
  }
  return status == TAMP_OK ? at + 1 : NULL;
}

static const char *expectation(const TampSplitter *splitter) {
  switch (splitter->expected) {
  case EXPECT_NAME:
    return "expected a member name in quotes";
  case EXPECT_COLON:
    return "expected ':'";
  case EXPECT_BEHIND:
    return in_object(splitter) ? "expected ',' or '}'" : "expected ',' or ']'";
  case EXPECT_FIRST:
    return in_object(splitter) ? "expected a member name in quotes" : "expected a value";
  default:
    return "expected a value";
  }
}

/* The byte at `at`, which is no white space and in no token. */
static const uint8_t *read_byte(TampSplitter *splitter, const uint8_t *at) {
  const bool object = in_object(splitter);
  const bool closes = *at == (object ? '}' : ']');
  switch (splitter->expected) {
  case EXPECT_FIRST:
    if (splitter->unbegun && begin_list(splitter, at) != TAMP_OK) return NULL;
    if (closes) return close_container(splitter, at);
    return object ? start_name(splitter, at) : start_value(splitter, at);
  case EXPECT_NAME:
    return start_name(splitter, at);
  case EXPECT_COLON:
    if (*at != ':') break;
    splitter->expected = EXPECT_VALUE;
    return at + 1;
  case EXPECT_BEHIND:
    if (closes) return close_container(splitter, at);
    if (*at != ',') break;
    splitter->expected = object ? EXPECT_NAME : EXPECT_VALUE;
    return at + 1;
  default:
    return start_value(splitter, at);
  }
  return fail_at(splitter, at, expectation(splitter));
}

static const uint8_t *end_token(TampSplitter *splitter, const uint8_t *at) {
  const uint64_t to = offset_of(splitter, at);
  if (!splitter->is_name) return end_value(splitter, to) == TAMP_OK ? at : NULL;
  splitter->expected = EXPECT_COLON;
  if (is_near(splitter) && end_name(splitter, to) != TAMP_OK) return NULL;
  return at;
}

static const uint8_t *skip_white(TampSplitter *splitter, const uint8_t *at) {
  const uint8_t *const end = splitter->chunk_end;
  for (; at < end && is_white(*at); at++) splitter->line += *at == '\n';
  return at;
}

/* NULL on a fault; else where the walk ended or the chunk did. */
static const uint8_t *walk(TampSplitter *splitter, const uint8_t *at) {
  const uint8_t *const end = splitter->chunk_end;
  while (at < end && splitter->mode == MODE_WALK) {
    if (splitter->token == TOKEN_NONE) {
      at = skip_white(splitter, at);
      if (at == end) return at;
      at = read_byte(splitter, at);
    } else {
      at = read_token(splitter, at);
      if (at != NULL && splitter->token == TOKEN_NONE) at = end_token(splitter, at);
    }
    if (at == NULL) return NULL;
  }
  return at;
}

/* --- The whole */

static const uint8_t bom[3] = {0xef, 0xbb, 0xbf};

static const uint8_t *start(TampSplitter *splitter, const uint8_t *at) {
  const uint8_t *const end = splitter->chunk_end;
  /* A BOM is the first thing or nothing; what is left of a cut one is part of a line. */
  while (at < end && offset_of(splitter, at) < sizeof bom &&
         splitter->token_state == offset_of(splitter, at) && *at == bom[splitter->token_state]) {
    splitter->token_state++;
    at++;
  }
  if (at == end) return at;
  const bool broken = splitter->token_state % sizeof bom != 0;
  if (!broken) {
    at = skip_white(splitter, at);
    if (at == end) return at;
  }
  const uint64_t from = broken ? 0 : offset_of(splitter, at);
  splitter->root_from = from;
  splitter->root_line = splitter->line;
  if (!broken && (*at == '{' || *at == '[')) {
    splitter->mode = MODE_WALK;
    const bool object = *at == '{';
    open_known(splitter, object, object ? NODE_ROOT : NODE_LIST);
    if (object) {
      splitter->keep = from;
      splitter->record_line = splitter->line;
    } else if (begin(splitter, TAMP_CONTAINER_ARRAY, from + 1, "") != TAMP_OK) {
      return NULL;
    }
    return at + 1;
  }
  splitter->mode = MODE_LINES;
  if (broken) {
    splitter->keep = 0;
    splitter->record_line = splitter->line;
    /* The bytes of the half BOM may be in a chunk that is gone. */
    const uint64_t gone = splitter->offset;
    const uint8_t *const chunk = splitter->chunk;
    splitter->chunk = bom;
    splitter->offset = 0;
    const TampStatus status = hold(splitter, gone);
    splitter->chunk = chunk;
    splitter->offset = gone;
    if (status != TAMP_OK) return NULL;
  }
  return begin(splitter, TAMP_CONTAINER_LINES, from, "") == TAMP_OK ? at : NULL;
}

/* Behind the root. Only an object can have something there: the second line. */
static const uint8_t *read_tail(TampSplitter *splitter, const uint8_t *at) {
  const uint8_t *const end = splitter->chunk_end;
  for (; at < end && is_white(*at); at++) {
    if (*at != '\n') continue;
    if (splitter->newline == NOWHERE) {
      const uint8_t before = at > splitter->chunk ? at[-1] : splitter->last;
      splitter->newline_bytes = before == '\r' ? 2 : 1;
      splitter->newline = offset_of(splitter, at) + 1 - splitter->newline_bytes;
    }
    splitter->line++;
  }
  if (at == end) return at;
  if (splitter->container != TAMP_CONTAINER_OBJECT || splitter->newline == NOWHERE ||
      splitter->root_line != splitter->root_end_line) {
    return fail_at(splitter, at, "expected the end of the text");
  }
  splitter->mode = MODE_LINES;
  if (begin(splitter, TAMP_CONTAINER_LINES, splitter->root_from, "") != TAMP_OK) return NULL;
  TampSplitRecord first = {.offset = splitter->root_from,
                           .length = splitter->newline - splitter->root_from,
                           .line = splitter->root_line,
                           .tail = splitter->newline_bytes};
  return give_record(splitter, &first) == TAMP_OK ? at : NULL;
}

void tamp_splitter_init(TampSplitter *splitter, TampArena *arena, TampSplitSink sink) {
  *splitter = (TampSplitter){.sink = sink,
                             .arena = arena,
                             .limit = TAMP_MAX_MESSAGE_BYTES,
                             .keep = NOWHERE,
                             .line = 1,
                             .rank = UINT8_MAX,
                             .newline = NOWHERE};
}

TampStatus tamp_splitter_feed(TampSplitter *splitter, const uint8_t *bytes, size_t length) {
  if (splitter->status != TAMP_OK || length == 0) return splitter->status;
  splitter->chunk = bytes;
  splitter->chunk_end = bytes + length;
  const uint8_t *at = bytes;
  if (splitter->mode == MODE_START) at = start(splitter, at);
  if (at != NULL && splitter->mode == MODE_WALK) {
    at = walk(splitter, at);
    if (at == NULL && is_undecided(splitter) &&
        (splitter->status == TAMP_BAD_JSON || splitter->status == TAMP_TOO_DEEP)) {
      const uint64_t end = splitter->offset + length;
      if (fall_back(splitter) != TAMP_OK || splitter->offset == end) return splitter->status;
      at = splitter->chunk_end;
    }
  }
  if (at != NULL && splitter->mode == MODE_TAIL) at = read_tail(splitter, at);
  if (at != NULL && splitter->mode == MODE_LINES && at < splitter->chunk_end) {
    if (split_lines(splitter, at) != TAMP_OK) at = NULL;
  }
  if (at != NULL) end_chunk(splitter);
  splitter->offset += length;
  splitter->chunk = splitter->chunk_end = NULL;
  return splitter->status;
}

TampStatus tamp_splitter_finish(TampSplitter *splitter) {
  if (splitter->status != TAMP_OK) return splitter->status;
  static const uint8_t nothing[1] = {0};
  splitter->chunk = splitter->chunk_end = nothing;
  if (splitter->mode == MODE_START && splitter->token_state % sizeof bom != 0) {
    splitter->mode = MODE_LINES;
    splitter->keep = 0;
    splitter->record_line = 1;
    splitter->chunk = bom;
    splitter->chunk_end = bom + splitter->token_state;
    splitter->offset = 0;
    if (begin(splitter, TAMP_CONTAINER_LINES, 0, "") != TAMP_OK) return splitter->status;
    if (give_line(splitter, splitter->token_state, 0) != TAMP_OK) return splitter->status;
    splitter->offset = splitter->token_state;
  }
  if (splitter->mode == MODE_WALK) {
    if (is_undecided(splitter)) {
      if (fall_back(splitter) != TAMP_OK) return splitter->status;
      splitter->chunk = splitter->chunk_end = nothing;
    } else {
      const char *reason = expectation(splitter);
      if (splitter->token == TOKEN_STRING) reason = unterminated;
      if (splitter->token == TOKEN_LITERAL) reason = "expected a value";
      if (splitter->token == TOKEN_NUMBER) {
        const bool ends = (splitter->token_state & NUMBER_ENDS) != 0;
        splitter->expected = EXPECT_BEHIND;
        reason = ends ? expectation(splitter) : "expected a digit";
      }
      return fail(splitter, TAMP_BAD_JSON, splitter->offset, reason);
    }
  }
  if (splitter->mode == MODE_LINES) {
    splitter->list_to = splitter->offset;
    if (splitter->keep != NOWHERE) give_line(splitter, splitter->offset, 0);
  }
  return splitter->status;
}

TampStatus tamp_splitter_check(const TampSplitRecord *record, TampFault *fault) {
  if (record->bytes == NULL) {
    *fault = (TampFault){0, "the message is too large"};
    return TAMP_TOO_LARGE;
  }
  TampCursor cursor = tamp_cursor(record->bytes, 0, (size_t)record->length, false);
  TampValue value;
  if (tamp_cursor_value(&cursor, &value)) tamp_cursor_end(&cursor);
  *fault = cursor.fault;
  return cursor.status;
}
