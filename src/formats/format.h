/* What every message format gives the core: facts about a message, and ways to write a changed one.
 *
 * A format knows JSON and nothing of strategies. Reading turns a message's bytes into a TampMessage: who
 * speaks, and a flat list of parts with the spans of their values. Editing takes the same message and a few
 * edits that name parts, and writes the message's JSON anew with all else byte for byte. A format is one
 * file that fills one TampFormat, and one row in formats.c. */
#ifndef TAMP_FORMAT_H
#define TAMP_FORMAT_H

#include "../json/cursor.h"
#include "../json/writer.h"

typedef enum TampRole {
  TAMP_ROLE_SYSTEM, /* system and developer: instructions */
  TAMP_ROLE_USER,
  TAMP_ROLE_ASSISTANT,
  TAMP_ROLE_TOOL,
  TAMP_ROLE_REASONING,
  TAMP_ROLE_ACTIVITY, /* for people; never sent to a model */
  TAMP_ROLE_OTHER,    /* unknown: read like any other, may go */
  TAMP_ROLE_NONE,     /* a record of a file that is no message: kept where it is, 0 tokens, in no count */
} TampRole;

typedef enum TampPartKind {
  TAMP_PART_TEXT,
  TAMP_PART_REASONING,
  TAMP_PART_CALL,
  TAMP_PART_RESULT,
  TAMP_PART_MEDIA, /* image, audio, video, document: weighs TAMP_MEDIA_TOKENS */
} TampPartKind;

enum {
  TAMP_PART_OPAQUE = 1 << 0, /* CALL, REASONING: carries an encrypted value or a signature */
  TAMP_PART_FAILED = 1 << 1, /* RESULT: the tool failed */
  TAMP_PART_INLINE = 1 << 2, /* MEDIA: `text` is its bytes in base64 (a data URL's body included) */
  TAMP_PART_AWAITS = 1 << 3, /* CALL: a person was asked to approve it, so it stays pending */
  TAMP_PART_FREE_TEXT = 1 << 4, /* CALL: the arguments are text, not JSON (openai custom tools) */
  TAMP_PART_REMOVABLE = 1 << 5, /* REASONING: one of several parts, TAMP_EDIT_DROP_REASONING takes it out */
  TAMP_PART_INSTRUCTIONS = 1 << 6, /* TEXT: instructions that stand in a message with other things */
  TAMP_PART_FIXED = 1 << 7,        /* RESULT: its owner refuses another content, so edits of it do nothing */
};

/* One thing a model reads. Spans count from the message's text. */
typedef struct TampPart {
  uint8_t kind;  /* TampPartKind */
  uint8_t flags; /* TAMP_PART_* */
  uint32_t owner;    /* TEXT, MEDIA inside a result: the index of its RESULT part; else TAMP_NONE */
  TampValue element; /* the value that stands for the part where it is one of several: an array's element */
  TampValue text;    /* TEXT, REASONING: the string. CALL: the arguments, a string or a JSON value. RESULT: the
                        content: a string or a JSON value, but of an array the TEXT and MEDIA parts that follow
                        directly. MEDIA: the data. */
  TampValue id;      /* CALL, RESULT: the call's id */
  TampValue name;    /* CALL: the tool's name. MEDIA: the media type, a string or nothing. */
  TampValue error;   /* RESULT: the error text */
  uint32_t name_at;  /* CALL: bytes of `name` that stand before the tool's name */
} TampPart;

enum {
  TAMP_MESSAGE_PINNED = 1 << 0,  /* metadata.tamp.pin is true */
  TAMP_MESSAGE_SUMMARY = 1 << 1, /* made by Tamp as a summary */
  TAMP_MESSAGE_HEAD = 1 << 2,    /* made by Tamp's repair to stand in front */
  TAMP_MESSAGE_OPAQUE = 1 << 3,  /* reasoning with an encrypted value */
};

/* A summary or head that is known by its text alone, in a format that has no safe place for a mark. Whether it
 * is one depends on where it stands. */
#define TAMP_COVERED_UNKNOWN UINT64_MAX

/* What the message that repair puts in front says. */
#define TAMP_HEAD_TEXT "[Earlier messages were removed.]"

