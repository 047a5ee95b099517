// Tamp in the real AI SDK, in its three major versions, with their own mock models.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { clearToolResults, contextWindow, loadTamp, PolicyError, slidingWindow, summarize } from 'tamp';
import { compactPrepareStep } from 'tamp/ai-sdk';
import { compactionStep, createSession, isCompactionSafe } from 'tamp/session';
import { memoryStore } from 'tamp/store';
import { createConverter } from '../../web/session/convert.js';
import { sdks } from '../lib/ai-sdk.js';
import { ask, long, shape } from '../lib/chats.js';

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const SCRIPT = [{ call: 'a', tokens: 160 }, { call: 'b', tokens: 50 }, { call: 'c', tokens: 50 }, { text: 'done', tokens: 60 }];
/** What the model must be given, step by step, when its first step is over. */
const PROMPTS = [
  ['U:Q1'],
  ['S:SUM1', 'U:Q1'],
  ['S:SUM1', 'U:Q1', 'A:C(b)', 'T:R(b)'],
  ['S:SUM1', 'U:Q1', 'A:C(b)', 'T:R(b)', 'A:C(c)', 'T:R(c)'],
];

/** Every prompt that a model was given must be one a provider takes. */
function checkPrompts(prompts) {
  for (const prompt of prompts) assert.equal(isCompactionSafe(prompt), true, JSON.stringify(prompt));
}

/** UI parts that convertToModelMessages treats in different ways. */
const UI = [
  { id: 's', role: 'system', parts: [{ type: 'text', text: 'Be ' }, { type: 'text', text: 'brief.' }] },
  { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hi', providerMetadata: { x: { y: 1 } } }, { type: 'file', mediaType: 'text/plain', filename: 'a.txt', url: 'data:text/plain;base64,AA==' }, { type: 'data-note', data: 1 }] },
  {
    id: 'a', role: 'assistant', parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'hm', providerMetadata: { x: { signature: 's' } } },
      { type: 'text', text: 'Let me look.', state: 'done' },
      { type: 'tool-look', toolCallId: '1', state: 'output-available', input: { at: 1 }, output: { found: true, nothing: undefined } },
      { type: 'dynamic-tool', toolName: 'other-tool', toolCallId: '2', state: 'output-error', input: { a: 1 }, errorText: 'no' },
      { type: 'source-url', sourceId: 'x', url: 'https://example.com' },
      { type: 'step-start' },
      { type: 'tool-web-search', toolCallId: '3', state: 'output-available', input: {}, output: 'text', providerExecuted: true },
      { type: 'text', text: 'Done.', state: 'done' },
    ],
  },
  { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'Pay.' }] },
];
const approvals = [
  { type: 'tool-pay', toolCallId: '4', state: 'approval-requested', input: { sum: 1 }, approval: { id: 'p' } },
  { type: 'tool-pay', toolCallId: '4', state: 'approval-responded', input: { sum: 1 }, approval: { id: 'p', approved: true } },
  { type: 'tool-pay', toolCallId: '4', state: 'approval-responded', input: { sum: 1 }, approval: { id: 'p', approved: false, reason: 'no' } },
  { type: 'tool-pay', toolCallId: '4', state: 'output-denied', input: { sum: 1 }, approval: { id: 'p', approved: false, reason: 'no' } },
  { type: 'tool-pay', toolCallId: '4', state: 'output-available', input: { sum: 1 }, output: 'paid', approval: { id: 'p', approved: true } },
];

/** As JSON, with what the versions spell differently made alike: how a file says what is in it. */
const plain = (messages) => JSON.parse(JSON.stringify(messages, (key, value) =>
  (key === 'data' && value?.type === 'url' ? String(value.url) : value)));

