/* With the argument "count" the program is a counter for other tests: it reads texts from its
 * input, each after its length as 32 bits with the low byte first, and prints the estimate of each
 * on a line. */
#include <stdlib.h>

#include "../../src/tokens.h"
#include "../../src/tokens_table.h"
#include "test.h"

static uint64_t random_state = 7;

static uint32_t random_below(uint32_t bound) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((random_state >> 33) * bound >> 31);
}

/* The estimate as its definition has it: one state, one byte after the other. */
static uint32_t reference(const uint8_t *text, size_t length) {
  uint64_t cost = 0;
  uint32_t row = TAMP_TOKENS_START;
  for (size_t i = 0; i < length; i++) {
    const uint32_t cell = row * TAMP_TOKENS_UNIT + tamp_tokens_column[text[i]];
    cost += tamp_tokens_cost[cell];
    row = tamp_tokens_next[cell];
  }
  const uint64_t tokens = (cost + TAMP_TOKENS_SCALE / 2) / TAMP_TOKENS_SCALE;
  return length > 0 && tokens == 0 ? 1 : (uint32_t)tokens;
}

static const char *const words[] = {
    "the ",
    "context",
    " window",
    "\n",
    "    ",
    "2026-12-01T02:35",
    "{\"role\":\"user\"",
    "();\n",
    "HTTP_STATUS",
    "camelCase",
    "\t\t",
    ", ",
    "na\xc3\xafve ",
    "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82 ",
    "\xe4\xbd\xa0\xe5\xa5\xbd",
    "\xe3\x81\x93\xe3\x82\x93",
    "\xf0\x9f\x98\x80",
    "3.14159265358979",
    "\r\n\r\n",
    "d41d8cd98f00b204e9800998ecf8427e",
    "\\\"",
    "== ",
    "# ",
    "https://example.org/",
    "\xe0\xb8\x81\xe0\xb8\xb4\xe0\xb8\x99",
};
enum { WORDS = sizeof words / sizeof words[0] };

static void fill_words(uint8_t *text, size_t length) {
  for (size_t at = 0; at < length;) {
    const char *const word = words[random_below(WORDS)];
    for (size_t i = 0; word[i] != 0 && at < length; i++) text[at++] = (uint8_t)word[i];
  }
}

static void fill_bytes(uint8_t *text, size_t length) {
  for (size_t i = 0; i < length; i++) text[i] = (uint8_t)random_below(256);
}

/* Runs, where a state takes longest to be forgotten. */
static void fill_runs(uint8_t *text, size_t length) {
  static const uint8_t bytes[] = {'7', ' ', '\n', '-', 'A', 'x', '\t', 0xf0, 0xe4, 0x80, 0xc3, 0};
  for (size_t at = 0; at < length;) {
    const uint8_t byte = bytes[random_below(sizeof bytes)];
    for (uint32_t run = 1 + random_below(900); run > 0 && at < length; run--) text[at++] = byte;
  }
}

static void (*const fillers[])(uint8_t *, size_t) = {fill_words, fill_bytes, fill_runs};
enum { FILLERS = sizeof fillers / sizeof fillers[0], LONGEST = 300 * 1024 };

static void tables(void) {
  TEST("the tables take at most 8 KB, and every cell leads to a row that lies in them whole");
  CHECK(sizeof tamp_tokens_column + sizeof tamp_tokens_cost + sizeof tamp_tokens_next <= 8192);
  for (size_t byte = 0; byte < 256; byte++) CHECK(tamp_tokens_column[byte] < TAMP_TOKENS_COLUMNS);
  for (size_t cell = 0; cell < TAMP_TOKENS_CELLS; cell++) {
    CHECK(tamp_tokens_next[cell] * TAMP_TOKENS_UNIT + TAMP_TOKENS_COLUMNS <= TAMP_TOKENS_CELLS);
  }
}

