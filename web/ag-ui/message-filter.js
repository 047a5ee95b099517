// For CopilotKit's `messageFilter`, which sees the outgoing list only and repairs what comes out of it.

/** @import { Policy, Tamp } from '../index.js' */

/**
 * For CopilotKit's `messageFilter`: synchronous, drops whole groups only. CopilotKit puts tool results back from the
 * untrimmed list, so whatever a policy rewrites, adds or moves is left as it was; of a group that loses only some of its
 * messages, all stay.
 * @param {Tamp} tamp a loaded one
 * @param {Policy} policy one that asks no model
 * @returns {<M extends object>(messages: readonly M[]) => M[]} throws MessageError; CopilotKit sends the full list then
 * @throws {PolicyError} at once, for a bad policy
 */
export function createMessageFilter(tamp, policy) {
  tamp.compact([], policy);
  return (messages) => {
    const { changed, report } = tamp.compact(messages, policy);
    if (!changed) return [...messages];
    const dropped = new Set(report.dropped.map(({ index }) => index));
    const gone = new Set(tamp.inspect(messages).groups
      .map(({ indices }) => indices)
      .filter((indices) => indices.every((index) => dropped.has(index)))
      .flat());
    return messages.filter((_, index) => !gone.has(index));
  };
}
