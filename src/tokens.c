/* The estimator is a finite-state machine over bytes. Each byte falls into one cell of a table,
 * which says what the byte costs in fractions of a token and which state comes next; the sum of the
 * costs is the count. The states tell apart what o200k tells apart when it cuts a text into words
 * and merges their bytes: the letter, mark or script before, runs of digits, blanks and line
 * breaks, and the place within a character. tools/calibrate builds the machine and fits the costs.
 *
 * The properties callers rely on need no code. No cost is negative, so more text never counts less.
 * What two texts cost together differs from their sum only where they meet, until the machine is in
 * the state it would be in anyway. Every byte has a cell in every state, so no input is malformed.
 *
 * Each look-up of a state waits for the one before, which would leave most of the processor idle. A
 * long stretch is therefore walked as four lanes at once, the later three from a guessed state.
 * Where a guess was wrong the start of the lane is walked again, from both states side by side,
 * until they agree: mostly a few bytes. The count is exactly that of one walk. */
#include "tokens.h"

#include "tokens_table.h"

enum {
  LANES = 4,
  STRETCH = 64 * 1024, /* bytes whose cost fits into 32 bits, and that stay in the cache */
  SHORT = 64,          /* bytes that are not worth lanes */
  WARM_UP = 8,         /* bytes before a lane that its state is guessed from */
};

/* Where `byte` falls in the state of `row`. */
static inline uint32_t cell_of(uint32_t row, uint8_t byte) {
  return row * TAMP_TOKENS_UNIT + tamp_tokens_column[byte];
}

/* The cost of `length` bytes from the state of `*row`, which becomes the state behind them. */
static uint32_t walk(const uint8_t *text, size_t length, uint32_t *row) {
  uint32_t cost = 0;
  uint32_t at = *row;
  for (size_t i = 0; i < length; i++) {
    const uint32_t cell = cell_of(at, text[i]);
    cost += tamp_tokens_cost[cell];
    at = tamp_tokens_next[cell];
  }
  *row = at;
  return cost;
}

/* What a walk from the state of `row` costs more than the one from `guess` that was made. `*end` is
 * where that one ended and becomes where this one does. The difference is modulo 2^32. */
static uint32_t mend(const uint8_t *text, size_t length, uint32_t row, uint32_t guess,
                     uint32_t *end) {
  uint32_t difference = 0;
  for (size_t i = 0; row != guess; i++) {
    if (i == length) {
      *end = row;
      break;
    }
    const uint32_t right = cell_of(row, text[i]);
    const uint32_t wrong = cell_of(guess, text[i]);
    difference += (uint32_t)tamp_tokens_cost[right] - tamp_tokens_cost[wrong];
    row = tamp_tokens_next[right];
    guess = tamp_tokens_next[wrong];
  }
  return difference;
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
  uint32_t cost = 0;
  for (size_t i = 0; i < each; i++) {
    const uint32_t cell0 = cell_of(row0, text[i]);
    const uint32_t cell1 = cell_of(row1, lane1[i]);
    const uint32_t cell2 = cell_of(row2, lane2[i]);
    const uint32_t cell3 = cell_of(row3, lane3[i]);
    row0 = tamp_tokens_next[cell0];
    row1 = tamp_tokens_next[cell1];
    row2 = tamp_tokens_next[cell2];
    row3 = tamp_tokens_next[cell3];
    cost += (uint32_t)tamp_tokens_cost[cell0] + tamp_tokens_cost[cell1] + tamp_tokens_cost[cell2] +
            tamp_tokens_cost[cell3];
  }
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
