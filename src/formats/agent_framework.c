/* Messages of Microsoft's agent-framework, as Python (`type`, snake_case) and .NET (`$type`, camelCase) write them.
 * Python refuses a member that it does not know; both keep what is in the additional properties. */
#include "blocks.h"

enum {
  TYPE,
  TEXT,
  DOLLAR_TYPE,
  CALL_ID,
  CALL_ID_NET,
  NAME,
  ARGUMENTS,
  RESULT,
  ITEMS,
  EXCEPTION,
  URI,
  MEDIA_TYPE,
  PROTECTED,
  PROTECTED_NET,
  FUNCTION_CALL,
  TOOL_CALL,
  OUTPUT,
  OUTPUTS,
  CONTENT_MEMBERS
};

static const TampText content_members[CONTENT_MEMBERS] = {
    [TYPE] = TAMP_TEXT_INIT("type"),
    [TEXT] = TAMP_TEXT_INIT("text"),
    [DOLLAR_TYPE] = TAMP_TEXT_INIT("$type"),
    [CALL_ID] = TAMP_TEXT_INIT("call_id"),
    [CALL_ID_NET] = TAMP_TEXT_INIT("callId"),
    [NAME] = TAMP_TEXT_INIT("name"),
    [ARGUMENTS] = TAMP_TEXT_INIT("arguments"),
    [RESULT] = TAMP_TEXT_INIT("result"),
    [ITEMS] = TAMP_TEXT_INIT("items"),
    [EXCEPTION] = TAMP_TEXT_INIT("exception"),
    [URI] = TAMP_TEXT_INIT("uri"),
    [MEDIA_TYPE] = TAMP_TEXT_INIT("media_type"),
    [PROTECTED] = TAMP_TEXT_INIT("protected_data"),
    [PROTECTED_NET] = TAMP_TEXT_INIT("protectedData"),
    [FUNCTION_CALL] = TAMP_TEXT_INIT("function_call"),
    [TOOL_CALL] = TAMP_TEXT_INIT("toolCall"),
    [OUTPUT] = TAMP_TEXT_INIT("output"),
    [OUTPUTS] = TAMP_TEXT_INIT("outputs"),
};

/* Calls that a service runs are not ours to answer, and their results are its own. */
static const TampRule rules[] = {
    {.type = TAMP_TEXT_INIT("text"), .kind = TAMP_PART_TEXT, .text = TEXT},
    {.type = TAMP_TEXT_INIT("function_call"),
     .kind = TAMP_PART_CALL,
     .text = ARGUMENTS,
     .id = CALL_ID,
     .name = NAME},
    {.type = TAMP_TEXT_INIT("functionCall"),
     .kind = TAMP_PART_CALL,
     .text = ARGUMENTS,
     .id = CALL_ID_NET,
     .name = NAME},
    {.type = TAMP_TEXT_INIT("function_result"), .kind = TAMP_PART_RESULT, .text = RESULT, .id = CALL_ID},
    {.type = TAMP_TEXT_INIT("functionResult"), .kind = TAMP_PART_RESULT, .text = RESULT, .id = CALL_ID_NET},
    {.type = TAMP_TEXT_INIT("text_reasoning"),
     .kind = TAMP_PART_REASONING,
     .flags = TAMP_PART_REMOVABLE,
     .text = TEXT},
    {.type = TAMP_TEXT_INIT("reasoning"),
     .kind = TAMP_PART_REASONING,
     .flags = TAMP_PART_REMOVABLE,
     .text = TEXT},
    {.type = TAMP_TEXT_INIT("data"), .kind = TAMP_PART_MEDIA, .text = URI, .name = MEDIA_TYPE},
    {.type = TAMP_TEXT_INIT("uri"), .kind = TAMP_PART_MEDIA, .text = URI, .name = MEDIA_TYPE},
    {.type = TAMP_TEXT_INIT("function_approval_request"), .kind = TAMP_RULE_SILENT, .text = FUNCTION_CALL},
    {.type = TAMP_TEXT_INIT("toolApprovalRequest"), .kind = TAMP_RULE_SILENT, .text = TOOL_CALL},
    {.type = TAMP_TEXT_INIT("error"), .kind = TAMP_RULE_SILENT},
    {.type = TAMP_TEXT_INIT("usage"), .kind = TAMP_RULE_SILENT},
    {.type = TAMP_TEXT_INIT("*_call"),
     .kind = TAMP_PART_CALL,
     .flags = TAMP_PART_AWAITS,
     .text = ARGUMENTS,
     .id = CALL_ID,
     .name = NAME},
    {.type = TAMP_TEXT_INIT("*_result"),
     .kind = TAMP_PART_RESULT,
     .flags = TAMP_PART_FIXED,
     .text = OUTPUT,
     .id = CALL_ID},
};

static const TampText properties_names[2] = {TAMP_TEXT_INIT("additional_properties"),
                                             TAMP_TEXT_INIT("additionalProperties")};

