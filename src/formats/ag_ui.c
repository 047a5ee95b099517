/* AG-UI: one object a message, results as messages of their own, reasoning and activity too. */
#include "chat.h"

enum { ID, ROLE, CONTENT, TOOL_CALLS, TOOL_CALL_ID, ERROR, ENCRYPTED_VALUE, METADATA, TEXT, MEMBERS };

static const TampText members[MEMBERS] = {
    [ID] = TAMP_TEXT_INIT("id"),
    [ROLE] = TAMP_TEXT_INIT("role"),
    [CONTENT] = TAMP_TEXT_INIT("content"),
    [TOOL_CALLS] = TAMP_TEXT_INIT("toolCalls"),
    [TOOL_CALL_ID] = TAMP_TEXT_INIT("toolCallId"),
    [ERROR] = TAMP_TEXT_INIT("error"),
    [ENCRYPTED_VALUE] = TAMP_TEXT_INIT("encryptedValue"),
    [METADATA] = TAMP_TEXT_INIT("metadata"),
    [TEXT] = TAMP_TEXT_INIT("text"),
};

static const TampRoleName roles[] = {
    {TAMP_TEXT_INIT("assistant"), TAMP_ROLE_ASSISTANT}, {TAMP_TEXT_INIT("tool"), TAMP_ROLE_TOOL},
    {TAMP_TEXT_INIT("user"), TAMP_ROLE_USER},           {TAMP_TEXT_INIT("system"), TAMP_ROLE_SYSTEM},
    {TAMP_TEXT_INIT("developer"), TAMP_ROLE_SYSTEM},    {TAMP_TEXT_INIT("reasoning"), TAMP_ROLE_REASONING},
    {TAMP_TEXT_INIT("activity"), TAMP_ROLE_ACTIVITY},
};

static TampStatus read_calls(TampMessage *message, TampValue calls) {
  enum { CALL_ID, FUNCTION, CALL_ENCRYPTED, CALL_MEMBERS };
  static const TampText names[CALL_MEMBERS] = {TAMP_TEXT_INIT("id"), TAMP_TEXT_INIT("function"),
                                               TAMP_TEXT_INIT("encryptedValue")};
  static const TampText function_names[2] = {TAMP_TEXT_INIT("name"), TAMP_TEXT_INIT("arguments")};
  TampValue element, call[CALL_MEMBERS], function[2];
  uint32_t state = 0;
  while (tamp_value_next(message->text, calls, &state, &element)) {
    if (element.type != TAMP_JSON_OBJECT) continue;
    tamp_value_members(message->text, element, names, CALL_MEMBERS, call);
    tamp_value_members(message->text, call[FUNCTION], function_names, 2, function);
    TampPart *part = tamp_message_part(message, TAMP_PART_CALL);
    if (!part) return TAMP_NO_MEMORY;
    part->element = element;
    part->id = call[CALL_ID];
    part->name = function[0];
    part->text = function[1];
    if (call[CALL_ENCRYPTED].type == TAMP_JSON_STRING) part->flags |= TAMP_PART_OPAQUE;
  }
  return TAMP_OK;
}

static bool is_media(const uint8_t *text, TampValue type) {
  return tamp_value_is(text, type, TAMP_TEXT("image")) ||
         tamp_value_is(text, type, TAMP_TEXT("audio")) ||
         tamp_value_is(text, type, TAMP_TEXT("video")) ||
         tamp_value_is(text, type, TAMP_TEXT("document"));
}

/* The media parts: `source` since 1.0, `binary` with data, url or id before. */
static TampStatus read_media(TampMessage *message, TampValue element, const TampValue *part_members,
                             uint32_t owner, bool *read) {
  enum { TYPE, PART_TEXT, SOURCE, MIME, DATA };
  static const TampText source_names[3] = {TAMP_TEXT_INIT("type"), TAMP_TEXT_INIT("value"),
                                           TAMP_TEXT_INIT("mimeType")};
  const uint8_t *text = message->text;
  bool binary = tamp_value_is(text, part_members[TYPE], TAMP_TEXT("binary"));
  *read = binary || is_media(text, part_members[TYPE]);
  if (!*read) return TAMP_OK;
  TampPart *part = tamp_message_part(message, TAMP_PART_MEDIA);
  if (!part) return TAMP_NO_MEMORY;
  part->element = element;
  part->owner = owner;
  if (binary) {
    part->name = part_members[MIME];
    part->text = part_members[DATA];
    if (part->text.type == TAMP_JSON_STRING) part->flags |= TAMP_PART_INLINE;
    return TAMP_OK;
  }
  TampValue source[3];
  tamp_value_members(text, part_members[SOURCE], source_names, 3, source);
  part->text = source[1];
  part->name = source[2];
  bool is_data = tamp_value_is(text, source[0], TAMP_TEXT("data"));
  if (source[1].type == TAMP_JSON_STRING && (is_data || tamp_value_is_data_url(text, source[1]))) {
    part->flags |= TAMP_PART_INLINE;
  }
  return TAMP_OK;
}

