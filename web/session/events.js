// What the callbacks are given: copies, made when they are looked at.
import { copy, lazy } from './copy.js';
import { checkList, copyList, repair } from './lane.js';
import { named } from './lanes.js';
import { renderMessages } from './render.js';

/** @import { Tamp } from '../index.js' */
/** @import { CompactionContext, CompactionOptions, CompactedEvent, CompactMessagesEvent, CompactionStep, ShouldCompactEvent,
 *   SummarizeEvent, Usage } from './types.js' */
/** @import { Lanes } from './lanes.js' */
/** @import { Basis } from './usage.js' */

/**
 * What all events of one compaction share.
 * @typedef {object} Occasion
 * @property {CompactionContext} context
 * @property {Usage | undefined} usage of the last model call
 * @property {'inner' | 'outer'} source
 * @property {readonly CompactionStep[]} steps
 * @property {number} stepNumber
 * @property {Basis} basis
 * @property {readonly object[]} messages what would be compacted
 */

/** @param {Occasion} occasion */
const common = ({ context, usage, source, stepNumber }) => ({
  usage: copy(usage),
  totalUsage: copy(context.totalUsage),
  chatId: context.chatId,
  turn: context.turn,
  clientData: context.clientData,
  source,
  stepNumber,
});

/** @param {Occasion} occasion @returns {ShouldCompactEvent} */
export function shouldCompactEvent(occasion) {
  const { basis, context, steps, messages } = occasion;
  const event = { ...common(occasion), ...basis, turnUsage: copy(context.turnUsage), steps: [...steps], messages: [] };
  lazy(event, 'messages', () => copy([...messages]));
  return event;
}

/** @param {Occasion} occasion @param {string | null} previousSummary @param {AbortSignal} signal @returns {SummarizeEvent} */
export function summarizeEvent(occasion, previousSummary, signal) {
  const event = { ...common(occasion), previousSummary, signal, messages: [], text: '' };
  lazy(event, 'messages', () => copy([...occasion.messages]));
  lazy(event, 'text', () => renderMessages(occasion.messages));
  return event;
}

/** @param {Occasion} occasion @param {string} summary @param {readonly object[]} messagesAfter @returns {CompactedEvent} */
export function compactedEvent(occasion, summary, messagesAfter) {
  const { basis, messages } = occasion;
  const { totalTokens, inputTokens, outputTokens } = basis;
  const event = {
    ...common(occasion), summary, messages: [], messagesAfter: [], messageCount: messages.length, totalTokens, inputTokens, outputTokens,
  };
  lazy(event, 'messages', () => copy([...messages]));
  lazy(event, 'messagesAfter', () => copy([...messagesAfter]));
  return event;
}

/**
 * What `compactModelMessages` and `compactUIMessages` make of the lanes; null for one that is not there. Messages
 * they give back unchanged are the originals. What people see is repaired already.
 * @param {Lanes} lanes @param {Tamp} tamp @param {CompactionOptions} compaction @param {Occasion} occasion
 * @param {string} summary
 * @param {readonly object[]} ui @param {readonly object[]} model the lanes as they are
 */
export async function chosenLanes(lanes, tamp, compaction, occasion, summary, ui, model) {
  const { context, source } = occasion;
  const ask = async (/** @type {'compactModelMessages' | 'compactUIMessages'} */ name) => {
    if (compaction[name] === undefined) return null;
    const shown = copyList(ui);
    const sent = copyList(model);
    /** @type {CompactMessagesEvent} */
    const event = {
      summary,
      uiMessages: shown.copies,
      modelMessages: sent.copies,
      chatId: context.chatId ?? '',
      turn: context.turn ?? 0,
      clientData: context.clientData,
      source,
    };
    const { original } = name === 'compactUIMessages' ? shown : sent;
    return checkList(await compaction[name](event), name).map(original);
  };
  const chosen = await ask('compactModelMessages');
  const shown = await ask('compactUIMessages');
  return {
    model: chosen,
    ui: shown === null ? null : repair(tamp, shown.map((message) => named(lanes, message)), lanes.format),
  };
}
