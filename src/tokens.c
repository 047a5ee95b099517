#include "tokens.h"

/* Costs are in 1/256 token. Every step costs at least 0, so a longer text never costs less. */
uint32_t tamp_tokens_estimate(const uint8_t *text, size_t length) {
  uint64_t cost = 0;
  size_t at = 0;
  while (at < length) {
    size_t start = at;
    uint8_t byte = text[at];
    uint8_t lower = byte | 0x20;
    if (lower >= 'a' && lower <= 'z') {
      do {
        at++;
        lower = at < length ? text[at] | 0x20 : 0;
      } while (lower >= 'a' && lower <= 'z');
      size_t run = at - start;
      cost += 240 + (run > 4 ? (run - 4) * 24 : 0);
    } else if (byte >= '0' && byte <= '9') {
      do {
        at++;
      } while (at < length && text[at] >= '0' && text[at] <= '9');
      cost += (at - start + 2) / 3 * 256;
    } else if (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') {
      do {
        at++;
      } while (at < length && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'));
      cost += byte == '\n' || at - start > 1 ? 200 : 0;
    } else if (byte >= 0x80) {
      cost += byte >= 0xC0 ? (byte >= 0xE0 ? 190 : 100) : 0;
      at++;
    } else {
      do {
        at++;
      } while (at < length && text[at] == byte);
      cost += 170;
    }
  }
  uint64_t tokens = (cost + 255) / 256;
  if (tokens == 0 && length > 0) tokens = 1;
  return tokens > UINT32_MAX ? UINT32_MAX : (uint32_t)tokens;
}
