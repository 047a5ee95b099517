import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { literal } from '../../demo/code.js';
import { describe, preview } from '../../demo/describe.js';
import { bytes, oneLine, visible } from '../../demo/format.js';
import { keysOf, newStep, PRESETS, STRATEGIES, strategiesIn } from '../../demo/strategies.js';
import { FORMAT_NAMES, FileProblem, guessFormat, parseTranscript } from '../../demo/transcript.js';
import { validate } from '../../demo/validator.js';

const encode = (text) => new TextEncoder().encode(text);
const user = (id) => ({ id, role: 'user', content: 'q' });
const calls = (...ids) => ({ id: `a-${ids}`, role: 'assistant', toolCalls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })) });
const result = (id) => ({ id: `r-${id}`, role: 'tool', toolCallId: id, content: 'ok' });

test('the sample is a long conversation that a provider would accept', async () => {
  const text = await readFile(new URL('../../demo/sample.json', import.meta.url), 'utf8');
  const { messages, container } = parseTranscript(encode(text));
  assert.equal(container, 'json-array');
  assert.ok(messages.length >= 120, `${messages.length} messages`);
  assert.ok(text.length < 250_000, `${text.length} characters`);
  assert.equal(guessFormat(messages), 'ag-ui');
  assert.equal(new Set(messages.map(({ id }) => id)).size, messages.length);
  assert.deepEqual(validate(messages), { ok: true, problem: null, index: null });
  assert.ok(messages.some(({ toolCalls }) => toolCalls?.length > 3), 'parallel calls');
});

test('the page’s own check accepts whole pairs and names the first rule a list breaks', () => {
  assert.ok(validate([user('1'), calls('x', 'y'), result('y'), result('x'), user('2')]).ok);
  assert.ok(validate([user('1'), calls('x', 'y'), result('x')]).ok, 'the last batch may be waiting');
  assert.match(validate([user('1'), result('x')]).problem, /did not call/);
  assert.match(validate([user('1'), calls('x'), user('2')]).problem, /no result/);
  assert.match(validate([user('1'), calls('x'), result('x'), result('x')]).problem, /twice/);
  assert.match(validate([user('1'), calls('x'), user('2'), result('x')]).problem, /no result/);
  assert.match(validate([{ id: 's', role: 'system', content: 's' }]).problem, /Nothing is left/);
  assert.equal(validate([user('1'), calls('x'), { id: 'act', role: 'activity', content: {} }, result('x')]).ok, true);
});

test('the page’s own check reads OpenAI and Anthropic shapes too', () => {
  assert.ok(validate([{ role: 'user', content: 'q' }, { role: 'assistant', content: null, tool_calls: [{ id: 'x', function: { name: 'f', arguments: '{}' } }] }, { role: 'tool', tool_call_id: 'x', content: 'ok' }]).ok);
  const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'f', input: {} }] };
  assert.ok(validate([{ role: 'user', content: 'q' }, use, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'ok' }, { type: 'text', text: 'and?' }] }]).ok);
  assert.match(validate([{ role: 'user', content: 'q' }, use, { role: 'user', content: 'no result' }]).problem, /no result/);
});

test('a file that is not a transcript is refused with a sentence that says what is wrong', () => {
  const cases = [
    ['', /empty/], ['{', /not JSON/], ['[]', /list of messages is empty/], ['{"a":1}', /without a list of messages/], ['42', /not a list/],
    ['{"a":1}\n{broken', /not JSON/],
  ];
  for (const [text, sentence] of cases) assert.throws(() => parseTranscript(encode(text)), (error) => error instanceof FileProblem && sentence.test(error.message), text);
  assert.throws(() => parseTranscript(new Uint8Array([0xff, 0xfe, 0x00])), /not text in UTF-8/);
});

test('a transcript may be a list, a list in an object, or a message a line', () => {
  assert.equal(parseTranscript(encode('[{"role":"user","content":"q"}]')).container, 'json-array');
  assert.deepEqual(parseTranscript(encode('{"model":"m","messages":[{"role":"user","content":"q"}]}')).key, 'messages');
  assert.equal(parseTranscript(encode('{"role":"user","content":"q"}\r\n{"role":"assistant","content":"a"}\n')).container, 'jsonl');
});

test('a format is known by what only that format has', () => {
  const cases = {
    'ag-ui': [{ id: 'a', role: 'assistant', toolCalls: [] }],
    openai: [{ role: 'user', content: 'q' }],
    anthropic: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }],
    'ai-sdk-ui': [{ id: 'a', role: 'user', parts: [] }],
    'pydantic-ai': [{ kind: 'request', parts: [] }],
    'claude-code': [{ type: 'user', sessionId: 's', message: { role: 'user', content: 'q' } }],
    codex: [{ type: 'response_item', payload: {} }],
  };
  for (const [format, messages] of Object.entries(cases)) assert.equal(guessFormat(messages), format);
});

test('the page names every format that it knows, in the words it uses for them', async () => {
  const page = await readFile(new URL('../../demo/index.html', import.meta.url), 'utf8');
  assert.ok(page.includes(`JSON from ${[...FORMAT_NAMES.values()].join(', ')}.`));
});

test('no value in place of a message stops it from being shown', () => {
  for (const value of [null, 1, 'text', [], {}, { role: 7 }, { role: 'user', content: [null, 1, { type: 'image' }] }, { role: 'tool', toolCallId: 'x', content: null }, { role: 'assistant', toolCalls: [null] }]) {
    assert.equal(typeof preview(describe(value)), 'string');
  }
});

