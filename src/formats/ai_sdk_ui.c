/* UIMessage of the AI SDK 5 to 7: a call and its result are one part, and one message holds a whole run of an agent,
 * step by step. What earlier versions wrote is read, but its results are left as they are. */
#include "blocks.h"

enum {
  TYPE,
  TEXT,
  TOOL_CALL_ID,
  TOOL_NAME,
  INPUT,
  STATE,
  OUTPUT,
  ERROR_TEXT,
  RAW_INPUT,
  URL,
  MEDIA_TYPE,
  PARTS,
  TOOL_INVOCATION,
  ARGS,
  RESULT,
  PROVIDER_METADATA,
  PART_MEMBERS
};

static const TampText part_members[PART_MEMBERS] = {
    [TYPE] = TAMP_TEXT_INIT("type"),
    [TEXT] = TAMP_TEXT_INIT("text"),
    [TOOL_CALL_ID] = TAMP_TEXT_INIT("toolCallId"),
    [TOOL_NAME] = TAMP_TEXT_INIT("toolName"),
    [INPUT] = TAMP_TEXT_INIT("input"),
    [STATE] = TAMP_TEXT_INIT("state"),
    [OUTPUT] = TAMP_TEXT_INIT("output"),
    [ERROR_TEXT] = TAMP_TEXT_INIT("errorText"),
    [RAW_INPUT] = TAMP_TEXT_INIT("rawInput"),
    [URL] = TAMP_TEXT_INIT("url"),
    [MEDIA_TYPE] = TAMP_TEXT_INIT("mediaType"),
    [PARTS] = TAMP_TEXT_INIT("parts"),
    [TOOL_INVOCATION] = TAMP_TEXT_INIT("toolInvocation"),
    [ARGS] = TAMP_TEXT_INIT("args"),
    [RESULT] = TAMP_TEXT_INIT("result"),
    [PROVIDER_METADATA] = TAMP_TEXT_INIT("providerMetadata"),
};

static const TampRule rules[] = {
    {.type = TAMP_TEXT_INIT("text"), .kind = TAMP_PART_TEXT, .text = TEXT},
    {.type = TAMP_TEXT_INIT("step-start"), .kind = TAMP_RULE_STEP},
    {.type = TAMP_TEXT_INIT("reasoning"),
     .kind = TAMP_PART_REASONING,
     .flags = TAMP_PART_REMOVABLE,
     .text = TEXT},
    {.type = TAMP_TEXT_INIT("tool-invocation"), .kind = TAMP_RULE_SILENT},
    {.type = TAMP_TEXT_INIT("tool-*"), .kind = TAMP_PART_CALL, .text = INPUT, .id = TOOL_CALL_ID, .name = TYPE},
    {.type = TAMP_TEXT_INIT("dynamic-tool"),
     .kind = TAMP_PART_CALL,
     .text = INPUT,
     .id = TOOL_CALL_ID,
     .name = TOOL_NAME},
    {.type = TAMP_TEXT_INIT("file"), .kind = TAMP_PART_MEDIA, .text = URL, .name = MEDIA_TYPE},
    {.type = TAMP_TEXT_INIT("reasoning-file"), .kind = TAMP_PART_MEDIA, .text = URL, .name = MEDIA_TYPE},
    {.type = TAMP_TEXT_INIT("steering-message"), .kind = TAMP_RULE_SILENT},
    {.type = TAMP_TEXT_INIT("data-*"), .kind = TAMP_RULE_SILENT},
    {.type = TAMP_TEXT_INIT("source-*"), .kind = TAMP_RULE_SILENT},
};

static TampStatus refine(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                         const TampValue *value);

/* An answer is an error: the state that needs no output, which a tool's schema might refuse. */
static void answer(const TampMessage *message, const TampPart *part, TampText text, TampSplices *splices) {
  TampValue value[PART_MEMBERS];
  tamp_value_members(message->text, part->element, part_members, PART_MEMBERS, value);
  TampWriter writer = tamp_writer(splices->arena);
  tamp_splice_string(splices, value[STATE], TAMP_TEXT("output-error"));
  if (value[STATE].type == TAMP_JSON_NOTHING) {
    tamp_writer_raw(&writer, TAMP_TEXT(",\"state\":\"output-error\""));
  }
  if (value[INPUT].type == TAMP_JSON_NOTHING) tamp_writer_raw(&writer, TAMP_TEXT(",\"input\":{}"));
  tamp_writer_raw(&writer, TAMP_TEXT(",\"errorText\":"));
  tamp_writer_string(&writer, text);
  tamp_splice_written(splices, part->element.at + part->element.length - 1, 0, &writer);
}

static const TampForm form = {
    .members = part_members,
    .rules = rules,
    .member_count = PART_MEMBERS,
    .rule_count = sizeof rules / sizeof *rules,
    .opaque = PROVIDER_METADATA,
    .text_part = TAMP_TEXT_INIT("{\"type\":\"text\",\"text\":"),
    .keeps_silent = true,
    .refine = refine,
    .answer = answer,
};