static TampStatus refine(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                         const TampValue *value) {
  if (index == TAMP_NONE) {
    if (!rule->text) return TAMP_OK;
    /* The call that a person is asked to approve. */
    TampValue call[CONTENT_MEMBERS];
    tamp_value_members(message->text, value[rule->text], content_members, CONTENT_MEMBERS, call);
    TampPart *part = tamp_message_part(message, TAMP_PART_CALL);
    if (!part) return TAMP_NO_MEMORY;
    part->element = element;
    part->flags = TAMP_PART_AWAITS;
    part->id = call[rule->text == TOOL_CALL ? CALL_ID_NET : CALL_ID];
    part->name = call[NAME];
    part->text = call[ARGUMENTS];
    return TAMP_OK;
  }
  TampPart *part = &message->parts[index];
  if (value[PROTECTED_NET].type > TAMP_JSON_NULL) part->flags |= TAMP_PART_OPAQUE;
  if (rule->kind == TAMP_PART_MEDIA && tamp_value_is_data_url(message->text, part->text)) {
    part->flags |= TAMP_PART_INLINE;
  }
  if (rule->kind != TAMP_PART_RESULT) return TAMP_OK;
  if (value[EXCEPTION].type > TAMP_JSON_NULL) {
    part->error = value[EXCEPTION];
    part->flags |= TAMP_PART_FAILED;
  }
  if (rule->text == OUTPUT && part->text.type == TAMP_JSON_NOTHING) part->text = value[OUTPUTS];
  return tamp_result_is_json(message, index);
}

/* Python keeps the text twice, and some clients send the second. */
static void set_result(const TampMessage *message, const TampPart *part, TampText text, TampSplices *splices) {
  (void)message;
  tamp_splice_set_string(splices, part->element, content_members[RESULT], text);
  tamp_splice_remove_members(splices, part->element, &content_members[ITEMS], 1);
}

/* What the framework's own compaction noted of a message is not true of another text. */
static void forget_group(const TampMessage *message, TampSplices *splices) {
  static const TampText group_name = TAMP_TEXT_INIT("_group");
  TampValue properties[2];
  tamp_value_members(message->text, message->whole, properties_names, 2, properties);
  if (properties[0].type == TAMP_JSON_OBJECT) tamp_splice_remove_members(splices, properties[0], &group_name, 1);
}

static const TampForm form = {
    .members = content_members,
    .rules = rules,
    .member_count = CONTENT_MEMBERS,
    .rule_count = sizeof rules / sizeof *rules,
    .other_type = DOLLAR_TYPE,
    .opaque = PROTECTED,
    .text_part = TAMP_TEXT_INIT("{\"type\":\"text\",\"text\":"),
    .refine = refine,
    .set_result = set_result,
    .touch = forget_group,
};

static TampStatus read(TampCursor *cursor, TampMessage *message) {
  enum { ROLE, CONTENTS, ID, ID_NET, MEMBERS };
  static const TampText members[MEMBERS] = {TAMP_TEXT_INIT("role"), TAMP_TEXT_INIT("contents"),
                                            TAMP_TEXT_INIT("message_id"), TAMP_TEXT_INIT("messageId")};
  static const TampRoleName roles[] = {
      {TAMP_TEXT_INIT("assistant"), TAMP_ROLE_ASSISTANT},
      {TAMP_TEXT_INIT("user"), TAMP_ROLE_USER},
      {TAMP_TEXT_INIT("tool"), TAMP_ROLE_TOOL},
      {TAMP_TEXT_INIT("system"), TAMP_ROLE_SYSTEM},
  };
  TampValue value[MEMBERS], properties[2];
  if (!tamp_cursor_members(cursor, members, MEMBERS, value, &message->whole)) return cursor->status;
  if (message->whole.type != TAMP_JSON_OBJECT) return TAMP_BAD_MESSAGE;
  message->role = tamp_role_of(message->text, value[ROLE], roles, sizeof roles / sizeof *roles);
  message->id = value[value[ID].type == TAMP_JSON_STRING ? ID : ID_NET];
  tamp_value_members(message->text, message->whole, properties_names, 2, properties);
  tamp_mark_read(message, properties[0]);
  tamp_mark_read(message, properties[1]);
  return tamp_blocks_read(message, &form, value[CONTENTS], TAMP_NONE);
}

/* Whether .NET wrote a message: one of its contents says so. */
static bool is_net(const TampMessage *message) {
  TampValue element, type;
  uint32_t state = 0;
  while (tamp_value_next(message->text, message->list, &state, &element)) {
    tamp_value_members(message->text, element, &content_members[DOLLAR_TYPE], 1, &type);
    if (type.type != TAMP_JSON_NOTHING) return true;
  }
  return false;
}

static TampStatus edit(const TampMessage *message, const TampEdit *edits, size_t count, TampArena *scratch,
                       TampWriter *writer) {
  TampForm net = form;
  net.text_part = TAMP_TEXT("{\"$type\":\"text\",\"text\":");
  return tamp_blocks_edit(message, is_net(message) ? &net : &form, edits, count, scratch, writer);
}

static void draft(const TampDraft *draft, TampWriter *writer) {
  tamp_draft_write(draft,
                   draft->role == TAMP_ROLE_TOOL
                       ? "{\"type\":\"message\",\"role\":%r,\"contents\":[{\"type\":\"function_result\","
                         "\"call_id\":%c,\"result\":%t}],\"message_id\":%i}"
                       : "{\"type\":\"message\",\"role\":%r,\"contents\":[{\"type\":\"text\",\"text\":%t}],"
                         "\"message_id\":%i%?,\"additional_properties\":{\"tamp\":%m}%;}",
                   writer);
}

const TampFormat tamp_format_agent_framework = {
    .name = "agent-framework",
    .id_path = "message_id",
    .read = read,
    .edit = edit,
    .draft = draft,
    .marks = "role&contents/*",
};
