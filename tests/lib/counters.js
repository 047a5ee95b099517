/**
 * The token counters that vectors and random policies name. Exact, so that expected totals can be
 * worked out by hand; see tests/vectors/README.md.
 */

/** Code points of a text. @type {(text: string) => number} */
export const chars = (text) => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** Runs of non-blank characters. @type {(text: string) => number} */
export const words = (text) => text.match(/\S+/gu)?.length ?? 0;

/** Ten for any text: shows what counts as one segment. @type {(text: string) => number} */
export const ten = () => 10;

/** By the names used in vectors. @type {Readonly<Record<string, (text: string) => number>>} */
export const counters = Object.freeze({ chars, words, ten });
