/* Reading the spelling of a number. The C library's strtod does it too, and is 7 KB of WebAssembly: it also
 * reads hexadecimal, and in long double. */
#ifndef TAMP_JSON_NUMBER_H
#define TAMP_JSON_NUMBER_H

/* The double nearest to the decimal number at the beginning of `text` (a tie goes to the even one), or an
 * infinity when it is too large. `*end` gets where reading stopped: `text` itself when there is no number.
 * What JSON allows is read, and also leading zeros, a point without digits on one side, a plus sign. */
double tamp_number_parse(const char *text, char **end);

#endif
