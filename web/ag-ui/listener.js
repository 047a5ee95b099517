// Hearing of compactions: a subscriber for AG-UI agents that calls back once for each notice, and again when one changes.
import { COMPACTION_ACTIVITY_TYPE, isObject, provenance, readNotice } from './notice.js';

/** @import { Agent, AgUiEvent, CompactionContent, CompactionNotice, Message, RunInput } from './types.js' */

/**
 * What a hook of a subscriber is called with.
 * @typedef {object} Hook
 * @property {AgUiEvent} event
 * @property {readonly Message[]} [messages]
 * @property {Message} [existingMessage] the message that has the event's id already
 * @property {Message} [activityMessage] the same, if it is an activity
 * @property {RunInput} [input]
 * @property {Agent} [agent]
 */

class Listener {
  /** @type {(notice: CompactionNotice) => void} */
  #listener;
  #activityTypes;
  /** Thread and id of a notice to what was said of it. @type {Map<string, string>} */
  #heard = new Map();
  /** Ids of notices that a delta changed, whose new content is not known before the list has it. @type {Set<string>} */
  #changed = new Set();

  /** @param {(notice: CompactionNotice) => void} listener @param {readonly string[]} activityTypes */
  constructor(listener, activityTypes) {
    this.#listener = listener;
    this.#activityTypes = new Set(activityTypes);
  }

  /** Notices that are no news. @param {string | null} threadId @param {readonly object[]} messages */
  know(threadId, messages) {
    for (const message of messages) {
      const read = readNotice(message, this.#activityTypes);
      if (read !== null) this.#isNews(threadId, read);
    }
  }

  /** @param {Hook} hook */
  onSnapshot({ event, existingMessage, activityMessage, messages, input, agent }) {
    const read = readNotice(event, this.#activityTypes);
    if (read === null) return;
    const existing = existingMessage ?? activityMessage ?? messages?.find?.(({ id }) => id === read.messageId);
    if (existing !== undefined) {
      if (event.replace === false) return; // the client leaves the message as it is
      this.know(threadOf(input, agent), [existing]);
    }
    this.#say(read, event, input, agent);
  }

  /** @param {Hook} hook */
  onDelta({ event }) {
    if (this.#activityTypes.has(event.activityType)) this.#changed.add(event.messageId);
  }

  /** @param {Omit<Hook, 'event'>} hook */
  onMessages({ messages, input, agent }) {
    if (this.#changed.size === 0) return;
    const changed = this.#changed;
    this.#changed = new Set();
    for (const message of messages ?? []) {
      if (!changed.has(message.id)) continue;
      const read = readNotice(message, this.#activityTypes);
      if (read !== null) this.#say(read, message, input, agent);
    }
  }

  /** @param {string | null} threadId @param {CompactionContent & { messageId: string }} read */
  #isNews(threadId, read) {
    const key = JSON.stringify([threadId, read.messageId]);
    const said = fingerprint(read);
    if (this.#heard.get(key) === said) return false;
    this.#heard.set(key, said);
    return true;
  }

  /**
   * @param {CompactionContent & { messageId: string }} read
   * @param {Record<string, any>} from the event or the message it was read from
   * @param {RunInput | undefined} input @param {Agent | undefined} agent
   */
  #say(read, from, input, agent) {
    const threadId = threadOf(input, agent);
    if (!this.#isNews(threadId, read)) return;
    const { at, origin } = provenance(from);
    const when = typeof from.timestamp === 'number' ? from.timestamp : at ?? Date.now();
    try {
      this.#listener({ ...read, threadId, runId: input?.runId ?? null, at: when, origin });
    } catch (error) {
      // A listener's failure is not the run's.
      console.error('[tamp] a compaction listener threw:', error);
    }
  }
}

/** What tells two states of a notice apart. @param {CompactionContent & { messageId: string }} read */
function fingerprint(read) {
  try {
    return JSON.stringify(read);
  } catch {
    return `${read.removed} ${read.before} ${read.after}`; // content that is no JSON
  }
}

/** @param {RunInput | undefined} input @param {Agent | undefined} agent */
const threadOf = (input, agent) => input?.threadId ?? agent?.threadId ?? null;

/** @param {Listener} listener */
const subscriberOf = (listener) => ({
  /** @param {Hook} hook */
  onActivitySnapshotEvent(hook) {
    listener.onSnapshot(hook);
  },
  /** @param {Hook} hook */
  onActivityDeltaEvent(hook) {
    listener.onDelta(hook);
  },
  /** @param {Omit<Hook, 'event'>} hook */
  onMessagesChanged(hook) {
    listener.onMessages(hook);
  },
});

/**
 * A subscriber object, for `agent.subscribe(...)` or `runAgent(input, subscriber)`.
 * @param {(notice: CompactionNotice) => void} listener called once for each messageId, and again when its content was
 *   replaced or patched; what it throws is logged
 * @param {{ activityTypes?: readonly string[] }} [options] compared exactly; default `["compaction"]`
 * @returns {object}
 */
export function compactionSubscriber(listener, { activityTypes = [COMPACTION_ACTIVITY_TYPE] } = {}) {
  return subscriberOf(new Listener(listener, activityTypes));
}

/**
 * Listen on an agent. Malformed payloads are ignored; what the agent's list holds already is no news.
 * @param {unknown} agent of `@ag-ui/client`
 * @param {(notice: CompactionNotice) => void} listener as in `compactionSubscriber`
 * @param {{ activityTypes?: readonly string[] }} [options]
 * @returns {() => void} unsubscribes; during a run that takes effect after it
 */
export function onCompaction(agent, listener, { activityTypes = [COMPACTION_ACTIVITY_TYPE] } = {}) {
  const { subscribe, messages, threadId } = /** @type {Agent} */ (isObject(agent) ? agent : {});
  if (typeof subscribe !== 'function') throw new TypeError('onCompaction: this is no agent, it has no subscribe()');
  const heard = new Listener(listener, activityTypes);
  if (Array.isArray(messages)) heard.know(threadId ?? null, messages);
  const subscription = subscribe.call(agent, subscriberOf(heard));
  return () => subscription.unsubscribe();
}
