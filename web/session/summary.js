// The message that stands for what was summarised, in each format, and how it is known again.
import { isMarkedSummary, piecesOf } from './shapes.js';

/** @import { CompactionFailure } from './types.js' */

export const SUMMARY_LABEL = '[Conversation summary]';

/**
 * @param {'ag-ui' | 'openai' | 'anthropic' | 'ai-sdk-model'} format of the model lane
 * @param {string} summary
 * @param {string} throughId the last message it stands for
 * @param {number} covered how many it stands for
 * @returns {object}
 */
export function summaryMessage(format, summary, throughId, covered) {
  const content = `${SUMMARY_LABEL}\n\n${summary}`;
  const tamp = { summary: { throughId, covered } };
  switch (format) {
    case 'ag-ui':
      return { id: `summary-${throughId}`, role: 'user', content, metadata: { tamp } };
    case 'ai-sdk-model':
      return { role: 'user', content, providerOptions: { tamp } };
    default:
      // Strict servers refuse a message with a key they do not know: the label is the mark.
      return { role: 'user', content };
  }
}

/** @param {object} message */
export function isSummary(message) {
  if (isMarkedSummary(message)) return true;
  const [first] = piecesOf(message);
  return first?.kind === 'text' && first.text.startsWith(`${SUMMARY_LABEL}\n\n`);
}

/** What is wrong with the text of a summary; null when nothing is. @param {unknown} summary @returns {CompactionFailure | null} */
export function checkSummary(summary) {
  if (typeof summary !== 'string') return { code: 'not-text', message: `the summary is not a string but ${summary === null ? 'null' : typeof summary}` };
  return summary.trim() === '' ? { code: 'blank', message: 'the summary is blank' } : null;
}
