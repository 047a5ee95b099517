/* OpenAI Chat Completions: messages have no ids, and strict servers refuse a key they do not know, so nothing
 * of ours may be written into one. */
#include "chat.h"

enum {
  ROLE,
  CONTENT,
  TOOL_CALLS,
  TOOL_CALL_ID,
  FUNCTION_CALL,
  NAME,
  REFUSAL,
  AUDIO,
  REASONING_CONTENT,
  REASONING,
  MEMBERS
};

static const TampText members[MEMBERS] = {
    [ROLE] = TAMP_TEXT_INIT("role"),
    [CONTENT] = TAMP_TEXT_INIT("content"),
    [TOOL_CALLS] = TAMP_TEXT_INIT("tool_calls"),
    [TOOL_CALL_ID] = TAMP_TEXT_INIT("tool_call_id"),
    [FUNCTION_CALL] = TAMP_TEXT_INIT("function_call"),
    [NAME] = TAMP_TEXT_INIT("name"),
    [REFUSAL] = TAMP_TEXT_INIT("refusal"),
    [AUDIO] = TAMP_TEXT_INIT("audio"),
    [REASONING_CONTENT] = TAMP_TEXT_INIT("reasoning_content"),
    [REASONING] = TAMP_TEXT_INIT("reasoning"),
};

static const TampRoleName roles[] = {
    {TAMP_TEXT_INIT("assistant"), TAMP_ROLE_ASSISTANT}, {TAMP_TEXT_INIT("tool"), TAMP_ROLE_TOOL},
    {TAMP_TEXT_INIT("user"), TAMP_ROLE_USER},           {TAMP_TEXT_INIT("system"), TAMP_ROLE_SYSTEM},
    {TAMP_TEXT_INIT("developer"), TAMP_ROLE_SYSTEM},    {TAMP_TEXT_INIT("function"), TAMP_ROLE_TOOL},
};

static TampStatus add_text(TampMessage *message, uint8_t kind, TampValue element, TampValue text,
                           uint32_t owner) {
  if (text.type != TAMP_JSON_STRING) return TAMP_OK;
  TampPart *part = tamp_message_part(message, kind);
  if (!part) return TAMP_NO_MEMORY;
  part->element = element;
  part->text = text;
  part->owner = owner;
  return TAMP_OK;
}

static TampStatus add_media(TampMessage *message, TampValue element, TampValue data, bool bytes,
                            uint32_t owner) {
  TampPart *part = tamp_message_part(message, TAMP_PART_MEDIA);
  if (!part) return TAMP_NO_MEMORY;
  part->element = element;
  part->text = data;
  part->owner = owner;
  if (data.type == TAMP_JSON_STRING && (bytes || tamp_value_is_data_url(message->text, data))) {
    part->flags |= TAMP_PART_INLINE;
  }
  return TAMP_OK;
}

/* One element of a `content` array. */
static TampStatus read_part(TampMessage *message, TampValue element, uint32_t owner) {
  enum { TYPE, PART_TEXT, PART_REFUSAL, IMAGE, INPUT_AUDIO, FILE_PART, PART_MEMBERS };
  static const TampText names[PART_MEMBERS] = {
      TAMP_TEXT_INIT("type"),      TAMP_TEXT_INIT("text"),        TAMP_TEXT_INIT("refusal"),
      TAMP_TEXT_INIT("image_url"), TAMP_TEXT_INIT("input_audio"), TAMP_TEXT_INIT("file"),
  };
  static const TampText url_name = TAMP_TEXT_INIT("url");
  static const TampText data_name = TAMP_TEXT_INIT("data");
  static const TampText file_data_name = TAMP_TEXT_INIT("file_data");
  const uint8_t *text = message->text;
  TampValue value[PART_MEMBERS], data;
  tamp_value_members(text, element, names, PART_MEMBERS, value);
  if (tamp_value_is(text, value[TYPE], TAMP_TEXT("image_url"))) {
    tamp_value_members(text, value[IMAGE], &url_name, 1, &data);
    if (value[IMAGE].type == TAMP_JSON_STRING) data = value[IMAGE];
    return add_media(message, element, data, false, owner);
  }
  if (tamp_value_is(text, value[TYPE], TAMP_TEXT("input_audio"))) {
    tamp_value_members(text, value[INPUT_AUDIO], &data_name, 1, &data);
    return add_media(message, element, data, true, owner);
  }
  if (tamp_value_is(text, value[TYPE], TAMP_TEXT("file"))) {
    tamp_value_members(text, value[FILE_PART], &file_data_name, 1, &data);
    return add_media(message, element, data, true, owner);
  }
  TampValue said = value[PART_TEXT].type == TAMP_JSON_STRING ? value[PART_TEXT] : value[PART_REFUSAL];
  return add_text(message, TAMP_PART_TEXT, element, said, owner);
}

static TampStatus read_content(TampMessage *message, TampValue content, uint32_t owner) {
  if (content.type == TAMP_JSON_STRING) {
    if (owner != TAMP_NONE) return TAMP_OK; /* the result's own text */
    return add_text(message, TAMP_PART_TEXT, content, content, owner);
  }
  TampValue element;
  uint32_t state = 0;
  while (tamp_value_next(message->text, content, &state, &element)) {
    if (element.type != TAMP_JSON_OBJECT) continue;
    TampStatus status = read_part(message, element, owner);
    if (status) return status;
  }
  return TAMP_OK;
}

