#include "text.h"

#include "json/simd.h"
#include "json/utf8.h"

typedef struct Range {
  uint16_t first;
  uint16_t last;
} Range;

/* Characters that never begin a cluster: general category M, Grapheme_Extend, Emoji_Modifier, Thai
 * and Lao AM, of Unicode 17. Gaps of unassigned code points inside a block are closed. */
static const Range extending[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x05bf, 0x05bf}, {0x05c1, 0x05c2},
    {0x05c4, 0x05c5}, {0x05c7, 0x05c7}, {0x0610, 0x061a}, {0x064b, 0x065f}, {0x0670, 0x0670},
    {0x06d6, 0x06dc}, {0x06df, 0x06e4}, {0x06e7, 0x06e8}, {0x06ea, 0x06ed}, {0x0711, 0x0711},
    {0x0730, 0x074a}, {0x07a6, 0x07b0}, {0x07eb, 0x07f3}, {0x07fd, 0x07fd}, {0x0816, 0x0819},
    {0x081b, 0x0823}, {0x0825, 0x0827}, {0x0829, 0x082d}, {0x0859, 0x085b}, {0x0897, 0x089f},
    {0x08ca, 0x08e1}, {0x08e3, 0x0903}, {0x093a, 0x093c}, {0x093e, 0x094f}, {0x0951, 0x0957},
    {0x0962, 0x0963}, {0x0981, 0x0983}, {0x09bc, 0x09bc}, {0x09be, 0x09cd}, {0x09d7, 0x09d7},
    {0x09e2, 0x09e3}, {0x09fe, 0x0a03}, {0x0a3c, 0x0a51}, {0x0a70, 0x0a71}, {0x0a75, 0x0a75},
    {0x0a81, 0x0a83}, {0x0abc, 0x0abc}, {0x0abe, 0x0acd}, {0x0ae2, 0x0ae3}, {0x0afa, 0x0b03},
    {0x0b3c, 0x0b3c}, {0x0b3e, 0x0b57}, {0x0b62, 0x0b63}, {0x0b82, 0x0b82}, {0x0bbe, 0x0bcd},
    {0x0bd7, 0x0bd7}, {0x0c00, 0x0c04}, {0x0c3c, 0x0c3c}, {0x0c3e, 0x0c56}, {0x0c62, 0x0c63},
    {0x0c81, 0x0c83}, {0x0cbc, 0x0cbc}, {0x0cbe, 0x0cd6}, {0x0ce2, 0x0ce3}, {0x0cf3, 0x0d03},
    {0x0d3b, 0x0d3c}, {0x0d3e, 0x0d4d}, {0x0d57, 0x0d57}, {0x0d62, 0x0d63}, {0x0d81, 0x0d83},
    {0x0dca, 0x0ddf}, {0x0df2, 0x0df3}, {0x0e31, 0x0e31}, {0x0e33, 0x0e3a}, {0x0e47, 0x0e4e},
    {0x0eb1, 0x0eb1}, {0x0eb3, 0x0ebc}, {0x0ec8, 0x0ece}, {0x0f18, 0x0f19}, {0x0f35, 0x0f35},
    {0x0f37, 0x0f37}, {0x0f39, 0x0f39}, {0x0f3e, 0x0f3f}, {0x0f71, 0x0f84}, {0x0f86, 0x0f87},
    {0x0f8d, 0x0fbc}, {0x0fc6, 0x0fc6}, {0x102b, 0x103e}, {0x1056, 0x1059}, {0x105e, 0x1060},
    {0x1062, 0x1064}, {0x1067, 0x106d}, {0x1071, 0x1074}, {0x1082, 0x108d}, {0x108f, 0x108f},
    {0x109a, 0x109d}, {0x135d, 0x135f}, {0x1712, 0x1715}, {0x1732, 0x1734}, {0x1752, 0x1753},
    {0x1772, 0x1773}, {0x17b4, 0x17d3}, {0x17dd, 0x17dd}, {0x180b, 0x180d}, {0x180f, 0x180f},
    {0x1885, 0x1886}, {0x18a9, 0x18a9}, {0x1920, 0x193b}, {0x1a17, 0x1a1b}, {0x1a55, 0x1a7f},
    {0x1ab0, 0x1aeb}, {0x1b00, 0x1b04}, {0x1b34, 0x1b44}, {0x1b6b, 0x1b73}, {0x1b80, 0x1b82},
    {0x1ba1, 0x1bad}, {0x1be6, 0x1bf3}, {0x1c24, 0x1c37}, {0x1cd0, 0x1cd2}, {0x1cd4, 0x1ce8},
    {0x1ced, 0x1ced}, {0x1cf4, 0x1cf4}, {0x1cf7, 0x1cf9}, {0x1dc0, 0x1dff}, {0x200c, 0x200d},
    {0x20d0, 0x20f0}, {0x2cef, 0x2cf1}, {0x2d7f, 0x2d7f}, {0x2de0, 0x2dff}, {0x302a, 0x302f},
    {0x3099, 0x309a}, {0xa66f, 0xa672}, {0xa674, 0xa67d}, {0xa69e, 0xa69f}, {0xa6f0, 0xa6f1},
    {0xa802, 0xa802}, {0xa806, 0xa806}, {0xa80b, 0xa80b}, {0xa823, 0xa827}, {0xa82c, 0xa82c},
    {0xa880, 0xa881}, {0xa8b4, 0xa8c5}, {0xa8e0, 0xa8f1}, {0xa8ff, 0xa8ff}, {0xa926, 0xa92d},
    {0xa947, 0xa953}, {0xa980, 0xa983}, {0xa9b3, 0xa9c0}, {0xa9e5, 0xa9e5}, {0xaa29, 0xaa36},
    {0xaa43, 0xaa43}, {0xaa4c, 0xaa4d}, {0xaa7b, 0xaa7d}, {0xaab0, 0xaab0}, {0xaab2, 0xaab4},
    {0xaab7, 0xaab8}, {0xaabe, 0xaabf}, {0xaac1, 0xaac1}, {0xaaeb, 0xaaef}, {0xaaf5, 0xaaf6},
    {0xabe3, 0xabea}, {0xabec, 0xabed}, {0xfb1e, 0xfb1e}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    {0xff9e, 0xff9f},
};

