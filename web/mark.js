// A compaction recorded on the list itself, so that it survives a reload while the reader keeps everything.
//
// All marks live under `metadata.tamp`, the only place of a message where AG-UI clients and servers let free data live:
//
//   excluded   why the message is no longer sent
//   sentAs     the message that is sent instead of it
//   added      why the message, which the compaction made, is here; it goes when marks are taken off
//   movedFrom  what it stood behind before it was moved: an id, a position where that has none, null at the front
//   was        the metadata as it was, where taking the marks off would not tell (empty, or not an object)
//
// Marked, projected, unmarked: three views of one list, each made in one pass.
import { TampError } from './errors.js';

/** @import { Compaction } from './index.js' */
/** @typedef {Record<string, any>} Fields a message as whoever marks it sees it */

/** @param {unknown} value @returns {value is Fields} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {unknown} message @returns {Fields | null} its `metadata.tamp` */
function tampOf(message) {
  const metadata = isObject(message) ? message.metadata : null;
  return isObject(metadata) && isObject(metadata.tamp) ? metadata.tamp : null;
}

/** @param {Fields} tamp */
const isMark = ({ excluded, sentAs, added, movedFrom }) =>
  excluded !== undefined || sentAs !== undefined || added !== undefined || movedFrom !== undefined;

/** A message with other metadata; `undefined`: with none. @param {Fields} message @param {unknown} metadata */
function withMetadata(message, metadata) {
  const { metadata: _, ...rest } = message;
  return metadata === undefined ? rest : { ...rest, metadata };
}

/**
 * A copy that carries `marks` too; a mark that is undefined is taken off.
 * @param {Fields} message @param {Fields} marks
 */
function withMarks(message, marks) {
  const metadata = isObject(message.metadata) ? message.metadata : {};
  const tamp = isObject(metadata.tamp) ? metadata.tamp : {};
  /** @type {Fields} */
  const marked = { ...tamp, ...marks };
  const unclear = message.metadata !== undefined && Object.keys(metadata).length === 0
    || metadata.tamp !== undefined && Object.keys(tamp).length === 0;
  if (unclear) marked.was = message.metadata;
  for (const [key, value] of Object.entries(marked)) if (value === undefined && key !== 'was') delete marked[key];
  return withMetadata(message, { ...metadata, tamp: marked });
}

/** A copy without any mark. @param {Fields} message */
function withoutMarks(message) {
  const { tamp, ...metadata } = message.metadata;
  const { excluded: _excluded, sentAs: _sentAs, added: _added, movedFrom: _movedFrom, was, ...rest } = tamp;
  if ('was' in tamp) return withMetadata(message, was);
  if (Object.keys(rest).length > 0) metadata.tamp = rest;
  return withMetadata(message, Object.keys(metadata).length > 0 ? metadata : undefined);
}

/** Stored message to the one that is sent for it, where that had to be made: sending twice gives one object. */
const bare = new WeakMap();

/**
 * What is sent for a message: itself, another, or null for nothing.
 * @template {object} M @param {M} message @returns {M | null}
 */
function sentFor(message) {
  const tamp = tampOf(message);
  if (tamp === null || !isMark(tamp)) return message;
  if (tamp.excluded !== undefined) return null;
  if (isObject(tamp.sentAs)) return /** @type {M} */ (tamp.sentAs);
  let made = bare.get(message);
  if (made === undefined) {
    made = withoutMarks(message);
    bare.set(message, made);
  }
  return made;
}

/**
 * What a marked list sends: without what is excluded, with what is sent instead. `compact` does not look at marks: give
 * it this.
 * @template {object} M
 * @param {readonly M[]} messages not changed
 * @returns {readonly M[]} the same array when nothing is marked
 */
export function project(messages) {
  /** @type {M[] | null} */
  let projected = null;
  messages.forEach((message, index) => {
    const sent = sentFor(message);
    if (sent !== message) projected ??= messages.slice(0, index);
    if (sent !== null) projected?.push(sent);
  });
  return projected ?? messages;
}

