#include "fit.h"

static uint32_t hex(uint8_t digit) {
  digit |= 0x20; /* decimal digits have that bit already */
  return (uint32_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

bool tamp_fit_string(const uint8_t *bytes, size_t length) {
  bool high = false; /* directly behind the first half of a pair */
  size_t at = 0;
  while (at < length) {
    bool escape = bytes[at] == '\\' && bytes[at + 1] == 'u';
    if (!escape) {
      if (high) return false;
      at += bytes[at] == '\\' ? 2 : 1;
      continue;
    }
    uint32_t unit = 0;
    for (size_t i = 2; i < 6; i++) unit = unit * 16 + hex(bytes[at + i]);
    bool low = unit >= 0xDC00 && unit <= 0xDFFF;
    if (unit == 0 || low != high) return false;
    high = unit >= 0xD800 && unit <= 0xDBFF;
    at += 6;
  }
  return !high;
}

bool tamp_fit_number(const uint8_t *bytes, size_t length) {
  size_t digits = 0, exponent = 0;
  bool in_exponent = false;
  for (size_t i = 0; i < length; i++) {
    if ((bytes[i] | 0x20) == 'e') in_exponent = true;
    if (bytes[i] < '0' || bytes[i] > '9') continue;
    if (in_exponent) {
      exponent++;
    } else {
      digits++;
    }
  }
  return digits <= 15 && exponent <= 2;
}

bool tamp_fit_value(const uint8_t *bytes, size_t length, uint32_t depth) {
  uint32_t level = 0;
  size_t at = 0;
  while (at < length) {
    uint8_t byte = bytes[at];
    size_t start = at++;
    if (byte == '"') {
      while (bytes[at] != '"') at += bytes[at] == '\\' ? 2 : 1;
      if (!tamp_fit_string(bytes + start + 1, at - start - 1)) return false;
      at++;
    } else if (byte == '-' || (byte >= '0' && byte <= '9')) {
      while (at < length && ((bytes[at] >= '0' && bytes[at] <= '9') || bytes[at] == '.' ||
                             bytes[at] == '+' || bytes[at] == '-' || (bytes[at] | 0x20) == 'e')) {
        at++;
      }
      if (!tamp_fit_number(bytes + start, at - start)) return false;
    } else if (byte == '[' || byte == '{') {
      if (++level > depth) return false;
    } else if (byte == ']' || byte == '}') {
      level--;
    }
  }
  return true;
}