/* The same of plane 1, less 0x10000. */
static const Range extending_plane1[] = {
    {0x01fd, 0x01fd}, {0x02e0, 0x02e0}, {0x0376, 0x037a}, {0x0a01, 0x0a0f}, {0x0a38, 0x0a3f},
    {0x0ae5, 0x0ae6}, {0x0d24, 0x0d27}, {0x0d69, 0x0d6d}, {0x0eab, 0x0eac}, {0x0efa, 0x0eff},
    {0x0f46, 0x0f50}, {0x0f82, 0x0f85}, {0x1000, 0x1002}, {0x1038, 0x1046}, {0x1070, 0x1070},
    {0x1073, 0x1074}, {0x107f, 0x1082}, {0x10b0, 0x10ba}, {0x10c2, 0x10c2}, {0x1100, 0x1102},
    {0x1127, 0x1134}, {0x1145, 0x1146}, {0x1173, 0x1173}, {0x1180, 0x1182}, {0x11b3, 0x11c0},
    {0x11c9, 0x11cc}, {0x11ce, 0x11cf}, {0x122c, 0x1237}, {0x123e, 0x123e}, {0x1241, 0x1241},
    {0x12df, 0x12ea}, {0x1300, 0x1303}, {0x133b, 0x133c}, {0x133e, 0x134d}, {0x1357, 0x1357},
    {0x1362, 0x1374}, {0x13b8, 0x13d0}, {0x13d2, 0x13d2}, {0x13e1, 0x13e2}, {0x1435, 0x1446},
    {0x145e, 0x145e}, {0x14b0, 0x14c3}, {0x15af, 0x15c0}, {0x15dc, 0x15dd}, {0x1630, 0x1640},
    {0x16ab, 0x16b7}, {0x171d, 0x172b}, {0x182c, 0x183a}, {0x1930, 0x193e}, {0x1940, 0x1940},
    {0x1942, 0x1943}, {0x19d1, 0x19e0}, {0x19e4, 0x19e4}, {0x1a01, 0x1a0a}, {0x1a33, 0x1a39},
    {0x1a3b, 0x1a3e}, {0x1a47, 0x1a47}, {0x1a51, 0x1a5b}, {0x1a8a, 0x1a99}, {0x1b60, 0x1b67},
    {0x1c2f, 0x1c3f}, {0x1c92, 0x1cb6}, {0x1d31, 0x1d45}, {0x1d47, 0x1d47}, {0x1d8a, 0x1d97},
    {0x1ef3, 0x1ef6}, {0x1f00, 0x1f01}, {0x1f03, 0x1f03}, {0x1f34, 0x1f42}, {0x1f5a, 0x1f5a},
    {0x3440, 0x3440}, {0x3447, 0x3455}, {0x611e, 0x612f}, {0x6af0, 0x6af4}, {0x6b30, 0x6b36},
    {0x6f4f, 0x6f4f}, {0x6f51, 0x6f92}, {0x6fe4, 0x6ff1}, {0xbc9d, 0xbc9e}, {0xcf00, 0xcf46},
    {0xd165, 0xd169}, {0xd16d, 0xd172}, {0xd17b, 0xd182}, {0xd185, 0xd18b}, {0xd1aa, 0xd1ad},
    {0xd242, 0xd244}, {0xda00, 0xda36}, {0xda3b, 0xda6c}, {0xda75, 0xda75}, {0xda84, 0xda84},
    {0xda9b, 0xdaaf}, {0xe000, 0xe02a}, {0xe08f, 0xe08f}, {0xe130, 0xe136}, {0xe2ae, 0xe2ae},
    {0xe2ec, 0xe2ef}, {0xe4ec, 0xe4ef}, {0xe5ee, 0xe5ef}, {0xe6e3, 0xe6e3}, {0xe6e6, 0xe6e6},
    {0xe6ee, 0xe6ef}, {0xe6f5, 0xe6f5}, {0xe8d0, 0xe8d6}, {0xe944, 0xe94a}, {0xf3fb, 0xf3ff},
};

