// The shapes that `tamp/ag-ui` exchanges. AG-UI's own are described structurally: neither version of @ag-ui/client is
// imported, and both fit.

/** @import { CompactAsyncOptions, Compaction, Policy, Tamp } from '../index.js' */
/** @import { CompactionObserver } from './observer.js' */

/**
 * A message as far as Tamp looks at it.
 * @typedef {{ id: string, role: string, [field: string]: any }} Message
 */

/**
 * An event as far as Tamp looks at it.
 * @typedef {{ type: string, [field: string]: any }} AgUiEvent
 */

/**
 * What a run starts with.
 * @typedef {object} RunInput
 * @property {readonly Message[]} messages
 * @property {string} [threadId]
 * @property {string} [runId]
 * @property {readonly { interruptId: string }[]} [resume]
 */

/**
 * An agent, as far as Tamp looks at it.
 * @typedef {object} Agent
 * @property {string} [threadId]
 * @property {readonly Message[]} [messages]
 * @property {readonly { id: string, toolCallId?: string }[]} [pendingInterrupts]
 * @property {AbortController} [abortController]
 * @property {(...middlewares: any[]) => unknown} [use]
 * @property {(subscriber: object) => { unsubscribe(): void }} [subscribe]
 */

/**
 * How many messages a compaction took out of what is sent. A producer may say more.
 * @typedef {{ removed: number, before: number, after: number, [extra: string]: unknown }} CompactionContent
 */

/**
 * A compaction that somebody was told about.
 * @typedef {CompactionContent & {
 *   messageId: string, threadId: string | null, runId: string | null, at: number, origin: 'server' | 'client',
 * }} CompactionNotice `at` in milliseconds since 1970, 0 when nobody knows
 */

/**
 * @typedef {object} OwnOptions
 * @property {Policy | CompactionObserver} [before] Run on the whole history before every run, on the outgoing copy only.
 * @property {Policy | CompactionObserver} [after] Run once after each finished run, on the stored history
 *   (`agent.messages`), so that what was decided lasts. Needs `useCompaction`: a middleware alone cannot reach it.
 * @property {'mark' | 'remove'} [afterMode] What `after` does with what it drops. "mark" (default): it stays for the
 *   reader, marked, and is never sent again. "remove": it leaves `agent.messages`.
 * @property {(removed: object[], context: { threadId: string, runId: string }) => void | Promise<void>} [archive]
 *   Receives what "remove" takes out of the stored history, first: what goes, and the original of what is rewritten.
 *   When it fails, nothing is taken out.
 * @property {Tamp | Promise<Tamp>} [tamp] Default: `loadTamp()`.
 * @property {(event: { phase: 'before' | 'after', compaction: Compaction<any>, threadId: string, runId: string }) => void}
 *   [onCompacted] Called for every compaction that changed something, announced or not.
 * @property {(error: unknown) => void} [onError] Called for every failure of ours; the run goes on with the full history.
 * @property {boolean} [retryOnOverflow] Retry once with a smaller history when the server answers 413 or reports an
 *   over-long context. Default true.
 */

/** @typedef {Pick<CompactAsyncOptions<any>, 'summarize' | 'countTokens' | 'reservedTokens' | 'pin'> & OwnOptions} MiddlewareOptions */

export {};
