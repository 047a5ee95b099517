/**
 * What a message says, for showing it: a role, texts, calls, and which calls its results answer. It reads
 * the shapes of all formats Tamp knows and never fails; what it does not know it shows as JSON. Nothing
 * is decided here.
 */

/** Roles the page has a colour for. */
export const ROLES = ['system', 'user', 'assistant', 'tool', 'reasoning', 'activity', 'summary', 'other'];

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Any value as the text a person would want to see of it. */
function text(value) {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value, null, 2);
}

/** A result's value: text, parts, or a value wrapped with its type. */
function output(value) {
  if (Array.isArray(value)) return value.map((part) => (typeof part === 'string' ? part : part?.text ?? media(part))).join('\n');
  return text(isObject(value) && 'value' in value ? value.value : value);
}

/**
 * @typedef {object} Description
 * @property {string} role       one of ROLES
 * @property {{text: string, label?: string}[]} texts
 * @property {{id: string, name: string, arguments: string}[]} calls
 * @property {{id: string, text: string, error: boolean}[]} results
 * @property {string | null} id
 */

/** @returns {Description} */
export function describe(message) {
  const out = { role: 'other', texts: [], calls: [], results: [], id: null };
  if (!isObject(message)) {
    out.texts.push({ text: text(message) });
    return out;
  }
  // Claude Code and Codex wrap the message in a record of their own.
  const inner = isObject(message.message) && !('role' in message) ? message.message : isObject(message.payload) ? message.payload : message;
  out.id = [message.id, message.uuid, message.message_id, message.messageId].find((id) => typeof id === 'string') ?? null;
  out.role = roleOf(inner);

  const content = inner.content ?? inner.parts ?? inner.contents;
  if (out.role === 'tool' && typeof (inner.toolCallId ?? inner.tool_call_id) === 'string') {
    const failed = typeof inner.error === 'string' && inner.error !== '';
    const body = output(content);
    out.results.push({ id: inner.toolCallId ?? inner.tool_call_id, text: body === '' && failed ? inner.error : body, error: failed });
  } else if (out.role === 'activity') {
    out.texts.push({ text: text(content), label: text(inner.activityType) });
  } else if (Array.isArray(content)) {
    for (const part of content) readPart(part, out);
  } else if (content !== undefined && content !== null && content !== '') {
    out.texts.push({ text: text(content) });
  } else {
    readItem(inner, out);
  }
  for (const call of [inner.toolCalls, inner.tool_calls].find(Array.isArray) ?? []) {
    out.calls.push({ id: text(call?.id), name: text(call?.function?.name ?? call?.name), arguments: text(call?.function?.arguments ?? call?.arguments) });
  }
  // Where results travel in a message of the user's, they are what the message is.
  if (out.results.length > 0 && out.texts.length === 0 && out.calls.length === 0) out.role = 'tool';
  if (message.metadata?.tamp?.summary) out.role = 'summary';
  if (out.role === 'other' && out.texts.length + out.calls.length + out.results.length === 0) out.texts.push({ text: text(message), label: text(message.type) });
  return out;
}

function roleOf({ role, kind, type, parts }) {
  if (role === 'developer') return 'system';
  if (role === 'function') return 'tool';
  if (typeof role === 'string') return ROLES.includes(role) ? role : 'other';
  if (kind === 'response') return 'assistant';
  if (kind === 'request') return Array.isArray(parts) && parts.length > 0 && parts.every((part) => part?.part_kind === 'system-prompt') ? 'system' : 'user';
  if (type === 'function_call') return 'assistant';
  return type === 'reasoning' ? 'reasoning' : 'other';
}

/** Codex: a call or its result is an item of its own. */
function readItem(item, out) {
  if (item.type === 'function_call') out.calls.push({ id: text(item.call_id), name: text(item.name), arguments: text(item.arguments) });
  else if (item.type === 'function_call_output') out.results.push({ id: text(item.call_id), text: output(item.output), error: false });
  else if (item.type === 'reasoning') for (const part of Array.isArray(item.summary) ? item.summary : []) out.texts.push({ text: text(part?.text) });
}

function readPart(part, out) {
  if (typeof part === 'string') return out.texts.push({ text: part });
  if (!isObject(part)) return out.texts.push({ text: text(part) });
  const type = text(part.type ?? part.$type ?? part.part_kind);
  const call = (id, name, args) => out.calls.push({ id: text(id), name: text(name), arguments: text(args) });
  const result = (id, value, error) => out.results.push({ id: text(id), text: output(value), error: error === true });
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'user-prompt':
    case 'system-prompt':
      return out.texts.push({ text: output(part.text ?? part.content) });
    case 'thinking':
    case 'reasoning':
    case 'text_reasoning':
      return out.texts.push({ text: text(part.thinking ?? part.text ?? part.content), label: 'reasoning' });
    case 'tool_use':
      return call(part.id, part.name, part.input);
    case 'tool-call':
      return call(part.toolCallId ?? part.tool_call_id, part.toolName ?? part.tool_name, part.input ?? part.args);
    case 'function_call':
    case 'functionCall':
      return call(part.call_id ?? part.callId, part.name, part.arguments);
    case 'tool_result':
      return result(part.tool_use_id, part.content, part.is_error);
    case 'tool-result':
      return result(part.toolCallId, part.output ?? part.result, /^error/.test(part.output?.type ?? ''));
    case 'tool-return':
      return result(part.tool_call_id, part.content, false);
    case 'retry-prompt':
      return part.tool_call_id ? result(part.tool_call_id, part.content, true) : out.texts.push({ text: output(part.content) });
    case 'function_result':
    case 'functionResult':
      return result(part.call_id ?? part.callId, part.result, Boolean(part.exception));
    case 'step-start':
      return undefined;
    default:
      // AI SDK UI: a call and its result are one part.
      if (typeof part.toolCallId === 'string' && (type.startsWith('tool-') || type === 'dynamic-tool')) {
        call(part.toolCallId, part.toolName ?? type.replace(/^tool-/, ''), part.input);
        if ('output' in part || 'errorText' in part) result(part.toolCallId, part.errorText ?? part.output, 'errorText' in part);
        return undefined;
      }
      return out.texts.push({ text: media(part), label: type });
  }
}

/** A picture or a file as one line: its type and size, not its bytes. */
function media(part) {
  if (!isObject(part)) return text(part);
  const data = [part.source?.value, part.source?.data, part.data, part.image_url?.url, part.url, part.uri].find((value) => typeof value === 'string');
  const type = part.source?.mimeType ?? part.source?.media_type ?? part.mimeType ?? part.mediaType ?? part.media_type ?? part.type ?? 'part';
  if (data === undefined) return text(part);
  return data.length > 200 ? `[${type}, ${Math.round((data.length * 3) / 4 / 100) / 10} KB inline]` : `[${type}: ${data}]`;
}

/** The line that stands for a message in a list. */
export function preview(description) {
  const call = description.calls.map((each) => `${each.name} ${each.arguments}`).join('   ');
  const said = description.texts.map((each) => each.text).join(' ');
  const got = description.results.map((each) => each.text).join(' ');
  return [said, call, got].filter((part) => part !== '').join('   ') || '(empty)';
}
