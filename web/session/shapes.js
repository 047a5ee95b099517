// Reads a message of any shape that a chat in the browser meets: AI SDK UI and model messages (4 to 7), AG-UI,
// OpenAI, Anthropic, and the two Python frameworks' JSON. Only what a session must know: who speaks, what is
// said, which tools are called and answered. Decisions about histories are the core's; this is for lists that
// have no core at hand and for text that a person or a model reads.

/** @typedef {Record<string, unknown>} Plain */

/**
 * One thing a message holds. `open` on a call says that its result is known to be missing (AI SDK UI, where both
 * are one part).
 * @typedef {{ kind: 'text' | 'reasoning', text: string }
 *   | { kind: 'media', label: string }
 *   | { kind: 'call', id: string, name: string, input: unknown }
 *   | { kind: 'result', id: string, name: string, output: unknown, failed: boolean }} Piece
 */

/** @param {unknown} value @returns {value is Plain} */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {unknown} value */
const text = (value) => (typeof value === 'string' ? value : '');

/** @param {unknown} value @returns {unknown[]} */
const list = (value) => (Array.isArray(value) ? value : []);

/** @param {object} message */
export function roleOf(message) {
  const { role, kind } = /** @type {Plain} */ (message);
  if (typeof role === 'string') return role;
  return kind === 'response' ? 'assistant' : kind === 'request' ? 'user' : 'unknown';
}

/** @param {object} message */
export function isInstruction(message) {
  const role = roleOf(message);
  return role === 'system' || role === 'developer';
}

/** Activity is for people: it is never sent to a model. @param {object} message */
export const isActivity = (message) => roleOf(message) === 'activity';

/** How a message is called: its id, or its place when it has none. @param {object} message @param {number} index */
export function nameOf(message, index) {
  const { id } = /** @type {Plain} */ (message);
  return typeof id === 'string' && id !== '' ? id : `#${index}`;
}

/** What Tamp noted on a message. @param {object} message @returns {Plain} */
function tampMark(message) {
  const { metadata, providerOptions } = /** @type {Plain} */ (message);
  const holder = isObject(metadata) && isObject(metadata.tamp) ? metadata : providerOptions;
  return isObject(holder) && isObject(holder.tamp) ? holder.tamp : {};
}

/** @param {object} message */
export const isPinned = (message) => tampMark(message).pin === true;

/** A summary that Tamp made, recognised by its mark. @param {object} message */
export const isMarkedSummary = (message) => isObject(tampMark(message).summary);

/** Settled states of a tool part; the others wait for somebody. */
const SETTLED = new Set(['output-available', 'output-error', 'output-denied', 'result']);

/** @param {unknown} part */
export function isToolPart(part) {
  if (!isObject(part)) return false;
  const type = text(part.type);
  return type.startsWith('tool-') && typeof part.toolCallId === 'string' && typeof part.state === 'string'
    || type === 'dynamic-tool';
}

/** The call and, when it is there, the result in a tool part. @param {Plain} part @returns {Piece[]} */
function toolPart(part) {
  const id = text(part.toolCallId);
  const name = text(part.toolName) || text(part.type).replace(/^tool-/, '');
  const state = text(part.state);
  /** @type {Piece[]} */
  const pieces = [{ kind: 'call', id, name, input: part.input ?? part.args ?? part.rawInput }];
  if (SETTLED.has(state) && part.preliminary !== true) {
    const failed = state === 'output-error' || state === 'output-denied';
    const output = failed ? part.errorText ?? 'denied' : part.output ?? part.result;
    pieces.push({ kind: 'result', id, name, output, failed });
  }
  return pieces;
}

/** @param {unknown} call @returns {Piece} */
function listedCall(call) {
  const own = isObject(call) ? call : {};
  const body = isObject(own.function) ? own.function : isObject(own.custom) ? own.custom : own;
  return { kind: 'call', id: text(own.id), name: text(body.name), input: body.arguments ?? body.input };
}