static TampStatus read_parts(TampMessage *message, TampValue content, uint32_t owner) {
  enum { TYPE, PART_TEXT, SOURCE, MIME, DATA, PART_CONTENT, PART_MEMBERS };
  static const TampText names[PART_MEMBERS] = {
      TAMP_TEXT_INIT("type"), TAMP_TEXT_INIT("text"),    TAMP_TEXT_INIT("source"), TAMP_TEXT_INIT("mimeType"),
      TAMP_TEXT_INIT("data"), TAMP_TEXT_INIT("content"),
  };
  TampValue element, part_members[PART_MEMBERS];
  uint32_t state = 0;
  while (tamp_value_next(message->text, content, &state, &element)) {
    if (element.type != TAMP_JSON_OBJECT && element.type != TAMP_JSON_STRING) continue;
    TampValue said = element;
    if (element.type == TAMP_JSON_OBJECT) {
      bool media;
      tamp_value_members(message->text, element, names, PART_MEMBERS, part_members);
      TampStatus status = read_media(message, element, part_members, owner, &media);
      if (status) return status;
      if (media) continue;
      said = part_members[PART_TEXT];
      if (said.type != TAMP_JSON_STRING) said = part_members[PART_CONTENT];
      if (said.type != TAMP_JSON_STRING) continue;
    }
    TampPart *part = tamp_message_part(message, TAMP_PART_TEXT);
    if (!part) return TAMP_NO_MEMORY;
    part->element = element;
    part->owner = owner;
    part->text = said;
  }
  return TAMP_OK;
}

static TampStatus read_content(TampMessage *message, const TampValue *value) {
  TampValue content = value[CONTENT];
  uint8_t kind = TAMP_PART_TEXT;
  uint32_t owner = TAMP_NONE;
  if (message->role == TAMP_ROLE_ACTIVITY) return TAMP_OK;
  if (message->role == TAMP_ROLE_TOOL) {
    TampPart *part = tamp_message_part(message, TAMP_PART_RESULT);
    if (!part) return TAMP_NO_MEMORY;
    part->element = message->whole;
    part->id = value[TOOL_CALL_ID];
    part->text = content;
    if (value[ERROR].type == TAMP_JSON_STRING) {
      part->error = value[ERROR];
      if (!tamp_value_is(message->text, value[ERROR], TAMP_TEXT(""))) part->flags |= TAMP_PART_FAILED;
    }
    if (content.type == TAMP_JSON_STRING) return TAMP_OK;
    owner = 0;
  } else if (message->role == TAMP_ROLE_REASONING) {
    kind = TAMP_PART_REASONING;
  } else if (message->role == TAMP_ROLE_OTHER && content.type == TAMP_JSON_NOTHING) {
    content = value[TEXT];
  }
  if (content.type != TAMP_JSON_STRING) return read_parts(message, content, owner);
  TampPart *part = tamp_message_part(message, kind);
  if (!part) return TAMP_NO_MEMORY;
  part->element = content;
  part->text = content;
  if (message->flags & TAMP_MESSAGE_OPAQUE) part->flags |= TAMP_PART_OPAQUE;
  return TAMP_OK;
}

static TampStatus read(TampCursor *cursor, TampMessage *message) {
  TampValue value[MEMBERS];
  if (!tamp_cursor_members(cursor, members, MEMBERS, value, &message->whole)) return cursor->status;
  if (message->whole.type != TAMP_JSON_OBJECT) return TAMP_BAD_MESSAGE;
  message->id = value[ID];
  message->role = tamp_role_of(message->text, value[ROLE], roles, sizeof roles / sizeof *roles);
  if (value[ENCRYPTED_VALUE].type == TAMP_JSON_STRING) message->flags |= TAMP_MESSAGE_OPAQUE;
  tamp_mark_read(message, value[METADATA]);
  TampStatus status = read_content(message, value);
  if (!status && message->role == TAMP_ROLE_ASSISTANT) {
    status = read_calls(message, value[TOOL_CALLS]);
  }
  return status;
}

static TampStatus edit(const TampMessage *message, const TampEdit *edits, size_t count,
                       TampArena *scratch, TampWriter *writer) {
  return tamp_edit_chat(message, edits, count, members[TOOL_CALLS], scratch, writer);
}

static void draft(const TampDraft *draft, TampWriter *writer) {
  tamp_draft_write(draft,
                   draft->role == TAMP_ROLE_TOOL
                       ? "{\"id\":%i,\"role\":%r,\"toolCallId\":%c,\"content\":%t}"
                       : "{\"id\":%i,\"role\":%r,\"content\":%t%?,\"metadata\":{\"tamp\":%m}%;}",
                   writer);
}

const TampFormat tamp_format_ag_ui = {
    .name = "ag-ui",
    .id_path = "id",
    .read = read,
    .edit = edit,
    .draft = draft,
    .marks = "toolCalls\ntoolCallId\nactivityType\nencryptedValue\nrole=activity|reasoning\ncontent/*/source/value",
};