/* Units. A message may hold things that do not live and die together: several results, results and what a person
 * says, instructions and a question, the steps of an agent. Its reader says where in its list the next of them
 * begins (tamp_message_unit), and each becomes a record of its own, of a message that holds that unit alone
 * (unit.h). What is left of them at the end is put together again. */

/* What a unit is a piece of. Zero for a message of its own. */
typedef struct TampPiece {
  const uint8_t *separator; /* what stands between it and the unit before, NULL before the first */
  uint32_t separator_length;
  uint32_t shared; /* bytes of JSON text around the unit, which all units of its message have in common */
} TampPiece;

/* A message as read. Its parts are an array of the arena it was prepared with, and are used again by the
 * next message that is read into it. */
typedef struct TampMessage {
  const uint8_t *text; /* spans count from here */
  TampValue whole;
  TampValue id;     /* a string, or nothing */
  uint8_t role;     /* TampRole */
  uint8_t flags;    /* TAMP_MESSAGE_* */
  bool raw;         /* the text may hold raw strings */
  uint64_t covered; /* SUMMARY: how many messages it stands for; TAMP_COVERED_UNKNOWN when only its text says
                       that it is one, and of a head that only its text shows */
  TampValue through; /* SUMMARY: the id of the last one, a string or nothing */
  TampArena *arena;
  TampPart *parts;
  uint32_t count;
  uint32_t capacity;
  TampValue list;        /* the array whose elements the message is made of; nothing where it is not made of any */
  uint32_t *units;       /* where its elements begin that begin another unit; the first one is not among them */
  uint32_t unit_count;
  uint32_t unit_capacity;
  TampPiece piece;
  TampValue batch;  /* what the records have in common that are one message (Claude Code: a line a block) */
  bool items;       /* a call that stands alone, but may have been made together with those next to it (Codex) */
  bool transient;   /* the text does not stay: what is kept of it is copied */
  TampJumps jumps;  /* of its text; without capacity nothing is noted */
  const struct TampRecord *record; /* whose message it is, when it was read again; else NULL */
  uint8_t *buffer;  /* an array of `arena`: the text when it had to be asked for */
  uint32_t buffer_capacity;
} TampMessage;

/* What a record of a file says about other records of it. */
typedef enum TampEnds {
  TAMP_ENDS_NOTHING,
  TAMP_ENDS_ALL,     /* what stands before is no longer read, but what is in `preserved` */
  TAMP_ENDS_ANSWERS, /* the same, but for what the user said */
  TAMP_ENDS_TURNS,   /* the last `turns` turns before it are undone; they stay in the file */
} TampEnds;

enum { TAMP_LINKS = 3 };

typedef struct TampEnvelope {
  TampValue links[TAMP_LINKS]; /* ids of records it hangs on, the first its parent; nothing where there is none */
  TampValue with[2];           /* ids of calls or records: it goes when one of them does */
  TampValue twin;              /* of a display copy: the text of the message near it that it shows */
  TampValue twin_of;           /* of a message that may have such a copy: its text */
  uint8_t ends;                /* TampEnds */
  uint64_t turns;
  TampValue preserved; /* an array of ids that stay alive */
  TampValue head, tail; /* so do the records from the one with this id to that one */
  bool sidechain;      /* of another conversation, unless the whole file is */
} TampEnvelope;

typedef enum TampEditKind {
  TAMP_EDIT_TEXT,      /* TEXT, REASONING: the text becomes `text` */
  TAMP_EDIT_ARGUMENTS, /* CALL: the arguments become `text`, JSON of an object (free text for FREE_TEXT) */
  TAMP_EDIT_RESULT,    /* RESULT: the content becomes `text`; ids, names, error flags stay */
  TAMP_EDIT_MEDIA,     /* MEDIA: the part becomes a text part that says `text` */
  TAMP_EDIT_DROP_CALL, /* CALL: it goes; the message stays valid without it */
  TAMP_EDIT_COLLAPSE,  /* no part: every call goes and the whole own content becomes `text` */
  TAMP_EDIT_DROP_REASONING, /* REASONING that is TAMP_PART_REMOVABLE: it goes; something else stays */
  TAMP_EDIT_ANSWER,    /* CALL without a result, in a format of TAMP_FORMAT_OWN_RESULTS: `text` becomes its result */
} TampEditKind;

