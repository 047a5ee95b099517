#include "number.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Most numbers take the short way: an integer below 2^53, times or by a power of ten that is a double itself,
 * is one operation that rounds once. The others are divided or multiplied by powers of two as decimal digits,
 * like on paper, until their integer part is a mantissa: exact, short, and slow enough (microseconds) for
 * numbers that nobody writes into a policy. */
enum {
  MANTISSA_BITS = 52,
  LEAST_EXPONENT = -1074,
  MOST_EXPONENT = 971,
  MOST_SHIFT = 59, /* of a digit in 64 bits */
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

static void trim(Decimal *decimal) {
  while (decimal->count > 0 && decimal->digits[decimal->count - 1] == 0) decimal->count--;
}

/* Divides by 2^bits. */
static void shift_right(Decimal *decimal, unsigned bits) {
  const uint64_t mask = (UINT64_C(1) << bits) - 1;
  const Decimal old = *decimal;
  uint64_t rest = 0;
  decimal->count = 0;
  for (int i = 0; i < old.count || rest != 0; i++) {
    rest = rest * 10 + (i < old.count ? old.digits[i] : 0);
    if (decimal->count > 0 || rest > mask) {
      push(decimal, (unsigned)(rest >> bits));
    } else {
      decimal->point--; /* no digit yet: the quotient begins one place later */
    }
    rest &= mask;
  }
  trim(decimal);
}

/* Multiplies by 2^bits. */
static void shift_left(Decimal *decimal, unsigned bits) {
  uint64_t carry = 0;
  for (int i = decimal->count - 1; i >= 0; i--) {
    carry += (uint64_t)decimal->digits[i] << bits;
    decimal->digits[i] = (uint8_t)(carry % 10);
    carry /= 10;
  }
  int places = 0;
  for (uint64_t rest = carry; rest != 0; rest /= 10) places++;
  const Decimal old = *decimal;
  for (int i = places - 1; i >= 0; i--, carry /= 10) decimal->digits[i] = (uint8_t)(carry % 10);
  decimal->count = places;
  decimal->point += places;
  for (int i = 0; i < old.count; i++) push(decimal, old.digits[i]);
  trim(decimal);
}

/* Bits that the decimal places make at least, as much as one shift takes. */
static unsigned bits_of(int places) {
  if (places <= 0) return 1;
  return places < MOST_SHIFT * 3 / 10 ? (unsigned)places * 3 : MOST_SHIFT;
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
    const unsigned bits = bits_of(decimal->point - 17);
    shift_right(decimal, bits);
    exponent += (int)bits;
    mantissa = integer_part(decimal);
  }
  while (mantissa >> MANTISSA_BITS == 0 && exponent > LEAST_EXPONENT) {
    const unsigned most = (unsigned)(exponent - LEAST_EXPONENT);
    const unsigned bits = bits_of(15 - decimal->point);
    shift_left(decimal, bits < most ? bits : most);
    exponent -= (int)(bits < most ? bits : most);
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
  trim(decimal);
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

  double number;
  const int power = decimal.point - decimal.count; /* as an integer times 10^power */
  if (decimal.count == 0) {
    number = 0;
  } else if (decimal.count > 15 || power < -most_power || power > most_power) {
    number = nearest(&decimal);
  } else {
    uint64_t integer = 0;
    for (int i = 0; i < decimal.count; i++) integer = integer * 10 + decimal.digits[i];
    number = power < 0 ? (double)integer / powers[-power] : (double)integer * powers[power];
  }
  return negative ? -number : number;
}