static bool is_in(uint32_t code, const Range *ranges, size_t count) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (code > ranges[middle].last)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && code >= ranges[low].first;
}

static bool extends_cluster(uint32_t code) {
  if (code < 0x300) return false;
  if (code < 0x10000) return is_in(code, extending, sizeof extending / sizeof *extending);
  if (code < 0x20000) {
    return is_in(code - 0x10000, extending_plane1,
                 sizeof extending_plane1 / sizeof *extending_plane1);
  }
  return (code >= 0xe0020 && code <= 0xe007f) || (code >= 0xe0100 && code <= 0xe01ef);
}

static bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

static bool is_flag_letter(uint32_t code) {
  return code >= 0x1f1e6 && code <= 0x1f1ff;
}

static bool is_leading_jamo(uint32_t code) {
  return (code >= 0x1100 && code <= 0x115f) || (code >= 0xa960 && code <= 0xa97c);
}

/* Vowels and final consonants, which need not be told apart: where one may not follow is no Korean
 * text. */
static bool is_following_jamo(uint32_t code) {
  return (code >= 0x1160 && code <= 0x11ff) || (code >= 0xd7b0 && code <= 0xd7fb);
}

static bool is_hangul(uint32_t code) {
  return (code >= 0xac00 && code <= 0xd7a3) || is_leading_jamo(code) || is_following_jamo(code);
}

/* The viramas that join two consonants to one conjunct: Devanagari, Bengali, Gujarati, Oriya,
 * Telugu and Malayalam. */
static bool is_linker(uint32_t code) {
  return code == 0x94d || code == 0x9cd || code == 0xacd || code == 0xb4d || code == 0xc4d ||
         code == 0xd4d;
}

static const uint8_t *step_back(const uint8_t *at, const uint8_t *first) {
  const uint8_t *lead = at - 1;
  while (lead > first && at - lead < 4 && (*lead & 0xc0) == 0x80) lead--;
  size_t length;
  (void)tamp_utf8_decode(lead, at, &length);
  return lead + length == at ? lead : at - 1;
}

/* Does the run of extending characters that ends with `code`, at `at`, hold a linker? */
static bool is_linked(const uint8_t *at, uint32_t code, const uint8_t *first) {
  while (extends_cluster(code)) {
    if (is_linker(code)) return true;
    if (at == first) return false;
    const uint8_t *const earlier = step_back(at, first);
    size_t length;
    code = tamp_utf8_decode(earlier, at, &length);
    at = earlier;
  }
  return false;
}

/* May a text be cut at `at`? Both ends are cuts. */
static bool is_boundary(const uint8_t *at, const uint8_t *first, const uint8_t *end) {
  if (at == first || at == end) return true;
  size_t length;
  const uint8_t *before = step_back(at, first);
  const uint32_t left = tamp_utf8_decode(before, at, &length);
  const uint32_t right = tamp_utf8_decode(at, end, &length);
  if (left == '\r' && right == '\n') return false;
  if (right < 0x300 && right != 0xa9 && right != 0xae) return true;
  if (is_control(left) || is_control(right)) return true;
  if (extends_cluster(right)) return false;
  if (left == 0x200d) return false;
  if (right >= 0x900 && right < 0xd80 && is_linked(before, left, first)) return false;
  if (is_hangul(left)) {
    return !is_following_jamo(right) && !(is_leading_jamo(left) && is_hangul(right));
  }
  if (!is_flag_letter(left) || !is_flag_letter(right)) return true;
  /* Flags are pairs, counted from the first letter of the run. */
  bool even = false;
  while (before > first) {
    const uint8_t *const earlier = step_back(before, first);
    if (!is_flag_letter(tamp_utf8_decode(earlier, before, &length))) break;
    even = !even;
    before = earlier;
  }
  return even;
}

size_t tamp_text_characters(TampText text) {
  if (text.length == 0) return 0;
  return tamp_scan_characters(text.bytes, text.bytes + text.length);
}

/* Characters are counted by blocks while more than a block of them is wanted: no block has more
 * than bytes. */
