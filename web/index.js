/**
 * "tamp": keeps a chat inside its model's context window without breaking it.
 *
 *     const tamp = await loadTamp();
 *     const { messages } = tamp.compact(history, slidingWindow({ maxTokens: 100_000, keepTokens: 60_000 }));
 */
export { MessageError, PolicyError, TampError } from './errors.js';
export { History } from './history.js';
export { loadTamp } from './load.js';
export { mark, project, unmark } from './mark.js';
export {
  budget, clamp, clearToolResults, contextWindow, dedupeToolResults, digest, dropReasoning, dropToolCalls, repair,
  slidingWindow, stripBinary, summarize, toolResults, truncation,
} from './policies.js';
export { Tamp } from './tamp.js';

/** @typedef {import('./options.js').Format} Format */
/** @typedef {import('./options.js').CompactOptions} CompactOptions */
/** @typedef {import('./load.js').LoadOptions} LoadOptions */
/** @typedef {CompactOptions} HistoryOptions */
/** @template M @typedef {import('./options.js').CompactAsyncOptions<M>} CompactAsyncOptions */
/** @template M @typedef {import('./options.js').SummarizeRequest<M>} SummarizeRequest */
/** @template M @typedef {import('./compaction.js').Compaction<M>} Compaction */
/** @typedef {import('./compaction.js').Report} Report */
/** @typedef {import('./text.js').TextCompaction} TextCompaction */
/** @typedef {import('./tamp.js').Inspection} Inspection */
/** @typedef {import('./errors.js').PolicyProblem} PolicyProblem */
/** @typedef {import('./policy.js').Policy} Policy */
/** @typedef {import('./policy.js').Strategy} Strategy */
/** @typedef {import('./policy.js').Trigger} Trigger */
/** @typedef {import('./policy.js').SlidingWindow} SlidingWindow */
/** @typedef {import('./policy.js').Truncation} Truncation */
/** @typedef {import('./policy.js').ContextWindow} ContextWindow */
/** @typedef {import('./policy.js').ToolResults} ToolResults */
/** @typedef {import('./policy.js').DropToolCalls} DropToolCalls */
/** @typedef {import('./policy.js').ClearToolResults} ClearToolResults */
/** @typedef {import('./policy.js').DedupeToolResults} DedupeToolResults */
/** @typedef {import('./policy.js').Clamp} Clamp */
/** @typedef {import('./policy.js').StripBinary} StripBinary */
/** @typedef {import('./policy.js').DropReasoning} DropReasoning */
/** @typedef {import('./policy.js').Summarize} Summarize */
/** @typedef {import('./policy.js').Digest} Digest */
/** @typedef {import('./policy.js').Budget} Budget */
/** @typedef {import('./policy.js').Repair} Repair */
