/* Codex rollouts: one item of a response a line, wrapped in {timestamp, type, payload}. Only `response_item` and what
 * a `compacted` line stands for reach the model; the rest is for the program and for people, who see copies
 * ("twins") of what was said. */
#include <string.h>

#include "blocks.h"

enum { TYPE, PAYLOAD, MEMBERS };

static const TampText members[MEMBERS] = {[TYPE] = TAMP_TEXT_INIT("type"), [PAYLOAD] = TAMP_TEXT_INIT("payload")};

enum {
  KIND,
  ROLE,
  CONTENT,
  ID,
  NAME,
  ARGUMENTS,
  INPUT,
  ACTION,
  CALL_ID,
  OUTPUT,
  SUMMARY,
  ENCRYPTED,
  MESSAGE,
  HISTORY,
  TOOLS,
  MEMBERS_OF_PAYLOAD
};

static const TampText payload_members[MEMBERS_OF_PAYLOAD] = {
    [KIND] = TAMP_TEXT_INIT("type"),
    [ROLE] = TAMP_TEXT_INIT("role"),
    [CONTENT] = TAMP_TEXT_INIT("content"),
    [ID] = TAMP_TEXT_INIT("id"),
    [NAME] = TAMP_TEXT_INIT("name"),
    [ARGUMENTS] = TAMP_TEXT_INIT("arguments"),
    [INPUT] = TAMP_TEXT_INIT("input"),
    [ACTION] = TAMP_TEXT_INIT("action"),
    [CALL_ID] = TAMP_TEXT_INIT("call_id"),
    [OUTPUT] = TAMP_TEXT_INIT("output"),
    [SUMMARY] = TAMP_TEXT_INIT("summary"),
    [ENCRYPTED] = TAMP_TEXT_INIT("encrypted_content"),
    [MESSAGE] = TAMP_TEXT_INIT("message"),
    [HISTORY] = TAMP_TEXT_INIT("replacement_history"),
    [TOOLS] = TAMP_TEXT_INIT("tools"),
};

static const TampText block_members[] = {TAMP_TEXT_INIT("type"), TAMP_TEXT_INIT("text"), TAMP_TEXT_INIT("image_url")};

static const TampRule rules[] = {
    {.type = TAMP_TEXT_INIT("input_image"), .kind = TAMP_PART_MEDIA, .text = 2},
    {.type = TAMP_TEXT_INIT("summary_text"), .kind = TAMP_PART_REASONING, .text = 1},
    {.type = TAMP_TEXT_INIT("reasoning_text"), .kind = TAMP_PART_REASONING, .text = 1},
};

static TampStatus refine(TampMessage *message, uint32_t index, const TampRule *rule, TampValue element,
                         const TampValue *value) {
  (void)element;
  (void)value;
  if (index == TAMP_NONE || rule->kind != TAMP_PART_MEDIA) return TAMP_OK;
  TampPart *part = &message->parts[index];
  if (tamp_value_is_data_url(message->text, part->text)) part->flags |= TAMP_PART_INLINE;
  return TAMP_OK;
}

static const TampForm form = {
    .members = block_members,
    .rules = rules,
    .member_count = sizeof block_members / sizeof *block_members,
    .rule_count = sizeof rules / sizeof *rules,
    .text_part = TAMP_TEXT_INIT("{\"type\":\"input_text\",\"text\":"),
    .refine = refine,
};

static TampPart *add_part(TampMessage *message, uint8_t kind, TampValue text) {
  TampPart *part = tamp_message_part(message, kind);
  if (part) part->text = text;
  return part;
}

/* What the program says in the user's name: newer files mark what the person said, older ones show it. */
static bool is_harness(const TampMessage *message, TampValue payload) {
  static const TampText passthrough = TAMP_TEXT_INIT("internal_chat_message_metadata_passthrough");
  static const TampText kinds = TAMP_TEXT_INIT("content_item_kinds");
  static const TampText starts[] = {
      TAMP_TEXT_INIT("<environment_context>"), TAMP_TEXT_INIT("<user_instructions>"),
      TAMP_TEXT_INIT("<permissions instructions>"), TAMP_TEXT_INIT("<skills_instructions>"),
      TAMP_TEXT_INIT("# AGENTS.md instructions"),
  };
  TampValue metadata, list, first;
  uint32_t state = 0;
  tamp_value_members(message->text, payload, &passthrough, 1, &metadata);
  tamp_value_members(message->text, metadata, &kinds, 1, &list);
  if (tamp_value_next(message->text, list, &state, &first)) {
    return !tamp_value_is(message->text, first, TAMP_TEXT("user.text"));
  }
  if (message->count == 0 || message->parts[0].kind != TAMP_PART_TEXT) return false;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    if (tamp_value_starts(message->text, message->parts[0].text, starts[i])) return true;
  }
  return false;
}