static TampStatus read_calls(TampMessage *message, TampValue calls) {
  enum { CALL_ID, FUNCTION, CUSTOM, CALL_MEMBERS };
  static const TampText names[CALL_MEMBERS] = {TAMP_TEXT_INIT("id"), TAMP_TEXT_INIT("function"),
                                               TAMP_TEXT_INIT("custom")};
  static const TampText inner_names[3] = {TAMP_TEXT_INIT("name"), TAMP_TEXT_INIT("arguments"),
                                          TAMP_TEXT_INIT("input")};
  TampValue element, call[CALL_MEMBERS], inner[3];
  uint32_t state = 0;
  while (tamp_value_next(message->text, calls, &state, &element)) {
    if (element.type != TAMP_JSON_OBJECT) continue;
    tamp_value_members(message->text, element, names, CALL_MEMBERS, call);
    bool custom = call[FUNCTION].type != TAMP_JSON_OBJECT && call[CUSTOM].type == TAMP_JSON_OBJECT;
    tamp_value_members(message->text, custom ? call[CUSTOM] : call[FUNCTION], inner_names, 3, inner);
    TampPart *part = tamp_message_part(message, TAMP_PART_CALL);
    if (!part) return TAMP_NO_MEMORY;
    part->element = element;
    part->id = call[CALL_ID];
    part->name = inner[0];
    part->text = custom ? inner[2] : inner[1];
    if (custom) part->flags |= TAMP_PART_FREE_TEXT;
  }
  return TAMP_OK;
}

/* The call of the time before ids: its result is the next function message with that name, so the name serves
 * as the id. */
static TampStatus read_function_call(TampMessage *message, TampValue call) {
  static const TampText names[2] = {TAMP_TEXT_INIT("name"), TAMP_TEXT_INIT("arguments")};
  TampValue value[2];
  if (call.type != TAMP_JSON_OBJECT) return TAMP_OK;
  tamp_value_members(message->text, call, names, 2, value);
  TampPart *part = tamp_message_part(message, TAMP_PART_CALL);
  if (!part) return TAMP_NO_MEMORY;
  part->element = call;
  part->id = value[0];
  part->name = value[0];
  part->text = value[1];
  return TAMP_OK;
}

static TampStatus read_result(TampMessage *message, const TampValue *value) {
  bool legacy = tamp_value_is(message->text, value[ROLE], TAMP_TEXT("function"));
  TampPart *part = tamp_message_part(message, TAMP_PART_RESULT);
  if (!part) return TAMP_NO_MEMORY;
  part->element = message->whole;
  part->id = value[legacy ? NAME : TOOL_CALL_ID];
  part->text = value[CONTENT];
  return read_content(message, value[CONTENT], 0);
}

static TampStatus read(TampCursor *cursor, TampMessage *message) {
  static const TampText transcript_name = TAMP_TEXT_INIT("transcript");
  TampValue value[MEMBERS], transcript;
  if (!tamp_cursor_members(cursor, members, MEMBERS, value, &message->whole)) return cursor->status;
  if (message->whole.type != TAMP_JSON_OBJECT) return TAMP_BAD_MESSAGE;
  message->role = tamp_role_of(message->text, value[ROLE], roles, sizeof roles / sizeof *roles);
  if (message->role == TAMP_ROLE_TOOL) return read_result(message, value);

  TampStatus status = read_content(message, value[CONTENT], TAMP_NONE);
  const TampValue texts[] = {value[REFUSAL], value[REASONING_CONTENT], value[REASONING]};
  for (size_t i = 0; !status && i < 3; i++) {
    uint8_t kind = i == 0 ? TAMP_PART_TEXT : TAMP_PART_REASONING;
    status = add_text(message, kind, texts[i], texts[i], TAMP_NONE);
  }
  tamp_value_members(message->text, value[AUDIO], &transcript_name, 1, &transcript);
  if (!status) status = add_text(message, TAMP_PART_TEXT, transcript, transcript, TAMP_NONE);
  if (!status && message->role == TAMP_ROLE_ASSISTANT) {
    status = read_calls(message, value[TOOL_CALLS]);
    if (!status) status = read_function_call(message, value[FUNCTION_CALL]);
  }
  return status ? status : tamp_mark_by_label(message);
}

static bool is_legacy_call(const TampMessage *message) {
  static const TampText name = TAMP_TEXT_INIT("function_call");
  TampValue value;
  tamp_value_members(message->text, message->whole, &name, 1, &value);
  return value.type == TAMP_JSON_OBJECT;
}

static TampStatus edit(const TampMessage *message, const TampEdit *edits, size_t count,
                       TampArena *scratch, TampWriter *writer) {
  TampText calls = members[is_legacy_call(message) ? FUNCTION_CALL : TOOL_CALLS];
  return tamp_edit_chat(message, edits, count, calls, scratch, writer);
}

static void draft(const TampDraft *draft, TampWriter *writer) {
  tamp_draft_write(draft,
                   draft->role == TAMP_ROLE_TOOL ? "{\"role\":%r,\"tool_call_id\":%c,\"content\":%t}"
                                                 : "{\"role\":%r,\"content\":%t}",
                   writer);
}

const TampFormat tamp_format_openai = {
    .name = "openai",
    .id_path = "",
    .read = read,
    .edit = edit,
    .draft = draft,
    .marks = "tool_calls\ntool_call_id\nfunction_call\nrefusal\nrole=function\n"
             "content/*/type=image_url|input_audio|refusal\ncontent/*/file",
};
