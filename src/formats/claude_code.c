/* Claude Code: a line a block. A record wraps an Anthropic message of (mostly) one block; the lines of one message
 * share its id, and the results stand between them. Records name the one they hang on by its uuid, and much that is
 * in the file is no message. */
#include <string.h>

#include "../digest.h"
#include "blocks.h"

enum { TYPE, UUID, MESSAGE, IS_META, COMPACT_SUMMARY, ATTACHMENT, MEMBERS };

static const TampText members[MEMBERS] = {
    [TYPE] = TAMP_TEXT_INIT("type"),
    [UUID] = TAMP_TEXT_INIT("uuid"),
    [MESSAGE] = TAMP_TEXT_INIT("message"),
    [IS_META] = TAMP_TEXT_INIT("isMeta"),
    [COMPACT_SUMMARY] = TAMP_TEXT_INIT("isCompactSummary"),
    [ATTACHMENT] = TAMP_TEXT_INIT("attachment"),
};

/* What the program says in the user's name. */
static bool is_harness(const TampMessage *message) {
  static const TampText starts[] = {
      TAMP_TEXT_INIT("<command-name>"),      TAMP_TEXT_INIT("<local-command-"),
      TAMP_TEXT_INIT("<task-notification>"), TAMP_TEXT_INIT("<system-reminder>"),
      TAMP_TEXT_INIT("[Request interrupted by user"),
  };
  if (message->count == 0 || message->parts[0].kind != TAMP_PART_TEXT) return false;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    if (tamp_value_starts(message->text, message->parts[0].text, starts[i])) return true;
  }
  return false;
}

/* A line of thinking alone is reasoning, which stands apart. */
static void read_reasoning(TampMessage *message) {
  for (uint32_t i = 0; i < message->count; i++) {
    if (message->parts[i].kind != TAMP_PART_REASONING) return;
  }
  if (message->count == 0) return;
  message->role = TAMP_ROLE_REASONING;
  for (uint32_t i = 0; i < message->count; i++) {
    message->parts[i].flags &= (uint8_t)~TAMP_PART_REMOVABLE;
    if (message->parts[i].flags & TAMP_PART_OPAQUE) message->flags |= TAMP_MESSAGE_OPAQUE;
  }
}

static TampStatus read(TampCursor *cursor, TampMessage *message) {
  enum { ROLE, ID, CONTENT, INNER };
  static const TampText inner[INNER] = {TAMP_TEXT_INIT("role"), TAMP_TEXT_INIT("id"), TAMP_TEXT_INIT("content")};
  TampValue value[MEMBERS], part[INNER];
  if (!tamp_cursor_members(cursor, members, MEMBERS, value, &message->whole)) return cursor->status;
  if (message->whole.type != TAMP_JSON_OBJECT) return TAMP_BAD_MESSAGE;
  const uint8_t *text = message->text;
  message->id = value[UUID];
  message->role = TAMP_ROLE_NONE;
  if (value[ATTACHMENT].type == TAMP_JSON_OBJECT && tamp_value_is(text, value[TYPE], TAMP_TEXT("attachment"))) {
    TampPart *said = tamp_message_part(message, TAMP_PART_TEXT);
    if (!said) return TAMP_NO_MEMORY;
    said->text = said->element = value[ATTACHMENT];
    message->role = TAMP_ROLE_OTHER;
    return TAMP_OK;
  }
  bool assistant = tamp_value_is(text, value[TYPE], TAMP_TEXT("assistant"));
  if (!assistant && !tamp_value_is(text, value[TYPE], TAMP_TEXT("user"))) return TAMP_OK;
  tamp_value_members(text, value[MESSAGE], inner, INNER, part);
  if (part[ROLE].type != TAMP_JSON_STRING) return TAMP_OK;
  message->role = assistant ? TAMP_ROLE_ASSISTANT : TAMP_ROLE_USER;
  tamp_mark_read(message, message->whole);
  TampStatus status = tamp_blocks_read(message, &tamp_anthropic_form, part[CONTENT], TAMP_NONE);
  if (status) return status;
  if (assistant) {
    message->batch = part[ID];
    read_reasoning(message);
  } else if (value[COMPACT_SUMMARY].type == TAMP_JSON_TRUE) {
    message->flags |= message->flags & TAMP_MESSAGE_HEAD ? 0 : TAMP_MESSAGE_SUMMARY;
  } else if (value[IS_META].type == TAMP_JSON_TRUE || is_harness(message)) {
    message->role = TAMP_ROLE_OTHER;
  }
  return TAMP_OK;
}

