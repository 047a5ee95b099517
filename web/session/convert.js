// From what people see to what the model reads. In every format but `ai-sdk-ui` the two are the same messages,
// less the activity; a UI message becomes the model messages that the AI SDK would make of it.
import { TampError } from '../errors.js';
import { isActivity, isObject, isToolPart, openCalls, roleOf } from './shapes.js';

/** @typedef {Record<string, any>} Part */

/** Formats a session can speak, each with that of its model lane. */
const MODEL_FORMAT = {
  'ag-ui': 'ag-ui',
  openai: 'openai',
  anthropic: 'anthropic',
  'ai-sdk-ui': 'ai-sdk-model',
  'ai-sdk-model': 'ai-sdk-model',
};

/** @typedef {keyof typeof MODEL_FORMAT} SessionFormat */

/** @param {unknown} format @returns {SessionFormat} */
export function sessionFormat(format = 'ag-ui') {
  if (typeof format === 'string' && Object.hasOwn(MODEL_FORMAT, format)) return /** @type {SessionFormat} */ (format);
  throw new TampError('unsupported-format', `a session cannot hold messages of the format ${JSON.stringify(format)}; it can: ${Object.keys(MODEL_FORMAT).join(', ')}`);
}

/** @param {SessionFormat} format */
export const modelFormat = (format) => /** @type {'ag-ui' | 'openai' | 'anthropic' | 'ai-sdk-model'} */ (MODEL_FORMAT[format]);

/** Do messages of this format have ids of their own? @param {SessionFormat} format */
export const hasIds = (format) => format === 'ag-ui' || format === 'ai-sdk-ui';

/** @param {object} message @returns {Part[]} */
export const partsOf = (message) => {
  const { parts } = /** @type {Part} */ (message);
  return Array.isArray(parts) ? parts.filter(isObject) : [];
};

/** `providerOptions` from a part's metadata, when there is any. @param {unknown} metadata */
const options = (metadata) => (metadata == null ? {} : { providerOptions: metadata });

/** @param {Part} part @returns {Part} */
const fileContent = (part) => ({
  type: 'file',
  mediaType: part.mediaType,
  ...(part.filename === undefined ? {} : { filename: part.filename }),
  data: part.providerReference == null ? part.url : { type: 'reference', reference: part.providerReference },
  ...options(part.providerMetadata),
});

/** What a user or a steering message says. @param {readonly Part[]} parts @returns {Part[]} */
const userContent = (parts) => parts.flatMap((part) => {
  if (part.type === 'text') return [{ type: 'text', text: part.text, ...options(part.providerMetadata) }];
  return part.type === 'file' ? [fileContent(part)] : [];
});

/** A tool's output as JSON, without what JSON drops. @param {unknown} output */
function toolOutput(output) {
  if (typeof output === 'string') return { type: 'text', value: output };
  const text = output === undefined ? undefined : JSON.stringify(output);
  return { type: 'json', value: text === undefined ? null : JSON.parse(text) };
}

/** @param {Part} part */
const isSettled = (part) =>
  part.state === 'output-available' && part.preliminary !== true || part.state === 'output-error' || part.state === 'output-denied';

/** @param {Part} part */
const toolName = (part) => (part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length));

/** What the assistant says of a tool: the call, what was asked of the person, a result the provider made. @param {Part} part */
function callContent(part) {
  if (part.state === 'input-streaming') return [];
  const toolCallId = part.toolCallId;
  const metadata = part.callProviderMetadata ?? (part.state === 'output-error' ? part.resultProviderMetadata : undefined);
  const content = [/** @type {Part} */ ({
    type: 'tool-call',
    toolCallId,
    toolName: toolName(part),
    input: part.state === 'output-error' ? part.input ?? part.rawInput : part.input,
    ...(part.providerExecuted === undefined ? {} : { providerExecuted: part.providerExecuted }),
    ...options(metadata),
  })];
  if (part.approval != null) {
    const { id: approvalId, isAutomatic, signature } = part.approval;
    content.push({
      type: 'tool-approval-request',
      approvalId,
      toolCallId,
      ...(isAutomatic === undefined ? {} : { isAutomatic }),
      ...(signature == null ? {} : { signature }),
    });
  }
  if (part.providerExecuted === true && (part.state === 'output-available' || part.state === 'output-error')) {
    const output = part.state === 'output-error' ? { type: 'error-json', value: part.errorText } : toolOutput(part.output);
    content.push({ type: 'tool-result', toolCallId, toolName: toolName(part), output, ...options(part.resultProviderMetadata ?? part.callProviderMetadata) });
  }
  return content;
}

/** What the tool message says of it: what the person decided and what the tool answered. @param {Part} part */
function resultContent(part) {
  const content = /** @type {Part[]} */ ([]);
  const { approval, toolCallId } = part;
  if (approval?.approved != null) {
    content.push({
      type: 'tool-approval-response',
      approvalId: approval.id,
      approved: approval.approved,
      ...(approval.reason === undefined ? {} : { reason: approval.reason }),
      ...(part.providerExecuted === undefined ? {} : { providerExecuted: part.providerExecuted }),
    });
  }
  const result = { type: 'tool-result', toolCallId, toolName: toolName(part) };
  const metadata = options(part.callProviderMetadata);
  if (part.state === 'approval-responded' && approval?.approved === false) {
    const denied = { type: 'execution-denied', ...(approval.reason === undefined ? {} : { reason: approval.reason }) };
    content.push({ ...result, output: denied, ...metadata });
  }
  if (part.providerExecuted === true) return content;
  if (part.state === 'output-denied') {
    content.push({ ...result, output: { type: 'error-text', value: approval?.reason ?? 'Tool call execution denied.' }, ...metadata });
  } else if (part.state === 'output-error') {
    content.push({ ...result, output: { type: 'error-text', value: String(part.errorText) }, ...metadata });
  } else if (part.state === 'output-available') {
    content.push({ ...result, output: toolOutput(part.output), ...metadata });
  }
  return content;
}

