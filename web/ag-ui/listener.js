// Hearing of compactions: a subscriber for AG-UI agents that calls back once for each notice, and again when one changes.
import { COMPACTION_ACTIVITY_TYPE, isObject, provenance, readNotice } from './notice.js';

/** @import { Agent, AgUiEvent, CompactionNotice, Message, RunInput } from './types.js' */

/**
 * What a hook of a subscriber is called with.
 * @typedef {object} Hook
 * @property {AgUiEvent} event
 * @property {readonly Message[]} messages
 * @property {Message} [existingMessage] the message that has the event's id already
 * @property {RunInput} [input]
 * @property {Agent} [agent]
 */

/** @param {Pick<Hook, 'input' | 'agent'>} hook */
const threadOf = ({ input, agent }) => input?.threadId ?? agent?.threadId ?? null;

/**
 * A subscriber, and a way to tell it of notices that are no news.
 * @param {(notice: CompactionNotice) => void} listener
 * @param {readonly string[]} types
 */
function listen(listener, types) {
  const activityTypes = new Set(types);
  /** Thread and id of a notice to what was said of it. @type {Map<string, string>} */
  const heard = new Map();
  /** Ids of notices that a delta changed, whose new content is not known before the list has it. */
  const changed = new Set();

  /** @param {unknown} value @param {string | null} threadId @returns {ReturnType<typeof readNotice>} null: no news */
  const news = (value, threadId) => {
    const read = readNotice(value, activityTypes);
    if (read === null) return null;
    const key = JSON.stringify([threadId, read.messageId]);
    const said = JSON.stringify(read);
    if (heard.get(key) === said) return null;
    heard.set(key, said);
    return read;
  };

  /** @param {Record<string, any>} value @param {Pick<Hook, 'input' | 'agent'>} hook */
  const hear = (value, hook) => {
    try {
      const threadId = threadOf(hook);
      const read = news(value, threadId);
      if (read === null) return;
      const said = provenance(value);
      const at = Number.isFinite(value.timestamp) ? value.timestamp : said.at ?? Date.now();
      listener({ ...read, ...said, threadId, runId: hook.input?.runId ?? null, at });
    } catch (error) {
      console.error('[tamp] listener failed:', error); // its failure is not the run's
    }
  };

  return {
    news,
    subscriber: {
      /** @param {Hook} hook */
      onActivitySnapshotEvent(hook) {
        const { event, existingMessage } = hook;
        if (existingMessage !== undefined) {
          if (event.replace === false) return; // the client leaves the message as it is
          news(existingMessage, threadOf(hook));
        }
        hear(event, hook);
      },
      /** @param {Hook} hook */
      onActivityDeltaEvent({ event }) {
        if (activityTypes.has(event.activityType)) changed.add(event.messageId);
      },
      /** @param {Omit<Hook, 'event'>} hook */
      onMessagesChanged(hook) {
        if (changed.size === 0) return;
        for (const message of hook.messages) if (changed.delete(message.id)) hear(message, hook);
      },
    },
  };
}

/**
 * A subscriber object, for `agent.subscribe(...)` or `runAgent(input, subscriber)`.
 * @param {(notice: CompactionNotice) => void} listener called once for each messageId, and again when its content was
 *   replaced or patched; what it throws is logged
 * @param {{ activityTypes?: readonly string[] }} [options] compared exactly; default `["compaction"]`
 * @returns {object}
 */
export function compactionSubscriber(listener, { activityTypes = [COMPACTION_ACTIVITY_TYPE] } = {}) {
  return listen(listener, activityTypes).subscriber;
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
  if (typeof subscribe !== 'function') throw new TypeError('the agent has no subscribe()');
  const { news, subscriber } = listen(listener, activityTypes);
  for (const message of messages ?? []) news(message, threadId ?? null);
  const subscription = subscribe.call(agent, subscriber);
  return () => subscription.unsubscribe();
}
