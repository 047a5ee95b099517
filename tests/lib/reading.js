/**
 * An independent reading of strategies.md §1 for AG-UI lists: pairs, groups, turns, pending,
 * protection. It shares nothing with the core but the page both were written from, is written for
 * plainness (quadratic where that is plainer), and is what the properties compare the core with.
 *
 * It reads lists whose messages have the types AG-UI gives them; of lists with wrong types (a call
 * without an id, a number for a role) the page says only that they are never an error.
 */

/** @typedef {Record<string, any>} Message */
/**
 * @typedef {object} Group
 * @property {'system'|'user'|'assistant'|'tool'|'summary'|'activity'|'orphan'|'other'} kind
 * @property {number[]} indices members in list order
 * @property {number} anchor where the group stands: at its call, its answer, or its only message
 * @property {boolean} pending holds a call that waits for its result
 * @property {boolean} protected no strategy may remove or rewrite it
 */
/** @typedef {{ id: unknown, message: number, results: number[] }} Call */
/**
 * @typedef {object} Reading
 * @property {Group[]} groups sorted by their first message
 * @property {Call[]} calls in list order; `results` in list order, the first one answered it
 * @property {number[]} orphans results that belong to no call
 * @property {number[][]} runs the user messages that open each turn
 * @property {Map<number, Group>} groupOf
 * @property {boolean} ambiguous a reasoning message stands where the page allows two readings
 */

const record = (/** @type {unknown} */ value) =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** @param {Message} message */
export const isSummary = (message) => record(message.metadata?.tamp?.summary);

/** @param {Message} message */
export const isHead = (message) => message.metadata?.tamp?.head !== undefined;

/** @param {Message} message */
export const hasCalls = (message) =>
  message.role === 'assistant' && Array.isArray(message.toolCalls) && message.toolCalls.length > 0;

/**
 * What a message is taken as before it is grouped.
 *
 * @param {Message} message
 */
export function kindOf(message) {
  if (isSummary(message)) return 'summary';
  if (isHead(message)) return 'system';
  switch (message.role) {
    case 'system': case 'developer': return 'system';
    case 'user': return 'user';
    case 'assistant': return hasCalls(message) ? 'call' : 'assistant';
    case 'tool': return 'result';
    case 'reasoning': return 'reasoning';
    case 'activity': return 'activity';
    default: return 'other';
  }
}

/** A message of the conversation: neither an instruction nor activity. @param {Message} message */
export const isConversation = (message) => !['system', 'activity'].includes(kindOf(message));

/** @param {Message} message @param {readonly string[]} pins */
export const isPinned = (message, pins) =>
  message.metadata?.tamp?.pin === true
  || (typeof message.id === 'string' && pins.includes(message.id));

/** Blank for a reader: no content, or nothing but white space. @param {unknown} content */
export const isBlank = (content) =>
  content === undefined || content === null
  || (typeof content === 'string' && content.trim() === '')
  || (Array.isArray(content) && content.length === 0);

/**
 * @param {readonly Message[]} messages
 * @param {readonly string[]} [pins]
 * @returns {Reading}
 */
