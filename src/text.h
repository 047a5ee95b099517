/* Text as strategies cut and compare it: UTF-8, counted in Unicode code points ("characters"),
 * never cut inside a grapheme cluster.
 *
 * Clusters follow Unicode 17 (UAX 29) where its rule needs no more than the characters around the
 * cut: combining marks, ZWJ sequences, variation selectors, emoji modifiers and tags, flags, Hangul
 * syllables, conjuncts of the main Indic scripts, CR LF. Bytes that are not UTF-8 are never read
 * past, but what they count as is not defined. */
#ifndef TAMP_TEXT_H
#define TAMP_TEXT_H

#include "json/value.h"

/* How many code points the text has. */
size_t tamp_text_characters(TampText text);

/* Bytes of the longest beginning of at most `characters` code points that ends between clusters. 0
 * when the first cluster is longer than that. */
size_t tamp_text_head(TampText text, size_t characters);

/* The byte where the longest end of at most `characters` code points begins, between clusters;
 * text.length when the last cluster is longer than that. */
size_t tamp_text_tail(TampText text, size_t characters);

/* Without the white space at both ends that String.prototype.trim takes off. Points into `text`. */
TampText tamp_text_trim(TampText text);

/* Nothing but such white space, or nothing at all. */
bool tamp_text_is_blank(TampText text);

/* The same bytes. */
bool tamp_text_equal(TampText a, TampText b);

/* 64 well-mixed bits, the same on every machine. Texts that collide for one seed do not for
 * another, but it is no cryptographic hash. */
uint64_t tamp_text_hash(TampText text, uint64_t seed);

#endif
