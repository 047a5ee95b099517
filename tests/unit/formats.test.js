/** The formats whose messages are lists of typed parts: every strategy on small histories, and what is particular to each. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { loadTamp } from 'tamp';
import { SEED } from '../lib/seed.js';
import { sdks } from '../lib/ai-sdk.js';
import { refusalsOf, toFormat } from '../lib/formats.js';
import { deepFreeze } from '../lib/freeze.js';
import { brokenHistory, policy, STRATEGIES, validHistory } from '../lib/generators.js';
import { checkShape } from '../lib/invariants.js';

const RUNS = Math.ceil(Number(process.env.CASES ?? 60_000) / 1500);

/** @typedef {any[]} List */

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const byteLength = (/** @type {unknown} */ value) => Buffer.byteLength(JSON.stringify(value));
const long = (/** @type {string} */ text) => `${text} ${'and more of it '.repeat(30)}`;

/** @param {List} list @param {any} tree @param {string} format */
function compact(list, tree, format) {
  const made = tamp.compact(deepFreeze(list), tree, { format: /** @type {any} */ (format) });
  checkShape(list, made);
  return { ...made, messages: /** @type {List} */ (made.messages) };
}

/** The way to every value in a value. @param {any} value @param {(string | number)[]} [path] @returns {(string | number)[][]} */
function pathsIn(value, path = []) {
  const keys = Array.isArray(value) ? [...value.keys()] : value !== null && typeof value === 'object' ? Object.keys(value) : [];
  return [path, ...keys.flatMap((key) => pathsIn(value[key], [...path, key]))];
}

for (const [format, convert] of Object.entries(toFormat)) {
  describe(format, () => {
    for (const strategy of STRATEGIES) {
      test(`${strategy} leaves a list that nobody refuses, and comes to rest`, () => {
        fc.assert(fc.property(
          fc.oneof({ weight: 2, arbitrary: validHistory({ activity: false }) }, brokenHistory({ activity: false })),
          policy([strategy]),
          (history, tree) => {
            const list = convert(history);
            const { changed, messages, report } = compact(list, tree, format);
            assert.equal(tamp.countTokens(messages, { format: /** @type {any} */ (format) }), report.tokensAfter, 'tokens');
            assert.equal(messages.reduce((sum, message) => sum + byteLength(message), 0), report.bytesAfter, 'bytes');
            if (changed && !JSON.stringify(tree).includes('"keep"')) assert.deepEqual(refusalsOf(format, messages), []);
            // Without a place for a mark, what reads like a summary may become one by coming to stand in front.
            if (format !== 'anthropic' || !JSON.stringify(list).includes('[Conversation summary]')) {
              assert.equal(compact(messages, tree, format).changed, false, 'again');
            }
            const text = `[\n${list.map((message) => JSON.stringify(message)).join(',\n')}\n]`;
            const made = tamp.compactText(text, tree, { format: /** @type {any} */ (format) });
            assert.deepEqual(JSON.parse(made.text()), messages, 'text');
          },
        ), { numRuns: RUNS, seed: SEED });
      });
    }

    test('a value of any other kind in any place breaks no rule, and is never an error', () => {
      const history = fc.sample(validHistory({ activity: false, maxLength: 8 }), { numRuns: 1, seed: SEED })[0];
      const list = [...convert(history), ...convert([{ id: 'q', role: 'user', content: 'q' }, { id: 'z', role: 'assistant', content: 'a' }])];
      const trees = fc.sample(policy(), { numRuns: 4, seed: SEED });
      for (const path of pathsIn(list).filter(({ length }) => length > 1)) {
        for (const value of [undefined, null, 7, '', [], {}, [{}], ['a']]) {
          const spoiled = structuredClone(list);
          const last = /** @type {any} */ (path.at(-1));
          path.slice(0, -1).reduce((held, key) => held[key], /** @type {any} */ (spoiled))[last] = value;
          for (const tree of trees) compact(spoiled, tree, format);
        }
      }
    });

    test('groups weigh together what the list weighs, and every message is in one', () => {
      fc.assert(fc.property(brokenHistory({ activity: false }), (history) => {
        const list = deepFreeze(convert(history));
        const { groups, tokens, bytes } = tamp.inspect(list, { format: /** @type {any} */ (format) });
        assert.equal(groups.reduce((sum, group) => sum + group.tokens, 0), tokens);
        assert.equal(bytes, list.reduce((sum, message) => sum + byteLength(message), 0));
        assert.deepEqual(new Set(groups.flatMap(({ indices }) => indices)), new Set(list.keys()));
      }), { numRuns: 4 * RUNS, seed: SEED });
    });

    test('a summary is known again after a round trip, and there is one at most', async () => {
      const turns = [1, 2, 3, 4].flatMap((turn) => [
        { id: `u${turn}`, role: 'user', content: long(`question ${turn}`) },
        { id: `a${turn}`, role: 'assistant', content: long(`answer ${turn}`) },
      ]);
      const list = convert(turns);
      /** @type {any[]} */
      const asked = [];
      const options = /** @type {any} */ ({
        format,
        summarize: (/** @type {any} */ request) => {
          asked.push(request);
          return `summary ${asked.length}`;
        },
      });
      const tree = { strategy: 'summarize', keepMessages: 2, keepFirstUser: false, maxMessages: 4 };
      const first = await tamp.compactAsync(list, /** @type {any} */ (tree), options);
      const parsed = JSON.parse(JSON.stringify([...first.messages, ...convert(turns.slice(0, 4).map((message) => ({ ...message, id: `${message.id}-2` })))]));
      const kinds = tamp.inspect(parsed, { format: /** @type {any} */ (format) }).groups.map(({ kind }) => kind);
      assert.equal(kinds[0], 'summary');
      const second = await tamp.compactAsync(parsed, /** @type {any} */ (tree), options);
      assert.deepEqual(asked.map(({ previousSummary }) => previousSummary), [null, 'summary 1']);
      assert.equal(JSON.stringify(second.messages).split('[Conversation summary]').length, 2);
      assert.deepEqual(asked[0].messages, list.slice(0, asked[0].messages.length), 'covered messages are given whole');
    });
  });
}

