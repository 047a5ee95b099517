// What a server says about the history, read back through what it was sent.
//
// The server saw a shorter list than the client has. When it answers with that list (MESSAGES_SNAPSHOT, the input echoed in
// RUN_STARTED), the client would take what is missing for deleted and what Tamp made for news. So each message of the
// server's list is compared with what was sent, field by field: what the server changed stays, what came back as it was
// sent becomes again what the client has. What was not sent goes back to its place, and what Tamp made goes.
import { equal } from './equal.js';
import { isObject } from './notice.js';

/** @import { AgUiEvent, Message } from './types.js' */

/**
 * What a run needs to remember for that.
 * @typedef {object} Sent
 * @property {readonly Message[]} original the client's list when the run started, without activity
 * @property {readonly Message[]} sent
 * @property {ReadonlySet<string>} gone ids that are not to come back: what left the client's list for good, and what Tamp made
 *   for earlier runs
 */

/** @template K, V @param {Map<K, V[]>} lists @param {K} key @param {V} value */
function push(lists, key, value) {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** What makes two messages the same to a server that gives ids of its own. @param {Record<string, any>} message */
const likeness = ({ role, content, toolCallId, toolCalls }) =>
  JSON.stringify([role, content ?? null, toolCallId ?? null, toolCalls?.length ? toolCalls : null]);

/** @param {Message} message @returns {Record<string, any> | null} */
function tampOf({ metadata }) {
  return isObject(metadata) && isObject(metadata.tamp) ? metadata.tamp : null;
}

/** Messages that Tamp made: a server cannot delete them by not knowing them, nor bring them in. @param {Message} message */
function isOurs(message) {
  const tamp = tampOf(message);
  return tamp !== null && (tamp.added !== undefined || tamp.summary !== undefined || tamp.head !== undefined);
}

/**
 * The server's message, with what it left as it was sent put back to what the client has.
 * @param {Message} theirs
 * @param {Message | undefined} sent
 * @param {Message} mine
 * @returns {Message}
 */
function merge(theirs, sent, mine) {
  /** @type {Message} */
  let merged = theirs;
  if (sent !== undefined && sent !== mine) {
    merged = { ...theirs };
    for (const key of new Set([...Object.keys(sent), ...Object.keys(mine)])) {
      if (key === 'id' || !equal(theirs[key], sent[key])) continue;
      if (Object.hasOwn(mine, key)) merged[key] = mine[key];
      else delete merged[key];
    }
  }
  // Marks and pins are the client's: a server that drops metadata does not mean them.
  const tamp = tampOf(mine);
  if (tamp === null || equal(tampOf(merged), tamp)) return merged;
  return { ...merged, metadata: { ...isObject(merged.metadata) ? merged.metadata : {}, tamp } };
}

/**
 * The client's list as the server would have said it, had it seen all of it.
 * @param {readonly unknown[]} theirs the server's list; not changed
 * @param {Sent} run
 * @returns {readonly unknown[]} the same array when there is nothing to put right
 */
export function reconcile(theirs, { original, sent, gone }) {
  const mine = new Map(original.map((message) => [message.id, message]));
  const wasSent = new Map(sent.map((message) => [message.id, message]));
  const untouched = sent.length === original.length && sent.every((message, index) => message === original[index]);
  /** What was sent and did not come back under its id, for servers that give new ones. @type {Map<string, Message[]>} */
  const astray = new Map();
  if (!untouched) {
    const ids = new Set(theirs.map((message) => isObject(message) && message.id));
    for (const message of sent) if (!ids.has(message.id)) push(astray, likeness(message), message);
  }
  let touched = false;
  /** @type {unknown[]} */
  const answer = [];
  const present = new Set();
  for (const message of theirs) {
    const put = isObject(message) ? answerFor(/** @type {Message} */ (message)) : message;
    touched ||= put !== message;
    if (put === undefined) continue;
    answer.push(put);
    if (isObject(put)) present.add(put.id);
  }

  /** @param {Message} message @returns {Message | undefined} undefined: it goes */
  function answerFor(message) {
    const own = mine.get(message.id);
    if (own !== undefined) return merge(message, wasSent.get(message.id), own);
    if (wasSent.has(message.id) || gone.has(message.id) || isOurs(message)) return undefined;
    if (astray.size === 0) return message;
    const said = astray.get(likeness(message))?.shift();
    if (said === undefined) return message;
    // A server that names anew what it was sent does not go by ids: the client's list keeps its own.
    const behind = mine.get(said.id);
    return behind && { ...merge(message, said, behind), id: behind.id };
  }

  /** What the server's list lacks, by what it stands behind. @type {Map<string | null, Message[]>} */
  const missing = new Map();
  /** @type {string | null} */
  let anchor = null;
  // Clients keep their reasoning unless the server's list has some: one message of it would be the end of all others.
  const withReasoning = theirs.some((message) => isObject(message) && message.role === 'reasoning');
  for (const message of original) {
    if (present.has(message.id)) {
      anchor = message.id;
    } else if (message.role === 'reasoning' && !withReasoning) {
      continue;
    } else if (!wasSent.has(message.id) || isOurs(message)) {
      push(missing, anchor, message);
      touched = true;
    }
  }
  if (!touched) return theirs;
  const leading = missing.get(null) ?? [];
  if (leading.length > 0) {
    const first = answer.findIndex((message) => isObject(message) && mine.has(message.id));
    answer.splice(Math.max(first, 0), 0, ...leading);
  }
  missing.delete(null);
  if (missing.size === 0) return answer;
  return answer.flatMap((message) => {
    const behind = isObject(message) ? missing.get(message.id) : undefined;
    if (behind === undefined) return [message];
    missing.delete(/** @type {Message} */ (message).id);
    return [message, ...behind];
  });
}

/**
 * A MESSAGES_SNAPSHOT put right.
 * @param {AgUiEvent} event not changed
 * @param {Sent} run
 * @param {readonly Message[]} notices the client's own, which no server knows of
 * @returns {AgUiEvent} the same event when there is nothing to put right
 */
export function reconcileSnapshot(event, run, notices) {
  if (!Array.isArray(event.messages)) return event;
  let messages = reconcile(event.messages, run);
  // A snapshot that has activity, or says whose activity it has, replaces the client's.
  const owns = event.metadata?.['@ag-ui/client'] !== undefined
    || event.messages.some((message) => isObject(message) && message.role === 'activity');
  if (owns) {
    const there = new Set(messages.map((message) => isObject(message) && message.id));
    const lost = notices.filter(({ id }) => !there.has(id));
    if (lost.length > 0) messages = [...messages, ...lost];
  }
  return messages === event.messages ? event : { ...event, messages };
}

/**
 * A RUN_STARTED whose echoed input is put right.
 * @param {AgUiEvent} event not changed
 * @param {Sent} run
 * @returns {AgUiEvent} the same event when there is nothing to put right
 */
export function reconcileEcho(event, run) {
  if (!isObject(event.input) || !Array.isArray(event.input.messages)) return event;
  const messages = reconcile(event.input.messages, run);
  return messages === event.input.messages ? event : { ...event, input: { ...event.input, messages } };
}
