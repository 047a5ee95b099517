/**
 * An independent reading of strategies.md §2 for AG-UI lists: what a message weighs when every text
 * segment is weighed by `count`. The core must come to the same totals.
 */

/** @typedef {Record<string, any>} Message */
/** @typedef {(text: string) => number} Counter */

const MESSAGE_TOKENS = 4;
const MEDIA_TOKENS = 1024;
const MEDIA = new Set(['image', 'audio', 'video', 'document', 'binary']);

/**
 * The text segments of a message, in the order in which a model reads them. Ids, names of people,
 * metadata and opaque values are not among them; an empty text is no segment.
 *
 * @param {Message} message
 * @returns {string[]}
 */
export function segments(message) {
  /** @type {string[]} */
  const texts = [];
  const add = (/** @type {unknown} */ text) => {
    if (typeof text === 'string' && text !== '') texts.push(text);
  };
  if (message.role === 'activity') return texts;
  add(message.content);
  if (Array.isArray(message.content)) {
    for (const part of message.content) {
      if (part !== null && typeof part === 'object' && !MEDIA.has(part.type)) add(part.text);
    }
  }
  if (Array.isArray(message.toolCalls)) {
    for (const call of message.toolCalls) {
      add(call?.function?.name);
      add(call?.function?.arguments);
    }
  }
  if (message.role === 'tool') add(message.error);
  return texts;
}

/**
 * @param {Message} message
 * @param {Counter} count
 */
export function weigh(message, count) {
  if (message.role === 'activity') return 0;
  const media = Array.isArray(message.content)
    ? message.content.filter((part) => MEDIA.has(part?.type)).length
    : 0;
  return segments(message).reduce((sum, text) => sum + count(text), MESSAGE_TOKENS)
    + MEDIA_TOKENS * media;
}

/**
 * @param {readonly Message[]} messages
 * @param {Counter} count
 */
export const weighAll = (messages, count) =>
  messages.reduce((sum, message) => sum + weigh(message, count), 0);

const encoder = new TextEncoder();

/** Bytes of a message: the length of its JSON text in UTF-8. @param {object} message */
export const bytesOf = (message) => encoder.encode(JSON.stringify(message)).length;