export function read(messages, pins = []) {
  const kinds = messages.map(kindOf);

  // Pairs by occurrence: the nearest preceding call with the id that has no result yet; within one
  // message the first. A further result belongs to the nearest answered call.
  /** @type {Call[]} */
  const calls = [];
  /** @type {number[]} */
  const orphans = [];
  /** @type {Map<number, Call>} */
  const callOf = new Map();
  messages.forEach((message, index) => {
    if (kinds[index] === 'call') {
      for (const call of message.toolCalls) calls.push({ id: call?.id, message: index, results: [] });
    } else if (kinds[index] === 'result') {
      const same = calls.filter(({ id }) => id === message.toolCallId && typeof id === 'string');
      const open = same.filter(({ results }) => results.length === 0);
      const nearest = open.length > 0 ? open.at(-1)?.message : same.at(-1)?.message;
      const call = open.find((each) => each.message === nearest)
        ?? same.findLast((each) => each.message === nearest);
      if (call === undefined) {
        orphans.push(index);
      } else {
        call.results.push(index);
        callOf.set(index, call);
      }
    }
  });

  // Reasoning: with the call before it if one of that call's results follows and only reasoning,
  // results and activity stand between; else with the next assistant message; else on its own.
  const between = (/** @type {number} */ from, /** @type {number} */ to) =>
    kinds.slice(from + 1, to).every((kind) => ['reasoning', 'result', 'activity'].includes(kind));
  let ambiguous = false;
  /** @param {number} index */
  const ownerOfReasoning = (index) => {
    const before = kinds.lastIndexOf('call', index);
    const follows = (/** @type {Call} */ call) =>
      call.message === before && call.results.some((result) => result > index);
    if (before >= 0) {
      const result = Math.min(...calls.filter(follows)
        .flatMap(({ results }) => results.filter((each) => each > index)));
      if (Number.isFinite(result) && between(index, result)) {
        if (between(before, index)) return before;
        ambiguous = true;
      }
    }
    const after = kinds.findIndex((kind, at) =>
      at > index && (kind === 'call' || kind === 'assistant'));
    return after >= 0 && between(index, after) ? after : index;
  };

  /** @type {Map<number, Group>} */
  const groupOf = new Map();
  /** @type {Group[]} */
  const groups = [];
  const open = (/** @type {number} */ index, /** @type {Group['kind']} */ kind) => {
    const group = { kind, indices: [index], anchor: index, pending: false, protected: false };
    groups.push(group);
    groupOf.set(index, group);
    return group;
  };
  kinds.forEach((kind, index) => {
    if (kind === 'call') open(index, 'tool');
    else if (kind === 'result') { if (!callOf.has(index)) open(index, 'orphan'); }
    else if (kind !== 'reasoning') open(index, /** @type {Group['kind']} */ (kind));
  });
  const join = (/** @type {number} */ index, /** @type {number} */ owner) => {
    const group = /** @type {Group} */ (groupOf.get(owner));
    group.indices.push(index);
    groupOf.set(index, group);
  };
  for (const [index, call] of callOf) join(index, call.message);
  kinds.forEach((kind, index) => {
    if (kind !== 'reasoning') return;
    const owner = ownerOfReasoning(index);
    if (owner === index) open(index, 'assistant');
    else join(index, owner);
  });
  for (const group of groups) group.indices.sort((a, b) => a - b);
  groups.sort((a, b) => a.indices[0] - b.indices[0]);

  // Everything below reads the list as if results stood directly after their call.
  const order = canonicalOrder(messages, calls);
  const place = new Map(order.map((index, at) => [index, at]));
  const at = (/** @type {number} */ index) => /** @type {number} */ (place.get(index));

  /** @type {number[][]} */
  const runs = [];
  let running = false;
  for (const index of order) {
    if (kinds[index] === 'user') {
      if (!running) runs.push([]);
      runs.at(-1)?.push(index);
      running = true;
    } else if (!['system', 'activity', 'summary'].includes(kinds[index])) {
      running = false;
    }
  }

  for (const call of calls) {
    if (call.results.length > 0) continue;
    const stale = messages.some((_, index) => at(index) > at(call.message)
      && ['user', 'assistant', 'call'].includes(kinds[index]));
    if (!stale) /** @type {Group} */ (groupOf.get(call.message)).pending = true;
  }

  for (const group of groups) {
    group.protected = group.kind === 'system' || group.pending
      || group.indices.some((index) => isPinned(messages[index], pins));
  }
  for (const index of runs.at(-1) ?? []) {
    /** @type {Group} */ (groupOf.get(index)).protected = true;
  }
  const newest = groups
    .filter(({ kind }) => !['system', 'activity', 'orphan'].includes(kind))
    .reduce((/** @type {Group | null} */ best, group) =>
      best === null || at(group.anchor) > at(best.anchor) ? group : best, null);
  if (newest !== null) newest.protected = true;

  return { groups, calls, orphans, runs, groupOf, ambiguous };
}

/**
 * The indices of a list with results directly after their call, in the order of the calls; further
 * results of a call behind the first. What is no result keeps its order, orphans stay where they are.
 *
 * @param {readonly Message[]} messages
 * @param {readonly Call[]} calls
 */
function canonicalOrder(messages, calls) {
  const moved = new Set(calls.flatMap(({ results }) => results));
  /** @type {number[]} */
  const order = [];
  messages.forEach((_, index) => {
    if (moved.has(index)) return;
    order.push(index);
    for (const call of calls) if (call.message === index) order.push(...call.results);
  });
  return order;
}

/**
 * The result of a call that counts when there are several: a pinned one, else the newest that is not
 * blank, else the newest; of several pinned ones by the same rule. -1 for a call without a result.
 *
 * @param {readonly Message[]} messages
 * @param {Call} call
 * @param {readonly string[]} pins
 */
export function resultThatCounts(messages, call, pins) {
  const pinned = call.results.filter((index) => isPinned(messages[index], pins));
  const candidates = pinned.length > 0 ? pinned : call.results;
  return candidates.findLast((index) => !isBlank(messages[index].content)) ?? candidates.at(-1) ?? -1;
}

/**
 * The problems that `inspect` names, as `{kind, index}`, in no order; `duplicate-id` apart.
 *
 * @param {readonly Message[]} messages
 * @param {Reading} reading
 */
export function problems(messages, reading) {
  /** @type {{ kind: string, index: number }[]} */
  const found = [];
  const add = (/** @type {string} */ kind, /** @type {number} */ index) =>
    found.push({ kind, index });
  for (const index of reading.orphans) {
    const id = messages[index].toolCallId;
    const open = reading.calls.some((call) =>
      call.id === id && call.message > index && call.results.length === 0);
    add(open ? 'result-before-call' : 'orphan-result', index);
  }
  for (const call of reading.calls) {
    if (call.results.length === 0) {
      if (!reading.groupOf.get(call.message)?.pending) add('unanswered-call', call.message);
      continue;
    }
    const [first, ...more] = call.results;
    for (const index of more) add('duplicate-result', index);
    const group = reading.groupOf.get(call.message)?.indices ?? [];
    const direct = messages.slice(call.message + 1, first).every((message, offset) =>
      message.role === 'activity' || group.includes(call.message + 1 + offset));
    if (!direct) add('split-parallel', first);
  }
  const asked = messages.some((message) => kindOf(message) === 'user');
  if (messages.length > 0 && !asked) add('no-user-message', -1);
  return found;
}
