/**
 * Policies as plain JSON, and factories that write them. A factory checks nothing: `checkPolicy` and every `compact` do.
 */

/** @typedef {import('./policy.js').Strategy} Strategy */
/** @typedef {import('./policy.js').SlidingWindow} SlidingWindow */
/** @typedef {import('./policy.js').Truncation} Truncation */
/** @typedef {import('./policy.js').ContextWindow} ContextWindow */
/** @typedef {import('./policy.js').ToolResults} ToolResults */
/** @typedef {import('./policy.js').DropToolCalls} DropToolCalls */
/** @typedef {import('./policy.js').ClearToolResults} ClearToolResults */
/** @typedef {import('./policy.js').DedupeToolResults} DedupeToolResults */
/** @typedef {import('./policy.js').Clamp} Clamp */
/** @typedef {import('./policy.js').StripBinary} StripBinary */
/** @typedef {import('./policy.js').DropReasoning} DropReasoning */
/** @typedef {import('./policy.js').Summarize} Summarize */
/** @typedef {import('./policy.js').Digest} Digest */
/** @typedef {import('./policy.js').Budget} Budget */
/** @typedef {import('./policy.js').Repair} Repair */

/** Keeps the newest part of the list. @param {SlidingWindow} options @returns {Strategy} */
export const slidingWindow = (options) => ({ strategy: 'sliding-window', ...options });
/** Over a limit the oldest groups go, one at a time. @param {Truncation} options @returns {Strategy} */
export const truncation = (options) => ({ strategy: 'truncation', ...options });
/** First collapses old tool results, then truncates. @param {ContextWindow} options @returns {Strategy} */
export const contextWindow = (options) => ({ strategy: 'context-window', ...options });
/** Older tool groups become one message each. @param {ToolResults} [options] @returns {Strategy} */
export const toolResults = (options) => ({ strategy: 'tool-results', ...options });
/** Older tool groups go whole. @param {DropToolCalls} [options] @returns {Strategy} */
export const dropToolCalls = (options) => ({ strategy: 'drop-tool-calls', ...options });
/** The content of older results becomes a placeholder. @param {ClearToolResults} [options] @returns {Strategy} */
export const clearToolResults = (options) => ({ strategy: 'clear-tool-results', ...options });
/** Of results about the same thing only the newest stays. @param {DedupeToolResults} options @returns {Strategy} */
export const dedupeToolResults = (options) => ({ strategy: 'dedupe-tool-results', ...options });
/** Single texts that are too long keep their head and tail. @param {Clamp} options @returns {Strategy} */
export const clamp = (options) => ({ strategy: 'clamp', ...options });
/** Inline bytes of older turns become a line of text. @param {StripBinary} [options] @returns {Strategy} */
export const stripBinary = (options) => ({ strategy: 'strip-binary', ...options });
/** Reasoning of older turns goes. @param {DropReasoning} [options] @returns {Strategy} */
export const dropReasoning = (options) => ({ strategy: 'drop-reasoning', ...options });
/** What a window would remove becomes one summary by a model. @param {Summarize} options @returns {Strategy} */
export const summarize = (options) => ({ strategy: 'summarize', ...options });
/** The same without a model. @param {Digest} options @returns {Strategy} */
export const digest = (options) => ({ strategy: 'digest', ...options });
/** Runs steps until the list fits. @param {Budget} options @returns {Strategy} */
export const budget = (options) => ({ strategy: 'budget', ...options });
/** Makes a list that a provider accepts. @param {Repair} [options] @returns {Strategy} */
export const repair = (options) => ({ strategy: 'repair', ...options });

/** Stands for a number that JSON cannot spell until the text is made; nobody writes it by chance. */
const NOT_FINITE = '\ue000tamp: not finite\ue000';

/**
 * A policy as the core reads it: JSON, with 1e999 for numbers that are not finite, so that the core can say what is wrong
 * with them. Null when it is not plain JSON (it holds itself).
 * @param {unknown} policy
 * @returns {string | null}
 */
export function policyText(policy) {
  try {
    const json = JSON.stringify(policy, (_key, value) => {
      if (typeof value === 'number' && !Number.isFinite(value)) return NOT_FINITE;
      if (typeof value === 'bigint') return [];
      /* The core's strings are UTF-8, which has no lone surrogates. */
      if (typeof value === 'string') return value.replace(/\p{Surrogate}/gu, '\ufffd');
      return value;
    });
    return (json ?? 'null').replaceAll(`"${NOT_FINITE}"`, '1e999');
  } catch {
    return null;
  }
}