static void edges(void) {
  TEST("no text has no tokens, and every other text at least one");
  CHECK(tamp_tokens_estimate(NULL, 0) == 0);
  CHECK(tamp_tokens_estimate((const uint8_t *)"", 0) == 0);
  for (uint32_t byte = 0; byte < 256; byte++) {
    const uint8_t text[] = {(uint8_t)byte};
    CHECK(tamp_tokens_estimate(text, 1) >= 1);
  }
}

static void exact_buffers(void) {
  TEST("a text is read to its last byte and no further, whatever its bytes");
  for (size_t length = 1; length < 700; length++) {
    uint8_t *const text = malloc(length);
    if (!CHECK(text != NULL)) return;
    for (int filler = 0; filler < FILLERS; filler++) {
      fillers[filler](text, length);
      CHECK(tamp_tokens_estimate(text, length) == reference(text, length));
    }
    free(text);
  }
}

static void lanes(uint8_t *text) {
  TEST("a long text counts what one walk over its bytes counts");
  for (int round = 0; round < 60; round++) {
    const size_t length = 1 + random_below(LONGEST);
    fillers[round % FILLERS](text, length);
    CHECK(tamp_tokens_estimate(text, length) == reference(text, length));
  }
  static const uint8_t bytes[] = {'7', ' ', '\n', 0xe4, 0x80};
  for (size_t i = 0; i < sizeof bytes; i++) {
    memset(text, bytes[i], LONGEST);
    CHECK(tamp_tokens_estimate(text, LONGEST) == reference(text, LONGEST));
  }
}

static void monotone(uint8_t *text) {
  TEST("more text never counts less");
  for (int round = 0; round < 30; round++) {
    enum { LENGTH = 3000 };
    fillers[round % FILLERS](text, LENGTH);
    uint32_t before = 0;
    for (size_t length = 0; length <= LENGTH; length++) {
      const uint32_t count = tamp_tokens_estimate(text, length);
      CHECK(count >= before);
      before = count;
    }
  }
}

static void additive(uint8_t *text) {
  TEST("two texts count within 1 % of what they count when one follows the other");
  for (int round = 0; round < 300; round++) {
    const size_t first = 2000 + random_below(20000);
    const size_t length = first + 2000 + random_below(20000);
    fillers[round % FILLERS](text, length);
    const double whole = tamp_tokens_estimate(text, length);
    const double parts = (double)tamp_tokens_estimate(text, first) +
                         tamp_tokens_estimate(text + first, length - first);
    CHECK(whole - parts <= whole / 100 + 1 && parts - whole <= whole / 100 + 1);
  }
}

static void repeatable(uint8_t *text) {
  TEST("the count depends on the bytes alone, not on where they lie");
  fill_words(text, 5000);
  const uint32_t count = tamp_tokens_estimate(text, 5000);
  for (size_t shift = 1; shift < 40; shift++) {
    memmove(text + shift, text + shift - 1, 5000);
    CHECK(tamp_tokens_estimate(text + shift, 5000) == count);
  }
}

static void bounded(uint8_t *text) {
  TEST("a byte costs less than four tokens, so that no message comes near the limit of 32 bits");
  for (int filler = 0; filler < FILLERS; filler++) {
    fillers[filler](text, LONGEST);
    CHECK(tamp_tokens_estimate(text, LONGEST) < (uint64_t)LONGEST * 4);
  }
}

static int count_input(void) {
  uint8_t prefix[4];
  while (fread(prefix, 1, 4, stdin) == 4) {
    const size_t length =
        prefix[0] | (size_t)prefix[1] << 8 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 24;
    uint8_t *const text = malloc(length > 0 ? length : 1);
    if (text == NULL || fread(text, 1, length, stdin) != length) {
      free(text);
      return 1;
    }
    printf("%lu\n", (unsigned long)tamp_tokens_estimate(text, length));
    free(text);
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "count") == 0) return count_input();
  uint8_t *const text = malloc(LONGEST + 64);
  if (text == NULL) return 1;
  tables();
  edges();
  exact_buffers();
  lanes(text);
  monotone(text);
  additive(text);
  repeatable(text);
  bounded(text);
  free(text);
  return test_end();
}
