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
/** @typedef {import('./policies.js').Policy} Policy */
/** @typedef {import('./policies.js').Strategy} Strategy */
/** @typedef {import('./policies.js').Trigger} Trigger */
/** @typedef {import('./policies.js').SlidingWindow} SlidingWindow */
/** @typedef {import('./policies.js').Truncation} Truncation */
/** @typedef {import('./policies.js').ContextWindow} ContextWindow */
/** @typedef {import('./policies.js').ToolResults} ToolResults */
/** @typedef {import('./policies.js').DropToolCalls} DropToolCalls */
/** @typedef {import('./policies.js').ClearToolResults} ClearToolResults */
/** @typedef {import('./policies.js').DedupeToolResults} DedupeToolResults */
/** @typedef {import('./policies.js').Clamp} Clamp */
/** @typedef {import('./policies.js').StripBinary} StripBinary */
/** @typedef {import('./policies.js').DropReasoning} DropReasoning */
/** @typedef {import('./policies.js').Summarize} Summarize */
/** @typedef {import('./policies.js').Digest} Digest */
/** @typedef {import('./policies.js').Budget} Budget */
/** @typedef {import('./policies.js').Repair} Repair */
