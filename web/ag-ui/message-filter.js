// For CopilotKit's `messageFilter`, which sees the outgoing list only and repairs what comes out of it.

/** @import { Policy, Tamp } from '../index.js' */
/** @typedef {{ id?: unknown, role?: unknown, toolCallId?: unknown, toolCalls?: readonly { id: unknown }[] }} Fields */

/**
 * The list as CopilotKit's repair leaves it: each call's result, the last there is, directly behind it, each id once.
 * @template {object} M
 * @param {readonly M[]} kept
 * @param {readonly M[]} all what `kept` was taken from
 * @returns {M[]}
 */
function arrange(kept, all) {
  const fields = (/** @type {M} */ message) => /** @type {Fields} */ (message);
  const callsOf = (/** @type {M} */ message) => {
    const { toolCalls } = fields(message);
    return Array.isArray(toolCalls) ? toolCalls.map(({ id }) => id).filter(Boolean) : [];
  };
  const isResult = (/** @type {M} */ message) => fields(message).role === 'tool' && fields(message).toolCallId !== undefined;
  /** @type {Map<unknown, M>} */
  const callers = new Map();
  /** @type {Map<unknown, M>} */
  const results = new Map();
  for (const message of all) {
    for (const id of callsOf(message)) callers.set(id, message);
    if (isResult(message)) results.set(fields(message).toolCallId, message);
  }
  /** @type {Map<unknown, M>} */
  const arranged = new Map();
  const put = (/** @type {M | undefined} */ message) => {
    if (message !== undefined && !arranged.has(fields(message).id)) arranged.set(fields(message).id, message);
  };
  for (const message of kept) {
    const first = (isResult(message) && callers.get(fields(message).toolCallId)) || message;
    put(first);
    for (const id of callsOf(first)) put(results.get(id));
  }
  return [...arranged.values()];
}

/**
 * For CopilotKit's `messageFilter`: synchronous, drops whole groups only. CopilotKit puts tool results back from the
 * untrimmed list, so whatever a policy rewrites or adds is left as it was; of a group that loses only some of its messages,
 * all stay.
 * @param {Tamp} tamp a loaded one
 * @param {Policy} policy one that asks no model
 * @returns {<M extends object>(messages: readonly M[]) => M[]} throws MessageError; CopilotKit sends the full list then
 * @throws {PolicyError} at once, for a bad policy
 */
export function createMessageFilter(tamp, policy) {
  tamp.compact([], policy);
  return (messages) => {
    const { changed, report } = tamp.compact(messages, policy);
    const dropped = new Set(changed ? report.dropped.map(({ index }) => index) : []);
    const gone = new Set(dropped.size === 0 ? [] : tamp.inspect(messages).groups
      .map(({ indices }) => indices)
      .filter((indices) => indices.every((index) => dropped.has(index)))
      .flat());
    return arrange(messages.filter((_, index) => !gone.has(index)), messages);
  };
}
