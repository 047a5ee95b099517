/* ModelMessage of the AI SDK: results are parts of tool messages, and outputs say what they are. Keys that it does
 * not know never reach a provider, and providers ignore options under a name that is not theirs: there a mark is
 * safe. */
#include "blocks.h"

enum {
  TYPE,
  TEXT,
  TOOL_CALL_ID,
  TOOL_NAME,
  INPUT,
  OUTPUT,
  IMAGE,
  DATA,
  MEDIA_TYPE,
  PROVIDER_OPTIONS,
  VALUE,
  REASON,
  URL,
  PART_MEMBERS
};

static const TampText part_members[PART_MEMBERS] = {
    [TYPE] = TAMP_TEXT_INIT("type"),
    [TEXT] = TAMP_TEXT_INIT("text"),
    [TOOL_CALL_ID] = TAMP_TEXT_INIT("toolCallId"),
    [TOOL_NAME] = TAMP_TEXT_INIT("toolName"),
    [INPUT] = TAMP_TEXT_INIT("input"),
    [OUTPUT] = TAMP_TEXT_INIT("output"),
    [IMAGE] = TAMP_TEXT_INIT("image"),
    [DATA] = TAMP_TEXT_INIT("data"),
    [MEDIA_TYPE] = TAMP_TEXT_INIT("mediaType"),
    [PROVIDER_OPTIONS] = TAMP_TEXT_INIT("providerOptions"),
    [VALUE] = TAMP_TEXT_INIT("value"),
    [REASON] = TAMP_TEXT_INIT("reason"),
    [URL] = TAMP_TEXT_INIT("url"),
};

static const TampRule rules[] = {
    {.type = TAMP_TEXT_INIT("text"), .kind = TAMP_PART_TEXT, .text = TEXT},
    {.type = TAMP_TEXT_INIT("reasoning"),
     .kind = TAMP_PART_REASONING,
     .flags = TAMP_PART_REMOVABLE,
     .text = TEXT},
    {.type = TAMP_TEXT_INIT("tool-call"),
     .kind = TAMP_PART_CALL,
     .text = INPUT,
     .id = TOOL_CALL_ID,
     .name = TOOL_NAME},
    {.type = TAMP_TEXT_INIT("tool-result"), .kind = TAMP_PART_RESULT, .text = OUTPUT, .id = TOOL_CALL_ID},
    {.type = TAMP_TEXT_INIT("tool-approval-request"), .kind = TAMP_RULE_SILENT, .id = TOOL_CALL_ID},
    {.type = TAMP_TEXT_INIT("tool-*"), .kind = TAMP_RULE_SILENT},
    {.type = TAMP_TEXT_INIT("image"), .kind = TAMP_PART_MEDIA, .text = IMAGE, .name = MEDIA_TYPE},
    {.type = TAMP_TEXT_INIT("image-*"), .kind = TAMP_PART_MEDIA, .text = DATA, .name = MEDIA_TYPE},
    {.type = TAMP_TEXT_INIT("file*"), .kind = TAMP_PART_MEDIA, .text = DATA, .name = MEDIA_TYPE},
    {.type = TAMP_TEXT_INIT("media"), .kind = TAMP_PART_MEDIA, .text = DATA, .name = MEDIA_TYPE},
    {.type = TAMP_TEXT_INIT("reasoning-file"), .kind = TAMP_PART_MEDIA, .text = DATA, .name = MEDIA_TYPE},
};

static TampStatus refine(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                         const TampValue *value);

static void set_result(const TampMessage *message, const TampPart *part, TampText text, TampSplices *splices) {
  TampValue value[PART_MEMBERS];
  tamp_value_members(message->text, part->element, part_members, PART_MEMBERS, value);
  TampWriter writer = tamp_writer(splices->arena);
  tamp_writer_raw(&writer, part->flags & TAMP_PART_FAILED ? TAMP_TEXT("{\"type\":\"error-text\",\"value\":")
                                                          : TAMP_TEXT("{\"type\":\"text\",\"value\":"));
  tamp_writer_string(&writer, text);
  tamp_writer_raw(&writer, TAMP_TEXT("}"));
  tamp_splice_written(splices, value[OUTPUT].at, value[OUTPUT].length, &writer);
}

static const TampForm form = {
    .members = part_members,
    .rules = rules,
    .member_count = PART_MEMBERS,
    .rule_count = sizeof rules / sizeof *rules,
    .opaque = PROVIDER_OPTIONS,
    .text_part = TAMP_TEXT_INIT("{\"type\":\"text\",\"text\":"),
    .refine = refine,
    .set_result = set_result,
};