/** One part of a content, parts or contents list. @param {unknown} part @returns {Piece[]} */
function contentPart(part) {
  if (typeof part === 'string') return [{ kind: 'text', text: part }];
  if (!isObject(part)) return [];
  const type = text(part.type) || text(part.part_kind);
  if (isObject(part.toolInvocation)) return toolPart(part.toolInvocation);
  if (isToolPart(part)) return toolPart(part);
  switch (type) {
    case 'text': case 'input_text': case 'output_text': case 'refusal': case 'user-prompt': case 'system-prompt':
      return [{ kind: 'text', text: text(part.text) || text(part.content) || text(part.refusal) }];
    case 'reasoning': case 'thinking': case 'text_reasoning':
      return [{ kind: 'reasoning', text: text(part.text) || text(part.thinking) || text(part.content) }];
    case 'tool-call': case 'builtin-tool-call':
      return [{
        kind: 'call',
        id: text(part.toolCallId) || text(part.tool_call_id),
        name: text(part.toolName) || text(part.tool_name),
        input: part.input ?? part.args,
      }];
    case 'tool-result': case 'tool-error': case 'tool-return': case 'builtin-tool-return': case 'retry-prompt':
      return [{
        kind: 'result',
        id: text(part.toolCallId) || text(part.tool_call_id),
        name: text(part.toolName) || text(part.tool_name),
        output: part.output ?? part.error ?? part.result ?? part.content,
        failed: type === 'tool-error' || type === 'retry-prompt',
      }];
    case 'tool_use': case 'server_tool_use': case 'mcp_tool_use':
      return [{ kind: 'call', id: text(part.id), name: text(part.name), input: part.input }];
    case 'function_call':
      return [{ kind: 'call', id: text(part.call_id), name: text(part.name), input: part.arguments }];
    case 'function_result':
      return [{ kind: 'result', id: text(part.call_id), name: '', output: part.result, failed: part.exception != null }];
    case 'steering-message':
      return list(part.parts).flatMap(contentPart);
    default:
      if (type.endsWith('tool_result')) {
        const failed = part.is_error === true;
        return [{ kind: 'result', id: text(part.tool_use_id), name: '', output: part.content, failed }];
      }
      return /image|audio|video|file|document|binary|media/.test(type) ? [{ kind: 'media', label: type }] : [];
  }
}

/** Everything a message holds, in order. @param {object} message @returns {Piece[]} */
export function piecesOf(message) {
  const own = /** @type {Plain} */ (message);
  const role = roleOf(message);
  if (role === 'activity') return [];
  const inside = typeof own.content === 'string'
    ? [/** @type {Piece} */ ({ kind: role === 'reasoning' ? 'reasoning' : 'text', text: own.content })]
    : [...list(own.content), ...list(own.parts), ...list(own.contents)].flatMap(contentPart);
  const answered = own.toolCallId ?? own.tool_call_id ?? (role === 'function' ? own.name : undefined);
  if ((role === 'tool' || role === 'function') && typeof answered === 'string') {
    const output = inside.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
    return [{ kind: 'result', id: answered, name: text(own.name), output: own.error ?? output, failed: own.error != null }];
  }
  const calls = [...list(own.toolCalls), ...list(own.tool_calls)].map(listedCall);
  if (isObject(own.function_call)) {
    calls.push({ kind: 'call', id: text(own.function_call.name), name: text(own.function_call.name), input: own.function_call.arguments });
  }
  const old = Array.isArray(own.parts) ? [] : list(own.toolInvocations).flatMap((part) => (isObject(part) ? toolPart(part) : []));
  return [...inside, ...calls, ...old];
}

/**
 * Which messages call a tool that has not answered by the end of the list, and how many results have no call before
 * them. A result belongs to the nearest call of its id that waits.
 * @param {readonly object[]} messages
 */
export function pairing(messages) {
  /** Places of calls that wait, by call id. @type {Map<string, number[]>} */
  const waiting = new Map();
  let orphans = 0;
  messages.forEach((message, index) => {
    for (const piece of piecesOf(message)) {
      if (piece.kind === 'call') {
        const places = waiting.get(piece.id);
        if (places) places.push(index);
        else waiting.set(piece.id, [index]);
      } else if (piece.kind === 'result' && waiting.get(piece.id)?.pop() === undefined) {
        orphans++;
      }
    }
  });
  return { open: [...new Set([...waiting.values()].flat())].sort((a, b) => a - b), orphans };
}

/** Places of calls without a result. @param {readonly object[]} messages */
export const openCalls = (messages) => pairing(messages).open;
