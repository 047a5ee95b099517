// Messages as plain text for whoever summarises: each one bounded, tools with their names, arguments and results.
import { isActivity, piecesOf, roleOf } from './shapes.js';

/** Code points of one message that are shown. */
const MESSAGE_LIMIT = 2000;
/** And of one argument or result in it. */
const TOOL_LIMIT = 600;

/**
 * The first `limit` code points of `text`, and a word about the rest.
 * @param {string} text @param {number} limit
 */
function bounded(text, limit) {
  if (text.length <= limit) return text;
  let end = limit;
  // Never between the halves of a pair.
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last < 0xdc00) end--;
  return `${text.slice(0, end)} [cut: ${text.length - end} more]`;
}

/** @param {unknown} value */
function spelled(value) {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return String(value);
  }
}

/** @param {object} message @param {Map<string, string>} names of the tools that were called, by call id; added to */
function renderMessage(message, names) {
  const lines = piecesOf(message).map((piece) => {
    switch (piece.kind) {
      case 'call':
        names.set(piece.id, piece.name);
        return `[calls ${piece.name || 'a tool'}: ${bounded(spelled(piece.input), TOOL_LIMIT)}]`;
      case 'result': {
        const what = piece.failed ? 'failed' : 'answers';
        return `[${piece.name || names.get(piece.id) || 'the tool'} ${what}: ${bounded(spelled(piece.output), TOOL_LIMIT)}]`;
      }
      case 'media':
        return `[${piece.label}]`;
      case 'reasoning':
        return piece.text === '' ? '' : `(thinking) ${piece.text}`;
      default:
        return piece.text;
    }
  });
  const text = lines.filter((line) => line !== '').join('\n');
  return text === '' ? '' : bounded(`${roleOf(message)}: ${text}`, MESSAGE_LIMIT);
}

/**
 * The messages as text: `role: what it says`, with an empty line between two. At most about 2,000 characters of each.
 * @param {readonly object[]} messages
 */
export function renderMessages(messages) {
  const names = new Map();
  return messages.filter((message) => !isActivity(message)).map((message) => renderMessage(message, names))
    .filter((text) => text !== '').join('\n\n');
}
