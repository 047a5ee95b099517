/**
 * A second implementation of the strategies that only choose what goes, as plain as strategies.md §3 and
 * §4 put them, over the reading of tests/lib/reading.js. For lists that need no repair. It says which
 * messages stay; the core must say the same.
 */
import { isConversation, kindOf, read } from './reading.js';
import { bytesOf, weighAll } from './weigh.js';

/** @typedef {Record<string, any>} Message */
/** @typedef {{ count: (text: string) => number, pins: readonly string[], reserved: number }} World */
/** @typedef {{ messages: readonly Message[], reading: import('./reading.js').Reading }} State */

/** Strategies that this model knows. */
export const MODELLED = Object.freeze(['sliding-window', 'truncation', 'drop-tool-calls', 'drop-reasoning']);

/** @param {readonly Message[]} messages @param {World} world */
const sizesOf = (messages, { count, reserved }) => ({
  tokens: weighAll(messages, count) + reserved,
  messages: messages.filter(isConversation).length,
  bytes: messages.filter(({ role }) => role !== 'activity')
    .reduce((sum, message) => sum + bytesOf(message), 0),
});

/** @param {import('./reading.js').Group} group */
const counts = ({ kind }) => kind !== 'system' && kind !== 'activity';

/**
 * @param {any} trigger
 * @param {State} state
 * @param {World} world
 * @returns {boolean}
 */
function holds(trigger, { messages, reading }, world) {
  const sizes = sizesOf(messages, world);
  if ('tokensOver' in trigger) return sizes.tokens > trigger.tokensOver;
  if ('messagesOver' in trigger) return sizes.messages > trigger.messagesOver;
  if ('bytesOver' in trigger) return sizes.bytes > trigger.bytesOver;
  if ('turnsOver' in trigger) return reading.runs.length > trigger.turnsOver;
  if ('groupsOver' in trigger) return reading.groups.filter(counts).length > trigger.groupsOver;
  if ('hasToolCalls' in trigger) return reading.calls.length > 0;
  const each = (/** @type {any} */ one) => holds(one, { messages, reading }, world);
  return 'all' in trigger ? trigger.all.every(each) : trigger.any.some(each);
}

/** @param {any} policy @param {ReturnType<typeof sizesOf>} sizes */
function exceeds({ maxTokens, maxMessages, maxBytes }, sizes) {
  const over = (/** @type {number | undefined} */ max, /** @type {number} */ size) =>
    max !== undefined && size > max;
  return over(maxTokens, sizes.tokens) || over(maxMessages, sizes.messages)
    || over(maxBytes, sizes.bytes);
}

/** The turn a place is in: how many runs of questions opened before it or with it. */
const turnOf = (/** @type {State['reading']} */ { runs }, /** @type {number} */ index) =>
  runs.filter(([first]) => first <= index).length;

/** @param {readonly Message[]} messages @param {Set<number>} gone */
const without = (messages, gone) => messages.filter((_, index) => !gone.has(index));

