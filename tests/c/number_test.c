#include "../../src/json/number.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "test.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* Whether both read the same bits (the sign of zero too) and stop at the same place. */
static bool as_strtod(const char *text) {
  char *end = NULL, *expected_end = NULL;
  const double number = tamp_number_parse(text, &end);
  const double expected = strtod(text, &expected_end);
  const bool same = memcmp(&number, &expected, sizeof number) == 0 && end == expected_end;
  if (!same) fprintf(stderr, "%s: read %.17g, not %.17g\n", text, number, expected);
  return same;
}

static void known(void) {
  TEST("a number is read as strtod reads it, to the bit");
  static const char *const texts[] = {
      "0", "-0", "0.0", "-0e5", "1", "-1", "10", "100000", "0.5", "0.8", "0.1", "0.3", "1e3", "1E+3", "1e-3",
      "00012", "1.", ".5", "-.5e1", "9007199254740991", "9007199254740992", "9007199254740993",
      "9007199254740993.0000000000000000000000000000000000000001", "9007199254740995", "18446744073709551615",
      "18446744073709551616", "123456789012345678901234567890", "1e22", "1e23", "8.5e22", "1e308",
      "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "1e309", "1e400", "-1e99999",
      "1e999999999999999999999", "2.2250738585072014e-308", "2.2250738585072011e-308", "4.9e-324",
      "2.4703282292062327e-324", "2.4703282292062328e-324", "2e-324", "1e-400", "1e-99999999999", "0e99999999",
      "0.000000000000000000000000000000000000000000001", "7.2057594037927933e16", "4503599627370496.5",
      "4503599627370497.5", "0.30000000000000004", "1e15", "999999999999999e22", "5e-1",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) CHECK(as_strtod(texts[i]));
}

static void ends(void) {
  TEST("reading stops where the number does");
  static const char *const texts[] = {"",    "-",    "+",    ".",    "-.",   "e5",   "abc",    "1e",
                                      "1e+", "1e-x", "1.5e", "12ab", "1.2.3", "1,5", "3e5e5", "--1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) CHECK(as_strtod(texts[i]));
}

static void doubles(void) {
  TEST("any double is read back from its 17 digits");
  for (int i = 0; i < 20000; i++) {
    const uint64_t bits = random_bits();
    double number;
    memcpy(&number, &bits, sizeof number);
    if (!isfinite(number)) continue;
    char text[64];
    snprintf(text, sizeof text, "%.*g", 1 + (int)(random_bits() % 17), number);
    if (!CHECK(as_strtod(text))) return;
  }
}

static void spellings(void) {
  TEST("numbers of any length and exponent are rounded to the nearest");
  for (int i = 0; i < 20000; i++) {
    char text[128];
    const int digits = 1 + (int)(random_bits() % 60);
    int length = 0;
    const int point = (int)(random_bits() % 61);
    for (int k = 0; k < digits; k++) {
      if (k == point) text[length++] = '.';
      text[length++] = (char)('0' + random_bits() % 10);
    }
    snprintf(text + length, sizeof text - (size_t)length, "e%d", (int)(random_bits() % 700) - 360);
    if (!CHECK(as_strtod(text))) return;
  }
}

static void ties(void) {
  TEST("a number halfway between two doubles goes to the even one, and one digit more goes up");
  for (int i = 0; i < 2000; i++) {
    /* An odd multiple of half a unit in the last place, in full: up to 1,075 digits. */
    const uint64_t bits = random_bits() & ((UINT64_C(1) << 62) - 1);
    double number;
    memcpy(&number, &bits, sizeof number);
    static char text[1600];
    const long double tie = (long double)number + ((long double)nextafter(number, INFINITY) - (long double)number) / 2;
    const int length = snprintf(text, sizeof text - 2, "%.1100Lf", tie);
    if (length >= (int)sizeof text - 2) continue;
    if (!CHECK(as_strtod(text))) return;
    text[length] = '1';
    text[length + 1] = '\0';
    if (!CHECK(as_strtod(text))) return;
  }
}

int main(void) {
  known();
  ends();
  doubles();
  spellings();
  ties();
  return test_end();
}
