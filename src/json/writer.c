#include "writer.h"

#include "pass.h"
#include "utf8.h"

TampWriter tamp_writer(TampArena *arena) {
  return (TampWriter){.arena = arena};
}

static void append(TampWriter *writer, const void *bytes, size_t count) {
  if (writer->status != TAMP_OK || count == 0) return;
  if (count > writer->capacity - writer->length) {
    if (count > SIZE_MAX - writer->length) {
      writer->status = TAMP_TOO_LARGE;
      return;
    }
    void *block = writer->bytes;
    writer->status =
        tamp_arena_grow(writer->arena, &block, &writer->capacity, writer->length + count, 1);
    if (writer->status != TAMP_OK) return;
    writer->bytes = block;
  }
  memcpy(writer->bytes + writer->length, bytes, count);
  writer->length += count;
}

void tamp_writer_raw(TampWriter *writer, TampText bytes) {
  append(writer, bytes.bytes, bytes.length);
}

/* [at, end) holds nothing that must be escaped. */
static void append_run(TampWriter *writer, const uint8_t *at, const uint8_t *end, bool high) {
  while (high) {
    const uint8_t *const valid = tamp_utf8_valid(at, end);
    if (valid == end) break;
    append(writer, at, (size_t)(valid - at));
    append(writer, "\xef\xbf\xbd", 3);
    size_t length;
    (void)tamp_utf8_decode(valid, end, &length);
    at = valid + length;
  }
  append(writer, at, (size_t)(end - at));
}

static void append_escape(TampWriter *writer, uint8_t byte) {
  static const char hex[] = "0123456789abcdef";
  char escape[6] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
  switch (byte) {
  case '"':
  case '\\':
    escape[1] = (char)byte;
    break;
  case '\b':
    escape[1] = 'b';
    break;
  case '\f':
    escape[1] = 'f';
    break;
  case '\n':
    escape[1] = 'n';
    break;
  case '\r':
    escape[1] = 'r';
    break;
  case '\t':
    escape[1] = 't';
    break;
  default:
    break;
  }
  append(writer, escape, 1 + tamp_escape_growth(byte));
}

void tamp_writer_escaped(TampWriter *writer, TampText text) {
  if (text.length == 0) return;
  const uint8_t *at = text.bytes;
  const uint8_t *const end = at + text.length;
  for (;;) {
    bool high = false;
    const uint8_t *const stop = tamp_scan_string(at, end, &high);
    append_run(writer, at, stop, high);
    if (stop == end) return;
    append_escape(writer, *stop);
    at = stop + 1;
  }
}

void tamp_writer_string(TampWriter *writer, TampText text) {
  append(writer, "\"", 1);
  tamp_writer_escaped(writer, text);
  append(writer, "\"", 1);
}

void tamp_writer_integer(TampWriter *writer, uint64_t number) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  append(writer, digits + first, sizeof digits - first);
}

void tamp_writer_value(TampWriter *writer, const uint8_t *text, TampValue value) {
  tamp_writer_span(writer, text, value.at, value.at + value.length, true);
}

void tamp_writer_span(TampWriter *writer, const uint8_t *text, uint32_t from, uint32_t to,
                      bool raw) {
  const uint8_t *at = text + from;
  const uint8_t *const end = text + to;
  while (raw) {
    const uint8_t *const found = tamp_pass_to_raw(at, end);
    if (found == end) break;
    append(writer, at, (size_t)(found - at));
    const TampText payload = tamp_pass_payload(found, end);
    tamp_writer_string(writer, payload);
    at = payload.bytes + payload.length;
  }
  append(writer, at, (size_t)(end - at));
}

TampStatus tamp_writer_finish(TampWriter *writer, TampText *out) {
  const uint8_t *bytes = writer->bytes ? writer->bytes : (const uint8_t *)"";
  *out = (TampText){bytes, writer->status == TAMP_OK ? writer->length : 0};
  return writer->status;
}
