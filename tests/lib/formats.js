/**
 * The formats whose messages are lists of typed parts: histories of tests/lib/generators.js in each of
 * them, and what would be refused. No code is shared with the core.
 */
import { refusalsOfAnthropic } from './validators.js';

/** @typedef {Record<string, any>} Message */

const media = (/** @type {any} */ part) => {
  const data = part.data ?? (part.source?.type === 'data' ? part.source.value : null);
  const url = data === null ? part.source.value : null;
  return { data, url, type: part.mimeType ?? part.source?.mimeType ?? 'image/png' };
};

/**
 * Shapes of one format: how texts, media, reasoning, calls and results are written, and the messages they
 * stand in. `joins` says which results and what else share a message.
 *
 * @typedef {object} Shape
 * @property {(text: string) => any} text
 * @property {(part: any) => any} media
 * @property {(message: Message) => any} thought
 * @property {(call: any) => any} call
 * @property {(result: Message, name: string) => any} result
 * @property {(role: string, parts: any[], id: string, metadata: any) => Message | null} message
 * @property {'user' | 'tool' | 'request'} results where results stand: with what the user says, in messages of
 *   their own, or with instructions too
 */

/** Arguments as a value. @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

const mark = (/** @type {any} */ metadata) => metadata?.tamp;
const options = (/** @type {any} */ metadata) => (mark(metadata) ? { providerOptions: { tamp: mark(metadata) } } : {});

/** @type {Record<string, Shape>} */
const shapes = {
  anthropic: {
    text: (text) => ({ type: 'text', text }),
    media(part) {
      const { data, url, type } = media(part);
      return { type: 'image', source: data === null ? { type: 'url', url } : { type: 'base64', media_type: type, data } };
    },
    thought: ({ content, encryptedValue }) => ({ type: 'thinking', thinking: content, signature: encryptedValue ?? 'c2ln' }),
    call: ({ id, function: { name, arguments: text } }) => ({ type: 'tool_use', id, name, input: parsed(text) }),
    result: ({ toolCallId, content, error }) => ({
      type: 'tool_result',
      tool_use_id: toolCallId,
      content: typeof content === 'string' ? content : content.map((/** @type {any} */ part) => partOf(shapes.anthropic, part)),
      ...(error ? { is_error: true } : {}),
    }),
    message: (role, parts) => (role === 'system' ? null : { role, content: parts }),
    results: 'user',
  },
  'ai-sdk-model': {
    text: (text) => ({ type: 'text', text }),
    media(part) {
      const { data, url, type } = media(part);
      return { type: 'file', data: data ?? url, mediaType: type };
    },
    thought: ({ content, encryptedValue }) => ({ type: 'reasoning', text: content, ...(encryptedValue ? { providerOptions: { x: { signature: encryptedValue } } } : {}) }),
    call: ({ id, function: { name, arguments: text } }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input: parsed(text) }),
    result: ({ toolCallId, content, error }, name) => ({
      type: 'tool-result',
      toolCallId,
      toolName: name,
      output: error ? { type: 'error-text', value: error }
        : typeof content === 'string' ? { type: 'text', value: content }
          : { type: 'json', value: content },
    }),
    message: (role, parts, _id, metadata) => ({
      role, content: role === 'system' ? parts.map(({ text }) => text).join('') : parts, ...options(metadata),
    }),
    results: 'tool',
  },
  'pydantic-ai': {
    text: (content) => ({ part_kind: 'text', content }),
    media(part) {
      const { data, url, type } = media(part);
      return data === null ? { kind: 'image-url', url } : { kind: 'binary', data, media_type: type };
    },
    thought: ({ content, encryptedValue }) => ({ part_kind: 'thinking', content, ...(encryptedValue ? { signature: encryptedValue } : {}) }),
    call: ({ id, function: { name, arguments: text } }) => ({ part_kind: 'tool-call', tool_name: name, args: text, tool_call_id: id }),
    result: ({ toolCallId, content, error }, name) => (error
      ? { part_kind: 'retry-prompt', content: error, tool_name: name, tool_call_id: toolCallId }
      : { part_kind: 'tool-return', tool_name: name, content, tool_call_id: toolCallId }),
    message(role, parts, _id, metadata) {
      const extra = mark(metadata) ? { metadata: { tamp: mark(metadata) } } : {};
      if (role === 'assistant') return { kind: 'response', parts, ...extra };
      if (role === 'system') parts = parts.map(({ content }) => ({ part_kind: 'system-prompt', content }));
      if (role === 'user' && parts.length > 0 && parts.every((part) => 'kind' in part || part.part_kind === 'text')) {
        const items = parts.map((part) => part.content ?? part);
        parts = [{ part_kind: 'user-prompt', content: items.length === 1 ? items[0] : items }];
      }
      return { kind: 'request', parts, ...extra };
    },
    results: 'request',
  },
  'agent-framework': {
    text: (text) => ({ type: 'text', text }),
    media(part) {
      const { data, url, type } = media(part);
      return data === null ? { type: 'uri', uri: url, media_type: type } : { type: 'data', uri: `data:${type};base64,${data}`, media_type: type };
    },
    thought: ({ content, encryptedValue }) => ({ type: 'text_reasoning', text: content, ...(encryptedValue ? { protected_data: encryptedValue } : {}) }),
    call: ({ id, function: { name, arguments: text } }) => ({ type: 'function_call', call_id: id, name, arguments: text }),
    result: ({ toolCallId, content, error }) => ({
      type: 'function_result',
      call_id: toolCallId,
      result: content,
      ...(typeof content === 'string' ? { items: [{ type: 'text', text: content }] } : {}),
      ...(error ? { exception: error } : {}),
    }),
    message: (role, contents, id, metadata) => ({
      type: 'message', role, contents, message_id: id, additional_properties: mark(metadata) ? { tamp: mark(metadata) } : {},
    }),
    results: 'tool',
  },
};

