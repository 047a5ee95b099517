/* The estimator is a finite-state machine over bytes. Each byte falls into one cell of a table, which says
 * what the byte costs in fractions of a token and which state comes next; the sum of the costs is the count.
 * The states tell apart what o200k tells apart when it cuts a text into words and merges their bytes: the
 * letter, mark or script before, runs of digits, blanks and line breaks, and the place within a character.
 * tools/calibrate builds the machine and fits the costs.
 *
 * The properties callers rely on need no code. No cost is negative, so more text never counts less. What two
 * texts cost together differs from their sum only where they meet, until the machine is in the state it would
 * be in anyway. Every byte has a cell in every state, so no input is malformed.
 *
 * A table look-up waits for the one before, which would leave most of the processor idle. A long stretch is
 * therefore walked as four lanes at once, the later three from a guessed state. Where a guess was wrong the
 * start of the lane is walked again, from both states side by side, until they agree: mostly a few bytes. The
 * count is exactly that of one walk. */
#include "tokens.h"

#include "tokens_table.h"

enum {
  LANES = 4,
  STRETCH = 64 * 1024, /* bytes whose cost fits into 32 bits, and that stay in the cache */
  SHORT = 256,         /* bytes that are not worth lanes */
  WARM_UP = 8,         /* bytes before a lane that its state is guessed from */
};

/* One step: adds what `byte` costs in the state of `row`, and goes on to the next. */
static inline void step(uint32_t *row, uint32_t *cost, uint8_t byte) {
  const uint32_t cell = *row * TAMP_TOKENS_UNIT + tamp_tokens_column[byte];
  *cost += tamp_tokens_cost[cell];
  *row = tamp_tokens_next[cell];
}

/* The cost of `length` bytes from the state of `*row`, which becomes the state behind them. */
static uint32_t walk(const uint8_t *text, size_t length, uint32_t *row) {
  uint32_t cost = 0;
  uint32_t at = *row;
  for (size_t i = 0; i < length; i++) step(&at, &cost, text[i]);
  *row = at;
  return cost;
}

/* What a walk from the state of `row` costs more than the one from `guess` that was made. `*end` is where that
 * one ended and becomes where this one does. The difference is modulo 2^32. */
static uint32_t mend(const uint8_t *text, size_t length, uint32_t row, uint32_t guess, uint32_t *end) {
  uint32_t cost = 0, guessed = 0;
  for (size_t i = 0; row != guess; i++) {
    if (i == length) {
      *end = row;
      break;
    }
    step(&row, &cost, text[i]);
    step(&guess, &guessed, text[i]);
  }
  return cost - guessed;
}

/* walk, in lanes. `length` is at least SHORT and at most STRETCH. */
static uint32_t walk_lanes(const uint8_t *text, size_t length, uint32_t *row) {
  const size_t each = length / LANES;
  const uint8_t *const lane1 = text + each;
  const uint8_t *const lane2 = lane1 + each;
  const uint8_t *const lane3 = lane2 + each;
  uint32_t guess1 = *row, guess2 = *row, guess3 = *row;
  walk(lane1 - WARM_UP, WARM_UP, &guess1);
  walk(lane2 - WARM_UP, WARM_UP, &guess2);
  walk(lane3 - WARM_UP, WARM_UP, &guess3);

  uint32_t row0 = *row, row1 = guess1, row2 = guess2, row3 = guess3;
  uint32_t cost0 = 0, cost1 = 0, cost2 = 0, cost3 = 0;
  for (size_t i = 0; i < each; i++) {
    step(&row0, &cost0, text[i]);
    step(&row1, &cost1, lane1[i]);
    step(&row2, &cost2, lane2[i]);
    step(&row3, &cost3, lane3[i]);
  }
  uint32_t cost = cost0 + cost1 + cost2 + cost3;
  cost += mend(lane1, each, row0, guess1, &row1);
  cost += mend(lane2, each, row1, guess2, &row2);
  cost += mend(lane3, each, row2, guess3, &row3);
  cost += walk(text + LANES * each, length - LANES * each, &row3);
  *row = row3;
  return cost;
}

uint32_t tamp_tokens_estimate(const uint8_t *text, size_t length) {
  if (length == 0) return 0;
  uint64_t cost = 0;
  uint32_t row = TAMP_TOKENS_START;
  while (length >= SHORT) {
    const size_t stretch = length < STRETCH ? length : STRETCH;
    cost += walk_lanes(text, stretch, &row);
    text += stretch;
    length -= stretch;
  }
  cost += walk(text, length, &row);
  const uint64_t tokens = (cost + TAMP_TOKENS_SCALE / 2) / TAMP_TOKENS_SCALE;
  if (tokens == 0) return 1;
  return tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX;
}
