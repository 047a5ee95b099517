/**
 * What a message says, for showing it: a role, texts, calls, and which calls its results answer. It
 * reads the common shapes (AG-UI, OpenAI, Anthropic, AI SDK, Claude Code) and never fails; what
 * it does not know it shows as JSON. Nothing is decided here.
 */

/** Roles the page has a colour for. */
export const ROLES = ['system', 'user', 'assistant', 'tool', 'reasoning', 'activity', 'summary', 'other'];

const text = (value) => (typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value, null, 2));

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
  const empty = { role: 'other', texts: [], calls: [], results: [], id: null };
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return { ...empty, texts: [{ text: text(message) }] };
  // Claude Code wraps the message in a record of its own.
  const inner = typeof message.message === 'object' && message.message !== null && !('role' in message) ? message.message : message;
  const out = { ...empty, texts: [], calls: [], results: [], id: typeof message.id === 'string' ? message.id : typeof message.uuid === 'string' ? message.uuid : null };
  const role = typeof inner.role === 'string' ? inner.role : '';
  out.role = role === 'developer' ? 'system' : role === 'function' ? 'tool' : ROLES.includes(role) ? role : 'other';
  if (message.metadata?.tamp?.summary) out.role = 'summary';

  const content = inner.content ?? inner.parts;
  if (role === 'tool' && typeof (inner.toolCallId ?? inner.tool_call_id) === 'string') {
    const failed = typeof inner.error === 'string' && inner.error !== '';
    const body = Array.isArray(content) ? content.map((part) => part?.text ?? `[${part?.type ?? 'part'}]`).join('\n') : text(content);
    out.results.push({ id: inner.toolCallId ?? inner.tool_call_id, text: body === '' && failed ? inner.error : body, error: failed });
  } else if (role === 'activity') {
    out.texts.push({ text: text(content), label: text(inner.activityType) });
  } else if (Array.isArray(content)) {
    for (const part of content) readPart(part, out);
    if (out.results.length > 0 && out.texts.length === 0 && out.role === 'user') out.role = 'tool';
  } else if (content !== undefined && content !== null && content !== '') {
    out.texts.push({ text: text(content) });
  }
  const calls = Array.isArray(inner.toolCalls) ? inner.toolCalls : Array.isArray(inner.tool_calls) ? inner.tool_calls : [];
  for (const call of calls) {
    out.calls.push({ id: text(call?.id), name: text(call?.function?.name ?? call?.name), arguments: text(call?.function?.arguments ?? call?.arguments) });
  }
  if (out.role === 'other' && out.texts.length + out.calls.length + out.results.length === 0) out.texts.push({ text: text(message), label: text(message.type) });
  return out;
}

function readPart(part, out) {
  if (typeof part === 'string') return out.texts.push({ text: part });
  switch (part?.type) {
    case 'text':
      return out.texts.push({ text: text(part.text) });
    case 'thinking':
    case 'reasoning':
      return out.texts.push({ text: text(part.thinking ?? part.text), label: 'reasoning' });
    case 'tool_use':
    case 'tool-call':
      return out.calls.push({ id: text(part.id ?? part.toolCallId), name: text(part.name ?? part.toolName), arguments: text(part.input ?? part.args) });
    case 'tool_result':
    case 'tool-result': {
      const value = part.content ?? part.output ?? part.result;
      const body = Array.isArray(value) ? value.map((each) => each?.text ?? `[${each?.type ?? 'part'}]`).join('\n') : text(value?.value ?? value);
      return out.results.push({ id: text(part.tool_use_id ?? part.toolCallId), text: body, error: part.is_error === true });
    }
    case 'step-start':
      return undefined;
    default:
      return out.texts.push({ text: media(part), label: text(part?.type) });
  }
}

/** A picture or a file as one line: its type and size, not its bytes. */
function media(part) {
  const data = part?.source?.value ?? part?.source?.data ?? part?.data ?? part?.image_url?.url ?? part?.url;
  const type = part?.source?.mimeType ?? part?.source?.media_type ?? part?.mimeType ?? part?.mediaType ?? part?.type ?? 'part';
  if (typeof data === 'string') return data.length > 200 ? `[${type}, ${Math.round((data.length * 3) / 4 / 100) / 10} KB inline]` : `[${type}: ${data}]`;
  return text(part);
}

/** The line that stands for a message in a list. */
export function preview(description) {
  const call = description.calls.map((each) => `${each.name} ${each.arguments}`).join('   ');
  const said = description.texts.map((each) => each.text).join(' ');
  const got = description.results.map((each) => each.text).join(' ');
  return [said, call, got].filter((part) => part !== '').join('   ') || '(empty)';
}
