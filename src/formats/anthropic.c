/* Anthropic Messages: results are blocks of the user message behind the call, next to what a person says. The API
 * refuses a key that it does not know, so nothing of ours may be written into a message. */
#include "blocks.h"

enum { TYPE, TEXT, ID, NAME, INPUT, TOOL_USE_ID, CONTENT, IS_ERROR, THINKING, SIGNATURE, SOURCE, BLOCK_MEMBERS };

static const TampText block_members[BLOCK_MEMBERS] = {
    [TYPE] = TAMP_TEXT_INIT("type"),
    [TEXT] = TAMP_TEXT_INIT("text"),
    [ID] = TAMP_TEXT_INIT("id"),
    [NAME] = TAMP_TEXT_INIT("name"),
    [INPUT] = TAMP_TEXT_INIT("input"),
    [TOOL_USE_ID] = TAMP_TEXT_INIT("tool_use_id"),
    [CONTENT] = TAMP_TEXT_INIT("content"),
    [IS_ERROR] = TAMP_TEXT_INIT("is_error"),
    [THINKING] = TAMP_TEXT_INIT("thinking"),
    [SIGNATURE] = TAMP_TEXT_INIT("signature"),
    [SOURCE] = TAMP_TEXT_INIT("source"),
};

/* What the provider ran answers inside its message, and may be open when it goes on in the next one: such a call
 * is nobody's to answer. The content of its results is signed. */
static const TampRule rules[] = {
    {.type = TAMP_TEXT_INIT("text"), .kind = TAMP_PART_TEXT, .text = TEXT},
    {.type = TAMP_TEXT_INIT("tool_use"), .kind = TAMP_PART_CALL, .text = INPUT, .id = ID, .name = NAME},
    {.type = TAMP_TEXT_INIT("tool_result"), .kind = TAMP_PART_RESULT, .text = CONTENT, .id = TOOL_USE_ID},
    {.type = TAMP_TEXT_INIT("thinking"),
     .kind = TAMP_PART_REASONING,
     .flags = TAMP_PART_REMOVABLE,
     .text = THINKING},
    {.type = TAMP_TEXT_INIT("redacted_thinking"),
     .kind = TAMP_PART_REASONING,
     .flags = TAMP_PART_REMOVABLE | TAMP_PART_OPAQUE},
    {.type = TAMP_TEXT_INIT("image"), .kind = TAMP_PART_MEDIA},
    {.type = TAMP_TEXT_INIT("document"), .kind = TAMP_PART_MEDIA},
    {.type = TAMP_TEXT_INIT("search_result"), .kind = TAMP_RULE_SILENT, .text = CONTENT},
    {.type = TAMP_TEXT_INIT("compaction"), .kind = TAMP_PART_TEXT, .text = CONTENT},
    {.type = TAMP_TEXT_INIT("*_tool_use"),
     .kind = TAMP_PART_CALL,
     .flags = TAMP_PART_AWAITS,
     .text = INPUT,
     .id = ID,
     .name = NAME},
    {.type = TAMP_TEXT_INIT("*_tool_result"),
     .kind = TAMP_PART_RESULT,
     .flags = TAMP_PART_FIXED,
     .text = CONTENT,
     .id = TOOL_USE_ID},
};

static TampStatus refine(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                         const TampValue *value);

const TampForm tamp_anthropic_form = {
    .members = block_members,
    .rules = rules,
    .member_count = BLOCK_MEMBERS,
    .rule_count = sizeof rules / sizeof *rules,
    .opaque = SIGNATURE,
    .text_part = TAMP_TEXT_INIT("{\"type\":\"text\",\"text\":"),
    .refine = refine,
};

