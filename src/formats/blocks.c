#include "blocks.h"

#include <string.h>

/* ── Reading ──────────────────────────────────────────────────────────────────────────────────────────── */

static bool matches(TampText type, TampText pattern) {
  size_t length = pattern.length - 1;
  if (pattern.bytes[length] == '*') {
    return type.length > length && memcmp(type.bytes, pattern.bytes, length) == 0;
  }
  if (pattern.bytes[0] == '*') {
    return type.length > length && memcmp(type.bytes + type.length - length, pattern.bytes + 1, length) == 0;
  }
  return type.length == pattern.length && memcmp(type.bytes, pattern.bytes, type.length) == 0;
}

/* The rule for a type; of a type that none knows, the text may be known all the same. */
static TampStatus find_rule(const TampMessage *message, const TampForm *form, TampValue type,
                            const TampRule **rule) {
  static const TampRule unknown = {.kind = TAMP_PART_TEXT, .text = 1};
  TampMark mark = tamp_arena_mark(message->arena);
  TampText text;
  TampStatus status = tamp_value_text(message->text, type, message->arena, &text);
  *rule = &unknown;
  for (uint8_t i = 0; !status && i < form->rule_count; i++) {
    if (!matches(text, form->rules[i].type)) continue;
    *rule = &form->rules[i];
    break;
  }
  tamp_arena_reset(message->arena, mark);
  return status;
}

/* What a message's parts are told apart by where some of them may go and others stay. */
enum { NO_CLASS, CLASS_RESULT, CLASS_INSTRUCTIONS, CLASS_OTHER };

static uint8_t class_of(const TampPart *part) {
  if (part->kind == TAMP_PART_RESULT) return CLASS_RESULT;
  return part->flags & TAMP_PART_INSTRUCTIONS ? CLASS_INSTRUCTIONS : CLASS_OTHER;
}

typedef struct Walk {
  const TampForm *form;
  uint32_t owner;
  uint32_t step;   /* where a step began that has no part yet; 0 is no place of an element */
  uint8_t class;   /* of the unit that is being read */
} Walk;

/* Each result of a message that is not the assistant's is a unit, so is a run of what else is in it; an assistant's
 * units are its steps. */
static TampStatus follow_units(TampMessage *message, Walk *walk, TampValue element, uint8_t class) {
  uint32_t at = 0;
  if (message->role == TAMP_ROLE_ASSISTANT) {
    at = walk->step;
  } else if (class == CLASS_RESULT || class != walk->class) {
    at = element.at;
  }
  bool first = walk->class == NO_CLASS;
  walk->class = class;
  walk->step = 0;
  return at && !first ? tamp_message_unit(message, at) : TAMP_OK;
}

static TampStatus read_block(TampMessage *message, Walk *walk, TampValue element) {
  const TampForm *form = walk->form;
  TampValue value[TAMP_FORM_MEMBERS];
  const TampRule *rule;
  tamp_value_members(message->text, element, form->members, form->member_count, value);
  bool other = form->other_type && value[0].type == TAMP_JSON_NOTHING;
  TampStatus status = find_rule(message, form, value[other ? form->other_type : 0], &rule);
  if (status) return status;
  uint32_t before = message->count, index = before;
  if (rule->kind == TAMP_RULE_STEP) {
    walk->step = element.at;
    return TAMP_OK;
  }
  if (rule->kind == TAMP_RULE_SILENT) {
    index = TAMP_NONE;
  } else {
    TampPart *part = tamp_message_part(message, rule->kind);
    if (!part) return TAMP_NO_MEMORY;
    part->element = element;
    part->owner = walk->owner;
    part->flags = rule->flags;
    if (rule->text) part->text = value[rule->text];
    if (rule->id) part->id = value[rule->id];
    if (rule->name) part->name = value[rule->name];
    bool opaque = form->opaque && value[form->opaque].type > TAMP_JSON_NULL;
    if (opaque && (rule->kind == TAMP_PART_REASONING || rule->kind == TAMP_PART_CALL)) {
      part->flags |= TAMP_PART_OPAQUE;
    }
    /* A type that is not known and says nothing is no part. */
    if (rule->kind == TAMP_PART_TEXT && part->text.type <= TAMP_JSON_NULL) message->count--;
  }
  if (form->refine && (index == TAMP_NONE || index < message->count)) {
    status = form->refine(message, index, rule, element, value);
  }
  if (status || walk->owner != TAMP_NONE) return status;
  bool said = message->count > before;
  if (!said && message->role != TAMP_ROLE_TOOL) return TAMP_OK;
  return follow_units(message, walk, element, said ? class_of(&message->parts[before]) : CLASS_OTHER);
}

TampStatus tamp_block_read(TampMessage *message, const TampForm *form, TampValue element, uint32_t owner) {
  Walk walk = {.form = form, .owner = owner};
  return read_block(message, &walk, element);
}

