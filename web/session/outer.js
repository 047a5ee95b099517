// The outer loop: after a turn, or because the person says so, the model lane becomes a summary.
import { runAttempt } from './attempt.js';
import { pendingCalls } from './convert.js';
import { chosenLanes, compactedEvent, summarizeEvent } from './events.js';
import { chosenHead, isQuestion, pinnedPlaces, questionStart } from './lane.js';
import { isActivity, isInstruction, nameOf, roleOf } from './shapes.js';
import { standIn } from './state.js';

/** @import { Tamp } from '../index.js' */
/** @import { CompactionOptions, CompactionState } from './types.js' */
/** @import { Lanes } from './lanes.js' */
/** @import { Occasion } from './events.js' */
/** @import { Listeners } from './attempt.js' */

/**
 * What a compaction would cover: the transcript up to what still waits, a question without its answer or a call
 * without its result; `kept` names what of it stays word for word. Null when there is nothing new to cover.
 * @param {Lanes} lanes @param {Tamp} tamp
 * @returns {{ end: number, kept: string[] } | null}
 */
export function coverable(lanes, tamp) {
  const { messages, state, format } = lanes;
  const [pending] = pendingCalls(messages);
  let end = pending ?? messages.length;
  if (pending === undefined) {
    const last = messages.findLast((message) => !isActivity(message));
    if (last !== undefined && isQuestion(last)) end = questionStart(messages);
  } else {
    // The reasoning belongs to the call.
    while (end > 0 && roleOf(messages[end - 1]) === 'reasoning') end--;
  }
  const covered = messages.slice(0, end);
  const stays = pinnedPlaces(tamp, covered, format);
  if (pending !== undefined) {
    // While a call of the running turn waits, so does its question.
    for (let index = questionStart(covered); index < end; index++) if (isQuestion(messages[index])) stays.add(index);
  }
  const known = state?.covered ?? 0;
  const fresh = covered.some((message, index) =>
    index >= known && !stays.has(index) && !isInstruction(message) && !isActivity(message));
  if (!fresh) return null;
  return { end, kept: [...stays].sort((a, b) => a - b).map((index) => nameOf(messages[index], index)) };
}

/**
 * What compactUIMessages chose, followed by the messages that are not covered, whether it kept them or not.
 * @param {readonly object[]} chosen @param {readonly object[]} messages @param {number} end
 */
function withUncovered(chosen, messages, end) {
  const tail = messages.slice(end);
  const names = new Set(tail.map((message, index) => nameOf(message, end + index)));
  return [...chosen.filter((message, index) => !names.has(nameOf(message, index))), ...tail];
}

/**
 * Both lanes as they will be. @typedef {{ next: CompactionState, shown: readonly object[], after: object[] }} Built
 */

/**
 * One compaction of what `coverable` found, from indicator to `onCompacted`.
 * @param {Lanes} lanes @param {Tamp} tamp @param {CompactionOptions} compaction @param {Occasion} occasion
 * @param {{ end: number, kept: string[] }} scope
 * @param {'outer' | 'action'} source
 * @param {AbortSignal} signal
 * @param {Listeners} listeners
 * @returns {Promise<import('./attempt.js').Outcome<Built>>}
 */
export function outerCompaction(lanes, tamp, compaction, occasion, scope, source, signal, listeners) {
  const { messages, state, model, modelFormat } = lanes;
  const { end, kept } = scope;
  const weigh = (/** @type {readonly object[]} */ list) => tamp.countTokens(list, { format: modelFormat });
  const tokensBefore = weigh(model);
  const tail = lanes.convert(messages.slice(end));
  return runAttempt(/** @type {import('./attempt.js').Work<Built> & Listeners} */ ({
    ...listeners,
    totalTokens: occasion.basis.totalTokens,
    signal,
    summarize: () => compaction.summarize(summarizeEvent(occasion, state?.summary ?? null, signal)),
    async build(summary) {
      const chosen = await chosenLanes(lanes, tamp, compaction, occasion, summary, messages, model);
      const shown = chosen.ui === null ? messages : withUncovered(chosen.ui, messages, end);
      const covered = shown.length - (messages.length - end);
      const throughId = covered === 0 ? '' : nameOf(shown[covered - 1], covered - 1);
      // Made of what was covered, also where people will no longer see it.
      const usual = standIn({ covered: end, kept, summary, throughId }, messages, (list) => lanes.convert(list), modelFormat);
      const head = chosen.model === null ? usual : chosenHead(tamp, chosen.model, model, tail, usual, modelFormat);
      const after = [...head, ...tail];
      const tokensAfter = weigh(after);
      if (tokensAfter >= tokensBefore) {
        const message = `the model would read ${tokensAfter} tokens with the summary, not fewer than the ${tokensBefore} without it`;
        return { failure: { code: 'not-smaller', message } };
      }
      /** @type {CompactionState} */
      const next = {
        v: 1, summary, throughId, covered, digest: '', source, createdAt: Date.now(), tokensBefore, tokensAfter,
        generation: lanes.generation + 1,
      };
      if (kept.length > 0) next.kept = kept;
      if (chosen.model !== null || chosen.ui !== null) next.lane = head;
      return { built: { next, shown, after } };
    },
    commit({ next, shown }) {
      const now = lanes.messages;
      const bound = shown === messages ? end : messages.length;
      if (lanes.state !== state || messages.some((message, index) => index < bound && now[index] !== message)) {
        return { code: 'stale', message: 'messages that the summary stands for were changed while it was made' };
      }
      lanes.commit(tamp, shown === messages ? now : [...shown, ...now.slice(messages.length)], next);
      return null;
    },
    describe: ({ next, after }) => compactedEvent(occasion, next.summary, after),
  }));
}
