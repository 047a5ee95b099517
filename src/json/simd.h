/* Scans over bytes, 16 at a time: the one file with compiler extensions.
 *
 * Every scan exists as a scalar twin (tamp_scalar_…) in plain C11 and, where the target has vectors
 * (Wasm SIMD128, SSE2, NEON), as a vector one; tamp_scan_… is the one this build uses. TAMP_NO_SIMD
 * takes the scalar ones. Twins give equal answers on any input, and none reads outside [at, end). */
#ifndef TAMP_JSON_SIMD_H
#define TAMP_JSON_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes that JSON.stringify adds to spell one byte of a string: \n takes 2, \u001f takes 6. */
static inline size_t tamp_escape_growth(uint8_t byte) {
  if (byte >= 0x20) return byte == '"' || byte == '\\' ? 1 : 0;
  return byte == '\b' || byte == '\f' || byte == '\n' || byte == '\r' || byte == '\t' ? 1 : 5;
}

static inline bool tamp_ends_run(uint8_t byte) {
  return byte < 0x20 || byte == '"' || byte == '\\';
}

/* --- Scalar twins */

#define TAMP_SWAR_ONES UINT64_C(0x0101010101010101)
#define TAMP_SWAR_HIGHS UINT64_C(0x8080808080808080)

static inline uint64_t tamp_swar_load(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

/* Not zero when some byte of `word` is below `limit` (at most 128); which one is left to the
 * caller, so that the order of bytes in a word does not matter. */
static inline uint64_t tamp_swar_below(uint64_t word, uint8_t limit) {
  return (word - TAMP_SWAR_ONES * limit) & ~word & TAMP_SWAR_HIGHS;
}

static inline uint64_t tamp_swar_has(uint64_t word, uint8_t byte) {
  return tamp_swar_below(word ^ (TAMP_SWAR_ONES * byte), 1);
}

static inline const uint8_t *tamp_scalar_string(const uint8_t *at, const uint8_t *end, bool *high) {
  uint64_t seen = 0;
  while (end - at >= 8) {
    const uint64_t word = tamp_swar_load(at);
    if ((tamp_swar_below(word, 0x20) | tamp_swar_has(word, '"') | tamp_swar_has(word, '\\')) != 0) {
      break;
    }
    seen |= word;
    at += 8;
  }
  while (at < end && !tamp_ends_run(*at)) seen |= *at++;
  if ((seen & TAMP_SWAR_HIGHS) != 0) *high = true;
  return at;
}

static inline const uint8_t *tamp_scalar_ascii(const uint8_t *at, const uint8_t *end) {
  while (end - at >= 8 && (tamp_swar_load(at) & TAMP_SWAR_HIGHS) == 0) at += 8;
  while (at < end && *at < 0x80) at++;
  return at;
}

static inline const uint8_t *tamp_scalar_token(const uint8_t *at, const uint8_t *end) {
  for (; at < end; at++) {
    const uint8_t byte = *at;
    if (byte == '"' || byte == 0x01 || (byte | 0x20) == '{' || (byte | 0x20) == '}') break;
  }
  return at;
}

static inline const uint8_t *tamp_scalar_byte(const uint8_t *at, const uint8_t *end, uint8_t byte) {
  while (end - at >= 8 && tamp_swar_has(tamp_swar_load(at), byte) == 0) at += 8;
  while (at < end && *at != byte) at++;
  return at;
}

static inline size_t tamp_scalar_growth(const uint8_t *at, const uint8_t *end) {
  size_t growth = 0;
  for (; at < end; at++) growth += tamp_escape_growth(*at);
  return growth;
}

static inline size_t tamp_scalar_characters(const uint8_t *at, const uint8_t *end) {
  size_t count = 0;
  for (; at < end; at++) count += (*at & 0xc0) != 0x80;
  return count;
}

/* --- Sixteen lanes */

/* A target gives: TampLanes; load and splat; lanes that equal a byte or are below one, all ones or
 * all zeros; or, and, xor; a mask of such lanes, with TAMP_LANE_BITS bits for each, the first lane
 * lowest; and the same of the lanes of 0x80 or more. */
#if !defined(TAMP_NO_SIMD) && defined(__wasm_simd128__)

#include <wasm_simd128.h>
#define TAMP_SIMD 1
#define TAMP_LANE_BITS 1
typedef v128_t TampLanes;
static inline TampLanes tamp_lanes_load(const uint8_t *at) {
  return wasm_v128_load(at);
}
static inline TampLanes tamp_lanes_equal(TampLanes lanes, uint8_t byte) {
  return wasm_i8x16_eq(lanes, wasm_i8x16_splat((int8_t)byte));
}
static inline TampLanes tamp_lanes_below(TampLanes lanes, uint8_t limit) {
  return wasm_u8x16_lt(lanes, wasm_i8x16_splat((int8_t)limit));
}
static inline TampLanes tamp_lanes_splat(uint8_t byte) {
  return wasm_i8x16_splat((int8_t)byte);
}
static inline TampLanes tamp_lanes_or(TampLanes a, TampLanes b) {
  return wasm_v128_or(a, b);
}
static inline TampLanes tamp_lanes_and(TampLanes a, TampLanes b) {
  return wasm_v128_and(a, b);
}
static inline TampLanes tamp_lanes_xor(TampLanes a, TampLanes b) {
  return wasm_v128_xor(a, b);
}
static inline uint64_t tamp_lanes_mask(TampLanes lanes) {
  return (uint64_t)(uint32_t)wasm_i8x16_bitmask(lanes);
}
static inline uint64_t tamp_lanes_high(TampLanes lanes) {
  return tamp_lanes_mask(lanes);
}

#elif !defined(TAMP_NO_SIMD) && defined(__SSE2__)

#include <emmintrin.h>
#define TAMP_SIMD 1
#define TAMP_LANE_BITS 1
typedef __m128i TampLanes;
static inline TampLanes tamp_lanes_load(const uint8_t *at) {
  return _mm_loadu_si128((const __m128i *)(const void *)at);
}
static inline TampLanes tamp_lanes_equal(TampLanes lanes, uint8_t byte) {
  return _mm_cmpeq_epi8(lanes, _mm_set1_epi8((char)byte));
}
static inline TampLanes tamp_lanes_below(TampLanes lanes, uint8_t limit) {
  return _mm_cmpeq_epi8(_mm_min_epu8(lanes, _mm_set1_epi8((char)(limit - 1))), lanes);
}
static inline TampLanes tamp_lanes_splat(uint8_t byte) {
  return _mm_set1_epi8((char)byte);
}
static inline TampLanes tamp_lanes_or(TampLanes a, TampLanes b) {
  return _mm_or_si128(a, b);
}
static inline TampLanes tamp_lanes_and(TampLanes a, TampLanes b) {
  return _mm_and_si128(a, b);
}
static inline TampLanes tamp_lanes_xor(TampLanes a, TampLanes b) {
  return _mm_xor_si128(a, b);
}
static inline uint64_t tamp_lanes_mask(TampLanes lanes) {
  return (uint64_t)(uint32_t)_mm_movemask_epi8(lanes);
}
static inline uint64_t tamp_lanes_high(TampLanes lanes) {
  return tamp_lanes_mask(lanes);
}

#elif !defined(TAMP_NO_SIMD) && defined(__ARM_NEON) && defined(__aarch64__)

#include <arm_neon.h>
#define TAMP_SIMD 1
#define TAMP_LANE_BITS 4
typedef uint8x16_t TampLanes;
static inline TampLanes tamp_lanes_load(const uint8_t *at) {
  return vld1q_u8(at);
}
static inline TampLanes tamp_lanes_equal(TampLanes lanes, uint8_t byte) {
  return vceqq_u8(lanes, vdupq_n_u8(byte));
}
static inline TampLanes tamp_lanes_below(TampLanes lanes, uint8_t limit) {
  return vcltq_u8(lanes, vdupq_n_u8(limit));
}
static inline TampLanes tamp_lanes_splat(uint8_t byte) {
  return vdupq_n_u8(byte);
}
static inline TampLanes tamp_lanes_or(TampLanes a, TampLanes b) {
  return vorrq_u8(a, b);
}
static inline TampLanes tamp_lanes_and(TampLanes a, TampLanes b) {
  return vandq_u8(a, b);
}
static inline TampLanes tamp_lanes_xor(TampLanes a, TampLanes b) {
  return veorq_u8(a, b);
}
/* NEON has no move-mask: narrowing 16-bit pairs by 4 leaves 4 bits of each lane. */
static inline uint64_t tamp_lanes_mask(TampLanes lanes) {
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(lanes), 4)), 0);
}
static inline uint64_t tamp_lanes_high(TampLanes lanes) {
  return tamp_lanes_mask(vcgeq_u8(lanes, vdupq_n_u8(0x80)));
}

