// "tamp/ag-ui": compaction for AG-UI web clients.
export { compactionMiddleware } from './ag-ui/middleware.js';
export { useCompaction } from './ag-ui/use-compaction.js';
export { CompactionObserver } from './ag-ui/observer.js';
export { compactionSubscriber, onCompaction } from './ag-ui/listener.js';
export { COMPACTION_ACTIVITY_TYPE, compactionEvent, readCompaction, restoreCompactions } from './ag-ui/notice.js';
export { compactionContentSchema } from './ag-ui/schema.js';
export { createMessageFilter } from './ag-ui/message-filter.js';

/**
 * @typedef {import('./ag-ui/types.js').CompactionContent} CompactionContent
 * @typedef {import('./ag-ui/types.js').CompactionNotice} CompactionNotice
 * @typedef {import('./ag-ui/types.js').MiddlewareOptions} MiddlewareOptions
 */
