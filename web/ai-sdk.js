// "tamp/ai-sdk": any policy, before every model call of the AI SDK.
import { same } from './session/copy.js';
import { tampOf } from './session/tamp.js';

/** @import { Policy, Tamp, CompactAsyncOptions } from './index.js' */

/** @typedef {{ policy: Policy, tamp?: Tamp | Promise<Tamp> } & Partial<CompactAsyncOptions<object>>} PrepareStepOptions */

/** A prompt, and what was sent for it. @typedef {{ given: readonly object[], sent: readonly object[] }} Last */

/** Turns that are remembered at once: with more, one is compacted from its beginning again. */
const TURNS = 16;

/**
 * A `prepareStep` for `streamText` and `generateText` of AI SDK 5, 6 and 7 that compacts before every model call.
 * A prompt that goes on from one before it, in the same turn or the next, is compacted from what that one became: a
 * summary is asked for once, not at every step (5 and 6 begin each prompt anew). Policies with a `summarize` step
 * need the `summarize` callback.
 *
 * One function may serve any number of turns, also at the same time.
 * @param {PrepareStepOptions} options
 * @returns {(step: any) => Promise<{ messages: object[] } | undefined>} resolves to undefined when the prompt stays
 *   as it is; rejects with a PolicyError or with what `summarize` threw, and nothing is sent then
 */
export function compactPrepareStep({ policy, tamp, ...options }) {
  /** Newest first. @type {Last[]} */
  let turns = [];
  return async ({ messages }) => {
    const given = /** @type {readonly object[]} */ (messages);
    const before = turns.find((turn) => goesOn(given, turn.given));
    const input = before === undefined ? given : [...before.sent, ...given.slice(before.given.length)];
    const core = await tampOf(tamp);
    const compaction = await core.compactAsync(input, policy, { format: 'ai-sdk-model', ...options });
    const sent = compaction.messages;
    if (before === undefined && !compaction.changed) return undefined;
    turns = [{ given: [...given], sent }, ...turns.filter((turn) => turn !== before)].slice(0, TURNS);
    return { messages: [...sent] };
  };
}

/** Does `messages` begin with what `earlier` was? @param {readonly object[]} messages @param {readonly object[]} earlier */
function goesOn(messages, earlier) {
  return messages.length >= earlier.length && earlier.every((message, index) => same(message, messages[index]));
}
