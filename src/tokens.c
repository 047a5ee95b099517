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

/* The cell of `byte` in the row that `cell` leads to. Rows start at multiples of 16. */
static inline uint32_t step(uint32_t cell, uint8_t byte) {
  return tamp_tokens_cell[((cell >> 4) & 0xff0u) + tamp_tokens_column[byte]];
}

static inline uint32_t cost_of(uint32_t cell) { return cell & 0xffu; }

/* Walks `length` bytes from the state that `*cell` leads to; leaves the last cell there. */
static uint32_t walk(const uint8_t *text, size_t length, uint32_t *cell) {
  uint32_t cost = 0;
  uint32_t at = *cell;
  for (size_t i = 0; i < length; i++) {
    at = step(at, text[i]);
    cost += cost_of(at);
  }
  *cell = at;
  return cost;
}

/* What walking from `*cell` costs more than walking from `guess` did. `*last` is the last cell of that walk
 * and becomes the last of this one. The difference is added modulo 2^32. */
static uint32_t mend(const uint8_t *text, size_t length, uint32_t cell, uint32_t guess, uint32_t *last) {
  uint32_t difference = 0;
  for (size_t i = 0; (cell ^ guess) >> 8 != 0; i++) {
    if (i == length) {
      *last = cell;
      break;
    }
    cell = step(cell, text[i]);
    guess = step(guess, text[i]);
    difference += cost_of(cell) - cost_of(guess);
  }
  return difference;
}

/* walk, in lanes. `length` is at least SHORT and at most STRETCH. */
static uint32_t walk_lanes(const uint8_t *text, size_t length, uint32_t *cell) {
  const size_t each = length / LANES;
  const uint8_t *const lane1 = text + each;
  const uint8_t *const lane2 = lane1 + each;
  const uint8_t *const lane3 = lane2 + each;
  uint32_t first[LANES] = {*cell, *cell, *cell, *cell};
  for (size_t lane = 1; lane < LANES; lane++) walk(text + lane * each - WARM_UP, WARM_UP, &first[lane]);

  uint32_t cell0 = first[0], cell1 = first[1], cell2 = first[2], cell3 = first[3];
  uint32_t cost0 = 0, cost1 = 0, cost2 = 0, cost3 = 0;
  for (size_t i = 0; i < each; i++) {
    cell0 = step(cell0, text[i]);
    cell1 = step(cell1, lane1[i]);
    cell2 = step(cell2, lane2[i]);
    cell3 = step(cell3, lane3[i]);
    cost0 += cost_of(cell0);
    cost1 += cost_of(cell1);
    cost2 += cost_of(cell2);
    cost3 += cost_of(cell3);
  }
  uint32_t cost = cost0 + cost1 + cost2 + cost3;
  cost += mend(lane1, each, cell0, first[1], &cell1);
  cost += mend(lane2, each, cell1, first[2], &cell2);
  cost += mend(lane3, each, cell2, first[3], &cell3);
  cost += walk(text + LANES * each, length - LANES * each, &cell3);
  *cell = cell3;
  return cost;
}

uint32_t tamp_tokens_estimate(const uint8_t *text, size_t length) {
  if (length == 0) return 0;
  uint64_t cost = 0;
  uint32_t cell = TAMP_TOKENS_START << 8;
  while (length >= SHORT) {
    const size_t stretch = length < STRETCH ? length : STRETCH;
    cost += walk_lanes(text, stretch, &cell);
    text += stretch;
    length -= stretch;
  }
  cost += walk(text, length, &cell);
  const uint64_t tokens = (cost + TAMP_TOKENS_SCALE / 2) / TAMP_TOKENS_SCALE;
  if (tokens == 0) return 1;
  return tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX;
}