static TampStatus add_result(TampMessage *message, TampValue element, TampValue id, TampValue content,
                             uint8_t flags) {
  TampPart *part = tamp_message_part(message, TAMP_PART_RESULT);
  if (!part) return TAMP_NO_MEMORY;
  part->element = element;
  part->id = id;
  part->text = content;
  part->flags = flags;
  return tamp_result_is_json(message, message->count - 1);
}

static TampStatus refine_call(TampMessage *message, uint32_t index, TampValue element, const TampValue *value) {
  const uint8_t *text = message->text;
  TampPart *part = &message->parts[index];
  TampValue id = part->id;
  if (part->text.type == TAMP_JSON_NOTHING) part->text = value[RAW_INPUT];
  if (tamp_value_starts(text, value[STATE], TAMP_TEXT("approval-"))) part->flags |= TAMP_PART_AWAITS;
  if (!tamp_value_starts(text, value[STATE], TAMP_TEXT("output-"))) return TAMP_OK;
  bool failed = !tamp_value_is(text, value[STATE], TAMP_TEXT("output-available"));
  return add_result(message, element, id, value[failed ? ERROR_TEXT : OUTPUT], failed ? TAMP_PART_FAILED : 0);
}

/* The tool parts of AI SDK 4. */
static TampStatus read_invocation(TampMessage *message, TampValue element, TampValue invocation) {
  TampValue value[PART_MEMBERS];
  tamp_value_members(message->text, invocation, part_members, PART_MEMBERS, value);
  TampPart *part = tamp_message_part(message, TAMP_PART_CALL);
  if (!part) return TAMP_NO_MEMORY;
  part->element = element;
  part->id = value[TOOL_CALL_ID];
  part->name = value[TOOL_NAME];
  part->text = value[ARGS];
  part->flags = TAMP_PART_AWAITS; /* nobody else's to answer */
  if (!tamp_value_is(message->text, value[STATE], TAMP_TEXT("result"))) return TAMP_OK;
  return add_result(message, element, value[TOOL_CALL_ID], value[RESULT], TAMP_PART_FIXED);
}

static TampStatus refine(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                         const TampValue *value) {
  if (index == TAMP_NONE) {
    if (value[TOOL_INVOCATION].type == TAMP_JSON_OBJECT) {
      return read_invocation(message, element, value[TOOL_INVOCATION]);
    }
    /* What a person said in between: parts of this message, though in a list of their own. */
    TampValue list = message->list;
    TampStatus status = TAMP_OK;
    if (tamp_value_is(message->text, value[TYPE], TAMP_TEXT("steering-message"))) {
      status = tamp_blocks_read(message, &form, value[PARTS], TAMP_NONE);
    }
    message->list = list;
    return status;
  }
  TampPart *part = &message->parts[index];
  if (rule->kind == TAMP_PART_CALL) {
    if (rule->name == TYPE) {
      part->name = value[TYPE];
      part->name_at = sizeof "tool-" - 1;
    }
    return refine_call(message, index, element, value);
  }
  if (rule->kind == TAMP_PART_MEDIA && tamp_value_is_data_url(message->text, part->text)) {
    part->flags |= TAMP_PART_INLINE;
  }
  return TAMP_OK;
}

static TampStatus read(TampCursor *cursor, TampMessage *message) {
  enum { ID, ROLE, LIST, METADATA, CONTENT, MEMBERS };
  static const TampText members[MEMBERS] = {TAMP_TEXT_INIT("id"), TAMP_TEXT_INIT("role"), TAMP_TEXT_INIT("parts"),
                                            TAMP_TEXT_INIT("metadata"), TAMP_TEXT_INIT("content")};
  static const TampRoleName roles[] = {
      {TAMP_TEXT_INIT("assistant"), TAMP_ROLE_ASSISTANT},
      {TAMP_TEXT_INIT("user"), TAMP_ROLE_USER},
      {TAMP_TEXT_INIT("system"), TAMP_ROLE_SYSTEM},
  };
  TampValue value[MEMBERS];
  if (!tamp_cursor_members(cursor, members, MEMBERS, value, &message->whole)) return cursor->status;
  if (message->whole.type != TAMP_JSON_OBJECT) return TAMP_BAD_MESSAGE;
  message->id = value[ID];
  message->role = tamp_role_of(message->text, value[ROLE], roles, sizeof roles / sizeof *roles);
  tamp_mark_read(message, value[METADATA]);
  return tamp_blocks_read(message, &form, value[value[LIST].type == TAMP_JSON_ARRAY ? LIST : CONTENT], TAMP_NONE);
}

static TampStatus edit(const TampMessage *message, const TampEdit *edits, size_t count, TampArena *scratch,
                       TampWriter *writer) {
  return tamp_blocks_edit(message, &form, edits, count, scratch, writer);
}

static void draft(const TampDraft *draft, TampWriter *writer) {
  tamp_draft_write(draft,
                   "{\"id\":%i,\"role\":%r,\"parts\":[{\"type\":\"text\",\"text\":%t}]"
                   "%?,\"metadata\":{\"tamp\":%m}%;}",
                   writer);
}

const TampFormat tamp_format_ai_sdk_ui = {
    .name = "ai-sdk-ui",
    .flags = TAMP_FORMAT_OWN_RESULTS,
    .id_path = "id",
    .read = read,
    .edit = edit,
    .draft = draft,
    .marks = "role&parts/*/type",
};
