// The durable record of a compaction: what it covers, whether it still holds, and what the model reads because
// of it. The tail is never stored: it is the transcript behind the covered messages.
import { digestMessages } from './digest.js';
import { partsOf } from './convert.js';
import { copy } from './copy.js';
import { isInstruction, isObject, nameOf } from './shapes.js';
import { summaryMessage } from './summary.js';

/** @import { Tamp } from '../index.js' */
/** @import { CompactionState, Invalidation } from './types.js' */

/** @param {unknown} value @returns {value is number} */
const isCount = (value) => Number.isSafeInteger(value) && /** @type {number} */ (value) >= 0;

/** @param {unknown} value @returns {value is string[]} */
const isStrings = (value) => Array.isArray(value) && value.every((item) => typeof item === 'string');

/**
 * A state from a store or the wire; null when it is not one of ours: another version, a field of another type.
 * Members we do not know are dropped.
 * @param {unknown} value
 * @returns {CompactionState | null}
 */
export function parseState(value) {
  if (!isObject(value) || value.v !== 1) return null;
  const { summary, throughId, covered, digest, source, createdAt, tokensBefore, tokensAfter, generation, kept, part, lane } = value;
  if (typeof summary !== 'string' || typeof throughId !== 'string' || typeof digest !== 'string') return null;
  if (!isCount(covered) || !isCount(tokensBefore) || !isCount(tokensAfter) || !isCount(generation)) return null;
  if (typeof createdAt !== 'number' || source !== 'inner' && source !== 'outer' && source !== 'action') return null;
  /** @type {CompactionState} */
  const state = { v: 1, summary, throughId, covered, digest, source, createdAt, tokensBefore, tokensAfter, generation };
  if (kept !== undefined) {
    if (!isStrings(kept)) return null;
    state.kept = [...kept];
  }
  if (part !== undefined) {
    if (!isObject(part) || typeof part.id !== 'string' || !isCount(part.parts)) return null;
    state.part = { id: part.id, parts: part.parts };
  }
  if (lane !== undefined) {
    if (!Array.isArray(lane) || !lane.every(isObject)) return null;
    state.lane = copy(lane);
  }
  return state;
}

/**
 * The messages whose digest a state has: the first `covered`, and the covered parts of the one behind them.
 * @param {Pick<CompactionState, 'covered' | 'part'>} state
 * @param {readonly object[]} messages the transcript
 */
export function coveredMessages({ covered, part }, messages) {
  const whole = messages.slice(0, covered);
  if (part === undefined || covered >= messages.length) return whole;
  return [...whole, { ...messages[covered], parts: partsOf(messages[covered]).slice(0, part.parts) }];
}

/**
 * Whether a state still stands for the beginning of the transcript; null when it does, else why not.
 * @param {Tamp} tamp
 * @param {CompactionState} state
 * @param {readonly object[]} messages the transcript
 * @returns {Invalidation | null}
 */
export function checkState(tamp, state, messages) {
  const { covered, throughId, part } = state;
  const place = covered === 0 ? -1 : messages.findIndex((message, index) => nameOf(message, index) === throughId);
  if (covered > 0 && place === -1) {
    return { code: 'removed', message: `message ${JSON.stringify(throughId)}, the last one the summary stands for, is gone` };
  }
  if (place !== covered - 1) {
    const more = place - covered + 1;
    const what = more > 0 ? `${more} were inserted` : `${-more} were removed`;
    return { code: more > 0 ? 'inserted' : 'removed', message: `of the ${covered} messages the summary stands for, ${what} or moved` };
  }
  if (part !== undefined && (covered >= messages.length || nameOf(messages[covered], covered) !== part.id)) {
    return { code: 'removed', message: `message ${JSON.stringify(part.id)}, whose first steps the summary stands for, is gone` };
  }
  if (digestMessages(tamp, coveredMessages(state, messages)) !== state.digest) {
    return { code: 'changed', message: 'a message the summary stands for was edited, exchanged or moved' };
  }
  return null;
}

/**
 * The same question answered more exactly, where the list before the change is at hand.
 * @param {Invalidation} found
 * @param {CompactionState} state
 * @param {readonly object[]} before
 * @param {readonly object[]} after
 * @returns {Invalidation}
 */
export function explainChange(found, state, before, after) {
  const names = before.slice(0, state.covered).map(nameOf);
  const now = after.map(nameOf);
  const gone = names.find((name) => !now.includes(name));
  if (gone !== undefined) return { code: 'removed', message: `message ${JSON.stringify(gone)}, which the summary stands for, was removed` };
  const fresh = now.slice(0, state.covered).find((name) => !names.includes(name));
  if (fresh !== undefined) return { code: 'inserted', message: `message ${JSON.stringify(fresh)} was inserted before what the summary stands for` };
  const moved = names.find((name, index) => now[index] !== name);
  if (moved !== undefined) return { code: 'reordered', message: `message ${JSON.stringify(moved)}, which the summary stands for, was moved` };
  const edited = names.find((_, index) => before[index] !== after[index]);
  return edited === undefined ? found : { code: 'edited', message: `message ${JSON.stringify(edited)}, which the summary stands for, was edited` };
}

/**
 * What the model reads: instructions, the summary, the covered messages that stay word for word, then the tail.
 * @param {CompactionState | null} state
 * @param {readonly object[]} messages the transcript
 * @param {(messages: readonly object[]) => object[]} convert to model messages
 * @param {'ag-ui' | 'openai' | 'anthropic' | 'ai-sdk-model'} format of the model lane
 */
export function deriveLane(state, messages, convert, format) {
  if (state === null) return convert(messages);
  const { covered, part } = state;
  const tail = messages.slice(covered);
  if (part !== undefined && tail.length > 0) {
    const parts = partsOf(tail[0]).slice(part.parts);
    if (parts.length > 0) tail[0] = { ...tail[0], parts };
    else tail.shift();
  }
  const head = state.lane ?? standIn(state, messages, convert, format);
  return [...head, ...convert(tail)];
}

/**
 * What stands for the covered messages.
 * @param {Pick<CompactionState, 'covered' | 'kept' | 'summary' | 'throughId'>} state
 * @param {readonly object[]} messages
 * @param {(messages: readonly object[]) => object[]} convert
 * @param {'ag-ui' | 'openai' | 'anthropic' | 'ai-sdk-model'} format
 */
export function standIn({ covered, kept = [], summary, throughId }, messages, convert, format) {
  const names = new Set(kept);
  const leading = messages.slice(0, covered).findIndex((message) => !isInstruction(message));
  const split = leading === -1 ? covered : leading;
  const later = messages.slice(0, covered).filter((message, index) =>
    index >= split && (isInstruction(message) || names.has(nameOf(message, index))));
  return [
    ...convert(messages.slice(0, split)),
    summaryMessage(format, summary, throughId, covered),
    ...convert(later),
  ];
}