describe('messages of more than one thing', () => {
  const use = { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read', input: { path: 'a.txt' } }] };
  const result = (id = 't1') => ({ type: 'tool_result', tool_use_id: id, content: long('hi') });
  const rest = [{ role: 'assistant', content: 'done' }, { role: 'user', content: 'and now?' }, { role: 'assistant', content: 'well' }];

  test('what a person says beside results is counted with them and stays when they go', () => {
    const text = { type: 'text', text: 'try b.txt' };
    const list = [{ role: 'user', content: 'read' }, use, { role: 'user', content: [result(), text] }, ...rest];
    const groups = tamp.inspect(list, { format: 'anthropic' }).groups.map(({ kind, indices }) => [kind, indices]);
    assert.deepEqual(groups[1], ['tool', [1, 2]]);
    const { messages, report } = compact(list, { strategy: 'drop-tool-calls', keepLastToolCallGroups: 0 }, 'anthropic');
    assert.deepEqual(messages, [list[0], { role: 'user', content: [text] }, ...rest]);
    assert.deepEqual(report.rewritten.map(({ index }) => index), [2]);
    assert.deepEqual(report.dropped.map(({ index }) => index), [1]);
  });

  test('instructions stay when the question beside them goes', () => {
    const prompt = { part_kind: 'system-prompt', content: 'Be brief.' };
    const list = [
      { kind: 'request', parts: [prompt, { part_kind: 'user-prompt', content: long('read') }] },
      { kind: 'response', parts: [{ part_kind: 'text', content: 'done' }] },
      { kind: 'request', parts: [{ part_kind: 'user-prompt', content: 'and now?' }] },
    ];
    const { messages, report } = compact(list, { strategy: 'sliding-window', keepMessages: 1, keepFirstUser: false }, 'pydantic-ai');
    assert.deepEqual(messages, [{ kind: 'request', parts: [prompt] }, list[2]]);
    assert.deepEqual(report.rewritten.map(({ index }) => index), [0]);
  });

  test('a late result is put with the others of its calls, in one message and first in it', () => {
    const calls = { role: 'assistant', content: ['t1', 't2'].map((id) => ({ type: 'tool_use', id, name: 'read', input: {} })) };
    const text = { type: 'text', text: 'wait' };
    const list = [{ role: 'user', content: 'read' }, calls, { role: 'user', content: [text, result('t2')] }, { role: 'user', content: [result('t1'), text] }, ...rest];
    const { messages } = compact(list, { strategy: 'repair' }, 'anthropic');
    assert.deepEqual(messages, [list[0], calls, { role: 'user', content: [result('t1'), result('t2'), text] }, { role: 'user', content: [text] }, ...rest]);
  });

  test('a call that was never answered is answered in the message that holds the other results', () => {
    const calls = { role: 'assistant', content: ['t1', 't2'].map((id) => ({ type: 'tool_use', id, name: 'read', input: {} })) };
    const list = [{ role: 'user', content: 'read' }, calls, { role: 'user', content: [result('t2')] }, ...rest];
    const { messages, report } = compact(list, { strategy: 'repair' }, 'anthropic');
    const answer = { type: 'tool_result', tool_use_id: 't1', content: '[no result was recorded]' };
    assert.deepEqual(messages[2], { role: 'user', content: [answer, result('t2')] });
    assert.deepEqual([report.added, report.rewritten.map(({ index }) => index)], [[], [2]]);
  });
});

describe('steps of a UI message', () => {
  const call = (/** @type {string} */ id, /** @type {object} */ more) => ({ type: 'tool-read', toolCallId: id, input: { path: long(id) }, ...more });
  const step = { type: 'step-start' };
  const list = [
    { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'read' }] },
    {
      id: 'a1',
      role: 'assistant',
      metadata: { kept: 1 },
      parts: [step, call('c1', { state: 'output-available', output: { text: long('hi') } }), { type: 'data-progress', data: 1 },
        step, call('c2', { state: 'output-error', errorText: long('no') }), step, { type: 'text', text: 'It says hi.' }],
    },
    { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'and now?' }] },
  ];

  test('each is a group, and a removed one leaves the message without its parts', () => {
    assert.deepEqual(tamp.inspect(list, { format: 'ai-sdk-ui' }).groups.map(({ kind, indices }) => [kind, indices]),
      [['user', [0]], ['tool', [1]], ['tool', [1]], ['assistant', [1]], ['user', [2]]]);
    const { messages, before: sent, after, report } = compact(list, { strategy: 'drop-tool-calls', keepLastToolCallGroups: 1 }, 'ai-sdk-ui');
    assert.deepEqual(messages, [list[0], { ...list[1], parts: list[1].parts.slice(3) }, list[2]]);
    assert.deepEqual([sent, after], [3, 3], 'it is one message however many steps it has');
    assert.deepEqual(report.rewritten.map(({ id }) => id), ['a1']);
  });

  test('a collapsed step keeps its start and what is for the person alone', () => {
    const { messages } = compact(list, { strategy: 'tool-results', keepLastToolCallGroups: 1 }, 'ai-sdk-ui');
    assert.deepEqual(messages[1].parts.slice(0, 3), [step, { type: 'text', text: `[Tool results: read: ${JSON.stringify({ text: long('hi') })}]` }, { type: 'data-progress', data: 1 }]);
  });

  test('a call that was left open is answered in its own part; one that waits for approval is left alone', () => {
    const open = { ...list[1], parts: [step, call('c1', { state: 'input-available' }), step, { type: 'text', text: 'go on' }] };
    const { messages } = compact([list[0], open, list[2]], { strategy: 'repair' }, 'ai-sdk-ui');
    assert.deepEqual(messages[1].parts[1], call('c1', { state: 'output-error', errorText: '[no result was recorded]' }));
    const waits = { ...list[1], parts: [step, call('c1', { state: 'approval-requested', approval: { id: 'p1' } }), step, { type: 'text', text: 'go on' }] };
    assert.equal(compact([list[0], waits, list[2]], [{ strategy: 'repair' }, { strategy: 'drop-tool-calls', keepLastToolCallGroups: 0 }], 'ai-sdk-ui').changed, false);
  });

  for (const { version, ai } of sdks) {
    test(`what is left is what AI SDK ${version} accepts and converts`, async () => {
      for (const [seed, history] of fc.sample(validHistory({ activity: false }), { numRuns: RUNS, seed: SEED }).entries()) {
        const messages = toFormat['ai-sdk-ui'](history);
        if (messages.length === 0 || JSON.stringify(messages).includes('input-available')) continue;
        for (const tree of fc.sample(policy(), { numRuns: 2, seed: SEED + seed })) {
          const made = compact(messages, tree, 'ai-sdk-ui').messages;
          await ai.validateUIMessages({ messages: structuredClone(made) });
          const model = await ai.convertToModelMessages(structuredClone(made));
          for (const message of model) assert.ok(ai.modelMessageSchema.safeParse(message).success, JSON.stringify(message));
        }
      }
    });
  }
});