static TampStatus read_said(TampMessage *message, TampValue payload, const TampValue *value) {
  const uint8_t *text = message->text;
  TampStatus status = tamp_blocks_read(message, &form, value[CONTENT], TAMP_NONE);
  if (tamp_value_is(text, value[ROLE], TAMP_TEXT("assistant"))) {
    message->role = TAMP_ROLE_ASSISTANT;
  } else if (tamp_value_is(text, value[ROLE], TAMP_TEXT("user"))) {
    message->role = is_harness(message, payload) ? TAMP_ROLE_SYSTEM : TAMP_ROLE_USER;
  } else {
    message->role = TAMP_ROLE_SYSTEM;
  }
  return status;
}

static TampStatus read_reasoning(TampMessage *message, const TampValue *value) {
  message->role = TAMP_ROLE_REASONING;
  if (value[ENCRYPTED].type == TAMP_JSON_STRING) message->flags |= TAMP_MESSAGE_OPAQUE;
  TampStatus status = tamp_blocks_read(message, &form, value[SUMMARY], TAMP_NONE);
  if (!status) status = tamp_blocks_read(message, &form, value[CONTENT], TAMP_NONE);
  return status;
}

static TampStatus read_call(TampMessage *message, const TampValue *value) {
  TampValue arguments = value[ARGUMENTS];
  message->role = TAMP_ROLE_ASSISTANT;
  message->items = true;
  if (arguments.type == TAMP_JSON_NOTHING) arguments = value[value[INPUT].type ? INPUT : ACTION];
  TampPart *part = add_part(message, TAMP_PART_CALL, arguments);
  if (!part) return TAMP_NO_MEMORY;
  part->id = value[CALL_ID];
  part->name = value[NAME];
  if (value[INPUT].type == TAMP_JSON_STRING) part->flags |= TAMP_PART_FREE_TEXT;
  return TAMP_OK;
}

static TampStatus read_output(TampMessage *message, const TampValue *value) {
  static const TampText content = TAMP_TEXT_INIT("content");
  message->role = TAMP_ROLE_TOOL;
  TampValue output = value[value[OUTPUT].type ? OUTPUT : TOOLS];
  if (output.type == TAMP_JSON_OBJECT) tamp_value_members(message->text, output, &content, 1, &output);
  TampPart *part = add_part(message, TAMP_PART_RESULT, output);
  if (!part) return TAMP_NO_MEMORY;
  part->id = value[CALL_ID];
  return output.type == TAMP_JSON_ARRAY ? tamp_blocks_read(message, &form, output, message->count - 1) : TAMP_OK;
}

static bool ends_with(const uint8_t *text, TampValue value, TampText end) {
  return value.type == TAMP_JSON_STRING && value.length > end.length + 2 &&
         memcmp(text + value.at + value.length - 1 - end.length, end.bytes, end.length) == 0;
}

static TampStatus read(TampCursor *cursor, TampMessage *message) {
  TampValue line[MEMBERS], value[MEMBERS_OF_PAYLOAD];
  if (!tamp_cursor_members(cursor, members, MEMBERS, line, &message->whole)) return cursor->status;
  if (message->whole.type != TAMP_JSON_OBJECT) return TAMP_BAD_MESSAGE;
  const uint8_t *text = message->text;
  message->role = TAMP_ROLE_NONE;
  tamp_value_members(text, line[PAYLOAD], payload_members, MEMBERS_OF_PAYLOAD, value);
  if (tamp_value_is(text, line[TYPE], TAMP_TEXT("compacted"))) {
    /* It stands for what was said before, and is not edited. */
    message->role = TAMP_ROLE_SYSTEM;
    bool whole = value[HISTORY].type == TAMP_JSON_ARRAY;
    return add_part(message, TAMP_PART_TEXT, value[whole ? HISTORY : MESSAGE]) ? TAMP_OK : TAMP_NO_MEMORY;
  }
  if (!tamp_value_is(text, line[TYPE], TAMP_TEXT("response_item"))) return TAMP_OK;
  message->id = value[ID];
  tamp_mark_read(message, message->whole);
  if (tamp_value_is(text, value[KIND], TAMP_TEXT("message"))) return read_said(message, line[PAYLOAD], value);
  if (tamp_value_is(text, value[KIND], TAMP_TEXT("reasoning"))) return read_reasoning(message, value);
  if (tamp_value_is(text, value[KIND], TAMP_TEXT("ghost_snapshot"))) return TAMP_OK;
  if (value[CALL_ID].type == TAMP_JSON_STRING) {
    bool output = ends_with(text, value[KIND], TAMP_TEXT("_output"));
    return output ? read_output(message, value) : read_call(message, value);
  }
  /* What stands alone: a search, an image, the owner's own compaction, which nothing may take away. */
  message->role = TAMP_ROLE_OTHER;
  if (value[ENCRYPTED].type == TAMP_JSON_STRING) message->flags |= TAMP_MESSAGE_PINNED;
  if (value[MESSAGE].type != TAMP_JSON_STRING) return TAMP_OK;
  return add_part(message, TAMP_PART_TEXT, value[MESSAGE]) ? TAMP_OK : TAMP_NO_MEMORY;
}

