/* Messages of pydantic-ai: a request holds instructions, what a person says and results side by side; who speaks is
 * the kind of a part. Results and arguments are any JSON. */
#include "blocks.h"

enum {
  PART_KIND,
  CONTENT,
  TOOL_CALL_ID,
  TOOL_NAME,
  ARGS,
  OUTCOME,
  TOOL_KIND,
  SIGNATURE,
  TRANSCRIPT,
  PART_MEMBERS
};

static const TampText part_members[PART_MEMBERS] = {
    [PART_KIND] = TAMP_TEXT_INIT("part_kind"),
    [CONTENT] = TAMP_TEXT_INIT("content"),
    [TOOL_CALL_ID] = TAMP_TEXT_INIT("tool_call_id"),
    [TOOL_NAME] = TAMP_TEXT_INIT("tool_name"),
    [ARGS] = TAMP_TEXT_INIT("args"),
    [OUTCOME] = TAMP_TEXT_INIT("outcome"),
    [TOOL_KIND] = TAMP_TEXT_INIT("tool_kind"),
    [SIGNATURE] = TAMP_TEXT_INIT("signature"),
    [TRANSCRIPT] = TAMP_TEXT_INIT("transcript"),
};

static const TampRule rules[] = {
    {.type = TAMP_TEXT_INIT("user-prompt"), .kind = TAMP_RULE_SILENT},
    {.type = TAMP_TEXT_INIT("text"), .kind = TAMP_PART_TEXT, .text = CONTENT},
    {.type = TAMP_TEXT_INIT("tool-call"),
     .kind = TAMP_PART_CALL,
     .text = ARGS,
     .id = TOOL_CALL_ID,
     .name = TOOL_NAME},
    {.type = TAMP_TEXT_INIT("tool-return"), .kind = TAMP_PART_RESULT, .text = CONTENT, .id = TOOL_CALL_ID},
    {.type = TAMP_TEXT_INIT("retry-prompt"), .kind = TAMP_PART_RESULT, .text = CONTENT, .id = TOOL_CALL_ID},
    {.type = TAMP_TEXT_INIT("thinking"),
     .kind = TAMP_PART_REASONING,
     .flags = TAMP_PART_REMOVABLE,
     .text = CONTENT},
    {.type = TAMP_TEXT_INIT("system-prompt"),
     .kind = TAMP_PART_TEXT,
     .flags = TAMP_PART_INSTRUCTIONS,
     .text = CONTENT},
    {.type = TAMP_TEXT_INIT("speech"), .kind = TAMP_PART_TEXT, .text = TRANSCRIPT},
    {.type = TAMP_TEXT_INIT("file"), .kind = TAMP_PART_MEDIA, .text = CONTENT},
    {.type = TAMP_TEXT_INIT("compaction"), .kind = TAMP_RULE_SILENT, .text = CONTENT},
    {.type = TAMP_TEXT_INIT("tool-availability-delta"), .kind = TAMP_RULE_SILENT},
    {.type = TAMP_TEXT_INIT("*-tool-call"),
     .kind = TAMP_PART_CALL,
     .flags = TAMP_PART_AWAITS,
     .text = ARGS,
     .id = TOOL_CALL_ID,
     .name = TOOL_NAME},
    {.type = TAMP_TEXT_INIT("*-tool-return"),
     .kind = TAMP_PART_RESULT,
     .flags = TAMP_PART_FIXED,
     .text = CONTENT,
     .id = TOOL_CALL_ID},
};

/* What a prompt or a result consists of beside strings. */
enum { KIND, ITEM_CONTENT, DATA, MEDIA_TYPE, ITEM_MEMBERS };

static const TampText item_members[ITEM_MEMBERS] = {
    [KIND] = TAMP_TEXT_INIT("kind"),
    [ITEM_CONTENT] = TAMP_TEXT_INIT("content"),
    [DATA] = TAMP_TEXT_INIT("data"),
    [MEDIA_TYPE] = TAMP_TEXT_INIT("media_type"),
};

static const TampRule item_rules[] = {
    {.type = TAMP_TEXT_INIT("binary"),
     .kind = TAMP_PART_MEDIA,
     .flags = TAMP_PART_INLINE,
     .text = DATA,
     .name = MEDIA_TYPE},
    {.type = TAMP_TEXT_INIT("*-url"), .kind = TAMP_PART_MEDIA},
    {.type = TAMP_TEXT_INIT("uploaded-file"), .kind = TAMP_PART_MEDIA},
};

static const TampForm item_form = {
    .members = item_members,
    .rules = item_rules,
    .member_count = ITEM_MEMBERS,
    .rule_count = sizeof item_rules / sizeof *item_rules,
};

static void set_result(const TampMessage *message, const TampPart *part, TampText text, TampSplices *splices) {
  (void)message;
  tamp_splice_set_string(splices, part->element, part_members[CONTENT], text);
}

/* A string, or a list of strings and items: parts of the message. */
static TampStatus read_prompt(TampMessage *message, TampValue content) {
  TampValue list = message->list;
  TampStatus status = tamp_blocks_read(message, &item_form, content, TAMP_NONE);
  message->list = list;
  return status;
}