describe('ModelMessages', () => {
  const request = { type: 'tool-approval-request', approvalId: 'p1', toolCallId: 't1' };
  const call = { type: 'tool-call', toolCallId: 't1', toolName: 'read', input: { path: 'a' } };

  test('an approval goes with its call, and the request keeps the call pending', () => {
    const approved = { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'p1', approved: true }] };
    const result = { role: 'tool', content: [{ type: 'tool-result', toolCallId: 't1', toolName: 'read', output: { type: 'text', value: 'x' } }] };
    const list = [{ role: 'user', content: 'q' }, { role: 'assistant', content: [call, request] }, approved, result, { role: 'assistant', content: 'a' }, { role: 'user', content: 'q' }];
    assert.deepEqual(tamp.inspect(list, { format: 'ai-sdk-model' }).groups.map(({ indices }) => indices), [[0], [1, 2, 3], [4], [5]]);
    assert.deepEqual(tamp.inspect(list, { format: 'ai-sdk-model' }).problems, []);
    const waiting = [list[0], list[1], list[4], list[5]];
    assert.equal(compact(waiting, { strategy: 'repair' }, 'ai-sdk-model').changed, false);
  });

  test('bytes that JSON does not have weigh like a picture, say their size, and come back as themselves', () => {
    const image = { type: 'image', image: new Uint8Array(1234), mediaType: 'image/png' };
    const asked = { role: 'user', content: [{ type: 'text', text: long('look') }, image] };
    const rest = [{ role: 'assistant', content: 'a' }, { role: 'user', content: 'q' }, { role: 'assistant', content: 'b' }];
    const of = (/** @type {any} */ tree) => /** @type {any[]} */ (tamp.compact([asked, ...rest], tree, { format: 'ai-sdk-model' }).messages)[0];
    assert.ok(tamp.countTokens([asked], { format: 'ai-sdk-model' }) < 1300);
    const clamped = of({ strategy: 'clamp', maxChars: 40, headChars: 5, tailChars: 5, roles: ['user'] });
    assert.notEqual(clamped.content[0].text, asked.content[0]);
    assert.equal(clamped.content[1].image, image.image);
    assert.deepEqual(of({ strategy: 'strip-binary' }).content[1], { type: 'text', text: '[image/png, 1.2 KB, removed]' });
    assert.equal(of({ strategy: 'repair' }), asked);
  });

  for (const { version, ai, model } of sdks) {
    test(`what is left is what AI SDK ${version} sends`, async () => {
      for (const [seed, history] of fc.sample(validHistory({ activity: false }), { numRuns: RUNS, seed: SEED }).entries()) {
        const list = toFormat['ai-sdk-model'](history);
        for (const tree of fc.sample(policy(), { numRuns: 2, seed: SEED + seed })) {
          const messages = compact(list, tree, 'ai-sdk-model').messages.filter(({ role }) => role !== 'system');
          const pending = tamp.inspect(messages, { format: 'ai-sdk-model' }).groups.some((group) => group.pending);
          if (pending || messages.length === 0) continue;
          const { mock } = model([{ text: 'well', tokens: 20 }]);
          // Pictures on the net would be fetched.
          if (JSON.stringify(messages).includes('https://')) continue;
          await ai.generateText({ model: mock, messages: structuredClone(messages) });
        }
      }
    });
  }
});

