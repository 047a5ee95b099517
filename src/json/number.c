#include "number.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Most numbers take the short way: an integer below 2^53, times or by a power of ten that is a double itself,
 * is one operation that rounds once. The others are halved or doubled as decimal digits, like on paper, until
 * their integer part is a mantissa. That is slow (microseconds) and short, and exact: no number of a policy
 * needs it. */
enum {
  MANTISSA_BITS = 52,
  LEAST_EXPONENT = -1074,
  MOST_EXPONENT = 971,
  EXPONENT_LIMIT = 100000, /* of the spelling; far beyond, so that sums do not overflow */
  /* A tie between two doubles has at most 767 digits; of what is cut off it matters only that it is there. */
  MOST_DIGITS = 800,
};

/* 0.d1d2d3… × 10^point, with d1 not 0. */
typedef struct Decimal {
  uint8_t digits[MOST_DIGITS];
  int count;
  int point;
  bool cut; /* there was more behind the last digit */
} Decimal;

static void push(Decimal *decimal, unsigned digit) {
  if (decimal->count < MOST_DIGITS) {
    decimal->digits[decimal->count++] = (uint8_t)digit;
  } else {
    decimal->cut |= digit != 0;
  }
}

static void halve(Decimal *decimal) {
  Decimal half = {.point = decimal->point, .cut = decimal->cut};
  unsigned rest = 0;
  for (int i = 0; i < decimal->count; i++) {
    rest = rest * 10 + decimal->digits[i];
    if (half.count > 0 || rest > 1) {
      push(&half, rest / 2);
    } else {
      half.point--; /* the first digit was 1: the half begins one place later */
    }
    rest %= 2;
  }
  if (rest != 0) push(&half, 5);
  *decimal = half;
}

static void twice(Decimal *decimal) {
  unsigned carry = 0;
  for (int i = decimal->count - 1; i >= 0; i--) {
    carry += 2u * decimal->digits[i];
    decimal->digits[i] = (uint8_t)(carry % 10);
    carry /= 10;
  }
  if (carry != 0) {
    const int last = decimal->count < MOST_DIGITS ? decimal->count++ : MOST_DIGITS - 1;
    decimal->cut |= last < decimal->count - 1 && decimal->digits[last] != 0;
    memmove(decimal->digits + 1, decimal->digits, (size_t)last);
    decimal->digits[0] = (uint8_t)carry;
    decimal->point++;
  }
  while (decimal->count > 0 && decimal->digits[decimal->count - 1] == 0) decimal->count--;
}

static unsigned digit_at(const Decimal *decimal, int place) {
  return place >= 0 && place < decimal->count ? decimal->digits[place] : 0;
}

/* The integer part, or UINT64_MAX when it has more than 18 digits. */
static uint64_t integer_part(const Decimal *decimal) {
  if (decimal->point > 18) return UINT64_MAX;
  uint64_t part = 0;
  for (int i = 0; i < decimal->point; i++) part = part * 10 + digit_at(decimal, i);
  return part;
}

static bool rounds_up(const Decimal *decimal, uint64_t integer) {
  const unsigned first = digit_at(decimal, decimal->point);
  if (decimal->point < 0 || first != 5) return first > 5;
  return decimal->count > decimal->point + 1 || decimal->cut || integer % 2 != 0;
}

static double from_bits(uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static double nearest(Decimal *decimal) {
  const uint64_t infinite = UINT64_C(0x7ff) << MANTISSA_BITS;
  if (decimal->point > 310) return from_bits(infinite);
  if (decimal->point < -330) return 0;
  int exponent = 0;
  uint64_t mantissa = integer_part(decimal);
  while (mantissa >> (MANTISSA_BITS + 1) != 0) {
    halve(decimal);
    exponent++;
    mantissa = integer_part(decimal);
  }
  while (mantissa >> MANTISSA_BITS == 0 && exponent > LEAST_EXPONENT) {
    twice(decimal);
    exponent--;
    mantissa = integer_part(decimal);
  }
  if (rounds_up(decimal, mantissa)) mantissa++;
  if (mantissa >> (MANTISSA_BITS + 1) != 0) {
    mantissa /= 2;
    exponent++;
  }
  if (exponent > MOST_EXPONENT) return from_bits(infinite);
  /* Below the implicit bit the number is subnormal, and so is its exponent field 0. */
  if (mantissa >> MANTISSA_BITS == 0) return from_bits(mantissa);
  mantissa &= (UINT64_C(1) << MANTISSA_BITS) - 1;
  return from_bits((uint64_t)(exponent - LEAST_EXPONENT + 1) << MANTISSA_BITS | mantissa);
}

static bool is_digit(char character) { return character >= '0' && character <= '9'; }

/* Reads digits and a point into `decimal`; false when there is no digit. */
static bool read_digits(const char **text, Decimal *decimal) {
  bool any = false, fraction = false;
  for (;; (*text)++) {
    if (is_digit(**text)) {
      const unsigned digit = (unsigned)(**text - '0');
      any = true;
      if (decimal->count > 0 || digit != 0) {
        push(decimal, digit);
        decimal->point += !fraction;
      } else {
        decimal->point -= fraction;
      }
    } else if (**text == '.' && !fraction) {
      fraction = true;
    } else {
      break;
    }
  }
  while (decimal->count > 0 && decimal->digits[decimal->count - 1] == 0) decimal->count--;
  return any;
}

/* Reads an exponent, if there is a whole one. */
static int read_exponent(const char **text) {
  const char *at = *text;
  if (*at != 'e' && *at != 'E') return 0;
  at++;
  const bool negative = *at == '-';
  at += *at == '-' || *at == '+';
  if (!is_digit(*at)) return 0;
  int exponent = 0;
  for (; is_digit(*at); at++) {
    if (exponent < EXPONENT_LIMIT) exponent = exponent * 10 + (*at - '0');
  }
  *text = at;
  return negative ? -exponent : exponent;
}

double tamp_number_parse(const char *text, char **end) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const int most_power = (int)(sizeof powers / sizeof *powers) - 1;
  const char *at = text;
  const bool negative = *at == '-';
  at += *at == '-' || *at == '+';
  Decimal decimal = {0};
  *end = (char *)text;
  if (!read_digits(&at, &decimal)) return 0;
  decimal.point += read_exponent(&at);
  *end = (char *)at;

  double number = 0;
  const int power = decimal.point - decimal.count; /* as an integer times 10^power */
  if (decimal.count > 15 || power < -most_power || power > most_power) {
    number = nearest(&decimal);
  } else if (decimal.count > 0) {
    uint64_t integer = 0;
    for (int i = 0; i < decimal.count; i++) integer = integer * 10 + decimal.digits[i];
    number = power < 0 ? (double)integer / powers[-power] : (double)integer * powers[power];
  }
  return negative ? -number : number;
}
