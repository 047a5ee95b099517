/** Messages and steps for the tests of sessions, in the notation of their titles: Q a question, A an answer, C a call, R its result. */
import assert from 'node:assert/strict';

/** Enough words to make a summary worth its while. */
const filler = 'the quick brown fox jumps over the lazy dog while nobody looks on and the river flows by '.repeat(6);

/** A text that begins with a word by which a test finds it again. */
export const long = (word) => `${word} ${filler}`;

/** @param {object} message */
export const textOf = (message) => {
  const { content, parts } = /** @type {any} */ (message);
  if (typeof content === 'string') return content;
  return (content ?? parts ?? []).map((part) => part.text ?? '').join('');
};

/** What a list says, in short: "U:Q1", "A:C(a)", "T:R(a)", "S:SUM" for a summary. @param {readonly object[]} messages */
export const shape = (messages) => messages.map((message) => {
  const { role, content, parts, toolCalls, tool_calls, toolCallId, tool_call_id } = /** @type {any} */ (message);
  const text = textOf(message);
  if (text.startsWith('[Conversation summary]\n\n')) {
    assert.equal(role, 'user', 'a summary speaks in the role of the user');
    return `S:${text.slice('[Conversation summary]\n\n'.length)}`;
  }
  const calls = [
    ...(toolCalls ?? tool_calls ?? []).map(({ id }) => id),
    ...[...(Array.isArray(content) ? content : []), ...(parts ?? [])]
      .filter(({ type }) => type === 'tool-call' || /^tool-(?!call|result|approval|error)/.test(type)).map((part) => part.toolCallId),
  ];
  const results = [toolCallId ?? tool_call_id ?? [], (Array.isArray(content) ? content : [])
    .filter(({ type }) => type === 'tool-result').map((part) => part.toolCallId)].flat();
  const said = [
    ...(text !== '' && results.length === 0 ? [text.split(' ')[0]] : []),
    ...calls.map((id) => `C(${id})`),
    ...results.map((id) => `R(${id})`),
  ].join(' ');
  return `${{ user: 'U', assistant: 'A', tool: 'T', system: 'I' }[role] ?? role}:${said}`;
});

// ── AI SDK model messages ────────────────────────────────────────────────────────────────────────────────────

export const ask = (word) => ({ role: 'user', content: long(word) });
export const say = (word) => ({ role: 'assistant', content: [{ type: 'text', text: long(word) }] });
export const call = (id) => ({ role: 'assistant', content: [{ type: 'tool-call', toolCallId: id, toolName: 'look', input: { at: id } }] });
export const result = (id) => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: id, toolName: 'look', output: { type: 'text', value: long(`found-${id}`) } }],
});

/**
 * A finished step that called these tools and got their results; with `before`, its responses include those of that
 * step, as AI SDK 5 and 6 have it.
 */
export function step(totalTokens, ids, { before, finishReason = 'tool-calls', content, usage } = {}) {
  return {
    content: content ?? ids.flatMap((id) => [
      { type: 'tool-call', toolCallId: id, toolName: 'look', input: { at: id } },
      { type: 'tool-result', toolCallId: id, toolName: 'look', output: long(`found-${id}`) },
    ]),
    finishReason,
    usage: usage ?? { totalTokens },
    response: { messages: [...(before?.response.messages ?? []), ...ids.flatMap((id) => [call(id), result(id)])] },
  };
}

// ── chats in each format a session speaks ────────────────────────────────────────────────────────────────────

/**
 * For each format: a question, an answer in words, and an answer that used tools, as the messages people see.
 * @type {Record<string, { question(id: string): object, answer(id: string): object, tool(id: string, calls: string[], last?: string): object[] }>}
 */
export const formats = {
  'ag-ui': {
    question: (id) => ({ id, role: 'user', content: long(id) }),
    answer: (id) => ({ id, role: 'assistant', content: long(id) }),
    tool: (id, calls, last) => [
      ...calls.flatMap((name) => [
        { id: `${id}-${name}`, role: 'assistant', toolCalls: [{ id: name, type: 'function', function: { name: 'look', arguments: `{"at":"${name}"}` } }] },
        { id: `${id}-${name}-result`, role: 'tool', toolCallId: name, content: long(`found-${name}`) },
      ]),
      ...(last === undefined ? [] : [{ id, role: 'assistant', content: long(last) }]),
    ],
  },
  openai: {
    question: (id) => ({ role: 'user', content: long(id) }),
    answer: (id) => ({ role: 'assistant', content: long(id) }),
    tool: (_id, calls, last) => [
      ...calls.flatMap((name) => [
        { role: 'assistant', content: null, tool_calls: [{ id: name, type: 'function', function: { name: 'look', arguments: `{"at":"${name}"}` } }] },
        { role: 'tool', tool_call_id: name, content: long(`found-${name}`) },
      ]),
      ...(last === undefined ? [] : [{ role: 'assistant', content: long(last) }]),
    ],
  },
  'ai-sdk-model': {
    question: ask,
    answer: say,
    tool: (_id, calls, last) => [
      ...calls.flatMap((name) => [call(name), result(name)]),
      ...(last === undefined ? [] : [say(last)]),
    ],
  },
  'ai-sdk-ui': {
    question: (id) => ({ id, role: 'user', parts: [{ type: 'text', text: long(id) }] }),
    answer: (id) => ({ id, role: 'assistant', parts: [{ type: 'step-start' }, { type: 'text', text: long(id), state: 'done' }] }),
    tool: (id, calls, last) => [{
      id,
      role: 'assistant',
      parts: [
        ...calls.flatMap((name) => [
          { type: 'step-start' },
          { type: 'tool-look', toolCallId: name, state: 'output-available', input: { at: name }, output: long(`found-${name}`) },
        ]),
        ...(last === undefined ? [] : [{ type: 'step-start' }, { type: 'text', text: long(last), state: 'done' }]),
      ],
    }],
  },
};

/** A promise that is settled from outside. */
export function deferred() {
  let resolve;
  let reject;
  const promise = new Promise((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