/** @type {Record<string, (policy: any, state: State, world: World) => readonly Message[]>} */
const strategies = {
  'sliding-window': (policy, { messages, reading }, world) => {
    const { keepGroups, keepTurns, keepTokens, keepFirstUser = true, ...limits } = policy;
    const limited = ['maxTokens', 'maxMessages', 'maxBytes'].some((name) => name in limits);
    if (limited && !exceeds(limits, sizesOf(messages, world))) return messages;
    const groups = reading.groups.filter(counts).sort((a, b) => a.anchor - b.anchor);
    /** @type {Set<object>} */
    let inside = new Set();
    if (keepGroups !== undefined) {
      inside = new Set(groups.slice(Math.max(0, groups.length - keepGroups)));
    } else if (keepTurns !== undefined) {
      inside = new Set(groups.filter(({ anchor }) =>
        turnOf(reading, anchor) > reading.runs.length - keepTurns));
    } else if (keepTokens !== undefined) {
      let left = keepTokens;
      for (const group of groups.toReversed()) {
        left -= weighAll(group.indices.map((index) => messages[index]), world.count);
        if (left < 0) break;
        inside.add(group);
      }
    } else {
      let left = policy.keepMessages ?? 40;
      for (const group of groups.toReversed()) {
        if (left <= 0) break;
        left -= group.indices.length;
        inside.add(group);
      }
    }
    const first = messages.findIndex((message) => kindOf(message) === 'user');
    const mayGo = groups.filter((group) => !inside.has(group) && !group.protected
      && !(keepFirstUser && group.indices.includes(first)));
    const gone = new Set(mayGo.filter(({ kind }) => kind !== 'summary').flatMap(({ indices }) => indices));
    const left = without(messages, gone);
    if (!limited || !exceeds(limits, sizesOf(left, world))) return left;
    return without(messages, new Set(mayGo.flatMap(({ indices }) => indices)));
  },

  truncation: (policy, { messages, reading }, world) => {
    if (!exceeds(policy, sizesOf(messages, world))) return messages;
    const first = messages.findIndex((message) => kindOf(message) === 'user');
    const mayGo = reading.groups
      .filter((group) => counts(group) && !group.protected
        && !(policy.keepFirstUser === true && group.indices.includes(first)))
      .sort((a, b) => Number(a.kind === 'summary') - Number(b.kind === 'summary') || a.anchor - b.anchor);
    const to = { maxTokens: policy.toTokens, maxMessages: policy.toMessages, maxBytes: policy.toBytes };
    /** @type {Set<number>} */
    const gone = new Set();
    for (const { indices } of mayGo) {
      if (!exceeds(to, sizesOf(without(messages, gone), world))) break;
      for (const index of indices) gone.add(index);
    }
    return without(messages, gone);
  },

  'drop-tool-calls': ({ keepLastToolCallGroups = 1, tools }, { messages, reading }) => {
    const done = reading.groups.filter(({ kind, pending }) => kind === 'tool' && !pending)
      .sort((a, b) => a.anchor - b.anchor);
    const older = done.slice(0, Math.max(0, done.length - keepLastToolCallGroups));
    const named = (/** @type {import('./reading.js').Group} */ { anchor }) => tools === undefined
      || messages[anchor].toolCalls.every((/** @type {any} */ call) => tools.includes(call.function.name));
    return without(messages, new Set(older.filter((group) => !group.protected && named(group))
      .flatMap(({ indices }) => indices)));
  },

  'drop-reasoning': ({ keepLastTurns = 1 }, { messages, reading }) => {
    const gone = reading.groups.filter((group) => !group.protected).flatMap(({ kind, indices }) =>
      indices.filter((index) => messages[index].role === 'reasoning'
        && turnOf(reading, index) <= reading.runs.length - keepLastTurns
        && !(kind === 'tool' && messages[index].encryptedValue !== undefined)));
    return without(messages, new Set(gone));
  },
};

/**
 * @param {any} policy of modelled strategies, pipelines of them included
 * @param {readonly Message[]} messages
 * @param {World} world
 * @returns {readonly Message[]}
 */
function pass(policy, messages, world) {
  if (Array.isArray(policy)) return policy.reduce((left, step) => pass(step, left, world), messages);
  const state = { messages, reading: read(messages, world.pins) };
  if (policy.when !== undefined && !holds(policy.when, state, world)) return messages;
  const left = strategies[policy.strategy](policy, state, world);
  return left.some((message) => message.role !== 'activity') ? left : messages;
}

/**
 * The messages that stay.
 *
 * @param {any} policy
 * @param {readonly Message[]} messages valid, and without activity
 * @param {World} world
 * @returns {readonly Message[]}
 */
export function model(policy, messages, world) {
  let left = messages;
  for (;;) {
    const next = pass(policy, left, world);
    if (next.length === left.length) return left;
    left = next;
  }
}