/** @param {Part} part */
function assistantContent(part) {
  const metadata = options(part.providerMetadata);
  if (isToolPart(part)) return callContent(part);
  switch (part.type) {
    case 'text': return [{ type: 'text', text: part.text, ...metadata }];
    case 'reasoning': return [{ type: 'reasoning', text: part.text, ...metadata }];
    case 'reasoning-file': return [{ type: 'reasoning-file', data: part.url, mediaType: part.mediaType, ...metadata }];
    case 'custom': return [{ type: 'custom', kind: part.kind, ...metadata }];
    case 'file': return [fileContent(part)];
    default: return [];
  }
}

/** One assistant message for each step, each with the results of its tools. @param {readonly Part[]} parts */
function assistantMessages(parts) {
  const messages = /** @type {object[]} */ ([]);
  let step = /** @type {Part[]} */ ([]);
  const endStep = () => {
    const said = step.flatMap(assistantContent);
    const answered = step.filter((part) => isToolPart(part)
      && (part.providerExecuted !== true || part.approval?.approved != null)).flatMap(resultContent);
    if (said.length > 0) messages.push({ role: 'assistant', content: said });
    if (answered.length > 0) messages.push({ role: 'tool', content: answered });
    step = [];
  };
  for (const part of parts) {
    if (part.type === 'step-start' || part.type === 'steering-message') endStep();
    else step.push(part);
    if (part.type === 'steering-message') {
      messages.push({ role: 'user', content: userContent(Array.isArray(part.parts) ? part.parts.filter(isObject) : []) });
    }
  }
  endStep();
  return messages;
}

/**
 * The model messages of one UI message.
 * @param {object} message
 * @param {boolean} superseded whether the person spoke again after it: calls that wait no longer count then
 * @returns {object[]}
 */
function fromUIMessage(message, superseded) {
  const parts = partsOf(message);
  switch (roleOf(message)) {
    case 'system': {
      const texts = parts.filter((part) => part.type === 'text');
      const metadata = Object.assign({}, ...texts.map((part) => part.providerMetadata));
      const content = texts.map((part) => part.text).join('');
      return [{ role: 'system', content, ...(Object.keys(metadata).length > 0 ? { providerOptions: metadata } : {}) }];
    }
    case 'user':
      return [{ role: 'user', content: userContent(parts) }];
    case 'assistant':
      return assistantMessages(superseded ? parts.filter((part) => !isToolPart(part) || isSettled(part)) : parts);
    default:
      return [];
  }
}

/**
 * A converter that makes the same model messages, as objects, of the same UI message each time: what was sent
 * once is recognised by who sends it.
 * @param {SessionFormat} format
 * @returns {(messages: readonly object[]) => object[]}
 */
export function createConverter(format) {
  if (format !== 'ai-sdk-ui') return (messages) => messages.filter((message) => !isActivity(message));
  const made = [new WeakMap(), new WeakMap()];
  return (messages) => {
    const lastUser = messages.findLastIndex((message) => roleOf(message) === 'user');
    return messages.flatMap((message, index) => {
      const superseded = index < lastUser;
      const known = made[Number(superseded)];
      let converted = known.get(message);
      if (converted === undefined) known.set(message, converted = fromUIMessage(message, superseded));
      return converted;
    });
  };
}

/**
 * An incoming message without what an aborted turn left behind: tool parts that never got a result go, unless
 * they wait for a person's approval; text that was streaming is done. The same object when there is nothing to do.
 * @template {object} M @param {M} message @returns {M}
 */
export function withoutAborted(message) {
  if (roleOf(message) !== 'assistant') return message;
  const parts = partsOf(message);
  const kept = parts.filter((part) => !isToolPart(part)
    || part.state !== 'input-streaming' && part.state !== 'input-available' && part.preliminary !== true)
    .map((part) => (part.state === 'streaming' ? { ...part, state: 'done' } : part));
  return kept.length === parts.length && kept.every((part, index) => part === parts[index]) ? message : { ...message, parts: kept };
}

/**
 * Where an answer goes on after its first `steps` steps: an index into its parts. A step begins with a
 * `step-start`; data parts directly before the cut stay with what follows. Its length when no further step began.
 * @param {object} message @param {number} steps
 */
export function cutAfterSteps(message, steps) {
  const parts = partsOf(message);
  let markers = 0;
  let cut = parts.findIndex((part) => part.type === 'step-start' && ++markers > steps);
  if (cut === -1) return parts.length;
  while (cut > 0 && String(parts[cut - 1].type).startsWith('data-')) cut--;
  return cut;
}

/** @param {object} message */
export const stepMarkers = (message) => partsOf(message).filter((part) => part.type === 'step-start').length;

/** The calls that wait for somebody: those after which nobody spoke. @param {readonly object[]} messages @returns {number[]} */
export function pendingCalls(messages) {
  const lastUser = messages.findLastIndex((message) => roleOf(message) === 'user');
  return openCalls(messages).filter((index) => index > lastUser);
}