describe('detection', () => {
  /** @type {[string | null, string, any[]][]} */
  const cases = [
    ['anthropic', 'a tool_use block', [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] }]],
    ['anthropic', 'a document of text', [{ role: 'user', content: [{ type: 'document', source: { type: 'text', data: 'x' } }] }]],
    ['ai-sdk-model', 'a tool-call part', [{ role: 'assistant', content: [{ type: 'tool-call', toolCallId: 't', toolName: 'n', input: {} }] }]],
    ['ai-sdk-ui', 'parts with a type', [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'x' }] }]],
    ['pydantic-ai', 'kinds of parts', [{ kind: 'request', parts: [{ part_kind: 'user-prompt', content: 'x' }] }]],
    ['agent-framework', 'contents', [{ role: 'user', contents: [{ $type: 'text', text: 'x' }] }]],
    ['ag-ui', 'a source with a value', [{ id: 'u', role: 'user', content: [{ type: 'image', source: { type: 'url', value: 'x' } }] }]],
    ['openai', 'roles and texts alone', [{ role: 'user', content: 'x' }, { role: 'assistant', content: [{ type: 'text', text: 'y' }] }]],
    [null, 'marks of two formats', [{ role: 'assistant', tool_calls: [], content: [{ type: 'tool_use', id: 't' }] }]],
    [null, 'events', [{ type: 'RUN_STARTED', threadId: 't' }]],
    [null, 'items of the Responses API', [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] }]],
    [null, 'Gemini contents', [{ role: 'user', parts: [{ text: 'x' }] }]],
    [null, 'shared conversations', [{ conversations: [{ from: 'human', value: 'x' }] }]],
  ];
  for (const [format, what, list] of cases) {
    test(`${what}: ${format ?? 'nobody can tell'}`, () => {
      const detect = () => tamp.compactText(JSON.stringify(list), /** @type {any} */ ({ strategy: 'clamp', maxChars: 99 })).format;
      if (format === null) assert.throws(detect, { code: 'unknown-format' });
      else assert.equal(detect(), format);
    });
  }
});

