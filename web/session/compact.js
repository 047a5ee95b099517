// The inner loop by hand: `compact` and `compactionStep`, for a `streamText` that no session surrounds.
import { TampError } from '../errors.js';
import { lazy, copy } from './copy.js';
import { innerStep } from './inner.js';
import { splitPrompt } from './lane.js';
import { checkSummary, isSummary } from './summary.js';
import { tampOf } from './tamp.js';

/** @import { Tamp } from '../index.js' */
/** @import { CompactionOptions, CompactionStep, CompactResult, ShouldCompactEvent } from './types.js' */
/** @import { Memory } from './inner.js' */

/**
 * @typedef {object} CompactStepOptions
 * @property {(messages: object[]) => string | Promise<string>} summarize gets copies of all that the summary will
 *   stand for, the current question included
 * @property {number} [threshold] compared (strictly) with the last step's total tokens, or with an estimate when it
 *   reports none
 * @property {CompactionOptions['shouldCompact']} [shouldCompact] asked instead of `threshold`
 * @property {Tamp} [tamp] default: `loadTamp()`
 * @property {'ag-ui' | 'openai' | 'anthropic' | 'ai-sdk-model'} [format] of the messages; default 'ai-sdk-model'
 */

// Steps are their turn's own objects, so one memory serves all turns.
/** @type {Memory} */
const memory = new WeakMap();

/**
 * Inner loop, by hand: use the result as the return value of an AI SDK `prepareStep`.
 *
 * Skipped before the first step, after an unsafe one (`isCompactionSafe`) and when nothing is over. Compacted:
 * the summary, then the question of this turn word for word. Rebuilt: after a compaction, the same with what the
 * steps since have answered. A summary that is blank, no string, or does not make the prompt smaller changes
 * nothing and is asked for again only after another step. What a callback throws reaches the caller.
 *
 * @param {readonly object[]} messages as `prepareStep` got them; not changed
 * @param {readonly CompactionStep[]} steps as `prepareStep` got them
 * @param {CompactStepOptions} options
 * @returns {Promise<CompactResult>}
 */
export async function compact(messages, steps, options) {
  const { summarize, threshold, shouldCompact, format = 'ai-sdk-model' } = options;
  if (typeof summarize !== 'function') throw new TampError('missing', 'compact needs a function `summarize`');
  return innerStep(messages, steps, {
    memory,
    retain: false,
    estimate: async (prompt) => (await tampOf(options.tamp)).countTokens(prompt, { format }),
    fires(prompt, basis, finished) {
      if (shouldCompact === undefined) return threshold !== undefined && basis.totalTokens > threshold;
      /** @type {Omit<ShouldCompactEvent, 'messages'>} */
      const event = { ...basis, usage: finished.at(-1)?.usage, source: 'inner', steps: [...finished], stepNumber: finished.length - 1 };
      lazy(event, 'messages', () => copy(prompt));
      return shouldCompact(/** @type {ShouldCompactEvent} */ (event));
    },
    async summarize(prompt, turnStart) {
      const tamp = await tampOf(options.tamp);
      const split = splitPrompt(tamp, prompt, turnStart, format);
      if (split.covered.length === 0) return null;
      const summary = await summarize(copy(prompt));
      if (checkSummary(summary) !== null) return null;
      const standIn = split.withSummary(summary, format);
      const weigh = (/** @type {readonly object[]} */ list) => tamp.countTokens(list, { format });
      return weigh(standIn) < weigh(prompt) ? { standIn, summary, floor: weigh(standIn.filter(isSummary)) } : null;
    },
  });
}

/**
 * `compact` as a `prepareStep` function; resolves to undefined when there is nothing to do.
 * @param {CompactStepOptions} options
 * @returns {(step: { messages: readonly object[], steps: readonly CompactionStep[] }) => Promise<CompactResult | undefined>}
 */
export function compactionStep(options) {
  return async ({ messages, steps }) => {
    const result = await compact(messages, steps, options);
    return result.type === 'skipped' ? undefined : result;
  };
}
