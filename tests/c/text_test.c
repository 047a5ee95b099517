#include <stdlib.h>

#include "../../src/text.h"
#include "test.h"

static uint64_t random_state = 11;

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((random_state >> 33) * bound >> 31);
}

static uint64_t random_word(void) {
  return (uint64_t)random_below(UINT32_C(1) << 31) << 33 ^
         (uint64_t)random_below(UINT32_C(1) << 31) << 11 ^ random_below(UINT32_C(1) << 31);
}

static const TampText clusters[] = {
    TAMP_TEXT_INIT("a"),
    TAMP_TEXT_INIT(" "),
    TAMP_TEXT_INIT("\n"),
    TAMP_TEXT_INIT("\r\n"),
    TAMP_TEXT_INIT("\xc3\xa9"),
    TAMP_TEXT_INIT("\xe4\xb8\x80"),
    TAMP_TEXT_INIT("\xf0\x9f\x98\x80"),
    TAMP_TEXT_INIT("e\xcc\x81"),                        /* e, combining acute */
    TAMP_TEXT_INIT("o\xcc\x88\xcc\xa3"),                /* o, two marks */
    TAMP_TEXT_INIT("\xe2\x9d\xa4\xef\xb8\x8f"),         /* heart, variation selector 16 */
    TAMP_TEXT_INIT("\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd"), /* thumb, skin tone */
    TAMP_TEXT_INIT("\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa"), /* flag of two letters */
    TAMP_TEXT_INIT("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb"), /* woman, ZWJ, laptop */
    TAMP_TEXT_INIT("\xf0\x9f\x91\xa9\xf0\x9f\x8f\xbd\xe2\x80\x8d\xf0\x9f\x9a\x80"),
    TAMP_TEXT_INIT("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"),
    TAMP_TEXT_INIT(
        "\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xbf"), /* tagged flag */
    TAMP_TEXT_INIT("1\xef\xb8\x8f\xe2\x83\xa3"),                             /* keycap */
    TAMP_TEXT_INIT(
        "\xe0\xa4\x95\xe0\xa5\x8d\xe0\xa4\xb7\xe0\xa4\xbf"), /* Devanagari conjunct, vowel sign */
    TAMP_TEXT_INIT("\xe0\xae\xa8\xe0\xae\xbf"),              /* Tamil, vowel sign */
    TAMP_TEXT_INIT("\xe0\xb8\x81\xe0\xb8\xb3"),              /* Thai, sara am */
    TAMP_TEXT_INIT("\xed\x95\x9c"),                          /* Hangul syllable */
    TAMP_TEXT_INIT("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"),  /* the same in jamo */
    TAMP_TEXT_INIT("\xec\x97\x90\xe1\x86\xab"),              /* syllable, final jamo */
};
enum { CLUSTERS = sizeof clusters / sizeof clusters[0] };

static size_t plain_characters(TampText text) {
  size_t count = 0;
  for (size_t i = 0; i < text.length; i++) count += (text.bytes[i] & 0xc0) != 0x80;
  return count;
}