#define BLOCK 64

size_t tamp_text_head(TampText text, size_t characters) {
  if (characters >= text.length) return text.length;
  const uint8_t *const first = text.bytes;
  const uint8_t *const end = first + text.length;
  const uint8_t *at = first;
  for (; characters >= BLOCK && end - at >= BLOCK; at += BLOCK) {
    characters -= tamp_scan_characters(at, at + BLOCK);
  }
  for (; at < end; at++) {
    if ((*at & 0xc0) == 0x80) continue;
    if (characters == 0) break;
    characters--;
  }
  while (!is_boundary(at, first, end)) at = step_back(at, first);
  return (size_t)(at - first);
}

size_t tamp_text_tail(TampText text, size_t characters) {
  if (characters >= text.length) return 0;
  const uint8_t *const first = text.bytes;
  const uint8_t *const end = first + text.length;
  const uint8_t *at = end;
  for (; characters > BLOCK && at - first >= BLOCK; at -= BLOCK) {
    characters -= tamp_scan_characters(at - BLOCK, at);
  }
  /* Each character counts at its first byte, so behind the last one that counts stands its
   * beginning. */
  for (const uint8_t *lead = at; lead > first && characters > 0;) {
    lead--;
    if ((*lead & 0xc0) == 0x80) continue;
    characters--;
    at = lead;
  }
  while (!is_boundary(at, first, end)) {
    size_t length;
    (void)tamp_utf8_decode(at, end, &length);
    at += length;
  }
  return (size_t)(at - first);
}

static bool is_white(uint32_t code) {
  return (code >= 0x09 && code <= 0x0d) || code == 0x20 || code == 0xa0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
         code == 0x205f || code == 0x3000 || code == 0xfeff;
}

TampText tamp_text_trim(TampText text) {
  if (text.length == 0) return text;
  const uint8_t *first = text.bytes;
  const uint8_t *end = first + text.length;
  size_t length;
  while (first < end && is_white(tamp_utf8_decode(first, end, &length))) first += length;
  while (first < end) {
    const uint8_t *const last = step_back(end, first);
    if (!is_white(tamp_utf8_decode(last, end, &length))) break;
    end = last;
  }
  return (TampText){first, (size_t)(end - first)};
}

bool tamp_text_is_blank(TampText text) {
  if (text.length == 0) return true;
  const uint8_t *at = text.bytes;
  const uint8_t *const end = at + text.length;
  size_t length;
  while (at < end && is_white(tamp_utf8_decode(at, end, &length))) at += length;
  return at == end;
}

bool tamp_text_equal(TampText a, TampText b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* --- Hash */

/* Odd constants with about as many ones as zeros; nothing else is asked of them. */
#define MIX_A UINT64_C(0x9e3779b97f4a7c15)
#define MIX_B UINT64_C(0xd6e8feb86659fd93)
#define MIX_C UINT64_C(0xa5a3564e27f8862b)

/* Both halves of the 128-bit product, added without carry: every bit of either factor reaches every
 * bit. */
static uint64_t fold(uint64_t a, uint64_t b) {
  const uint64_t a_low = a & UINT32_MAX, a_high = a >> 32;
  const uint64_t b_low = b & UINT32_MAX, b_high = b >> 32;
  const uint64_t low = a_low * b_low;
  const uint64_t cross = a_high * b_low + (low >> 32);
  const uint64_t middle = a_low * b_high + (cross & UINT32_MAX);
  const uint64_t high = a_high * b_high + (cross >> 32) + (middle >> 32);
  return high ^ (middle << 32 | (low & UINT32_MAX));
}

static uint64_t load(const uint8_t *at, size_t count) {
  if (count == 8) {
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 |
           (uint64_t)at[7] << 56;
  }
  uint64_t word = 0;
  for (size_t i = 0; i < count; i++) word |= (uint64_t)at[i] << 8 * i;
  return word;
}

uint64_t tamp_text_hash(TampText text, uint64_t seed) {
  const uint8_t *at = text.bytes;
  size_t left = text.length;
  /* Both factors depend on the seed, and so no choice of bytes makes one of them 0 for every seed.
   */
  const uint64_t key = fold(seed ^ MIX_A, MIX_B) ^ seed;
  uint64_t state = fold(key ^ (uint64_t)left, MIX_C);
  for (; left > 16; left -= 16, at += 16) {
    state = fold(load(at, 8) ^ key, load(at + 8, 8) ^ state) + MIX_A;
  }
  const uint64_t first = load(at, left < 8 ? left : 8);
  const uint64_t second = left > 8 ? load(at + 8, left - 8) : 0;
  state = fold(first ^ key, second ^ state) + MIX_A;
  return fold(state ^ MIX_B, key ^ MIX_C);
}