test('a call and its result are found in the shapes of every format', () => {
  const shapes = [
    [{ role: 'assistant', toolCalls: [{ id: 'c', function: { name: 'read', arguments: '{}' } }] }, { role: 'tool', toolCallId: 'c', content: 'hi' }],
    [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'read', arguments: '{}' } }] }, { role: 'tool', tool_call_id: 'c', content: 'hi' }],
    [{ role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'read', input: {} }] }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'hi' }] }] }],
    [{ role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'read', input: {} }] }, { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', output: { type: 'text', value: 'hi' } }] }],
    [{ kind: 'response', parts: [{ part_kind: 'tool-call', tool_name: 'read', args: {}, tool_call_id: 'c' }] }, { kind: 'request', parts: [{ part_kind: 'tool-return', tool_call_id: 'c', content: 'hi' }] }],
    [{ role: 'assistant', contents: [{ type: 'function_call', call_id: 'c', name: 'read', arguments: '{}' }] }, { role: 'tool', contents: [{ type: 'function_result', call_id: 'c', result: 'hi' }] }],
    [{ type: 'assistant', message: { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'read', input: {} }] } }, { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'hi' }] } }],
    [{ type: 'response_item', payload: { type: 'function_call', call_id: 'c', name: 'read', arguments: '{}' } }, { type: 'response_item', payload: { type: 'function_call_output', call_id: 'c', output: 'hi' } }],
  ];
  for (const messages of shapes) {
    const [call, answer] = messages.map(describe);
    assert.deepEqual(call.calls.map(({ id, name }) => [id, name]), [['c', 'read']], JSON.stringify(messages[0]));
    assert.deepEqual([answer.role, answer.results.map(({ id, text }) => [id, text])], ['tool', [['c', 'hi']]], JSON.stringify(messages[1]));
    assert.ok(validate(messages).ok, JSON.stringify(messages));
    assert.equal(validate([messages[1], messages[0]]).ok, false, JSON.stringify(messages));
  }
  const ui = { role: 'assistant', parts: [{ type: 'step-start' }, { type: 'tool-read', toolCallId: 'c', state: 'output-available', input: {}, output: 'hi' }, { type: 'text', text: 'done' }] };
  assert.ok(validate([{ role: 'user', parts: [{ type: 'text', text: 'q' }] }, ui, { role: 'user', parts: [{ type: 'text', text: 'q2' }] }]).ok);
  delete ui.parts[1].output;
  assert.equal(validate([ui, { role: 'user', parts: [{ type: 'text', text: 'q2' }] }]).ok, false);
});

test('control characters and direction marks are shown instead of obeyed', () => {
  assert.equal(visible('a\u001b[31mred\u202eevil\u0000'), 'a␛[31mred⟨U+202E⟩evil␀');
  assert.equal(visible('line\n\ttab'), 'line\n\ttab');
  assert.equal(oneLine('a\n  b', 20), 'a b');
  assert.equal(oneLine('😀'.repeat(10), 3).at(-1), '…');
  assert.doesNotMatch(oneLine('😀'.repeat(10), 3), /[\ud800-\udbff](?![\udc00-\udfff])/);
  assert.deepEqual([68, 1200, 999_600, 1_250_000].map(bytes), ['68 B', '1.2 KB', '1.0 MB', '1.3 MB']);
});

test('each strategy’s form starts from a step with a key for each of its numbers', () => {
  for (const strategy of STRATEGIES) {
    const known = new Set(['strategy', ...keysOf(strategy)]);
    for (const key of Object.keys(newStep(strategy.name))) assert.ok(known.has(key), `${strategy.name}.${key}`);
  }
  const names = new Set(STRATEGIES.map(({ name }) => name));
  for (const { policy } of PRESETS) for (const name of strategiesIn(policy)) assert.ok(name === 'budget' || names.has(name), name);
});

test('a policy is written as the JS one would write', () => {
  assert.equal(literal({ strategy: 'clamp', roles: ['tool'], n: 1.5, 'a-b': "it's" }), "{ strategy: 'clamp', roles: ['tool'], n: 1.5, 'a-b': 'it\\'s' }");
  assert.match(literal({ a: 'x'.repeat(60), b: 'y'.repeat(60) }), /^\{\n {2}a: '/);
});

test('every policy that the page starts from is one the core takes', async () => {
  const { loadTamp } = await import('../../dist/index.js');
  const tamp = await loadTamp();
  for (const { name, policy } of PRESETS) assert.deepEqual(tamp.checkPolicy(policy), [], name);
  for (const { name } of STRATEGIES) assert.deepEqual(tamp.checkPolicy(newStep(name)), [], name);
});

test('the form’s fall-backs are what the core takes when a key is absent', async () => {
  const { loadTamp } = await import('../../dist/index.js');
  const tamp = await loadTamp();
  const messages = JSON.parse(await readFile(new URL('../../demo/sample.json', import.meta.url), 'utf8'));
  const sent = (policy) => JSON.stringify(tamp.compact(messages, policy).messages);
  for (const { name, fields, async: model } of STRATEGIES) {
    if (model) continue;
    const step = newStep(name);
    for (const field of fields) {
      const fallback = field.fallback ?? (field.kind === 'boolean' || field.kind === 'fraction' || field.kind === 'enum' || field.kind === 'text' ? field.value : undefined);
      if (fallback === undefined) continue;
      const { [field.key]: _, ...absent } = step;
      assert.deepEqual(tamp.checkPolicy(absent), [], `${name} without ${field.key}`);
      assert.equal(sent(absent), sent({ ...absent, [field.key]: fallback }), `${name}.${field.key}`);
    }
  }
});