static void read_envelope(const TampMessage *message, TampEnvelope *out) {
  enum { PARENT, LOGICAL_PARENT, LEAF, CALL, PARENT_CALL, KIND, SUBTYPE, SNAPSHOT, COMPACT, SIDECHAIN, COUNT };
  static const TampText names[COUNT] = {
      [PARENT] = TAMP_TEXT_INIT("parentUuid"),      [LOGICAL_PARENT] = TAMP_TEXT_INIT("logicalParentUuid"),
      [LEAF] = TAMP_TEXT_INIT("leafUuid"),          [CALL] = TAMP_TEXT_INIT("toolUseID"),
      [PARENT_CALL] = TAMP_TEXT_INIT("parentToolUseID"), [KIND] = TAMP_TEXT_INIT("type"),
      [SUBTYPE] = TAMP_TEXT_INIT("subtype"),        [SNAPSHOT] = TAMP_TEXT_INIT("snapshot"),
      [COMPACT] = TAMP_TEXT_INIT("compactMetadata"), [SIDECHAIN] = TAMP_TEXT_INIT("isSidechain"),
  };
  static const TampText message_id = TAMP_TEXT_INIT("messageId");
  static const TampText preserved[2] = {TAMP_TEXT_INIT("preservedSegment"), TAMP_TEXT_INIT("preservedMessages")};
  static const TampText segment[2] = {TAMP_TEXT_INIT("headUuid"), TAMP_TEXT_INIT("tailUuid")};
  static const TampText uuids = TAMP_TEXT_INIT("uuids");
  TampValue value[COUNT], kept[2], ends[2];
  const uint8_t *text = message->text;
  tamp_value_members(text, message->whole, names, COUNT, value);
  for (int i = 0; i < TAMP_LINKS; i++) out->links[i] = value[PARENT + i];
  out->sidechain = value[SIDECHAIN].type == TAMP_JSON_TRUE;
  if (tamp_value_is(text, value[KIND], TAMP_TEXT("progress"))) {
    out->with[0] = value[CALL];
    out->with[1] = value[PARENT_CALL];
  } else if (tamp_value_is(text, value[KIND], TAMP_TEXT("file-history-snapshot"))) {
    tamp_value_members(text, value[SNAPSHOT], &message_id, 1, &out->with[0]);
  }
  if (!tamp_value_is(text, value[KIND], TAMP_TEXT("system"))) return;
  if (!tamp_value_is(text, value[SUBTYPE], TAMP_TEXT("compact_boundary"))) return;
  out->ends = TAMP_ENDS_ALL;
  tamp_value_members(text, value[COMPACT], preserved, 2, kept);
  tamp_value_members(text, kept[0], segment, 2, ends);
  tamp_value_members(text, kept[1], &uuids, 1, &out->preserved);
  out->head = ends[0];
  out->tail = ends[1];
}

/* A result is in its record twice; the copy for display, which would show what was cleared, goes with it. */
static TampStatus edit(const TampMessage *message, const TampEdit *edits, size_t count, TampArena *scratch,
                       TampWriter *writer) {
  static const TampText copy = TAMP_TEXT_INIT("toolUseResult");
  bool clears = false;
  for (size_t i = 0; i < count; i++) clears = clears || edits[i].kind == TAMP_EDIT_RESULT;
  if (!clears) return tamp_blocks_edit(message, &tamp_anthropic_form, edits, count, scratch, writer);
  TampWriter first = tamp_writer(scratch);
  TampText json = {0};
  TampStatus status = tamp_blocks_edit(message, &tamp_anthropic_form, edits, count, scratch, &first);
  if (!status) status = tamp_writer_finish(&first, &json);
  if (status) return status;
  TampMessage edited = {.text = json.bytes};
  TampCursor cursor = tamp_cursor(json.bytes, 0, json.length, false);
  if (!tamp_cursor_value(&cursor, &edited.whole)) return cursor.status;
  TampSplices splices = tamp_splices(&edited, scratch);
  tamp_splice_remove_members(&splices, edited.whole, &copy, 1);
  status = tamp_splices_write(&splices, edited.whole, writer);
  tamp_arena_drop(scratch, first.bytes);
  return status;
}

/* Ids of records are UUIDs; this one (version 8) says which id it was made from, the same each time. */
static void draft(const TampDraft *draft, TampWriter *writer) {
  static const char digits[] = "0123456789abcdef";
  TampDigest digest = tamp_digest_text(draft->id.bytes, draft->id.length);
  uint8_t uuid[36];
  digest.bytes[6] = (uint8_t)(0x80 | (digest.bytes[6] & 0x0f));
  digest.bytes[8] = (uint8_t)(0x80 | (digest.bytes[8] & 0x3f));
  for (size_t i = 0, at = 0; i < TAMP_DIGEST_BYTES; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid[at++] = '-';
    uuid[at++] = (uint8_t)digits[digest.bytes[i] >> 4];
    uuid[at++] = (uint8_t)digits[digest.bytes[i] & 15];
  }
  TampDraft named = *draft;
  named.id = (TampText){uuid, sizeof uuid};
  tamp_draft_write(&named,
                   draft->role == TAMP_ROLE_TOOL
                       ? "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                         "\"tool_use_id\":%c,\"content\":%t}]},\"uuid\":%i}"
                       : "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":%t}%?,\"isCompactSummary\":"
                         "true,\"tamp\":%m%;,\"uuid\":%i}",
                   writer);
}

static const TampText inherited[] = {
    TAMP_TEXT_INIT("isSidechain"), TAMP_TEXT_INIT("userType"),  TAMP_TEXT_INIT("cwd"),
    TAMP_TEXT_INIT("sessionId"),   TAMP_TEXT_INIT("version"),   TAMP_TEXT_INIT("gitBranch"),
    TAMP_TEXT_INIT("slug"),        TAMP_TEXT_INIT("agentId"),   TAMP_TEXT_INIT("timestamp"),
    TAMP_TEXT_INIT(""),
};

const TampFormat tamp_format_claude_code = {
    .name = "claude-code",
    .flags = TAMP_FORMAT_IN_PLACE,
    .id_path = "uuid",
    .read = read,
    .edit = edit,
    .draft = draft,
    .marks = "type=user|assistant&message/role\ntype=user|assistant|system|attachment|progress&uuid&sessionId\n"
             "type=summary&leafUuid\ntype=file-history-snapshot&snapshot\ntype=queue-operation&sessionId",
    .envelope = read_envelope,
    .inherited = inherited,
    .parent = TAMP_TEXT_INIT("parentUuid"),
};
