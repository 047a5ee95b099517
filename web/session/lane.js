// Operations on a model lane: what of it stays word for word, and making it whole again after a callback.
import { copy, same } from './copy.js';
import { isActivity, isInstruction, isObject, isPinned, piecesOf, roleOf } from './shapes.js';
import { isSummary, summaryMessage } from './summary.js';

/** @import { Tamp } from '../index.js' */

/** @typedef {'ag-ui' | 'openai' | 'anthropic' | 'ai-sdk-ui' | 'ai-sdk-model'} Format */

/** What a person said, as opposed to a summary in a user's role. @param {object} message */
export const isQuestion = (message) =>
  roleOf(message) === 'user' && !isSummary(message) && piecesOf(message).every((piece) => piece.kind !== 'result');

/**
 * Where the last run of questions before `end` begins; `end` when there is none.
 * @param {readonly object[]} messages @param {number} [end]
 */
export function questionStart(messages, end = messages.length) {
  let index = end - 1;
  while (index >= 0 && !isQuestion(messages[index])) index--;
  if (index < 0) return end;
  while (index > 0 && (isQuestion(messages[index - 1]) || isActivity(messages[index - 1]))) index--;
  return index;
}

/**
 * Places of pinned messages and of all that belongs to them.
 * @param {Tamp} tamp @param {readonly object[]} messages @param {Format} format
 * @returns {Set<number>}
 */
export function pinnedPlaces(tamp, messages, format) {
  const pinned = new Set(messages.flatMap((message, index) => (isPinned(message) ? [index] : [])));
  if (pinned.size === 0) return pinned;
  for (const { indices } of tamp.inspect(messages, { format }).groups) {
    if (indices.some((/** @type {number} */ index) => pinned.has(index))) indices.forEach((/** @type {number} */ index) => pinned.add(index));
  }
  return pinned;
}

/** Copies of messages, and for each what it is a copy of. @param {readonly object[]} messages */
export function copyList(messages) {
  const copies = messages.map((message) => copy(message));
  const originals = new Map(copies.map((made, index) => [made, messages[index]]));
  return {
    copies,
    /** The original itself where a callback gave its copy back unchanged. @param {object} message @returns {object} */
    original(message) {
      const given = originals.get(message);
      return given !== undefined && same(given, message) ? given : message;
    },
  };
}

/** A callback's list, or a TypeError that names the callback. @param {unknown} list @param {string} callback @returns {object[]} */
export function checkList(list, callback) {
  if (!Array.isArray(list) || !list.every(isObject)) throw new TypeError(`${callback} must return an array of messages`);
  return list;
}

/**
 * The list as a provider accepts it: the core's repair, which leaves no result without its call and no call that
 * nothing waits for without its result. What holds nothing but such results becomes empty.
 * @param {Tamp} tamp @param {readonly object[]} messages @param {Format} format
 * @returns {readonly object[]}
 */
export function repair(tamp, messages, format) {
  const pieces = messages.filter((message) => !isActivity(message)).map(piecesOf);
  if (pieces.every((own) => own.length > 0 && own.every((piece) => piece.kind === 'result'))) return [];
  return tamp.compact(messages, { strategy: 'repair' }, { format }).messages;
}

/**
 * What compactModelMessages chose to stand for the covered messages: without the tail, which follows anyway,
 * repaired together with it, and with every instruction. When nothing is left of it, the usual stand-in.
 * @param {Tamp} tamp @param {readonly object[]} chosen @param {readonly object[]} lane as it was
 * @param {readonly object[]} tail @param {readonly object[]} usual
 * @param {'ag-ui' | 'openai' | 'anthropic' | 'ai-sdk-model'} format
 * @returns {object[]}
 */
export function chosenHead(tamp, chosen, lane, tail, usual, format) {
  const behind = new Set(tail);
  const lost = lane.filter((message) => isInstruction(message) && !behind.has(message)
    && !chosen.some((other) => same(message, other)));
  const own = [...lost, ...chosen.filter((message) => !behind.has(message))];
  const head = repair(tamp, [...own, ...tail], format).filter((message) => !behind.has(message));
  return head.some((message) => !isInstruction(message)) ? head : [...usual];
}

/**
 * Splits a prompt in the middle of a turn: what the summary will stand for, and what stays.
 * @param {Tamp} tamp
 * @param {readonly object[]} prompt
 * @param {number} turnStart where the question of the running turn begins; questions from there on stay
 * @param {Format} format
 */
export function splitPrompt(tamp, prompt, turnStart, format) {
  const pinned = pinnedPlaces(tamp, prompt, format);
  const covered = /** @type {object[]} */ ([]);
  const kept = /** @type {object[]} */ ([]);
  prompt.forEach((message, index) => {
    const stays = isInstruction(message) || pinned.has(index) || index >= turnStart && isQuestion(message);
    if (stays) kept.push(message);
    else covered.push(message);
  });
  const leading = kept.findIndex((message) => !isInstruction(message));
  const split = leading === -1 ? kept.length : leading;
  return {
    covered,
    kept,
    /**
     * The prompt with the summary in the place of what it covers.
     * @param {string} summary @param {'ag-ui' | 'openai' | 'anthropic' | 'ai-sdk-model'} lane
     */
    withSummary(summary, lane) {
      const last = covered.at(-1);
      const { id } = /** @type {Record<string, unknown>} */ (last ?? {});
      const throughId = typeof id === 'string' && id !== '' ? id : `#${prompt.length - 1}`;
      return [...kept.slice(0, split), summaryMessage(lane, summary, throughId, covered.length), ...kept.slice(split)];
    },
  };
}
