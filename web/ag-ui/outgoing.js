// What a run sends: the stored list without what is marked, compacted.
import { isObject } from './notice.js';

/** @import { Compaction, CompactOptions, Policy, Tamp } from '../index.js' */
/** @import { Message, MiddlewareOptions, RunInput } from './types.js' */
/** @import { Core } from './core.js' */

/** @typedef {{ id: string, toolCallId?: string }} Interrupt */

/** @param {unknown} policy @returns {boolean} whether it asks a model */
export function asksModel(policy) {
  if (Array.isArray(policy)) return policy.some(asksModel);
  if (!isObject(policy)) return false;
  return policy.strategy === 'summarize' || (Array.isArray(policy.steps) && policy.steps.some(asksModel));
}

/**
 * Ids of the calls that interrupts wait for. Those of a `resume` whose interrupt nobody remembers, as after a reload, can be
 * any that have no result.
 * @param {readonly Message[]} messages
 * @param {readonly Interrupt[]} interrupts
 * @param {RunInput['resume']} [resume]
 * @returns {Set<string>}
 */
export function interruptedCalls(messages, interrupts, resume) {
  /** @type {Set<string>} */
  const calls = new Set();
  for (const { toolCallId } of interrupts) if (typeof toolCallId === 'string') calls.add(toolCallId);
  const known = new Set(interrupts.map(({ id }) => id));
  if (!Array.isArray(resume) || resume.every(({ interruptId }) => known.has(interruptId))) return calls;
  const answered = new Set(messages.filter(({ role }) => role === 'tool').map(({ toolCallId }) => toolCallId));
  for (const { toolCalls } of messages) {
    for (const { id } of Array.isArray(toolCalls) ? toolCalls : []) if (!answered.has(id)) calls.add(id);
  }
  return calls;
}

/**
 * Options with the messages pinned that hold these calls.
 * @param {readonly Message[]} messages
 * @param {ReadonlySet<string>} calls
 * @param {MiddlewareOptions} options
 * @returns {CompactOptions}
 */
function compactOptions(messages, calls, { countTokens, reservedTokens, pin = [] }) {
  const holders = calls.size === 0 ? [] : messages.filter(({ toolCalls }) =>
    Array.isArray(toolCalls) && toolCalls.some(({ id }) => calls.has(id)));
  return { countTokens, reservedTokens, pin: [...pin, ...holders.map(({ id }) => id)] };
}

/**
 * A compaction without what AG-UI servers take badly: an edited user message (LangGraph forks the thread), and an answer to a
 * call that an interrupt waits for.
 * @param {readonly Message[]} messages what was compacted
 * @param {Compaction<Message>} compaction
 * @param {ReadonlySet<string>} calls that interrupts wait for
 * @returns {Compaction<Message>}
 */
function guarded(messages, compaction, calls) {
  if (!compaction.changed) return compaction;
  const { report } = compaction;
  const isUser = (/** @type {{ index: number }} */ { index }) => messages[index]?.role === 'user';
  const edited = report.rewritten.filter(isUser);
  const answers = calls.size === 0 ? [] : report.added.filter(({ index }) => {
    const { role, toolCallId } = compaction.messages[index] ?? {};
    return role === 'tool' && calls.has(toolCallId);
  });
  if (edited.length === 0 && answers.length === 0) return compaction;
  const originals = new Map(edited.map(({ index }) => [messages[index].id, messages[index]]));
  const gone = new Set(answers.map(({ index }) => index));
  const kept = compaction.messages.filter((_, index) => !gone.has(index))
    .map((message) => (message.role === 'user' && originals.get(message.id)) || message);
  const changed = kept.length !== messages.length || kept.some((message, index) => message !== messages[index]);
  let shift = 0;
  return {
    messages: changed ? kept : messages,
    changed,
    removed: compaction.removed + answers.length,
    before: compaction.before,
    after: compaction.after - answers.length,
    report: {
      ...report,
      rewritten: report.rewritten.filter((entry) => !isUser(entry)),
      added: report.added.flatMap((entry) => {
        if (gone.has(entry.index)) {
          shift += 1;
          return [];
        }
        return [{ ...entry, index: entry.index - shift }];
      }),
    },
  };
}

/**
 * Compact for an AG-UI server. Synchronous unless the policy asks a model.
 * @param {Core | null} core keeps the thread's list for the next time; null: this is for once
 * @param {Tamp} tamp the loaded one
 * @param {{ threadId: string, messages: readonly Message[], policy: Policy, calls: ReadonlySet<string>,
 *   signal?: AbortSignal }} what `messages` as they are sent, without marks
 * @param {MiddlewareOptions} options
 * @returns {Compaction<Message> | Promise<Compaction<Message>>}
 */
export function compactFor(core, tamp, { threadId, messages, policy, calls, signal }, options) {
  const given = compactOptions(messages, calls, options);
  if (!asksModel(policy)) {
    const compaction = core === null
      ? tamp.compact(messages, policy, given)
      : core.compact(tamp, threadId, messages, policy, given);
    return guarded(messages, compaction, calls);
  }
  return tamp.compactAsync(messages, policy, { ...given, summarize: options.summarize, signal })
    .then((compaction) => guarded(messages, compaction, calls));
}

