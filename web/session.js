// "tamp/session": two lanes of a chat, compacted between the steps of a turn and after it, durable and undoable.

export { compact, compactionStep } from './session/compact.js';
export { isCompactionSafe } from './session/safe.js';
export { MessageAccumulator } from './session/accumulator.js';
export { createSession, Session } from './session/session.js';

/** @typedef {import('./session/types.js').Usage} Usage */
/** @typedef {import('./session/types.js').CompactionStep} CompactionStep */
/** @typedef {import('./session/types.js').ShouldCompactEvent} ShouldCompactEvent */
/** @typedef {import('./session/types.js').SummarizeEvent} SummarizeEvent */
/** @typedef {import('./session/types.js').CompactMessagesEvent} CompactMessagesEvent */
/** @typedef {import('./session/types.js').CompactedEvent} CompactedEvent */
/** @typedef {import('./session/types.js').CompactionOptions} CompactionOptions */
/** @typedef {import('./session/types.js').CompactResult} CompactResult */
/** @typedef {import('./session/types.js').CompactionState} CompactionState */
/** @typedef {import('./session/types.js').CompactionContext} CompactionContext */
/** @typedef {import('./session/types.js').CompactionFailure} CompactionFailure */
/** @typedef {import('./session/types.js').Invalidation} Invalidation */
/** @typedef {import('./session/types.js').IndicatorPart} IndicatorPart */
/** @typedef {import('./session/types.js').Change} Change */
/** @typedef {import('./session/types.js').SessionStore} SessionStore */
/** @typedef {import('./session/session.js').SessionOptions} SessionOptions */
/** @typedef {import('./session/session.js').Turn} Turn */
/** @typedef {import('./session/accumulator.js').AccumulatorOptions} AccumulatorOptions */
/** @typedef {import('./session/compact.js').CompactStepOptions} CompactStepOptions */
