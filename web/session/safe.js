// Where compacting cannot break a pair: when every call has its result.
import { isObject, openCalls, piecesOf } from './shapes.js';

/** @import { CompactionStep } from './types.js' */

/** What of a marked list is sent (see `mark` and `project` of "tamp"). @param {object} message */
function sent(message) {
  const { metadata } = /** @type {Record<string, unknown>} */ (message);
  const tamp = isObject(metadata) && isObject(metadata.tamp) ? metadata.tamp : {};
  if (tamp.excluded !== undefined) return [];
  return isObject(tamp.sentAs) ? [tamp.sentAs] : [message];
}

/**
 * True when every tool call has its result: compacting here cannot break a pair. Understands AI SDK 5, 6 and 7
 * (UI and model messages; also the tool invocations of 4), AG-UI, OpenAI, Anthropic and lists that Tamp marked.
 * @param {readonly object[]} messages not changed
 */
export function isCompactionSafe(messages) {
  return openCalls(messages.filter(isObject).flatMap(sent)).length === 0;
}

/**
 * True when a finished step leaves nothing open: it did not fail, and each of its calls has a result or an error.
 * An approval that was only asked for leaves its call open.
 * @param {CompactionStep} step
 */
export function isStepSafe(step) {
  if (step.finishReason === 'error') return false;
  const content = Array.isArray(step.content) ? step.content : [];
  const said = piecesOf({ role: 'assistant', content });
  if (said.length > 0) return openCalls([{ role: 'assistant', content }]).length === 0;
  return openCalls(step.response?.messages ?? []).length === 0;
}
