// The inner loop: between the tool steps of one turn. A step's prompt is compacted at most once; from then on each
// prompt of the turn is the stand-in plus what the steps since have answered, until it is over again.
//
// AI SDK 5 and 6 build every prompt anew from the turn's first one and give the responses of all steps so far; 7
// carries the last prompt on and gives the responses of each step apart. Both are understood here. What is known of
// a turn hangs on its step objects, so a new turn starts with nothing and a step that is repeated finds its own.
import { same } from './copy.js';
import { isQuestion, questionStart } from './lane.js';
import { isStepSafe } from './safe.js';
import { isSummary } from './summary.js';
import { readUsage, triggerBasis } from './usage.js';

/** @import { CompactionStep, CompactResult } from './types.js' */
/** @import { Basis } from './usage.js' */

/**
 * A compaction that the later steps of a turn build on.
 * @typedef {object} Generation
 * @property {object[]} standIn the prompt it left
 * @property {number} floor estimate of its summary: no later prompt weighs less
 * @property {CompactionStep | null} step the finished step it was made after; null: before the first
 */

/** @typedef {WeakMap<CompactionStep, Generation | 'refused'>} Memory */

/**
 * What a person said while the turn ran, and behind how many answers of its steps.
 * @typedef {{ message: object, after: number }} Steering
 */

/**
 * What decides and summarises.
 * @typedef {object} InnerHost
 * @property {Memory} memory
 * @property {Generation | null} [first] made before the first step
 * @property {boolean} retain give the rebuilt prompt after an unsafe step too, rather than skip it
 * @property {readonly Steering[]} [said]
 * @property {(messages: readonly object[]) => Promise<number>} estimate
 * @property {(prompt: object[], basis: Basis, steps: readonly CompactionStep[]) => boolean | Promise<boolean>} fires
 * @property {(prompt: object[], turnStart: number, basis: Basis, steps: readonly CompactionStep[]) =>
 *   Promise<{ standIn: object[], floor: number, summary: string } | null>} summarize null when it came to nothing
 */

/** @type {CompactResult} */
const SKIPPED = Object.freeze({ type: 'skipped' });

/** @param {CompactionStep | undefined} step @returns {readonly object[]} */
const responsesOf = (step) => step?.response?.messages ?? [];

/** Does `list` begin with the messages of `start`? @param {readonly object[]} list @param {readonly object[]} start */
const beginsWith = (list, start) => list.length >= start.length && start.every((message, index) => same(message, list[index]));

/**
 * What the steps answered, those of `steps` behind `after` or all with null.
 * @param {readonly CompactionStep[]} steps @param {CompactionStep | null} after
 */
export function responsesAfter(steps, after) {
  const place = after === null ? -1 : steps.indexOf(after);
  const later = steps.slice(place + 1);
  if (later.length === 0) return [];
  const before = responsesOf(after ?? undefined);
  const all = responsesOf(steps.at(-1));
  const reference = after === null && later.length > 1 ? responsesOf(steps[0]) : before;
  if (reference.length > 0 && beginsWith(all, reference)) return all.slice(before.length);
  return later.flatMap(responsesOf);
}

/** @param {Memory} memory @param {readonly CompactionStep[]} steps @param {Generation | null | undefined} first */
function newestGeneration(memory, steps, first) {
  for (let index = steps.length - 1; index >= 0; index--) {
    const known = memory.get(steps[index]);
    if (known !== undefined && known !== 'refused') return known;
  }
  return first ?? null;
}

/** @param {Generation | null} generation @param {readonly object[]} messages @param {readonly CompactionStep[]} steps */
function currentPrompt(generation, messages, steps) {
  if (generation === null || beginsWith(messages, generation.standIn)) return messages;
  return [...generation.standIn, ...responsesAfter(steps, generation.step)];
}

/**
 * Puts what a person said during the turn into a prompt, where it was said.
 * @param {readonly object[]} prompt
 * @param {number} answers how many messages the steps have answered; those that are in the prompt end it
 * @param {readonly Steering[]} said
 */
function withSteering(prompt, answers, said) {
  const result = [...prompt];
  for (const { message, after } of said) {
    if (result.some((other) => isQuestion(other) && same(other, message))) continue;
    result.splice(Math.max(0, result.length - (answers - after)), 0, message);
  }
  return result;
}

/**
 * @param {readonly object[]} messages the prompt as prepareStep got it
 * @param {readonly CompactionStep[]} steps
 * @param {InnerHost} host
 * @returns {Promise<CompactResult>}
 */
export async function innerStep(messages, steps, host) {
  const last = steps.at(-1);
  if (last === undefined) return SKIPPED;
  const { memory } = host;
  const earlier = newestGeneration(memory, steps, host.first);
  const safe = isStepSafe(last);
  if (!safe && !host.retain) return SKIPPED;
  const answers = responsesAfter(steps, null).length;
  const prompt = withSteering(currentPrompt(earlier, messages, steps), answers, host.said ?? []);
  /** @type {CompactResult} */
  const unchanged = earlier === null && prompt.length === messages.length ? SKIPPED : { type: 'rebuilt', messages: prompt };
  if (!safe || memory.get(last) === 'refused' || earlier !== null && prompt.length <= earlier.standIn.length) return unchanged;

  const reported = readUsage(last.usage).totalTokens;
  const estimate = reported === undefined ? await host.estimate(prompt) : reported;
  const basis = triggerBasis(last.usage, () => estimate);
  // What weighs no more than the summary in it cannot be over again: nobody need be asked.
  if (earlier !== null && basis.totalTokens <= earlier.floor) return unchanged;
  if (!await host.fires(prompt, basis, steps)) return unchanged;

  const turnStart = earlier === null
    ? questionStart(prompt, Math.max(0, messages.length - answers))
    : prompt.findLastIndex(isSummary) + 1;
  const made = await host.summarize(prompt, turnStart, basis, steps);
  if (made === null) {
    memory.set(last, 'refused');
    return unchanged;
  }
  memory.set(last, { standIn: made.standIn, floor: made.floor, step: last });
  return { type: 'compacted', messages: [...made.standIn], summary: made.summary };
}