typedef struct TampEdit {
  TampEditKind kind;
  uint32_t part;
  TampText text;
} TampEdit;

/* A message to make from nothing. */
typedef struct TampDraft {
  TampRole role;   /* SYSTEM, USER, ASSISTANT or TOOL */
  TampText id;     /* for formats that name their messages */
  TampText text;
  TampText call;   /* TOOL: the call it answers */
  TampText name;   /* TOOL: the tool, empty when unknown */
  uint8_t flags;   /* TAMP_MESSAGE_SUMMARY or TAMP_MESSAGE_HEAD, or 0 */
  TampText through; /* SUMMARY */
  uint64_t covered; /* SUMMARY */
} TampDraft;

enum {
  TAMP_FORMAT_OWN_RESULTS = 1 << 0, /* a result stands in the part of its call */
  TAMP_FORMAT_ONE_BATCH = 1 << 1,   /* all results of a message's calls must stand in one message */
  TAMP_FORMAT_IN_PLACE = 1 << 2,    /* results belong to their calls wherever they stand, so none is moved */
};

typedef struct TampFormat {
  const char *name;
  uint8_t flags; /* TAMP_FORMAT_* */
  /* Where a message's id is, as the members to go through, "/" between them; "" when it has none. For the
   * JS side, which names messages in reports without knowing formats. */
  const char *id_path;
  /* Reads the object at the cursor into `out` (prepared by tamp_message_init, its text already set).
   * TAMP_BAD_MESSAGE when it is not an object; TAMP_BAD_JSON and kin from the cursor. */
  TampStatus (*read)(TampCursor *cursor, TampMessage *out);
  /* Writes the message with `count` edits applied. At most one edit a part, and a COLLAPSE stands alone but
   * for nothing else. `scratch` is for what is needed on the way. */
  TampStatus (*edit)(const TampMessage *message, const TampEdit *edits, size_t count,
                     TampArena *scratch, TampWriter *writer);
  /* Writes a new message. */
  void (*draft)(const TampDraft *draft, TampWriter *writer);
  /* What only messages of this format have: paths, one a line, any of which is enough (detect.c). */
  const char *marks;
  /* What a record says about others of its file; NULL in formats where none does. The message, which may be of
   * TAMP_ROLE_NONE, was just read. `out` is zeroed. */
  void (*envelope)(const TampMessage *message, TampEnvelope *out);
  /* What a new record takes over from the one before it, or else behind it: names of members, an empty one
   * behind the last; NULL for nothing. And the member that says which record it hangs on, empty for none. */
  const TampText *inherited;
  TampText parent;
} TampFormat;

/* What format the messages of a JSON array are in, going by its first TAMP_DETECT_MESSAGES. NULL when the marks
 * of two formats are in it, or nothing in it looks like a message: then the caller has to say. */
TampStatus tamp_detect(TampText array, const TampFormat **format, TampFault *fault);

#define TAMP_DETECT_MESSAGES 256u

/* NULL when there is none of that name. */
const TampFormat *tamp_format_named(TampText name);
const TampFormat *tamp_format_at(size_t index); /* NULL behind the last */

extern const TampFormat tamp_format_ag_ui;
extern const TampFormat tamp_format_openai;
extern const TampFormat tamp_format_anthropic;
extern const TampFormat tamp_format_ai_sdk_ui;
extern const TampFormat tamp_format_ai_sdk_model;
extern const TampFormat tamp_format_pydantic_ai;
extern const TampFormat tamp_format_agent_framework;
extern const TampFormat tamp_format_claude_code;
extern const TampFormat tamp_format_codex;

void tamp_message_init(TampMessage *message, TampArena *arena);

/* Reads one message from `text`; forgets what `message` held. The faults are the cursor's. */
TampStatus tamp_message_read(const TampFormat *format, const uint8_t *text, size_t length, bool raw,
                             TampMessage *message, TampFault *fault);

/* For formats: a new part, zeroed but for kind and owner, or NULL on TAMP_NO_MEMORY. The pointer is valid
 * until the next part. */
TampPart *tamp_message_part(TampMessage *message, uint8_t kind);

/* For formats: the element at `at` of the message's list begins another unit. */
TampStatus tamp_message_unit(TampMessage *message, uint32_t at);

#endif