/* An image or a document, which may also be text or other blocks. */
static TampStatus refine_source(TampMessage *message, uint32_t index, TampValue source) {
  enum { KIND, DATA, MEDIA_TYPE, BLOCKS, SOURCE_MEMBERS };
  static const TampText names[SOURCE_MEMBERS] = {TAMP_TEXT_INIT("type"), TAMP_TEXT_INIT("data"),
                                                 TAMP_TEXT_INIT("media_type"), TAMP_TEXT_INIT("content")};
  TampValue value[SOURCE_MEMBERS];
  TampPart *part = &message->parts[index];
  tamp_value_members(message->text, source, names, SOURCE_MEMBERS, value);
  if (value[BLOCKS].type > TAMP_JSON_NULL) {
    uint32_t owner = part->owner;
    TampValue list = message->list;
    message->count--;
    TampStatus status = tamp_blocks_read(message, &tamp_anthropic_form, value[BLOCKS], owner);
    message->list = list;
    return status;
  }
  part->text = value[DATA];
  part->name = value[MEDIA_TYPE];
  if (tamp_value_is(message->text, value[KIND], TAMP_TEXT("text"))) {
    part->kind = TAMP_PART_TEXT;
  } else if (tamp_value_is(message->text, value[KIND], TAMP_TEXT("base64"))) {
    part->flags |= TAMP_PART_INLINE;
  }
  return TAMP_OK;
}

static TampStatus refine(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                         const TampValue *value) {
  static const TampText error_name = TAMP_TEXT_INIT("error_code");
  (void)element;
  if (index == TAMP_NONE) return TAMP_OK;
  TampPart *part = &message->parts[index];
  if (rule->kind == TAMP_PART_MEDIA) return refine_source(message, index, value[SOURCE]);
  if (rule->text == CONTENT && rule->kind == TAMP_PART_TEXT) message->flags |= TAMP_MESSAGE_PINNED;
  if (rule->kind != TAMP_PART_RESULT) return TAMP_OK;
  tamp_value_members(message->text, value[CONTENT], &error_name, 1, &part->error);
  if (part->error.type == TAMP_JSON_STRING) part->text = (TampValue){0};
  if (part->error.type == TAMP_JSON_STRING || value[IS_ERROR].type == TAMP_JSON_TRUE) {
    part->flags |= TAMP_PART_FAILED;
  }
  return part->text.type == TAMP_JSON_ARRAY ? tamp_blocks_read(message, &tamp_anthropic_form, part->text, index) : TAMP_OK;
}

static TampStatus read(TampCursor *cursor, TampMessage *message) {
  static const TampText members[2] = {TAMP_TEXT_INIT("role"), TAMP_TEXT_INIT("content")};
  static const TampRoleName roles[] = {
      {TAMP_TEXT_INIT("assistant"), TAMP_ROLE_ASSISTANT},
      {TAMP_TEXT_INIT("user"), TAMP_ROLE_USER},
      {TAMP_TEXT_INIT("system"), TAMP_ROLE_SYSTEM},
  };
  TampValue value[2];
  if (!tamp_cursor_members(cursor, members, 2, value, &message->whole)) return cursor->status;
  if (message->whole.type != TAMP_JSON_OBJECT) return TAMP_BAD_MESSAGE;
  message->role = tamp_role_of(message->text, value[0], roles, sizeof roles / sizeof *roles);
  TampStatus status = tamp_blocks_read(message, &tamp_anthropic_form, value[1], TAMP_NONE);
  return status ? status : tamp_mark_by_label(message);
}

static TampStatus edit(const TampMessage *message, const TampEdit *edits, size_t count, TampArena *scratch,
                       TampWriter *writer) {
  return tamp_blocks_edit(message, &tamp_anthropic_form, edits, count, scratch, writer);
}

static void draft(const TampDraft *draft, TampWriter *writer) {
  tamp_draft_write(draft,
                   draft->role == TAMP_ROLE_TOOL ? "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                                                   "\"tool_use_id\":%c,\"content\":%t}]}"
                                                 : "{\"role\":%r,\"content\":%t}",
                   writer);
}

const TampFormat tamp_format_anthropic = {
    .name = "anthropic",
    .flags = TAMP_FORMAT_ONE_BATCH,
    .id_path = "",
    .read = read,
    .edit = edit,
    .draft = draft,
    .marks = "content/*/type=tool_use|tool_result|thinking|redacted_thinking|*_tool_use|*_tool_result\n"
             "content/*/source/media_type\ncontent/*/source/url\ncontent/*/source/file_id\n"
             "content/*/source/type=base64|text|content\ntype=message&stop_reason",
};