static void cuts(void) {
  TEST("a head and a tail are as many whole clusters as fit into the characters asked for");
  enum { MOST = 60 };
  for (int round = 0; round < 3000; round++) {
    const size_t count = random_below(MOST + 1);
    size_t ends[MOST + 1] = {0}, characters[MOST + 1] = {0};
    uint8_t bytes[MOST * 24];
    for (size_t i = 0; i < count; i++) {
      const TampText cluster =
          clusters[round < CLUSTERS ? (uint32_t)round : random_below(CLUSTERS)];
      memcpy(bytes + ends[i], cluster.bytes, cluster.length);
      ends[i + 1] = ends[i] + cluster.length;
      characters[i + 1] = characters[i] + plain_characters(cluster);
    }
    const size_t length = ends[count];
    uint8_t *tight = malloc(length == 0 ? 1 : length);
    if (tight == NULL) abort();
    memcpy(tight, bytes, length);
    const TampText text = {tight, length};
    CHECK(tamp_text_characters(text) == characters[count]);
    bool heads = true, tails = true;
    for (size_t wanted = 0; wanted <= characters[count] + 1; wanted++) {
      size_t most = 0, least = count;
      while (most < count && characters[most + 1] <= wanted) most++;
      while (least > 0 && characters[count] - characters[least - 1] <= wanted) least--;
      heads = heads && tamp_text_head(text, wanted) == ends[most];
      tails = tails && tamp_text_tail(text, wanted) == ends[least];
    }
    free(tight);
    if (!CHECK(heads) || !CHECK(tails)) return;
  }

  TEST("flags are cut between pairs, counted from the first letter of their run");
  uint8_t flags[4 * 101];
  for (int i = 0; i < 101; i++) memcpy(flags + 4 * i, "\xf0\x9f\x87\xa9", 4);
  const TampText run = {flags, sizeof flags};
  CHECK(tamp_text_head(run, 1) == 0 && tamp_text_head(run, 7) == 24 &&
        tamp_text_head(run, 8) == 32);
  CHECK(tamp_text_tail(run, 1) == 400 && tamp_text_tail(run, 2) == 400);
  CHECK(tamp_text_tail(run, 3) == 392 && tamp_text_tail(run, 100) == 8);

  TEST("a mark behind a control character or at the very start is not part of what was before");
  CHECK(tamp_text_head(TAMP_TEXT("\n\xcc\x81"), 1) == 1);
  CHECK(tamp_text_head(TAMP_TEXT("\xcc\x81x"), 1) == 2);
  CHECK(tamp_text_head(TAMP_TEXT("\r\r\n"), 2) == 1);
  CHECK(tamp_text_tail(TAMP_TEXT("\r\n\n"), 2) == 2);

  TEST("a cluster longer than what was asked for is left out whole, also a very long one");
  enum { MARKS = 100000 };
  uint8_t *tower = malloc(2 * MARKS + 3);
  if (tower == NULL) abort();
  tower[0] = tower[1] = 'e';
  for (int i = 0; i < MARKS; i++) memcpy(tower + 2 + 2 * i, "\xcc\x81", 2);
  tower[2 * MARKS + 2] = 'z';
  const TampText zalgo = {tower, 2 * MARKS + 3};
  CHECK(tamp_text_head(zalgo, MARKS) == 1);
  CHECK(tamp_text_head(zalgo, MARKS + 2) == 2 * MARKS + 2);
  CHECK(tamp_text_tail(zalgo, MARKS) == 2 * MARKS + 2);
  CHECK(tamp_text_tail(zalgo, MARKS + 2) == 1);
  free(tower);
}

static void broken(void) {
  TEST("bytes that are not UTF-8 are never read past, and cuts stay inside");
  for (int round = 0; round < 20000; round++) {
    const uint32_t length = random_below(100);
    uint8_t *bytes = malloc(length == 0 ? 1 : length);
    if (bytes == NULL) abort();
    for (uint32_t i = 0; i < length; i++) {
      bytes[i] = (uint8_t)(random_below(3) == 0 ? random_below(256) : 0x80 + random_below(128));
    }
    const TampText text = {bytes, length};
    const size_t wanted = random_below(100);
    CHECK(tamp_text_head(text, wanted) <= length && tamp_text_tail(text, wanted) <= length);
    const TampText trimmed = tamp_text_trim(text);
    CHECK(trimmed.bytes >= bytes && trimmed.bytes + trimmed.length <= bytes + length);
    CHECK(tamp_text_is_blank(text) == (trimmed.length == 0));
    (void)tamp_text_hash(text, wanted);
    free(bytes);
  }
}