#endif

/* --- The scans */

#ifdef TAMP_SIMD

#define TAMP_ALL_LANES (UINT64_MAX >> (64 - 16 * TAMP_LANE_BITS))

static inline size_t tamp_first_lane(uint64_t mask) {
  return (size_t)__builtin_ctzll(mask) / TAMP_LANE_BITS;
}

static inline size_t tamp_count_lanes(uint64_t mask) {
  return (size_t)__builtin_popcountll(mask) / TAMP_LANE_BITS;
}

/* The first quote, backslash or byte below 0x20 in [at, end), else `end`. Sets `*high` when a byte
 * of 0x80 or more stands before it, and leaves it otherwise. */
static inline const uint8_t *tamp_scan_string(const uint8_t *at, const uint8_t *end, bool *high) {
  while (end - at >= 16) {
    const TampLanes lanes = tamp_lanes_load(at);
    const uint64_t stops = tamp_lanes_mask(
        tamp_lanes_or(tamp_lanes_below(lanes, 0x20),
                      tamp_lanes_or(tamp_lanes_equal(lanes, '"'), tamp_lanes_equal(lanes, '\\'))));
    const uint64_t highs = tamp_lanes_high(lanes);
    if (stops != 0) {
      if ((highs & ((stops & (~stops + 1)) - 1)) != 0) *high = true;
      return at + tamp_first_lane(stops);
    }
    if (highs != 0) *high = true;
    at += 16;
  }
  return tamp_scalar_string(at, end, high);
}

