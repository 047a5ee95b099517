#include "../text.h"
#include "parts.h"

enum { LONGEST_TYPE = 100 }; /* characters of a media type that are shown */

typedef struct Options {
  uint64_t keep_last_turns;
  uint64_t min_bytes;
} Options;

static const Options defaults = {.keep_last_turns = 1, .min_bytes = 0};

static const TampField fields[] = {
    {.name = "keepLastTurns",
     .type = TAMP_FIELD_COUNT,
     .offset = offsetof(Options, keep_last_turns)},
    {.name = "minBytes", .type = TAMP_FIELD_COUNT, .offset = offsetof(Options, min_bytes)},
};

/* Inline bytes and what they are. */
typedef struct Media {
  TampText data; /* base64, or percent-encoded in a data URL that says nothing of base64 */
  TampText type;
  bool base64;
  uint64_t size; /* in bytes, of data that is not there; else 0 */
} Media;

static bool starts_with(TampText text, TampText start) {
  if (text.length < start.length) return false;
  for (size_t i = 0; i < start.length; i++) {
    if (text.bytes[i] != start.bytes[i]) return false;
  }
  return true;
}

static size_t index_of(TampText text, uint8_t byte) {
  size_t at = 0;
  while (at < text.length && text.bytes[at] != byte) at++;
  return at;
}

static TampText from(TampText text, size_t at) {
  return (TampText){text.bytes + at, text.length - at};
}

/* Takes a data URL apart: "data:" type *(";" parameter) [";base64"] "," data. */
static void read_data_url(Media *media) {
  TampText scheme = TAMP_TEXT("data:"), marker = TAMP_TEXT(";base64");
  if (!starts_with(media->data, scheme)) return;
  TampText rest = from(media->data, scheme.length);
  size_t comma = index_of(rest, ',');
  TampText head = {rest.bytes, comma};
  media->data = from(rest, comma < rest.length ? comma + 1 : comma);
  media->base64 =
      head.length >= marker.length && starts_with(from(head, head.length - marker.length), marker);
  TampText size = TAMP_TEXT("tamp/bytes;"); /* bytes that JSON does not have (web/encode.js) */
  if (starts_with(head, size)) {
    for (size_t i = size.length; i < head.length && head.bytes[i] >= '0' && head.bytes[i] <= '9'; i++) {
      media->size = media->size * 10 + (uint64_t)(head.bytes[i] - '0');
    }
  } else if (media->type.length == 0) {
    media->type = (TampText){head.bytes, index_of(head, ';')};
  }
}

static bool is_base64(uint8_t byte) {
  return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
         (byte >= '0' && byte <= '9') || byte == '+' || byte == '/' || byte == '-' || byte == '_';
}

/* How many bytes the data stands for. */
static uint64_t decoded_size(const Media *media) {
  uint64_t count = media->size;
  for (size_t i = 0; i < media->data.length; i++) {
    if (media->base64) {
      count += is_base64(media->data.bytes[i]);
    } else {
      count++;
      if (media->data.bytes[i] == '%') i += 2;
    }
  }
  return media->base64 ? count / 4 * 3 + count % 4 * 3 / 4 : count;
}

/* "68 B", "1.2 KB", "1.2 MB": a unit as soon as the number before it would need four digits. */
static void write_size(TampWriter *writer, uint64_t bytes) {
  static const char *const units[] = {" KB", " MB", " GB"};
  if (bytes < 1000) {
    tamp_writer_integer(writer, bytes);
    tamp_writer_raw(writer, TAMP_TEXT(" B"));
    return;
  }
  uint64_t tenth = 100; /* bytes in a tenth of the unit */
  size_t unit = 0;
  while (unit < 2 && (bytes + tenth / 2) / tenth >= 10000) {
    tenth *= 1000;
    unit++;
  }
  uint64_t tenths = (bytes + tenth / 2) / tenth;
  tamp_writer_integer(writer, tenths / 10);
  tamp_writer_raw(writer, TAMP_TEXT("."));
  tamp_writer_integer(writer, tenths % 10);
  tamp_writer_raw(writer, (TampText){(const uint8_t *)units[unit], 3});
}