/** @param {Shape} shape @param {any} part of an AG-UI message */
const partOf = (shape, part) => (part.type === 'text' ? shape.text(part.text) : shape.media(part));

/** @param {Shape} shape @param {Message} message */
const partsOf = (shape, { content }) => (typeof content === 'string' ? [shape.text(content)]
  : Array.isArray(content) ? content.map((part) => partOf(shape, part)) : []);

const ROLES = new Map([['developer', 'system'], ['system', 'system'], ['user', 'user'], ['assistant', 'assistant']]);

/** The tool that every call is of. @param {readonly Message[]} messages */
const toolNames = (messages) => new Map(messages.flatMap(({ toolCalls }) => toolCalls ?? [])
  .map((/** @type {any} */ call) => [call.id, call.function.name]));

/**
 * An AG-UI list in a format with results apart from their calls. Results in a row share a message, and so do
 * those and what follows where the format allows it and the text says so.
 *
 * @param {string} format
 * @param {readonly Message[]} messages
 */
function toParts(format, messages) {
  const shape = shapes[format];
  const names = toolNames(messages);
  /** @type {Message[]} */
  const list = [];
  /** @type {Message[]} */
  let thoughts = [];
  /** @type {{ parts: any[], id: string, metadata: any } | null} */
  let results = null;
  const flush = () => {
    const made = results && shape.message(shape.results === 'tool' ? 'tool' : 'user', results.parts, results.id, results.metadata);
    if (made) list.push(made);
    results = null;
  };
  for (const message of messages) {
    const role = ROLES.get(message.role);
    if (message.role === 'reasoning') thoughts.push(message);
    if (message.role === 'tool') {
      results ??= { parts: [], id: message.id, metadata: message.metadata };
      results.parts.push(shape.result(message, names.get(message.toolCallId) ?? 'unknown'));
    }
    if (role === undefined) continue;
    const parts = [...partsOf(shape, message), ...(message.toolCalls ?? []).map(shape.call)];
    if (role === 'assistant') parts.unshift(...thoughts.map(shape.thought));
    if (role !== 'system') thoughts = [];
    if (parts.length === 0) continue;
    const made = shape.message(role, parts, message.id, message.metadata);
    if (results && role === 'user' && shape.results !== 'tool' && message.metadata === undefined && message.id.charCodeAt(3) % 2 === 0) {
      results.parts.push(...(made?.content ?? made?.parts ?? []));
      continue;
    }
    flush();
    const before = list.at(-1);
    if (shape.results === 'request' && role === 'user' && before?.parts?.[0]?.part_kind === 'system-prompt' && message.metadata === undefined) {
      list.splice(-1, 1, { ...before, parts: [...before.parts, ...(made?.parts ?? [])] });
    } else if (made) {
      list.push(made);
    }
  }
  flush();
  return list;
}

/** An AG-UI list as UI messages: all that the assistant does in a row is one message. @param {readonly Message[]} messages */
function toUI(messages) {
  const results = new Map(messages.filter(({ role }) => role === 'tool').map((message) => [message.toolCallId, message]));
  const file = (/** @type {any} */ part) => {
    const { data, url, type } = media(part);
    return { type: 'file', mediaType: type, url: url ?? `data:${type};base64,${data}` };
  };
  /** @type {Message[]} */
  const list = [];
  /** @type {Message | null} */
  let run = null;
  /** @type {any[]} */
  let thoughts = [];
  for (const message of messages) {
    const role = ROLES.get(message.role);
    const { metadata } = message;
    if (message.role === 'reasoning') {
      thoughts.push({ type: 'reasoning', text: message.content, state: 'done', ...(message.encryptedValue ? { providerMetadata: { x: { signature: message.encryptedValue } } } : {}) });
    }
    if (role === undefined) continue;
    const said = typeof message.content === 'string' ? [{ type: 'text', text: message.content }]
      : (message.content ?? []).map((/** @type {any} */ part) => (part.type === 'text' ? part : file(part)));
    if (role !== 'assistant') {
      if (role === 'user') run = null;
      list.push({ id: message.id, role, parts: said, ...(metadata ? { metadata } : {}) });
      continue;
    }
    const calls = (message.toolCalls ?? []).map((/** @type {any} */ { id, function: { name, arguments: text } }) => {
      const result = results.get(id);
      const part = { type: `tool-${name}`, toolCallId: id, input: parsed(text) };
      if (!result) return { ...part, state: 'input-available' };
      if (result.error) return { ...part, state: 'output-error', errorText: result.error };
      return { ...part, state: 'output-available', output: typeof result.content === 'string' ? { text: result.content } : result.content };
    });
    if (run === null || list.at(-1) !== run || metadata) {
      run = { id: message.id, role, parts: [], ...(metadata ? { metadata } : {}) };
      list.push(run);
    }
    run.parts.push({ type: 'step-start' }, ...thoughts, ...said, ...calls);
    if (said.length > 1 || calls.length > 2) run.parts.push({ type: 'data-progress', data: { of: message.id } });
    thoughts = [];
  }
  return list;
}