/* The first byte of 0x80 or more in [at, end), else `end`. */
static inline const uint8_t *tamp_scan_ascii(const uint8_t *at, const uint8_t *end) {
  for (; end - at >= 16; at += 16) {
    const uint64_t highs = tamp_lanes_high(tamp_lanes_load(at));
    if (highs != 0) return at + tamp_first_lane(highs);
  }
  return tamp_scalar_ascii(at, end);
}

/* The first byte in [at, end) that matters to who only counts brackets: a quote, a bracket, or the
 * 0x01 of a raw string; else `end`. */
static inline const uint8_t *tamp_scan_token(const uint8_t *at, const uint8_t *end) {
  for (; end - at >= 16; at += 16) {
    const TampLanes lanes = tamp_lanes_load(at);
    const TampLanes folded = tamp_lanes_or(lanes, tamp_lanes_splat(0x20)); /* [ as {, ] as } */
    const uint64_t stops = tamp_lanes_mask(
        tamp_lanes_or(tamp_lanes_or(tamp_lanes_equal(lanes, '"'), tamp_lanes_equal(lanes, 0x01)),
                      tamp_lanes_or(tamp_lanes_equal(folded, '{'), tamp_lanes_equal(folded, '}'))));
    if (stops != 0) return at + tamp_first_lane(stops);
  }
  return tamp_scalar_token(at, end);
}

/* The first `byte` in [at, end), else `end`. */
static inline const uint8_t *tamp_scan_byte(const uint8_t *at, const uint8_t *end, uint8_t byte) {
  for (; end - at >= 16; at += 16) {
    const uint64_t found = tamp_lanes_mask(tamp_lanes_equal(tamp_lanes_load(at), byte));
    if (found != 0) return at + tamp_first_lane(found);
  }
  return tamp_scalar_byte(at, end, byte);
}

/* What JSON.stringify adds to the bytes of [at, end) when it spells them inside a string. */
static inline size_t tamp_scan_growth(const uint8_t *at, const uint8_t *end) {
  size_t growth = 0;
  for (; end - at >= 16; at += 16) {
    const TampLanes lanes = tamp_lanes_load(at);
    const uint64_t marks =
        tamp_lanes_mask(tamp_lanes_or(tamp_lanes_equal(lanes, '"'), tamp_lanes_equal(lanes, '\\')));
    growth += tamp_count_lanes(marks);
    if (tamp_lanes_mask(tamp_lanes_below(lanes, 0x20)) != 0) {
      const uint64_t controls = tamp_lanes_mask(tamp_lanes_below(lanes, 0x20));
      const TampLanes spaces =
          tamp_lanes_or(tamp_lanes_or(tamp_lanes_equal(lanes, '\b'), tamp_lanes_equal(lanes, '\f')),
                        tamp_lanes_or(tamp_lanes_equal(lanes, '\n'),
                                      tamp_lanes_or(tamp_lanes_equal(lanes, '\r'),
                                                    tamp_lanes_equal(lanes, '\t'))));
      growth += 5 * tamp_count_lanes(controls) - 4 * tamp_count_lanes(tamp_lanes_mask(spaces));
    }
  }
  return growth + tamp_scalar_growth(at, end);
}

