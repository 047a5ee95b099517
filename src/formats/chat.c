#include "chat.h"

#include <string.h>

void tamp_mark_read(TampMessage *message, TampValue metadata) {
  enum { PIN, SUMMARY, HEAD, MARKS };
  static const TampText tamp_name = TAMP_TEXT_INIT("tamp");
  static const TampText marks[MARKS] = {TAMP_TEXT_INIT("pin"), TAMP_TEXT_INIT("summary"), TAMP_TEXT_INIT("head")};
  static const TampText summary_names[2] = {TAMP_TEXT_INIT("throughId"), TAMP_TEXT_INIT("covered")};
  TampValue tamp, mark[MARKS], summary[2];
  if (metadata.type != TAMP_JSON_OBJECT) return;
  tamp_value_members(message->text, metadata, &tamp_name, 1, &tamp);
  tamp_value_members(message->text, tamp, marks, MARKS, mark);
  if (mark[PIN].type == TAMP_JSON_TRUE) message->flags |= TAMP_MESSAGE_PINNED;
  if (mark[HEAD].type == TAMP_JSON_TRUE) message->flags |= TAMP_MESSAGE_HEAD;
  if (mark[SUMMARY].type != TAMP_JSON_OBJECT) return;
  message->flags |= TAMP_MESSAGE_SUMMARY;
  tamp_value_members(message->text, mark[SUMMARY], summary_names, 2, summary);
  message->through = summary[0];
  (void)tamp_value_integer(message->text, summary[1], &message->covered);
}

static bool starts_with(TampText text, TampText start) {
  return text.length >= start.length && memcmp(text.bytes, start.bytes, start.length) == 0;
}

TampStatus tamp_mark_by_label(TampMessage *message) {
  static const TampText label = TAMP_TEXT_INIT("[Conversation summary]\n\n");
  static const TampText head = TAMP_TEXT_INIT(TAMP_HEAD_TEXT);
  const TampPart *part = message->count > 0 ? &message->parts[0] : NULL;
  if (!part || part->kind != TAMP_PART_TEXT || part->text.type != TAMP_JSON_STRING) return TAMP_OK;
  /* Decoded only when its first byte could be that of a label: both begin alike. */
  size_t header = part->text.flags & TAMP_VALUE_RAW ? TAMP_RAW_HEADER : 1;
  if (part->text.length < header + label.length) return TAMP_OK;
  uint8_t first = message->text[part->text.at + header];
  if (first != label.bytes[0] && first != '\\') return TAMP_OK;
  TampMark mark = tamp_arena_mark(message->arena);
  TampText text;
  TampStatus status = tamp_value_text(message->text, part->text, message->arena, &text);
  if (!status && starts_with(text, label)) {
    message->flags |= TAMP_MESSAGE_SUMMARY;
    message->covered = TAMP_COVERED_UNKNOWN;
  } else if (!status && message->role == TAMP_ROLE_USER && message->count == 1 &&
             text.length == head.length && starts_with(text, head)) {
    message->flags |= TAMP_MESSAGE_HEAD;
    message->covered = TAMP_COVERED_UNKNOWN;
  }
  tamp_arena_reset(message->arena, mark);
  return status;
}

static void write_mark(const TampDraft *draft, TampWriter *writer) {
  static const char summary[] = "{\"summary\":{\"throughId\":%h,\"covered\":%#}}";
  tamp_draft_write(draft, draft->flags & TAMP_MESSAGE_HEAD ? "{\"head\":true}" : summary, writer);
}

void tamp_draft_write(const TampDraft *draft, const char *template, TampWriter *writer) {
  static const TampText roles[] = {
      [TAMP_ROLE_SYSTEM] = TAMP_TEXT_INIT("system"),
      [TAMP_ROLE_USER] = TAMP_TEXT_INIT("user"),
      [TAMP_ROLE_ASSISTANT] = TAMP_TEXT_INIT("assistant"),
      [TAMP_ROLE_TOOL] = TAMP_TEXT_INIT("tool"),
  };
  static const char skipped[] = "%;";
  for (const char *at = template; *at;) {
    size_t plain = strcspn(at, "%");
    tamp_writer_raw(writer, (TampText){(const uint8_t *)at, plain});
    at += plain;
    if (!*at) return;
    switch (at[1]) {
      case 'i':
        tamp_writer_string(writer, draft->id);
        break;
      case 'r':
        tamp_writer_string(writer, roles[draft->role]);
        break;
      case 't':
        tamp_writer_string(writer, draft->text);
        break;
      case 'c':
        tamp_writer_string(writer, draft->call);
        break;
      case 'n':
        tamp_writer_string(writer, draft->name);
        break;
      case 'h':
        tamp_writer_string(writer, draft->through);
        break;
      case '#':
        tamp_writer_integer(writer, draft->covered);
        break;
      case 'm':
        write_mark(draft, writer);
        break;
      case '?':
        if (!draft->flags) at = strstr(at, skipped);
        break;
      default:
        break;
    }
    at += 2;
  }
}