TampStatus tamp_blocks_read(TampMessage *message, const TampForm *form, TampValue list, uint32_t owner) {
  Walk walk = {.form = form, .owner = owner};
  TampValue element = list;
  uint32_t state = 0;
  TampStatus status = TAMP_OK;
  if (owner == TAMP_NONE) message->list = list;
  bool only = list.type == TAMP_JSON_STRING;
  while (!status && (only || tamp_value_next(message->text, list, &state, &element))) {
    if (element.type == TAMP_JSON_STRING) {
      TampPart *part = tamp_message_part(message, TAMP_PART_TEXT);
      if (!part) return TAMP_NO_MEMORY;
      part->element = element;
      part->text = element;
      part->owner = owner;
    } else if (element.type == TAMP_JSON_OBJECT) {
      status = read_block(message, &walk, element);
    }
    if (only) break;
  }
  return status;
}

TampStatus tamp_result_is_json(TampMessage *message, uint32_t index) {
  TampValue content = message->parts[index].text;
  if (content.type != TAMP_JSON_ARRAY) return TAMP_OK;
  TampPart *part = tamp_message_part(message, TAMP_PART_TEXT);
  if (!part) return TAMP_NO_MEMORY;
  part->element = content;
  part->text = content;
  part->owner = index;
  return TAMP_OK;
}

/* ── Editing ──────────────────────────────────────────────────────────────────────────────────────────── */

static void set_text_part(TampSplices *splices, const TampForm *form, TampValue value, TampText text, bool list) {
  TampWriter writer = tamp_writer(splices->arena);
  if (list) tamp_writer_raw(&writer, TAMP_TEXT("["));
  tamp_writer_raw(&writer, form->text_part);
  tamp_writer_string(&writer, text);
  tamp_writer_raw(&writer, list ? TAMP_TEXT("}]") : TAMP_TEXT("}"));
  tamp_splice_written(splices, value.at, value.length, &writer);
}

/* Whether the element of a part goes with an edit; the first that is collapsed becomes the text. */
static bool drops(const TampForm *form, const TampEdit *edit, uint8_t kind, bool first) {
  if (edit->kind == TAMP_EDIT_COLLAPSE) return form->keeps_silent && kind != TAMP_PART_MEDIA && !first;
  return edit->kind == TAMP_EDIT_DROP_CALL || edit->kind == TAMP_EDIT_DROP_REASONING;
}

/* Takes the elements of the parts that go out of the list. */
static TampStatus drop_elements(const TampMessage *message, const TampForm *form, const TampEdit *edits,
                                size_t count, TampSplices *splices) {
  TampValue element;
  uint32_t state = 0, length = 0;
  while (tamp_value_next(message->text, message->list, &state, &element)) length++;
  uint8_t *gone = tamp_arena_alloc(splices->arena, length);
  if (!gone) return TAMP_NO_MEMORY;
  /* Elements, parts and edits are all in the order of the text. */
  bool all = edits[0].kind == TAMP_EDIT_COLLAPSE;
  size_t next = 0;
  state = 0;
  for (uint32_t i = 0; tamp_value_next(message->text, message->list, &state, &element); i++) {
    gone[i] = 0;
    for (; next < (all ? message->count : count); next++) {
      const TampPart *part = &message->parts[all ? next : edits[next].part];
      if (part->element.at > element.at) break;
      bool first = part->element.at == message->parts[0].element.at;
      if (part->element.at == element.at && drops(form, &edits[all ? 0 : next], part->kind, first)) gone[i] = 1;
    }
  }
  tamp_splice_remove_elements(splices, message->list, gone, length);
  return TAMP_OK;
}

TampStatus tamp_blocks_edit(const TampMessage *message, const TampForm *form, const TampEdit *edits,
                            size_t count, TampArena *scratch, TampWriter *writer) {
  TampSplices splices = tamp_splices(message, scratch);
  bool any_drops = false;
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
        if (part->flags & TAMP_PART_FIXED) break;
        if (form->set_result) {
          form->set_result(message, part, edit->text, &splices);
        } else {
          tamp_splice_string(&splices, part->text, edit->text);
        }
        break;
      case TAMP_EDIT_MEDIA:
        if (form->media_is_string) {
          tamp_splice_string(&splices, part->element, edit->text);
        } else {
          set_text_part(&splices, form, part->element, edit->text, false);
        }
        break;
      case TAMP_EDIT_COLLAPSE:
        any_drops = form->keeps_silent;
        set_text_part(&splices, form, any_drops ? message->parts[0].element : message->list, edit->text, !any_drops);
        break;
      case TAMP_EDIT_DROP_CALL:
      case TAMP_EDIT_DROP_REASONING:
        any_drops = true;
        break;
      case TAMP_EDIT_ANSWER:
        form->answer(message, part, edit->text, &splices);
        break;
    }
  }
  if (form->touch) form->touch(message, &splices);
  if (any_drops) {
    TampStatus status = drop_elements(message, form, edits, count, &splices);
    if (status) return status;
  }
  return tamp_splices_write(&splices, message->whole, writer);
}
