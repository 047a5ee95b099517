import { describe } from './describe.js';

/**
 * Would a provider accept this list? The page's own check, written from the providers' rules and not from
 * the core's code, so that it can judge the core and its peers alike:
 *
 * - something is left to answer;
 * - a tool result answers a call of the assistant message right before it (results of the same message and
 *   nothing else may stand between);
 * - every call of a message is answered once before the next message; only the last message may
 *   still wait for its results.
 *
 * Activity is for people and reasoning travels beside the messages: neither is looked at.
 * @param {readonly object[]} messages
 * @returns {{ok: boolean, problem: string | null, index: number | null}}  the first rule broken
 */
export function validate(messages) {
  let open = new Map();
  let known = new Set();
  let conversation = 0;
  const refuse = (index, problem) => ({ ok: false, problem, index });
  for (const [index, message] of messages.entries()) {
    const { role, calls, results } = describe(message);
    if (role === 'activity' || role === 'reasoning') continue;
    const called = new Map(calls.map(({ id }) => [id, index]));
    const inside = new Set();
    for (const { id } of results) {
      if (called.has(id) && !inside.has(id)) inside.add(id); // the AI SDK's: a call and its result in one message
      else if (open.has(id)) open.delete(id);
      else if (known.has(id) || inside.has(id)) return refuse(index, `The call ${id} is answered twice.`);
      else return refuse(index, `A tool result answers ${id}, which the message before it did not call.`);
    }
    if (role === 'tool') continue;
    if (open.size > 0) return refuse(index, `The call ${[...open.keys()][0]} has no result before the next message.`);
    if (role !== 'system') conversation += 1;
    for (const id of inside) called.delete(id);
    open = called;
    known = new Set(calls.map(({ id }) => id));
  }
  if (conversation === 0) return refuse(null, 'Nothing is left to answer.');
  return { ok: true, problem: null, index: null };
}
