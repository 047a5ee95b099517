/* Passing over JSON text that a cursor has checked: no grammar, only where things end. Memory safe
 * on any bytes; what it says is right only for checked ones. */
#ifndef TAMP_JSON_PASS_H
#define TAMP_JSON_PASS_H

#include "simd.h"
#include "value.h"

/* The payload of the raw string at `at` (its 0x01), cut where [at, end) ends. */
static inline TampText tamp_pass_payload(const uint8_t *at, const uint8_t *end) {
  if (end - at < (ptrdiff_t)TAMP_RAW_HEADER) return (TampText){end, 0};
  const uint32_t length =
      (uint32_t)at[1] | (uint32_t)at[2] << 8 | (uint32_t)at[3] << 16 | (uint32_t)at[4] << 24;
  const size_t left = (size_t)(end - at) - TAMP_RAW_HEADER;
  return (TampText){at + TAMP_RAW_HEADER, length < left ? length : left};
}

/* Behind the string whose opening quote is at `at`. Sets `*escaped` when it has a backslash. */
static inline const uint8_t *tamp_pass_string(const uint8_t *at, const uint8_t *end,
                                              bool *escaped) {
  bool high = false;
  at++;
  for (;;) {
    at = tamp_scan_string(at, end, &high);
    if (at == end) return end;
    if (*at == '"') return at + 1;
    if (*at == '\\') *escaped = true;
    at += end - at < 2 ? 1 : 2;
  }
}

/* The first raw string in [at, end), which begins between tokens; else `end`. */
static inline const uint8_t *tamp_pass_to_raw(const uint8_t *at, const uint8_t *end) {
  /* Most texts have none, and then 0x01 is nowhere in them. */
  if (tamp_scan_byte(at, end, TAMP_RAW_STRING) == end) return end;
  for (;;) {
    at = tamp_scan_token(at, end);
    if (at == end || *at == TAMP_RAW_STRING) return at;
    bool escaped = false;
    at = *at == '"' ? tamp_pass_string(at, end, &escaped) : at + 1;
  }
}

/* Behind the value at `at`, which is no white space. */
const uint8_t *tamp_pass_value(const uint8_t *at, const uint8_t *end, TampValue *out,
                               const uint8_t *text);

#endif