describe('edits', () => {
  /** @param {string} format @param {any[]} list @param {any} tree */
  const edited = (format, list, tree) => compact(list, tree, format).messages;
  const clear = { strategy: 'clear-tool-results', keepLast: 0, clearInputs: true };

  test('a result of the AI SDK stays tagged, also as a failure', () => {
    const parts = [{ type: 'json', value: [long('x')] }, { type: 'error-json', value: { why: long('x') } }].map((output, index) => ({ type: 'tool-result', toolCallId: `t${index}`, toolName: 'n', output }));
    const calls = parts.map(({ toolCallId }) => ({ type: 'tool-call', toolCallId, toolName: 'n', input: {} }));
    const list = [{ role: 'assistant', content: calls }, { role: 'tool', content: parts }, { role: 'user', content: 'q' }];
    assert.deepEqual(edited('ai-sdk-model', list, clear)[1].content.map((/** @type {any} */ { output }) => output),
      [{ type: 'text', value: '[tool result cleared]' }, { type: 'error-text', value: '[tool result cleared]' }]);
  });

  test('agent-framework loses the second copy of a result and what it noted of the first', () => {
    const result = { type: 'function_result', call_id: 'c', result: long('x'), items: [{ type: 'text', text: long('x') }], additional_properties: {} };
    const list = [
      { type: 'message', role: 'assistant', contents: [{ type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' }] },
      { type: 'message', role: 'tool', contents: [result], additional_properties: { _group: { id: 1 }, mine: 2 } },
      { type: 'message', role: 'user', contents: [{ type: 'text', text: 'q' }] },
    ];
    const { items: _items, ...kept } = result;
    assert.deepEqual(edited('agent-framework', list, clear)[1], {
      ...list[1], contents: [{ ...kept, result: '[tool result cleared]' }], additional_properties: { mine: 2 },
    });
  });

  test('pydantic-ai keeps arguments what they were, and what is typed as it is', () => {
    const list = [
      { kind: 'response', parts: [{ part_kind: 'tool-call', tool_name: 'n', args: { path: long('x') }, tool_call_id: 'c' }, { part_kind: 'tool-call', tool_name: 'm', args: JSON.stringify({ path: long('y') }), tool_call_id: 'd' }] },
      { kind: 'request', parts: [{ part_kind: 'tool-return', tool_name: 'n', content: { a: long('x') }, tool_call_id: 'c' }, { part_kind: 'tool-return', tool_name: 'm', content: [long('y')], tool_call_id: 'd', tool_kind: 'tool-search' }] },
      { kind: 'request', parts: [{ part_kind: 'user-prompt', content: 'q' }] },
    ];
    const [response, request] = edited('pydantic-ai', list, clear);
    assert.deepEqual(response.parts.map((/** @type {any} */ { args }) => args), [{}, '{}']);
    assert.deepEqual(request.parts.map((/** @type {any} */ { content }) => content), ['[tool result cleared]', [long('y')]]);
  });

  test('bytes become the text of the format', () => {
    const data = 'A'.repeat(400);
    const cases = /** @type {[string, any, any][]} */ ([
      ['anthropic', { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }] }, { role: 'user', content: [{ type: 'text', text: '[image/png, 300 B, removed]' }] }],
      ['pydantic-ai', { kind: 'request', parts: [{ part_kind: 'user-prompt', content: ['see', { kind: 'binary', data, media_type: 'image/png' }] }] }, { kind: 'request', parts: [{ part_kind: 'user-prompt', content: ['see', '[image/png, 300 B, removed]'] }] }],
      ['ai-sdk-ui', { id: 'u', role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${data}` }] }, { id: 'u', role: 'user', parts: [{ type: 'text', text: '[image/png, 300 B, removed]' }] }],
    ]);
    for (const [format, message, expected] of cases) {
      const rest = toFormat[format]([{ id: 'a', role: 'assistant', content: 'a' }, { id: 'q', role: 'user', content: 'q' }]);
      assert.deepEqual(edited(format, [message, ...rest], { strategy: 'strip-binary' }), [expected, ...rest]);
    }
  });
});

/** A result of an AI SDK model message. @param {string} toolCallId */
const outputOf = (toolCallId) => ({ type: 'tool-result', toolCallId, toolName: 'read_file', output: { type: 'text', value: 'text' } });
const callOf = (/** @type {string} */ toolCallId) => ({ role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName: 'read_file', input: { path: 'a' } }] });

test('an orphan among the results of one assistant message goes, and the others stay', () => {
  const list = [{ role: 'user', content: 'q' }, callOf('f'), { role: 'assistant', content: [outputOf('f'), outputOf('nobody')] }];
  const { messages, report } = compact(list, { strategy: 'repair' }, 'ai-sdk-model');
  assert.equal(report.reason, null);
  assert.deepEqual(messages, [list[0], list[1], { role: 'assistant', content: [outputOf('f')] }]);
});

test('a message of results without any adds nothing to the one that its neighbours are put into', () => {
  const list = [{ role: 'user', content: 'q' }, callOf('a'), { role: 'tool', content: [] }, { role: 'system', content: 's' }, { role: 'tool', content: [outputOf('a'), outputOf('a')] }];
  const { messages, report } = compact(list, { strategy: 'repair' }, 'ai-sdk-model');
  assert.equal(report.reason, null);
  assert.deepEqual(messages, [list[0], list[1], { role: 'tool', content: [outputOf('a')] }, list[3]]);
});

test('collapsing saves what it says, also where a message of results goes on with what stands beside them', () => {
  const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read_file', input: { path: 'src/a.c' } }, { type: 'text', text: 'six of these?' }] };
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  const countTokens = (/** @type {string} */ text) => Buffer.byteLength(text);
  for (let padding = 0; padding < 40; padding++) {
    const result = { type: 'tool_result', tool_use_id: 'a', content: 'r'.repeat(padding) };
    const list = [call, { role: 'assistant', content: [] }, { role: 'user', content: [image, result] }];
    const { report } = tamp.compact(deepFreeze(list), { strategy: 'tool-results', keepLastToolCallGroups: 0, maxChars: 48 }, { format: 'anthropic', countTokens });
    assert.equal(report.reason, null, `a result of ${padding}`);
    assert.ok(report.tokensAfter <= report.tokensBefore, `a result of ${padding}`);
  }
});