/* Bytes of [at, end) that are not UTF-8 continuation bytes: the code points that begin there. */
static inline size_t tamp_scan_characters(const uint8_t *at, const uint8_t *end) {
  size_t count = 0;
  for (; end - at >= 16; at += 16) {
    const TampLanes lanes = tamp_lanes_load(at);
    const uint64_t highs = tamp_lanes_high(lanes);
    if (highs == 0) {
      count += 16;
    } else {
      const TampLanes leads = tamp_lanes_below(lanes, 0xc0);
      count += 16 - tamp_count_lanes(highs & tamp_lanes_mask(leads));
    }
  }
  return count + tamp_scalar_characters(at, end);
}

/* Are the 16 bytes at `at`, with up to three before them to complete, a stretch of UTF-8? */
static inline bool tamp_lanes_are_utf8(const uint8_t *at) {
  const TampLanes lanes = tamp_lanes_load(at);
  const TampLanes before1 = tamp_lanes_load(at - 1);
  const TampLanes before2 = tamp_lanes_load(at - 2);
  const TampLanes before3 = tamp_lanes_load(at - 3);
  /* A continuation stands exactly where a lead wants one: one, two or three bytes behind it. */
  const TampLanes tails = tamp_lanes_below(tamp_lanes_xor(lanes, tamp_lanes_splat(0x80)), 0x40);
  const TampLanes unwanted = tamp_lanes_and(
      tamp_lanes_below(before1, 0xc0),
      tamp_lanes_and(tamp_lanes_below(before2, 0xe0), tamp_lanes_below(before3, 0xf0)));
  if (tamp_lanes_mask(tamp_lanes_xor(tails, unwanted)) != TAMP_ALL_LANES) return false;
  /* Four leads narrow the range of the next byte (table 3-7), and some bytes are no leads at all.
   */
  const TampLanes from_a0 = tamp_lanes_xor(tamp_lanes_below(lanes, 0xa0), tamp_lanes_splat(0xff));
  const TampLanes from_90 = tamp_lanes_xor(tamp_lanes_below(lanes, 0x90), tamp_lanes_splat(0xff));
  const TampLanes narrow = tamp_lanes_or(
      tamp_lanes_or(tamp_lanes_and(tamp_lanes_equal(before1, 0xe0), tamp_lanes_below(lanes, 0xa0)),
                    tamp_lanes_and(tamp_lanes_equal(before1, 0xed), from_a0)),
      tamp_lanes_or(tamp_lanes_and(tamp_lanes_equal(before1, 0xf0), tamp_lanes_below(lanes, 0x90)),
                    tamp_lanes_and(tamp_lanes_equal(before1, 0xf4), from_90)));
  const TampLanes no_lead =
      tamp_lanes_or(tamp_lanes_below(tamp_lanes_xor(lanes, tamp_lanes_splat(0xc0)), 2),
                    tamp_lanes_xor(tamp_lanes_below(lanes, 0xf5), tamp_lanes_splat(0xff)));
  return tamp_lanes_mask(tamp_lanes_or(narrow, no_lead)) == 0;
}

/* A position in [at, end] between characters up to which all is UTF-8; it may stop early, by less
 * than 32 bytes before a fault or `end`. Before `at` stand three bytes or more, the end of whole
 * characters. */
static inline const uint8_t *tamp_scan_utf8(const uint8_t *at, const uint8_t *end) {
  while (end - at >= 16 && tamp_lanes_are_utf8(at)) at += 16;
  if (at[-1] >= 0xc0) return at - 1;
  if (at[-2] >= 0xe0) return at - 2;
  if (at[-3] >= 0xf0) return at - 3;
  return at;
}

#else

static inline const uint8_t *tamp_scan_utf8(const uint8_t *at, const uint8_t *end) {
  (void)end;
  return at;
}
static inline const uint8_t *tamp_scan_string(const uint8_t *at, const uint8_t *end, bool *high) {
  return tamp_scalar_string(at, end, high);
}
static inline const uint8_t *tamp_scan_ascii(const uint8_t *at, const uint8_t *end) {
  return tamp_scalar_ascii(at, end);
}
static inline const uint8_t *tamp_scan_token(const uint8_t *at, const uint8_t *end) {
  return tamp_scalar_token(at, end);
}
static inline const uint8_t *tamp_scan_byte(const uint8_t *at, const uint8_t *end, uint8_t byte) {
  return tamp_scalar_byte(at, end, byte);
}
static inline size_t tamp_scan_growth(const uint8_t *at, const uint8_t *end) {
  return tamp_scalar_growth(at, end);
}
static inline size_t tamp_scan_characters(const uint8_t *at, const uint8_t *end) {
  return tamp_scalar_characters(at, end);
}

#endif

#endif
