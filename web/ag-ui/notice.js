// A compaction on the wire: an ACTIVITY_SNAPSHOT event, and the activity message that clients make of it.
//
// AG-UI calls the folding of event streams "compaction" too (`compactEvents`); this is not about that.

/** @import { AgUiEvent, CompactionContent, CompactionNotice } from './types.js' */

/** What clients match `activityType` against. @type {'compaction'} */
export const COMPACTION_ACTIVITY_TYPE = 'compaction';

/** @param {unknown} value @returns {value is Record<string, any>} */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {unknown} value @returns {value is number} */
export const isCount = (value) => Number.isSafeInteger(value) && /** @type {number} */ (value) >= 0;

/**
 * The content of a notice: `before` and `after` are counts, `removed` is one or missing and then their difference.
 * @param {unknown} content
 * @returns {CompactionContent | null} null when it is no such content
 */
export function readContent(content) {
  if (!isObject(content)) return null;
  const { before, after, removed = before - after } = content;
  return [before, after, removed].every(isCount) ? { ...content, removed, before, after } : null;
}

/**
 * A notice of one of these activity types; null when it is none, or not well-formed. Never throws.
 * @param {unknown} value an ACTIVITY_SNAPSHOT event or an activity message
 * @param {ReadonlySet<string>} activityTypes
 * @returns {CompactionContent & { messageId: string } | null}
 */
export function readNotice(value, activityTypes) {
  try {
    if (!isObject(value) || !activityTypes.has(value.activityType)) return null;
    const isEvent = value.type === 'ACTIVITY_SNAPSHOT';
    if (!isEvent && value.role !== 'activity') return null;
    const messageId = isEvent ? value.messageId : value.id;
    if (typeof messageId !== 'string' || messageId === '') return null;
    const content = readContent(value.content);
    return content && { ...content, messageId };
  } catch {
    return null; // an accessor or a proxy that throws
  }
}

const OURS = new Set([COMPACTION_ACTIVITY_TYPE]);

/**
 * Validate an ACTIVITY_SNAPSHOT event or an activity message; null when it is not a well-formed compaction. All numbers
 * are integers >= 0; a missing `removed` is before - after. Other keys of the content stay, but `messageId` is the
 * event's. Never throws.
 * @param {unknown} eventOrMessage not changed
 * @returns {CompactionContent & { messageId: string } | null}
 */
export function readCompaction(eventOrMessage) {
  return readNotice(eventOrMessage, OURS);
}

/**
 * What the maker of a notice said about it in `metadata.tamp`.
 * @param {unknown} value an event or a message
 * @returns {{ threadId: string | null, runId: string | null, at: number | null, origin: 'server' | 'client', phase?: 'after' }}
 */
export function provenance(value) {
  const metadata = isObject(value) && isObject(value.metadata) ? value.metadata : {};
  const { threadId, runId, at, origin, phase } = isObject(metadata.tamp) ? metadata.tamp : /** @type {any} */ ({});
  return {
    threadId: typeof threadId === 'string' ? threadId : null,
    runId: typeof runId === 'string' ? runId : null,
    at: Number.isFinite(at) ? at : null,
    origin: origin === 'client' ? 'client' : 'server',
    ...phase === 'after' && { phase },
  };
}

/**
 * The notices already in a stored message list, for a badge after a reload: in order, one for each id. Their `at` is 0
 * and their ids of thread and run are null where the list does not say.
 * @param {readonly object[]} messages not changed
 * @returns {CompactionNotice[]}
 */
export function restoreCompactions(messages) {
  /** @type {Map<string, CompactionNotice>} */
  const notices = new Map();
  for (const message of messages) {
    const read = readCompaction(message);
    if (read === null) continue;
    const { at, ...from } = provenance(message);
    notices.set(read.messageId, { ...read, ...from, at: at ?? 0 });
  }
  return [...notices.values()];
}

/** A version 4 UUID. `randomUUID` is only there in secure contexts. */
function uuid() {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Build the wire event: fresh `compaction-<uuid>` id, exactly {removed, before, after}. The id cannot be guessed, as a
 * client lets an activity replace any message with its id.
 * @param {{ removed: number, before: number, after: number }} compaction
 * @returns {{ type: 'ACTIVITY_SNAPSHOT', messageId: string, activityType: 'compaction', content: CompactionContent }}
 */
export function compactionEvent({ removed, before, after }) {
  return {
    type: 'ACTIVITY_SNAPSHOT',
    messageId: `${COMPACTION_ACTIVITY_TYPE}-${uuid()}`,
    activityType: COMPACTION_ACTIVITY_TYPE,
    content: { removed, before, after },
  };
}