for (const { version, ai, tools, model, stopWhen } of sdks) {
  describe(`AI SDK ${version}`, () => {
    for (const way of ['generateText', 'streamText']) {
      /** Runs a whole tool loop. */
      const run = async ({ mock }, messages, prepareStep) => {
        const result = await ai[way]({ model: mock, tools, stopWhen, messages, prepareStep });
        if (way === 'streamText') await result.consumeStream();
        return { steps: await result.steps, response: await result.response };
      };

      test(`${way}: compactionStep carries a summary through the whole loop`, async () => {
        const scripted = model(SCRIPT);
        let made = 0;
        const prepareStep = compactionStep({ summarize: () => `SUM${++made}`, threshold: 100, tamp });
        await run(scripted, [ask('Q1')], prepareStep);
        assert.deepEqual(scripted.prompts.map(shape), PROMPTS);
        assert.equal(made, 1);
      });

      test(`${way}: compactionStep compacts again when it is over again`, async () => {
        const scripted = model([{ call: 'a', tokens: 160 }, { call: 'b', tokens: 170 }, { call: 'c', tokens: 50 }, { text: 'done', tokens: 60 }]);
        let made = 0;
        await run(scripted, [ask('Q1')], compactionStep({ summarize: () => `SUM${++made}`, threshold: 100, tamp }));
        assert.deepEqual(scripted.prompts.map(shape).slice(1), [['S:SUM1', 'U:Q1'], ['S:SUM2', 'U:Q1'], ['S:SUM2', 'U:Q1', 'A:C(c)', 'T:R(c)']]);
      });

      test(`${way}: a session compacts inside a turn, after it, and goes on after a reload`, async () => {
        const store = memoryStore();
        let made = 0;
        const asked = [];
        const open = () => createSession({
          chatId: 'c', tamp, store, format: 'ai-sdk-model',
          compaction: { shouldCompact: (event) => { asked.push(event); return event.totalTokens > 100; }, summarize: () => `SUM${++made}` },
        });
        const session = await open();
        const scripted = model(SCRIPT);
        const turn = await session.send(ask('Q1'));
        const { steps } = await run(scripted, turn.messages, turn.prepareStep());
        const answers = version === 7 ? steps.flatMap(({ response }) => response.messages) : steps.at(-1).response.messages;
        for (const message of answers) await turn.addResponse(message);
        await turn.complete({ usage: steps.at(-1).usage });
        assert.deepEqual(scripted.prompts.map(shape), PROMPTS);
        const lane = [...PROMPTS[3], 'A:done'];
        assert.deepEqual(shape(session.modelMessages), lane);
        assert.ok(asked.every(({ source, estimated }) => source === 'inner' && !estimated));

        const again = await open();
        assert.deepEqual(shape(again.modelMessages), lane);
        const next = await again.send(ask('Q2'));
        const second = model([{ text: 'answer', tokens: 160 }]);
        const { steps: more } = await run(second, next.messages, next.prepareStep());
        await next.complete({ usage: more.at(-1).usage, message: more.at(-1).response.messages[0] });
        assert.deepEqual(second.prompts.map(shape), [[...lane, 'U:Q2']]);
        assert.deepEqual(shape(again.modelMessages), ['S:SUM2']);
        assert.equal(made, 2);
      });

      test(`${way}: compactPrepareStep keeps every prompt within a sliding window`, async () => {
        const scripted = model([...'abcdefgh'].map((call) => ({ call, tokens: 50 })).concat({ text: 'done', tokens: 50 }));
        const prepareStep = compactPrepareStep({ policy: slidingWindow({ maxMessages: 6, keepMessages: 3 }), tamp });
        await run(scripted, [ask('Q1')], prepareStep);
        checkPrompts(scripted.prompts);
        assert.deepEqual(shape(scripted.prompts[0]), ['U:Q1']);
        for (const prompt of scripted.prompts) {
          assert.ok(prompt.length <= 6, String(prompt.length));
          assert.equal(shape(prompt)[0], 'U:Q1');
        }
      });

      test(`${way}: compactPrepareStep clears old results and leaves the rest as it is`, async () => {
        const scripted = model([...'abcd'].map((call) => ({ call, tokens: 50 })).concat({ text: 'done', tokens: 50 }));
        await run(scripted, [ask('Q1')], compactPrepareStep({ policy: clearToolResults({ keepLast: 1 }), tamp }));
        checkPrompts(scripted.prompts);
        const cleared = scripted.prompts.at(-1).filter(({ role }) => role === 'tool').map(({ content }) => content[0].output.value === '[tool result cleared]');
        assert.deepEqual(cleared, [true, true, true, false]);
      });

      test(`${way}: compactPrepareStep asks for one summary at a time, not for one at each step`, async () => {
        const scripted = model([...'abcdef'].map((call) => ({ call, tokens: 50 })).concat({ text: 'done', tokens: 50 }));
        let made = 0;
        const prepareStep = compactPrepareStep({
          policy: summarize({ maxMessages: 7, keepMessages: 2 }), tamp, summarize: () => `SUM${++made}`,
        });
        const messages = [ask('Q0'), { role: 'assistant', content: long('A0') }, ask('Q1')];
        await run(scripted, messages, prepareStep);
        checkPrompts(scripted.prompts);
        assert.ok(made >= 1 && made <= 2, String(made));
        assert.ok(shape(scripted.prompts.at(-1)).some((said) => said.startsWith('S:SUM')));
        assert.ok(scripted.prompts.at(-1).length <= 9);
      });
    }

    test('compactPrepareStep leaves a prompt that is small enough to the AI SDK', async () => {
      const prepareStep = compactPrepareStep({ policy: contextWindow({ maxContextWindowTokens: 100_000, maxOutputTokens: 1000 }), tamp });
      assert.equal(await prepareStep({ messages: [ask('Q1')], steps: [] }), undefined);
    });

    test('compactPrepareStep says what is wrong with a policy', async () => {
      await assert.rejects(compactPrepareStep({ policy: { strategy: 'slide' }, tamp })({ messages: [ask('Q1')], steps: [] }), PolicyError);
    });

    test('what the model reads of UI messages is what convertToModelMessages makes of them', async () => {
      const convert = createConverter('ai-sdk-ui');
      assert.deepEqual(plain(convert(UI)), plain(await ai.convertToModelMessages(UI)));
      if (version === 5) return;
      for (const part of approvals) {
        const messages = [...UI, { id: 'p', role: 'assistant', parts: [{ type: 'step-start' }, part] }];
        // 6 adds the result of a refusal in its next call, 7 here; so do we, and 6 does not add another.
        const ours = plain(convert(messages)).map((message) => (version === 6 && message.role === 'tool'
          ? { ...message, content: message.content.filter(({ output }) => output?.type !== 'execution-denied') } : message));
        assert.deepEqual(ours, plain(await ai.convertToModelMessages(messages)), part.state);
      }
    });
  });
}
