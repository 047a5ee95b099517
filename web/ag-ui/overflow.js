// A server that says the history is too long, in one of the many ways there are, and what to send it instead.
import { isObject } from './notice.js';

/** @import { Policy, Tamp } from '../index.js' */
/** @import { Message } from './types.js' */

/** Codes of providers and gateways. */
const CODES = new Set([
  'context_length_exceeded', 'context_window_exceeded', 'context_limit_exceeded', 'context_overflow',
  'model_context_window_exceeded', 'max_tokens_exceeded', 'string_above_max_length', 'request_too_large',
  'payload_too_large',
]);

/** And what they write. */
const SENTENCES = [
  /\b(context|input|prompt)[\s_-]*(length|window|size|limit)?[^.]{0,40}\b(exceed|too (long|large)|overflow|larger than|longer than)/i,
  /\b(exceed|over|beyond|larger than|longer than|maximum)[^.]{0,60}\b(context[\s_-]*(length|window|size|limit)|token limit|number of tokens|maximum (input|context|prompt))/i,
  /\btoo many (input |prompt |total )?tokens\b/i,
  /\b(payload|request (entity|body)?|body) ?(is )?too large\b/i,
];

/** @param {unknown} value @returns {string} what a payload says, without walking into deep ones */
function textOf(value) {
  if (typeof value === 'string') return value.slice(0, 4096);
  if (!isObject(value)) return '';
  const { error, message, code, type, detail } = value;
  return [message, code, type, typeof detail === 'string' ? detail : '', isObject(error) ? textOf(error) : error]
    .filter((part) => typeof part === 'string').join('\n').slice(0, 4096);
}

/** @param {unknown} code @param {string} text */
const saysTooLong = (code, text) => (typeof code === 'string' && CODES.has(code.toLowerCase()))
  || [...CODES].some((each) => text.includes(each)) || SENTENCES.some((sentence) => sentence.test(text));

/**
 * Whether a run that failed before it did anything failed for its length.
 * @param {unknown} error what the transport threw: `status` and `payload` are those of @ag-ui/client
 * @returns {'bytes' | 'tokens' | null} what there was too much of
 */
export function overflowOfError(error) {
  if (!isObject(error)) return null;
  const { status, payload, message } = error;
  if (status === 413) return 'bytes';
  if (typeof status !== 'number' || status < 400) return null;
  const text = textOf(payload) || textOf(message);
  return saysTooLong(isObject(payload) ? payload.code : undefined, text) ? 'tokens' : null;
}

/**
 * The same for a RUN_ERROR.
 * @param {{ code?: unknown, message?: unknown }} event
 * @returns {'bytes' | 'tokens' | null}
 */
export function overflowOfEvent({ code, message }) {
  if (String(code) === '413') return 'bytes';
  return saysTooLong(code, textOf(message)) ? 'tokens' : null;
}

/**
 * A policy that makes half of what was too much: tools first, then the oldest.
 * @param {Tamp} tamp
 * @param {readonly Message[]} messages what was sent
 * @param {'bytes' | 'tokens'} unit
 * @param {((text: string) => number) | undefined} countTokens
 * @returns {Policy}
 */
export function halving(tamp, messages, unit, countTokens) {
  if (unit === 'bytes') {
    const half = Math.floor(tamp.inspect(messages).bytes / 2);
    return [
      { strategy: 'tool-results', when: { bytesOver: half } },
      { strategy: 'truncation', maxBytes: half, toBytes: half },
    ];
  }
  const half = Math.floor(tamp.countTokens(messages, { countTokens }) / 2);
  return [
    { strategy: 'tool-results', when: { tokensOver: half } },
    { strategy: 'truncation', maxTokens: half, toTokens: half },
  ];
}
