// Both phases on one agent: the middleware for `before`, and a subscriber that compacts the stored history when a run ends.
//
// RUN_FINISHED is the moment: the run's messages are all there, the client waits for the hook and takes the list it returns,
// and `runAgent` resolves with that list. A later hook would race with what the application does next.
import { mark, project } from '../mark.js';
import { middlewareOf } from './middleware.js';
import { isObject } from './notice.js';
import { unwrap } from './observer.js';
import { compactFor } from './outgoing.js';
import { Settings, idsOf, noticeOf } from './settings.js';

/** @import { Compaction } from '../index.js' */
/** @import { AgUiEvent, Agent, Message, MiddlewareOptions, RunInput } from './types.js' */

/** The settings behind the middleware of an agent: there is no way to take one off again. @type {WeakMap<object, Settings>} */
const attached = new WeakMap();
/** Ends of runs that a subscriber of ours has seen to. @type {WeakSet<object>} */
const settled = new WeakSet();

/** @type {ReadonlySet<string>} */
const NO_CALLS = new Set();

/** What stands between a call and its result, or is none of the conversation. */
const TRANSPARENT = new Set(['reasoning', 'activity', 'system', 'developer']);

/**
 * Whether the list ends with calls that have no result yet: only the last message that says something can hold them.
 * @param {readonly Message[]} messages
 */
function isWaiting(messages) {
  const answered = new Set();
  for (let index = messages.length - 1; index >= 0; index--) {
    const { role, toolCallId, toolCalls, metadata } = messages[index];
    if (role === 'tool') answered.add(toolCallId);
    else if (!TRANSPARENT.has(role) && metadata?.tamp?.summary === undefined && metadata?.tamp?.head === undefined) {
      return Array.isArray(toolCalls) && toolCalls.some(({ id }) => !answered.has(id));
    }
  }
  return false;
}

/**
 * What a finished run leaves stored.
 * @param {Settings} settings
 * @param {readonly Message[]} stored
 * @param {{ threadId: string, runId: string }} ids
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<Message[] | null>} null: as it is
 */
async function settle(settings, stored, ids, signal) {
  const { options, core } = settings;
  const after = unwrap(options.after);
  if (after === null) return null;
  const tamp = core.tamp ?? await core.load();
  const messages = project(stored);
  // A list of its own in the core's memory: `before` compacts what is sent, which lacks activity.
  const what = { threadId: `${ids.threadId} stored`, messages, policy: after.policy, calls: NO_CALLS, signal };
  const compaction = await compactFor(core, tamp, what, options);
  if (!compaction.changed) return null;
  let result = mark(stored, compaction);
  if (options.afterMode === 'remove') {
    result = await takeOut(settings, stored, project(result), ids);
  }
  if (after.observed && compaction.removed > 0) {
    const earlier = settings.unsaid.get(ids.threadId) ?? [];
    settings.unsaid.set(ids.threadId, [...earlier, noticeOf(compaction, ids, 'after')]);
  }
  settings.compacted('after', compaction, ids);
  return result;
}

/**
 * Archive what is not in the new list, then forget it.
 * @param {Settings} settings
 * @param {readonly Message[]} stored
 * @param {readonly Message[]} kept
 * @param {{ threadId: string, runId: string }} ids
 * @returns {Promise<Message[]>}
 */
async function takeOut(settings, stored, kept, ids) {
  const staying = new Set(kept);
  const gone = stored.filter((message) => !staying.has(message));
  await settings.options.archive?.(gone, ids);
  const names = new Set(kept.map(({ id }) => id));
  const forgotten = settings.gone(ids.threadId);
  for (const { id } of gone) if (!names.has(id)) forgotten.add(id);
  return [...kept];
}

/** @param {Settings} settings @param {Agent} own */
const subscriberOf = (settings, own) => ({
  /** @param {{ input: RunInput, agent?: Agent }} hook */
  onRunInitialized({ input, agent }) {
    settings.agents.set(input, agent ?? own);
  },

  /**
   * @param {{ event: AgUiEvent, messages: readonly Message[], input: RunInput, agent?: Agent, outcome?: string,
   *   pendingToolCallIds?: string[] }} hook
   * @returns {Promise<{ messages: Message[] } | undefined>}
   */
  async onRunFinishedEvent({ event, messages, input, agent = own, outcome, pendingToolCallIds = [] }) {
    // `connectAgent` replays runs without the middleware: they are not this client's.
    if (settled.has(event) || !settings.knows(idsOf(input))) return undefined;
    settled.add(event);
    const interrupted = outcome === 'interrupt' || event.outcome?.type === 'interrupt';
    if (interrupted || pendingToolCallIds.length > 0 || isWaiting(messages)) return undefined;
    try {
      const kept = await settle(settings, messages, idsOf(input), agent.abortController?.signal);
      return kept === null ? undefined : { messages: kept };
    } catch (error) {
      if (agent.abortController?.signal.aborted !== true) settings.report(error);
      return undefined;
    }
  },

  /** @param {{ input: RunInput }} hook */
  onRunFinalized({ input }) {
    settings.end(idsOf(input));
  },
});

/**
 * Attach both phases to an agent (middleware for `before`, subscriber for `after`). `after` waits, run for run, while calls
 * have no result or an interrupt is open; `runAgent` resolves when it is done. Attaching again replaces the options.
 * @param {unknown} agent of `@ag-ui/client`, 0.0.59 or 1.x
 * @param {MiddlewareOptions} options
 * @returns {() => void} detaches the subscriber: `after` ends. The middleware cannot be taken off: `before` goes on, and what
 *   is marked stays unsent.
 */
export function useCompaction(agent, options) {
  const { use, subscribe } = /** @type {Agent} */ (isObject(agent) ? agent : {});
  if (typeof use !== 'function' || typeof subscribe !== 'function') {
    throw new TypeError('useCompaction: the agent has no use() or subscribe()');
  }
  const own = /** @type {Agent} */ (agent);
  let settings = attached.get(own);
  if (settings === undefined) {
    settings = new Settings(options);
    attached.set(own, settings);
    use.call(own, middlewareOf(settings));
  } else {
    settings.change(options);
  }
  if (options.before !== undefined || options.after !== undefined) settings.core.load().catch(() => {});
  settings.listeners += 1;
  const subscription = subscribe.call(own, subscriberOf(settings, own));
  let listening = true;
  return () => {
    if (!listening) return;
    listening = false;
    settings.listeners -= 1;
    subscription.unsubscribe();
  };
}