static void white_space(void) {
  TEST("white space is what String.prototype.trim takes off, at both ends only");
  static const char *const white[] = {"\t",           "\n",           "\v",
                                      "\f",           "\r",           " ",
                                      "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80",
                                      "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe2\x80\xa9",
                                      "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
                                      "\xef\xbb\xbf"};
  static const char *const black[] = {"\x1f",         "\xc2\x85", "\xe2\x80\x8b", "\xe2\x81\xa0",
                                      "\xe1\xa0\x8e", "x",        "\x01",         "\xe2\x80\x8d"};
  uint8_t bytes[64];
  for (size_t w = 0; w < sizeof white / sizeof *white; w++) {
    const TampText space = {(const uint8_t *)white[w], strlen(white[w])};
    CHECK(tamp_text_is_blank(space) && tamp_text_trim(space).length == 0);
    for (size_t b = 0; b < sizeof black / sizeof *black; b++) {
      const int length = snprintf((char *)bytes, sizeof bytes, "%s %s%s%s\t%s", white[w], black[b],
                                  white[w], black[b], white[w]);
      const TampText trimmed = tamp_text_trim((TampText){bytes, (size_t)length});
      CHECK(trimmed.bytes == bytes + space.length + 1);
      CHECK(trimmed.length == 2 * strlen(black[b]) + space.length);
      CHECK(!tamp_text_is_blank((TampText){bytes, (size_t)length}));
    }
  }

  TEST("no bytes at all are a text: blank, of no characters, equal to another such");
  const TampText nothing = {NULL, 0};
  CHECK(tamp_text_is_blank(nothing) && tamp_text_characters(nothing) == 0);
  CHECK(tamp_text_head(nothing, 0) == 0 && tamp_text_tail(nothing, 3) == 0);
  CHECK(tamp_text_trim(nothing).length == 0 && tamp_text_equal(nothing, TAMP_TEXT("")));
  CHECK(tamp_text_hash(nothing, 1) == tamp_text_hash(TAMP_TEXT(""), 1));
  CHECK(tamp_text_equal(TAMP_TEXT("ab"), TAMP_TEXT("ab")));
  CHECK(!tamp_text_equal(TAMP_TEXT("ab"), TAMP_TEXT("aB")));
  CHECK(!tamp_text_equal(TAMP_TEXT("ab"), TAMP_TEXT("abc")));
}

static int compare_words(const void *a, const void *b) {
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

static void hashes(void) {
  TEST("a hash is the same everywhere");
  CHECK(tamp_text_hash(TAMP_TEXT(""), 0) == UINT64_C(0x1a03cb5ee8fc1a7d));
  CHECK(tamp_text_hash(TAMP_TEXT("toolu_01A09q90qw90lq917835lq9"), 42) ==
        UINT64_C(0x1ef4274ebfb6aabd));

  TEST("texts that differ in little, or only in length, have different hashes");
  enum { COUNT = 200000 };
  uint64_t *seen = malloc(COUNT * sizeof *seen);
  if (seen == NULL) abort();
  for (int i = 0; i < COUNT; i++) {
    char id[32];
    const int length = snprintf(id, sizeof id, "call_%d", i);
    seen[i] = tamp_text_hash((TampText){(const uint8_t *)id, (size_t)length}, 5);
  }
  qsort(seen, COUNT, sizeof *seen, compare_words);
  size_t equal = 0;
  for (int i = 1; i < COUNT; i++) equal += seen[i] == seen[i - 1];
  CHECK(equal == 0);
  static const uint8_t zeros[300];
  for (size_t i = 0; i < sizeof zeros; i++) seen[i] = tamp_text_hash((TampText){zeros, i}, 5);
  qsort(seen, sizeof zeros, sizeof *seen, compare_words);
  for (size_t i = 1; i < sizeof zeros; i++) equal += seen[i] == seen[i - 1];
  CHECK(equal == 0);
  free(seen);

  TEST("each bit of the text, of the length and of the seed changes about half of the hash");
  for (size_t length = 1; length <= 40; length++) {
    long flipped = 0, least = 64, trials = 0;
    for (int round = 0; round < 20; round++) {
      uint8_t bytes[40];
      for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)random_below(256);
      const uint64_t seed = random_word();
      const uint64_t hash = tamp_text_hash((TampText){bytes, length}, seed);
      for (size_t bit = 0; bit < 8 * length + 64; bit++) {
        const bool of_seed = bit >= 8 * length;
        if (!of_seed) bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        uint64_t change = hash ^ tamp_text_hash((TampText){bytes, length},
                                                of_seed ? seed ^ UINT64_C(1) << bit % 64 : seed);
        if (!of_seed) bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        long ones = 0;
        for (; change != 0; change &= change - 1) ones++;
        flipped += ones;
        trials++;
        if (ones < least) least = ones;
      }
    }
    const double mean = (double)flipped / (double)trials;
    CHECK(mean > 31.5 && mean < 32.5 && least > 8);
  }
}

int main(void) {
  cuts();
  broken();
  white_space();
  hashes();
  return test_end();
}