/** @type {Record<string, (messages: readonly Message[]) => Message[]>} */
export const toFormat = {
  ...Object.fromEntries(Object.keys(shapes).map((format) => [format, (/** @type {readonly Message[]} */ messages) => toParts(format, messages)])),
  'ai-sdk-ui': toUI,
};

// ── What would be refused ────────────────────────────────────────────────────────────────────────

const callId = (/** @type {any} */ part) => (part.type === 'tool-call' ? part.toolCallId
  : part.type === 'function_call' ? part.call_id
    : part.part_kind === 'tool-call' ? part.tool_call_id : undefined);
const resultId = (/** @type {any} */ part) => (part.type === 'tool-result' ? part.toolCallId
  : part.type === 'function_result' ? part.call_id
    : part.part_kind === 'tool-return' || part.part_kind === 'retry-prompt' ? part.tool_call_id : undefined);
const instructs = (/** @type {Message} */ message, /** @type {any} */ part) =>
  message.role === 'system' || part.part_kind === 'system-prompt';

/** A summary that Tamp made: nobody said it, so calls before it may still wait. @param {Message} message */
const isOurs = ({ metadata, providerOptions, additional_properties: properties }) =>
  (metadata ?? providerOptions ?? properties)?.tamp?.summary !== undefined;

/**
 * Results directly behind their calls, each once, none missing unless nobody spoke since; for pydantic-ai all of
 * them in one request; no message without parts.
 *
 * @param {readonly Message[]} messages
 */
function refusalsOfPairs(messages) {
  /** @type {string[]} */
  const refused = [];
  /** @type {string[]} */
  let open = [];
  let begun = -1;
  messages.forEach((message, index) => {
    const list = message.content ?? message.parts ?? message.contents;
    const parts = Array.isArray(list) ? list : [{ type: 'text' }];
    if (parts.length === 0) refused.push(`message ${index} has no parts`);
    for (const part of parts) {
      const result = resultId(part);
      if (result === undefined) continue;
      if (!open.includes(result)) refused.push(`message ${index} answers ${result}`);
      open.splice(open.indexOf(result), 1);
      if (message.kind === 'request' && begun >= 0 && begun !== index) refused.push(`message ${index} goes on with results`);
      begun = index;
    }
    const speaks = !isOurs(message) && parts.some((part) => resultId(part) === undefined && !instructs(message, part));
    if (speaks && open.length > 0) refused.push(`message ${index} comes before ${open}`);
    if (speaks) {
      open = parts.map(callId).filter((id) => id !== undefined);
      begun = -1;
    }
  });
  return refused;
}

/** No call is open but in the last step; no message is empty. @param {readonly Message[]} messages */
function refusalsOfUI(messages) {
  /** @type {string[]} */
  const refused = [];
  messages.forEach(({ parts, role }, index) => {
    if (parts.length === 0) refused.push(`message ${index} has no parts`);
    const last = messages.slice(index + 1).every((message) => message.role === 'system' || isOurs(message));
    const step = parts.findLastIndex((/** @type {any} */ { type }) => type === 'step-start');
    parts.forEach((/** @type {any} */ part, /** @type {number} */ at) => {
      if (role === 'assistant' && part.state === 'input-available' && !(last && at > step)) {
        refused.push(`message ${index} leaves ${part.toolCallId} open`);
      }
    });
  });
  return refused;
}

/**
 * What would be refused in a list of this format.
 *
 * @param {string} format
 * @param {readonly Message[]} messages
 * @returns {unknown[]}
 */
export function refusalsOf(format, messages) {
  if (format === 'anthropic') {
    const refused = refusalsOfAnthropic(messages);
    // What is not compaction's to mend: a blank text that somebody said, a message that calls an id twice.
    if (refused.some(({ rule }) => rule === 'anthropic/use-twice')) return [];
    return refused.filter(({ rule }) => rule !== 'anthropic/blank');
  }
  return format === 'ai-sdk-ui' ? refusalsOfUI(messages) : refusalsOfPairs(messages);
}