uint8_t tamp_role_of(const uint8_t *text, TampValue role, const TampRoleName *roles, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (tamp_value_is(text, role, roles[i].name)) return (uint8_t)roles[i].role;
  }
  return TAMP_ROLE_OTHER;
}

bool tamp_value_starts(const uint8_t *text, TampValue value, TampText start) {
  if (value.type != TAMP_JSON_STRING) return false;
  size_t header = value.flags & TAMP_VALUE_RAW ? TAMP_RAW_HEADER : 1;
  return value.length > header + start.length &&
         memcmp(text + value.at + header, start.bytes, start.length) == 0;
}

bool tamp_value_is_data_url(const uint8_t *text, TampValue value) {
  return tamp_value_starts(text, value, TAMP_TEXT("data:"));
}

/* The calls that go, as elements of their array. */
static TampStatus drop_calls(const TampMessage *message, const TampEdit *edits, size_t count,
                             TampText calls, TampSplices *splices) {
  TampValue array, element;
  tamp_value_members(message->text, message->whole, &calls, 1, &array);
  uint32_t state = 0, length = 0, going = 0;
  while (tamp_value_next(message->text, array, &state, &element)) length++;
  uint8_t *gone = tamp_arena_alloc(splices->arena, length);
  if (!gone) return TAMP_NO_MEMORY;
  memset(gone, 0, length);
  /* Elements and dropped calls are both in the order of the text. */
  state = 0;
  size_t next = 0;
  for (uint32_t i = 0; tamp_value_next(message->text, array, &state, &element); i++) {
    while (next < count && (edits[next].kind != TAMP_EDIT_DROP_CALL ||
                            message->parts[edits[next].part].element.at < element.at)) {
      next++;
    }
    if (next < count && message->parts[edits[next].part].element.at == element.at) {
      gone[i] = 1;
      going++;
    }
  }
  if (going == length) {
    tamp_splice_remove_members(splices, message->whole, &calls, 1);
    /* Without calls a content of null is refused. */
    TampText content_name = TAMP_TEXT("content");
    TampValue content;
    tamp_value_members(message->text, message->whole, &content_name, 1, &content);
    if (content.type <= TAMP_JSON_NULL) {
      tamp_splice_set_string(splices, message->whole, content_name, (TampText){0});
    }
  } else {
    tamp_splice_remove_elements(splices, array, gone, length);
  }
  return TAMP_OK;
}

static void set_content(const TampMessage *message, TampText text, TampSplices *splices) {
  tamp_splice_set_string(splices, message->whole, TAMP_TEXT("content"), text);
}

TampStatus tamp_edit_chat(const TampMessage *message, const TampEdit *edits, size_t count,
                          TampText calls, TampArena *scratch, TampWriter *writer) {
  TampSplices splices = tamp_splices(message, scratch);
  bool drops = false;
  for (size_t i = 0; i < count; i++) {
    const TampEdit *edit = &edits[i];
    const TampPart *part = edit->part < message->count ? &message->parts[edit->part] : NULL;
    switch (edit->kind) {
      case TAMP_EDIT_TEXT:
        tamp_splice_string(&splices, part->text, edit->text);
        break;
      case TAMP_EDIT_ARGUMENTS:
        tamp_splice_arguments(&splices, part, edit->text);
        break;
      case TAMP_EDIT_RESULT:
        set_content(message, edit->text, &splices);
        break;
      case TAMP_EDIT_MEDIA:
        tamp_splice_text_part(&splices, part->element, edit->text);
        break;
      case TAMP_EDIT_DROP_CALL:
        drops = true;
        break;
      case TAMP_EDIT_COLLAPSE:
        tamp_splice_remove_members(&splices, message->whole, &calls, 1);
        set_content(message, edit->text, &splices);
        break;
      case TAMP_EDIT_DROP_REASONING:
      case TAMP_EDIT_ANSWER:
        break; /* no part of these formats is removable, and results are messages of their own */
    }
  }
  if (drops) {
    TampStatus status = drop_calls(message, edits, count, calls, &splices);
    if (status) return status;
  }
  return tamp_splices_write(&splices, message->whole, writer);
}