/* {"type": …, "value": …}. The texts of `content` are parts of their own. */
static TampStatus refine_output(TampMessage *message, uint32_t index, TampValue output) {
  TampValue value[PART_MEMBERS];
  TampPart *part = &message->parts[index];
  tamp_value_members(message->text, output, part_members, PART_MEMBERS, value);
  part->text = value[VALUE];
  if (tamp_value_is(message->text, value[TYPE], TAMP_TEXT("execution-denied"))) {
    part->error = value[REASON];
    part->flags |= TAMP_PART_FAILED;
  } else if (tamp_value_is(message->text, value[TYPE], TAMP_TEXT("error-text")) ||
             tamp_value_is(message->text, value[TYPE], TAMP_TEXT("error-json"))) {
    part->flags |= TAMP_PART_FAILED;
  } else if (tamp_value_is(message->text, value[TYPE], TAMP_TEXT("content"))) {
    return tamp_blocks_read(message, &form, value[VALUE], index);
  }
  return tamp_result_is_json(message, index);
}

/* Bytes are a string in base64, or tagged ones; a URL may be a data URL. */
static void refine_media(TampMessage *message, TampPart *part) {
  static const TampText http = TAMP_TEXT_INIT("http");
  TampValue value[PART_MEMBERS];
  if (part->text.type == TAMP_JSON_OBJECT) {
    tamp_value_members(message->text, part->text, part_members, PART_MEMBERS, value);
    if (tamp_value_is(message->text, value[TYPE], TAMP_TEXT("text"))) {
      part->kind = TAMP_PART_TEXT;
      part->text = value[TEXT];
      return;
    }
    part->text = value[DATA].type == TAMP_JSON_STRING ? value[DATA] : value[URL];
  }
  if (part->text.type == TAMP_JSON_STRING && !tamp_value_starts(message->text, part->text, http)) {
    part->flags |= TAMP_PART_INLINE;
  }
}

/* The call that a person is asked to approve stays open. */
static TampStatus await_approval(TampMessage *message, TampValue id) {
  TampText wanted;
  TampStatus status = tamp_value_text(message->text, id, message->arena, &wanted);
  for (uint32_t i = 0; !status && i < message->count; i++) {
    TampPart *part = &message->parts[i];
    if (part->kind == TAMP_PART_CALL && tamp_value_is(message->text, part->id, wanted)) {
      part->flags |= TAMP_PART_AWAITS;
    }
  }
  return status;
}

static TampStatus refine(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                         const TampValue *value) {
  (void)element;
  if (index == TAMP_NONE) return rule->id ? await_approval(message, value[TOOL_CALL_ID]) : TAMP_OK;
  if (rule->kind == TAMP_PART_RESULT) return refine_output(message, index, value[OUTPUT]);
  if (rule->kind == TAMP_PART_MEDIA) refine_media(message, &message->parts[index]);
  return TAMP_OK;
}

static TampStatus read(TampCursor *cursor, TampMessage *message) {
  static const TampText members[3] = {TAMP_TEXT_INIT("role"), TAMP_TEXT_INIT("content"),
                                      TAMP_TEXT_INIT("providerOptions")};
  static const TampRoleName roles[] = {
      {TAMP_TEXT_INIT("assistant"), TAMP_ROLE_ASSISTANT},
      {TAMP_TEXT_INIT("user"), TAMP_ROLE_USER},
      {TAMP_TEXT_INIT("tool"), TAMP_ROLE_TOOL},
      {TAMP_TEXT_INIT("system"), TAMP_ROLE_SYSTEM},
  };
  TampValue value[3];
  if (!tamp_cursor_members(cursor, members, 3, value, &message->whole)) return cursor->status;
  if (message->whole.type != TAMP_JSON_OBJECT) return TAMP_BAD_MESSAGE;
  message->role = tamp_role_of(message->text, value[0], roles, sizeof roles / sizeof *roles);
  tamp_mark_read(message, value[2]);
  return tamp_blocks_read(message, &form, value[1], TAMP_NONE);
}

static TampStatus edit(const TampMessage *message, const TampEdit *edits, size_t count, TampArena *scratch,
                       TampWriter *writer) {
  return tamp_blocks_edit(message, &form, edits, count, scratch, writer);
}

static void draft(const TampDraft *draft, TampWriter *writer) {
  tamp_draft_write(draft,
                   draft->role == TAMP_ROLE_TOOL
                       ? "{\"role\":%r,\"content\":[{\"type\":\"tool-result\",\"toolCallId\":%c,"
                         "\"toolName\":%n,\"output\":{\"type\":\"text\",\"value\":%t}}]}"
                       : "{\"role\":%r,\"content\":%t%?,\"providerOptions\":{\"tamp\":%m}%;}",
                   writer);
}

const TampFormat tamp_format_ai_sdk_model = {
    .name = "ai-sdk-model",
    .id_path = "",
    .read = read,
    .edit = edit,
    .draft = draft,
    .marks = "content/*/type=tool-call|tool-result|tool-approval-request|tool-approval-response|reasoning\n"
             "content/*/image\ncontent/*/type=file&content/*/mediaType\nproviderOptions\n"
             "content/*/providerOptions",
};