/* A result may hold files, which are not weighed as they are spelled. */
static TampStatus refine_result(TampMessage *message, uint32_t index, const TampValue *value) {
  static const TampText kind_name = TAMP_TEXT_INIT("kind");
  TampPart *part = &message->parts[index];
  TampValue element = part->text, kind;
  bool feedback = tamp_value_is(message->text, value[PART_KIND], TAMP_TEXT("retry-prompt"));
  bool succeeded = value[OUTCOME].type <= TAMP_JSON_NULL ||
                   tamp_value_is(message->text, value[OUTCOME], TAMP_TEXT("success"));
  if (feedback && value[TOOL_NAME].type != TAMP_JSON_STRING) {
    part->kind = TAMP_PART_TEXT; /* the model is told to try again, and no tool was called */
    return TAMP_OK;
  }
  if (feedback || !succeeded) part->flags |= TAMP_PART_FAILED;
  if (value[TOOL_KIND].type == TAMP_JSON_STRING) part->flags |= TAMP_PART_FIXED;
  tamp_value_members(message->text, element, &kind_name, 1, &kind);
  if (kind.type == TAMP_JSON_STRING) {
    part->text = (TampValue){0};
    return tamp_block_read(message, &item_form, element, index);
  }
  uint32_t state = 0;
  while (kind.type != TAMP_JSON_STRING && tamp_value_next(message->text, part->text, &state, &element)) {
    tamp_value_members(message->text, element, &kind_name, 1, &kind);
  }
  return kind.type == TAMP_JSON_STRING ? tamp_blocks_read(message, &item_form, part->text, index)
                                       : tamp_result_is_json(message, index);
}

static TampStatus refine(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                         const TampValue *value) {
  TampValue file[ITEM_MEMBERS];
  (void)element;
  if (index == TAMP_NONE) {
    if (rule->text == CONTENT) message->flags |= TAMP_MESSAGE_PINNED; /* stands for all before it */
    return value[CONTENT].type > TAMP_JSON_NULL ? read_prompt(message, value[CONTENT]) : TAMP_OK;
  }
  if (rule->kind == TAMP_PART_RESULT) return refine_result(message, index, value);
  if (rule->kind == TAMP_PART_MEDIA) {
    tamp_value_members(message->text, value[CONTENT], item_members, ITEM_MEMBERS, file);
    message->parts[index].text = file[DATA];
    message->parts[index].name = file[MEDIA_TYPE];
  }
  return TAMP_OK;
}

static const TampForm form = {
    .members = part_members,
    .rules = rules,
    .member_count = PART_MEMBERS,
    .rule_count = sizeof rules / sizeof *rules,
    .opaque = SIGNATURE,
    .text_part = TAMP_TEXT_INIT("{\"part_kind\":\"text\",\"content\":"),
    .media_is_string = true,
    .refine = refine,
    .set_result = set_result,
};

static TampStatus read(TampCursor *cursor, TampMessage *message) {
  static const TampText members[3] = {TAMP_TEXT_INIT("kind"), TAMP_TEXT_INIT("parts"), TAMP_TEXT_INIT("metadata")};
  static const TampRoleName roles[] = {
      {TAMP_TEXT_INIT("response"), TAMP_ROLE_ASSISTANT},
      {TAMP_TEXT_INIT("request"), TAMP_ROLE_USER},
  };
  TampValue value[3];
  if (!tamp_cursor_members(cursor, members, 3, value, &message->whole)) return cursor->status;
  if (message->whole.type != TAMP_JSON_OBJECT) return TAMP_BAD_MESSAGE;
  message->role = tamp_role_of(message->text, value[0], roles, sizeof roles / sizeof *roles);
  tamp_mark_read(message, value[2]);
  TampStatus status = tamp_blocks_read(message, &form, value[1], TAMP_NONE);
  bool instructs = message->count > 0;
  for (uint32_t i = 0; i < message->count; i++) {
    instructs = instructs && (message->parts[i].flags & TAMP_PART_INSTRUCTIONS);
  }
  if (instructs) message->role = TAMP_ROLE_SYSTEM;
  return status;
}

static TampStatus edit(const TampMessage *message, const TampEdit *edits, size_t count, TampArena *scratch,
                       TampWriter *writer) {
  return tamp_blocks_edit(message, &form, edits, count, scratch, writer);
}

static void draft(const TampDraft *draft, TampWriter *writer) {
  static const char *const templates[] = {
      [TAMP_ROLE_SYSTEM] = "{\"kind\":\"request\",\"parts\":[{\"part_kind\":\"system-prompt\",\"content\":%t}]"
                           "%?,\"metadata\":{\"tamp\":%m}%;}",
      [TAMP_ROLE_USER] = "{\"kind\":\"request\",\"parts\":[{\"part_kind\":\"user-prompt\",\"content\":%t}]"
                         "%?,\"metadata\":{\"tamp\":%m}%;}",
      [TAMP_ROLE_ASSISTANT] = "{\"kind\":\"response\",\"parts\":[{\"part_kind\":\"text\",\"content\":%t}]"
                              "%?,\"metadata\":{\"tamp\":%m}%;}",
      [TAMP_ROLE_TOOL] = "{\"kind\":\"request\",\"parts\":[{\"part_kind\":\"tool-return\",\"tool_name\":%n,"
                         "\"content\":%t,\"tool_call_id\":%c}]}",
  };
  tamp_draft_write(draft, templates[draft->role], writer);
}

const TampFormat tamp_format_pydantic_ai = {
    .name = "pydantic-ai",
    .flags = TAMP_FORMAT_ONE_BATCH,
    .id_path = "",
    .read = read,
    .edit = edit,
    .draft = draft,
    .marks = "kind=request|response&parts/*/part_kind",
};
