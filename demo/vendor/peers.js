/**
 * What others would have sent, computed by their own code: LangChain's trimMessages and the AI SDK's pruneMessages,
 * on the same AG-UI messages, with the same token counts. Bundled into vendor/peers.js by demo/server/build.js.
 */
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } from '@langchain/core/messages';
import { pruneMessages } from 'ai';

const textOf = (content) => (Array.isArray(content) ? content.filter((part) => part?.type === 'text').map(({ text }) => text).join('\n') : content ?? '');

/** Neither library has a place for activity or AG-UI's reasoning messages; both keep what a model is told. */
const sendable = (messages) => messages.filter(({ role }) => role !== 'activity' && role !== 'reasoning');

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Conversions by list, so that a way that is timed again and again is not charged for them. */
const langchainLists = new WeakMap();
const aiSdkLists = new WeakMap();

function remember(lists, messages, make) {
  if (!lists.has(messages)) lists.set(messages, make());
  return lists.get(messages);
}

/**
 * LangChain, as its documentation shows it: the newest messages that fit, the system message besides.
 * @param {readonly object[]} messages  AG-UI
 * @param {{maxTokens: number, count: (message: object) => number, startOn?: 'human'}} options  `count` weighs an AG-UI message
 * @returns {Promise<object[]>}  the AG-UI messages it keeps
 */
export async function langchain(messages, { maxTokens, count, startOn }) {
  const { of, converted, weights } = remember(langchainLists, messages, () => toLangchain(messages, count));
  const kept = await trimMessages(converted, {
    maxTokens,
    strategy: 'last',
    includeSystem: true,
    tokenCounter: (list) => list.reduce((sum, { id }) => sum + weights.get(id), 0),
    ...(startOn ? { startOn } : {}),
  });
  // It can put undefined where a message should be; sent as it is, that is no request at all.
  if (kept.includes(undefined)) throw new Error('trimMessages gave a list with undefined in it');
  return kept.map(({ id }) => of.get(id));
}

function toLangchain(messages, count) {
  const of = new Map();
  const converted = sendable(messages).map((message) => {
    const fields = { id: message.id, content: textOf(message.content) };
    let made;
    if (message.role === 'user') made = new HumanMessage(fields);
    else if (message.role === 'tool') made = new ToolMessage({ ...fields, tool_call_id: message.toolCallId });
    else if (message.role === 'assistant') {
      made = new AIMessage({ ...fields, tool_calls: (message.toolCalls ?? []).map((call) => ({ id: call.id, name: call.function.name, args: parse(call.function.arguments), type: 'tool_call' })) });
    } else made = new SystemMessage(fields);
    of.set(message.id, message);
    return made;
  });
  return { of, converted, weights: new Map([...of].map(([id, message]) => [id, count(message)])) };
}

/**
 * The AI SDK's pruneMessages. It takes no budget: it removes tool calls before the last `keepMessages` messages.
 * @returns {object[]}  AG-UI messages; those it cut calls or results from are new objects
 */
export function aiSdk(messages, { keepMessages }) {
  const { of, converted } = remember(aiSdkLists, messages, () => toModelMessages(messages));
  const kept = pruneMessages({ messages: converted, toolCalls: `before-last-${keepMessages}-messages`, emptyMessages: 'remove' });
  return kept.map((message) => {
    const parts = Array.isArray(message.content) ? message.content : [];
    const original = parts.map((part) => of.get(part)).find(Boolean) ?? of.get(message.content) ?? null;
    if (!original) return back(message);
    if (original.role !== 'assistant') return original;
    const ids = new Set(parts.filter(({ type }) => type === 'tool-call').map(({ toolCallId }) => toolCallId));
    const calls = original.toolCalls ?? [];
    if (calls.every(({ id }) => ids.has(id))) return original;
    const { toolCalls: _, ...rest } = original;
    const left = calls.filter(({ id }) => ids.has(id));
    return left.length ? { ...rest, toolCalls: left } : rest;
  });
}

function toModelMessages(messages) {
  const names = new Map();
  const converted = [];
  const of = new Map();
  for (const message of sendable(messages)) {
    let made;
    if (message.role === 'assistant') {
      const calls = message.toolCalls ?? [];
      for (const call of calls) names.set(call.id, call.function.name);
      const text = textOf(message.content);
      made = {
        role: 'assistant',
        content: [
          ...(text ? [{ type: 'text', text }] : []),
          ...calls.map((call) => ({ type: 'tool-call', toolCallId: call.id, toolName: call.function.name, input: parse(call.function.arguments) })),
        ],
      };
    } else if (message.role === 'tool') {
      made = { role: 'tool', content: [{ type: 'tool-result', toolCallId: message.toolCallId, toolName: names.get(message.toolCallId) ?? '', output: { type: 'text', value: textOf(message.content) } }] };
    } else if (message.role === 'user') made = { role: 'user', content: [{ type: 'text', text: textOf(message.content) }] };
    else made = { role: 'system', content: textOf(message.content) };
    of.set(firstPart(made), message);
    converted.push(made);
  }
  return { of, converted };
}

/** What a converted message is recognised by after pruning: its parts pass through as they are. */
const firstPart = (message) => (Array.isArray(message.content) ? message.content[0] : message.content);

function back(message) {
  const parts = Array.isArray(message.content) ? message.content : [{ type: 'text', text: message.content }];
  const calls = parts.filter(({ type }) => type === 'tool-call');
  return {
    role: message.role,
    content: parts.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n'),
    ...(calls.length ? { toolCalls: calls.map((call) => ({ id: call.toolCallId, type: 'function', function: { name: call.toolName, arguments: JSON.stringify(call.input) } })) } : {}),
  };
}