/** @template K, V @param {Map<K, V[]>} lists @param {K} key @param {V} value */
function push(lists, key, value) {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** @param {string} what */
const stale = (what) =>
  new TampError('stale', `The compaction is not one of this list: ${what}. Mark the list whose projection was compacted.`);

/**
 * Which of the compacted messages each resulting one is; -1 for those the compaction added.
 * @param {readonly object[]} sent what was compacted
 * @param {Compaction<any>} compaction
 * @param {ReadonlyMap<number, string>} dropped
 * @returns {number[]}
 */
function origins(sent, { messages, report }, dropped) {
  const added = new Set(report.added.map(({ index }) => index));
  /** @type {Map<unknown, number[]>} */
  const waiting = new Map(); // under the object and under its id
  const taken = new Set();
  const nameOf = (/** @type {Fields} */ message) => (typeof message.id === 'string' ? message.id : null);
  sent.forEach((message, index) => {
    if (dropped.has(index)) return;
    push(waiting, message, index);
    push(waiting, nameOf(message), index);
  });
  /** @param {unknown} key */
  const take = (key) => {
    const list = waiting.get(key) ?? [];
    let index = list.shift();
    while (index !== undefined && taken.has(index)) index = list.shift();
    if (index !== undefined) taken.add(index);
    return index;
  };
  const found = messages.map((message, index) => (added.has(index) ? -1 : take(message)));
  const all = found.map((index, at) => index ?? take(nameOf(messages[at])) ?? -2);
  const lost = all.indexOf(-2);
  if (lost >= 0) throw stale(`nothing in it became message ${lost} of the result`);
  if (taken.size !== sent.length - dropped.size) throw stale('the result lacks some of its messages');
  return all;
}

/** Roles whose messages a repair moves: a result goes to its call, and activity goes along. */
const MOVABLE = new Set(['tool', 'activity']);

/**
 * Which results stand in the list's order; the others were moved, or added.
 * @param {readonly number[]} from as `origins` gives it
 * @param {(index: number) => unknown} roleOf
 * @returns {boolean[]}
 */
function standing(from, roleOf) {
  const stands = from.map(() => false);
  let last = -1;
  from.forEach((index, at) => {
    if (index > last && !MOVABLE.has(/** @type {string} */ (roleOf(index)))) {
      stands[at] = true;
      last = index;
    }
  });
  const next = from.map(() => Infinity);
  for (let at = from.length - 2; at >= 0; at--) next[at] = stands[at + 1] ? from[at + 1] : next[at + 1];
  last = -1;
  from.forEach((index, at) => {
    if (!stands[at] && index > last && index < next[at]) stands[at] = true;
    if (stands[at]) last = index;
  });
  return stands;
}

/**
 * Record a compaction on the full list instead of applying it: `project` of the result is what the compaction made.
 * Dropped messages get `metadata.tamp.excluded` (the reason), rewritten ones carry what is sent instead in
 * `metadata.tamp.sentAs`, added ones are inserted, and results that moved next to their call move here too.
 * @template {object} M
 * @param {readonly M[]} messages the full list, marked already or not; not changed
 * @param {Compaction<M>} compaction of `project(messages)`
 * @returns {M[]} new objects only where a mark is added
 * @throws {TampError} `stale` when the compaction is one of another list
 */
export function mark(messages, compaction) {
  if (!compaction.changed) return [...messages];
  /** @type {number[]} */
  const positions = []; // in `messages`, of what was compacted
  /** @type {object[]} */
  const sent = [];
  messages.forEach((message, position) => {
    const projected = sentFor(message);
    if (projected === null) return;
    positions.push(position);
    sent.push(projected);
  });
  const { report, messages: result } = compaction;
  const dropped = new Map(report.dropped.map(({ index, reason }) => [index, reason]));
  if ([...dropped.keys()].some((index) => index >= sent.length)) throw stale('it is too short');
  const from = origins(sent, compaction, dropped);
  const stands = standing(from, (index) => /** @type {Fields} */ (sent[index]).role);
  const why = new Map(report.added.map(({ index, reason }) => [index, reason]));

  /** @type {(M | null)[]} what becomes of each message; null: it stands elsewhere */
  const marked = messages.slice();
  for (const [index, reason] of dropped) {
    const position = positions[index];
    marked[position] = /** @type {M} */ (withMarks(messages[position], { excluded: reason, sentAs: undefined }));
  }
  const rewritten = new Set(report.rewritten.map(({ index }) => index));
  /** @type {Map<number, M[]>} what comes to stand in front of a message */
  const inFront = new Map();
  /** @type {M[]} */
  let floating = [];
  from.forEach((index, at) => {
    const message = result[at];
    if (index < 0) {
      floating.push(/** @type {M} */ (withMarks(message, { added: why.get(at) })));
      return;
    }
    const position = positions[index];
    const original = messages[position];
    /** @type {Fields} */
    const marks = rewritten.has(index) ? { sentAs: message } : {};
    if (!stands[at]) {
      const before = /** @type {Fields | undefined} */ (messages[position - 1]);
      marks.movedFrom = tampOf(original)?.movedFrom
        ?? (before === undefined ? null : typeof before.id === 'string' ? before.id : position - 1);
    }
    const own = Object.keys(marks).length > 0 ? /** @type {M} */ (withMarks(original, marks)) : original;
    if (!stands[at]) {
      floating.push(own);
      marked[position] = null;
      return;
    }
    marked[position] = own;
    if (floating.length > 0) inFront.set(position, floating);
    floating = [];
  });
  return [
    ...marked.flatMap((message, position) => [...inFront.get(position) ?? [], ...(message === null ? [] : [message])]),
    ...floating,
  ];
}

/**
 * Take marks off again: the full list as it was. What a compaction added goes, what it moved goes back.
 * @template {object} M
 * @param {readonly M[]} messages not changed
 * @param {readonly string[]} [ids] only the marks of messages with these ids
 * @returns {M[]} new objects only where a mark is taken off
 */
export function unmark(messages, ids) {
  const chosen = ids === undefined ? null : new Set(ids);
  /** @type {Map<unknown, M[]>} moved messages by what they stood behind */
  const behind = new Map();
  /** @type {M[]} */
  const rest = [];
  for (const message of messages) {
    const tamp = tampOf(message);
    if (tamp === null || !isMark(tamp) || (chosen !== null && !chosen.has(/** @type {Fields} */ (message).id))) {
      rest.push(message);
    } else if (tamp.added === undefined) {
      const plain = /** @type {M} */ (withoutMarks(message));
      if (tamp.movedFrom === undefined) rest.push(plain);
      else push(behind, tamp.movedFrom, plain);
    }
  }
  if (behind.size === 0) return rest;
  /** @type {M[]} */
  const whole = [];
  /** Puts down `first`, then what stood behind it, and so on. @param {M[]} first */
  const put = (first) => {
    const stack = first.reverse();
    for (let message = stack.pop(); message !== undefined; message = stack.pop()) {
      whole.push(message);
      const { id } = /** @type {Fields} */ (message);
      const key = typeof id === 'string' ? id : whole.length - 1;
      stack.push(...(behind.get(key) ?? []).reverse());
      behind.delete(key);
    }
  };
  const leading = behind.get(null) ?? [];
  behind.delete(null);
  put(leading);
  for (const message of rest) put([message]);
  // What stood behind a message that is gone.
  for (const [, messagesBehind] of behind) whole.push(...messagesBehind);
  return whole;
}