typedef struct Strip {
  TampStep step;
  const Options *options;
  TampMessage message;
  TampEdits edits;
} Strip;

static TampStatus strip_part(Strip *strip, uint32_t index) {
  TampRun *run = strip->step.run;
  const TampPart *part = &strip->message.parts[index];
  Media media = {.base64 = true};
  TampStatus status = tamp_message_text(&strip->message, part->text, run->arena, &media.data);
  if (!status) status = tamp_message_text(&strip->message, part->name, run->arena, &media.type);
  if (status) return status;
  read_data_url(&media);
  uint64_t bytes = decoded_size(&media);
  if (bytes < strip->options->min_bytes) return TAMP_OK;
  if (media.type.length == 0) media.type = TAMP_TEXT("media");
  media.type.length = tamp_text_head(media.type, LONGEST_TYPE);
  TampWriter writer = tamp_writer(run->arena);
  tamp_writer_raw(&writer, TAMP_TEXT("["));
  tamp_writer_raw(&writer, media.type);
  tamp_writer_raw(&writer, TAMP_TEXT(", "));
  write_size(&writer, bytes);
  tamp_writer_raw(&writer, TAMP_TEXT(", removed]"));
  TampText text;
  uint32_t tokens = 0;
  status = tamp_writer_finish(&writer, &text);
  if (!status) status = tamp_count_text(run->counter, text, &tokens);
  if (status || tokens >= TAMP_MEDIA_TOKENS) return status;
  return tamp_edits_add(run, &strip->edits, TAMP_EDIT_MEDIA, index, text);
}

static TampStatus strip_entry(Strip *strip, uint32_t entry) {
  TampStep *step = &strip->step;
  TampStatus status = tamp_step_read(step, entry, &strip->message);
  strip->edits.count = 0;
  for (uint32_t i = 0; !status && i < strip->message.count; i++) {
    const TampPart *part = &strip->message.parts[i];
    if (part->kind == TAMP_PART_MEDIA && (part->flags & TAMP_PART_INLINE))
      status = strip_part(strip, i);
  }
  if (status || strip->edits.count == 0) return status;
  const TampRecord *record;
  status = tamp_step_edit(step, &strip->message, strip->edits.items, strip->edits.count, &record);
  if (status || record->tokens >= step->list->entries[entry].record->tokens) return status;
  return tamp_step_rewrite(step, entry, record);
}

static TampStatus run_strip(TampRun *run, const TampPolicy *policy) {
  Strip strip = {.options = policy->options};
  tamp_run_fired(run);
  TampStatus status =
      tamp_step_begin(run, "strip-binary: inline bytes of an older turn", &strip.step);
  if (status) return status;
  const TampList *list = strip.step.list;
  tamp_message_init(&strip.message, run->arena);
  for (uint32_t i = 0; !status && i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    uint64_t turn = list->groups[entry->group].turn;
    if (!(entry->record->flags & TAMP_RECORD_INLINE_MEDIA)) continue;
    if (turn + strip.options->keep_last_turns > list->turns) continue;
    if (!tamp_step_protected(&strip.step, entry->group)) status = strip_entry(&strip, i);
  }
  tamp_arena_drop(run->arena, strip.message.parts);
  tamp_arena_drop(run->arena, strip.edits.items);
  if (status) return status;
  if (!strip.step.changed) tamp_run_note(run, "no inline bytes in an older turn may go");
  return tamp_step_commit(&strip.step);
}

const TampStrategy tamp_strategy_strip_binary = {
    .name = "strip-binary",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(Options),
    .defaults = &defaults,
    .run = run_strip,
};
