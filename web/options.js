/**
 * Options of one compaction, checked before anything is read: what the core is given is always of its type.
 */
import { TampError } from './errors.js';

/** @typedef {'ag-ui' | 'openai' | 'anthropic' | 'ai-sdk-ui' | 'ai-sdk-model' | 'pydantic-ai' | 'agent-framework' | 'claude-code' | 'codex'} Format */

/**
 * @typedef {object} CompactOptions
 * @property {Format} [format] default "ag-ui"
 * @property {(text: string) => number} [countTokens] exact counter for a text segment; called once per distinct segment
 * @property {number} [reservedTokens] tokens of what is sent besides the messages; default 0
 * @property {{ messageId: string, inputTokens: number, outputTokens?: number }} [usage] last usage the provider reported:
 *   counts up to `messageId` are taken from it
 * @property {readonly string[]} [pin] ids of messages that no strategy may remove or rewrite
 */

/**
 * What a summarizer is given.
 * @template M
 * @typedef {object} SummarizeRequest
 * @property {M[]} messages those the summary will stand for, in order; copies
 * @property {string} text the same as bounded plain text: roles, tool names, arguments and results
 * @property {string | null} previousSummary what the new summary must take in; null at first
 * @property {string} prompt the instruction Tamp suggests sending with `text`
 * @property {number} tokens estimated tokens of `messages`: a summary that is not smaller is refused
 * @property {AbortSignal} signal
 */

/**
 * @template M
 * @typedef {CompactOptions & { summarize?: (request: SummarizeRequest<M>) => string | Promise<string>, signal?: AbortSignal }} CompactAsyncOptions
 */

/** @param {string} name @param {string} what @param {unknown} value @returns {never} */
function refuse(name, what, value) {
  const given = typeof value === 'number' ? String(value) : value === null ? 'null' : `a value of type ${typeof value}`;
  throw new TampError('bad-option', `${name} must be ${what}; it is ${given}.`);
}

/** @param {string} name @param {unknown} value */
function count(name, value) {
  if (!Number.isSafeInteger(value) || /** @type {number} */ (value) < 0) refuse(name, 'an integer of at least 0', value);
  return /** @type {number} */ (value);
}

/**
 * What a counter returned.
 * @param {unknown} tokens
 * @returns {number}
 */
export function checkedCount(tokens) {
  if (Number.isInteger(tokens) && /** @type {number} */ (tokens) >= 0 && /** @type {number} */ (tokens) <= 0x7fffffff) {
    return /** @type {number} */ (tokens);
  }
  const given = typeof tokens === 'number' ? tokens : `a value of type ${typeof tokens}`;
  throw new TampError('bad-count', `countTokens must return an integer of at least 0; it returned ${given}.`);
}

/**
 * Options as the bridge takes them.
 * @param {CompactOptions} [options]
 * @returns {import('./wasm.js').BridgeOptions}
 */
export function bridgeOptions(options = {}) {
  /** @type {import('./wasm.js').BridgeOptions} */
  const checked = {};
  const { countTokens, reservedTokens, usage, pin } = options;
  if (countTokens !== undefined) {
    if (typeof countTokens !== 'function') refuse('countTokens', 'a function', countTokens);
    checked.countTokens = countTokens;
  }
  if (reservedTokens !== undefined) checked.reservedTokens = count('reservedTokens', reservedTokens);
  if (usage !== undefined && usage !== null) {
    if (typeof usage !== 'object') refuse('usage', 'an object with messageId and inputTokens', usage);
    /* Usage without a number above 0 is what providers report when they counted nothing: it is ignored. */
    if (Number.isFinite(usage.inputTokens) && usage.inputTokens > 0 && typeof usage.messageId === 'string') {
      const output = Number.isFinite(usage.outputTokens) ? Math.max(0, /** @type {number} */ (usage.outputTokens)) : 0;
      checked.usage = { messageId: usage.messageId, inputTokens: Math.ceil(usage.inputTokens), outputTokens: Math.ceil(output) };
    }
  }
  if (pin !== undefined) {
    if (!Array.isArray(pin) || pin.some((id) => typeof id !== 'string')) refuse('pin', 'a list of message ids', pin);
    if (pin.length > 0) checked.pin = pin;
  }
  return checked;
}