/* The first text of a list of blocks. */
static TampValue first_text(const uint8_t *text, TampValue list) {
  TampValue element, value = {0};
  uint32_t state = 0;
  while (value.type != TAMP_JSON_STRING && tamp_value_next(text, list, &state, &element)) {
    tamp_value_members(text, element, &block_members[1], 1, &value);
  }
  return value;
}

static void read_envelope(const TampMessage *message, TampEnvelope *out) {
  static const TampText extra[] = {TAMP_TEXT_INIT("item"), TAMP_TEXT_INIT("text"), TAMP_TEXT_INIT("num_turns")};
  TampValue line[MEMBERS], value[MEMBERS_OF_PAYLOAD], more[3];
  const uint8_t *text = message->text;
  tamp_value_members(text, message->whole, members, MEMBERS, line);
  tamp_value_members(text, line[PAYLOAD], payload_members, MEMBERS_OF_PAYLOAD, value);
  if (tamp_value_is(text, line[TYPE], TAMP_TEXT("compacted"))) {
    out->ends = value[HISTORY].type == TAMP_JSON_ARRAY ? TAMP_ENDS_ALL : TAMP_ENDS_ANSWERS;
    return;
  }
  if (message->role != TAMP_ROLE_NONE) {
    out->twin_of = first_text(text, value[value[SUMMARY].type ? SUMMARY : CONTENT]);
    return;
  }
  if (!tamp_value_is(text, line[TYPE], TAMP_TEXT("event_msg"))) return;
  tamp_value_members(text, line[PAYLOAD], extra, 3, more);
  if (tamp_value_is(text, value[KIND], TAMP_TEXT("thread_rolled_back"))) {
    out->ends = tamp_value_integer(text, more[2], &out->turns) ? TAMP_ENDS_TURNS : TAMP_ENDS_NOTHING;
    return;
  }
  out->with[0] = value[CALL_ID];
  if (tamp_value_is(text, value[KIND], TAMP_TEXT("item_completed"))) {
    TampValue item[MEMBERS_OF_PAYLOAD];
    tamp_value_members(text, more[0], payload_members, MEMBERS_OF_PAYLOAD, item);
    out->with[0] = item[ID];
    if (tamp_value_is(text, item[KIND], TAMP_TEXT("UserMessage"))) out->twin = first_text(text, item[CONTENT]);
  } else if (tamp_value_is(text, value[KIND], TAMP_TEXT("user_message")) ||
             tamp_value_is(text, value[KIND], TAMP_TEXT("agent_message"))) {
    out->twin = value[MESSAGE];
  } else if (tamp_value_is(text, value[KIND], TAMP_TEXT("agent_reasoning"))) {
    out->twin = more[1];
  }
}

/* A call becomes something that was said. */
static void collapse(TampSplices *splices, TampValue payload, TampText text) {
  TampWriter writer = tamp_writer(splices->arena);
  tamp_writer_raw(&writer, TAMP_TEXT("{\"type\":\"message\",\"role\":\"assistant\",\"content\":"
                                     "[{\"type\":\"output_text\",\"text\":"));
  tamp_writer_string(&writer, text);
  tamp_writer_raw(&writer, TAMP_TEXT("}]}"));
  tamp_splice_written(splices, payload.at, payload.length, &writer);
}

static TampStatus edit(const TampMessage *message, const TampEdit *edits, size_t count, TampArena *scratch,
                       TampWriter *writer) {
  bool collapses = count > 0 && edits[0].kind == TAMP_EDIT_COLLAPSE;
  if (!collapses) return tamp_blocks_edit(message, &form, edits, count, scratch, writer);
  TampValue line[MEMBERS];
  TampSplices splices = tamp_splices(message, scratch);
  tamp_value_members(message->text, message->whole, members, MEMBERS, line);
  collapse(&splices, line[PAYLOAD], edits[0].text);
  return tamp_splices_write(&splices, message->whole, writer);
}

static void draft(const TampDraft *draft, TampWriter *writer) {
  TampDraft said = *draft;
  /* Instructions of a summary are the developer's to Codex; it knows no role `system`. */
  if (said.role == TAMP_ROLE_SYSTEM) said.role = TAMP_ROLE_USER;
  tamp_draft_write(&said,
                   draft->role == TAMP_ROLE_TOOL
                       ? "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\","
                         "\"call_id\":%c,\"output\":%t}}"
                       : draft->role == TAMP_ROLE_ASSISTANT
                           ? "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\","
                             "\"content\":[{\"type\":\"output_text\",\"text\":%t}]}%?,\"tamp\":%m%;}"
                           : "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":%r,"
                             "\"content\":[{\"type\":\"input_text\",\"text\":%t}]}%?,\"tamp\":%m%;}",
                   writer);
}

static const TampText inherited[] = {TAMP_TEXT_INIT("timestamp"), TAMP_TEXT_INIT("")};

const TampFormat tamp_format_codex = {
    .name = "codex",
    .flags = TAMP_FORMAT_IN_PLACE,
    .id_path = "payload/id",
    .read = read,
    .edit = edit,
    .draft = draft,
    .marks = "type=session_meta|response_item|event_msg|turn_context|compacted|world_state&payload",
    .envelope = read_envelope,
    .inherited = inherited,
};
