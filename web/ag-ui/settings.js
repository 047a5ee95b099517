// What the runs of one middleware share: its options, the core, and what has to outlive a run, by thread.
import { project } from '../mark.js';
import { Core } from './core.js';
import { COMPACTION_ACTIVITY_TYPE, compactionEvent } from './notice.js';

/** @import { Compaction } from '../index.js' */
/** @import { AgUiEvent, Agent, Message, MiddlewareOptions, RunInput } from './types.js' */
/** @import { Interrupt } from './outgoing.js' */

/** @typedef {{ threadId: string, runId: string }} RunIds */

/** @param {Pick<RunInput, 'threadId' | 'runId'>} input @returns {RunIds} */
export const idsOf = ({ threadId, runId }) => ({ threadId: threadId ?? '', runId: runId ?? '' });

/**
 * @param {{ removed: number, before: number, after: number }} compaction
 * @param {RunIds} ids
 * @param {'before' | 'after'} phase one before a run is made anew at every run, one after it lasts
 * @returns {AgUiEvent}
 */
export function noticeOf(compaction, { threadId, runId }, phase) {
  return {
    ...compactionEvent(compaction),
    metadata: { tamp: { origin: 'client', phase, threadId, runId, at: Date.now() } },
  };
}

/** @param {Message} message */
export const isActivity = ({ role }) => role === 'activity';

/** @param {Message} message @returns {boolean} whether it is a notice of this client */
export const isOwnNotice = (message) => isActivity(message) && message.activityType === COMPACTION_ACTIVITY_TYPE
  && message.metadata?.tamp?.origin === 'client';

export class Settings {
  /** @type {MiddlewareOptions} */
  options;
  core;
  /** Notices of compactions after a run, for the next run of the thread to say. @type {Map<string, AgUiEvent[]>} */
  unsaid = new Map();
  /** Ids that are not to come into a thread's list from a server. @type {Map<string, Set<string>>} */
  #gone = new Map();
  /** Interrupts that a thread's last run ended with. @type {Map<string, readonly Interrupt[]>} */
  interrupts = new Map();
  /** Whose run it is, where that is known. @type {WeakMap<object, Agent>} */
  agents = new WeakMap();
  /** Subscribers that want to know of runs. */
  listeners = 0;
  /** Ids of the runs under way that came through the middleware. @type {Set<string>} */
  #runs = new Set();
  #warned = false;

  /** @param {MiddlewareOptions} options */
  constructor(options) {
    this.options = options;
    this.core = new Core(options.tamp);
  }

  /** Ids that are not to come into a thread's list from a server. @param {string} threadId */
  gone(threadId) {
    let ids = this.#gone.get(threadId);
    if (ids === undefined) {
      ids = new Set();
      this.#gone.set(threadId, ids);
    }
    return ids;
  }

  /** A run came through the middleware. @param {RunIds} ids */
  begin({ runId }) {
    if (this.listeners > 0) this.#runs.add(runId);
  }

  /** Whether a run came through the middleware. @param {RunIds} ids */
  knows({ runId }) {
    return this.#runs.has(runId);
  }

  /** @param {RunIds} ids */
  end({ runId }) {
    this.#runs.delete(runId);
  }

  /** @param {MiddlewareOptions} options */
  change(options) {
    if (options.tamp !== this.options.tamp) this.core = new Core(options.tamp);
    this.options = options;
  }

  /** Say what failed: once on the console, always to `onError`. @param {unknown} error */
  report(error) {
    if (!this.#warned) {
      this.#warned = true;
      console.warn('[tamp] compaction failed, the history is sent as it is:', error);
    }
    try {
      this.options.onError?.(error);
    } catch (thrown) {
      console.error('[tamp] onError threw:', thrown);
    }
  }

  /** @param {'before' | 'after'} phase @param {Compaction<any>} compaction @param {RunIds} ids */
  compacted(phase, compaction, ids) {
    try {
      this.options.onCompacted?.({ phase, compaction, ...ids });
    } catch (error) {
      console.error('[tamp] onCompacted threw:', error);
    }
  }

  /** What is sent of a list when nothing is compacted. @param {readonly Message[]} messages */
  sendable(messages) {
    try {
      const sent = project(messages);
      // 0.0.59 lets activity through that a subscriber put there.
      return sent.some(isActivity) ? sent.filter((message) => !isActivity(message)) : sent;
    } catch (error) {
      this.report(error);
      return messages;
    }
  }
}
