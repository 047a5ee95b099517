// The numbered vectors of the notes on trigger.dev's chat compaction, each with its number; where the notes give two
// values, ours. Model messages are those of the AI SDK.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { dropReasoning, dropToolCalls, loadTamp, TampError } from 'tamp';
import { compact, compactionStep, createSession, MessageAccumulator } from 'tamp/session';
import { memoryStore } from 'tamp/store';
import { applyChanges, diffEntries } from '../../web/store/changes.js';
import { cutAfterSteps, withoutAborted } from '../../web/session/convert.js';
import { renderMessages } from '../../web/session/render.js';
import { parseState } from '../../web/session/state.js';
import { ask, call, deferred, formats, long, result, say, shape, step, textOf } from '../lib/chats.js';

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const ui = formats['ai-sdk-ui'];

/** A `summarize` that says SUM1, SUM2, … and remembers what it was given. */
function summarizer(text = (n) => `SUM${n}`) {
  const given = [];
  const summarize = async (messages) => {
    given.push(messages);
    return text(given.length);
  };
  return { summarize, given };
}

/** An accumulator, what its callbacks were told, and what its indicator showed. */
function accumulator({ over = 100, format = 'ai-sdk-ui', ...options } = {}) {
  const log = [];
  const events = { asked: [], summarized: [], compacted: [] };
  const compaction = {
    shouldCompact: (event) => {
      log.push('ask');
      events.asked.push(event);
      return /** @type {number} */ (event.totalTokens) > over;
    },
    summarize: async (event) => {
      log.push('summarize');
      events.summarized.push(event);
      return `SUM${events.summarized.length}`;
    },
    ...options.compaction,
  };
  const errors = [];
  const acc = new MessageAccumulator({
    tamp,
    format,
    onCompacted: (event) => {
      log.push('onCompacted');
      events.compacted.push(event);
    },
    onIndicator: (part) => log.push(part),
    onError: (error) => errors.push(error),
    ...options,
    compaction: options.compaction === null ? undefined : compaction,
  });
  return { acc, events, log, errors };
}

/** The same with a first exchange in it, compacted. */
async function compacted(options) {
  const made = accumulator(options);
  const words = formats[options?.format ?? 'ai-sdk-ui'];
  await made.acc.addIncoming([words.question('Q1')], 'submit-message', 0);
  await made.acc.addResponse(words.answer('A1'));
  assert.equal(await made.acc.compactIfNeeded({ totalTokens: 160 }), true);
  return made;
}

const prompt = () => [ask('Q'), call('a'), result('a')];

// ── compact() decisions ──────────────────────────────────────────────────────────────────────────────────────

test('1: before the first step nothing is compacted', async () => {
  const { summarize, given } = summarizer();
  assert.deepEqual(await compact([ask('Q')], [], { summarize, threshold: 1, tamp }), { type: 'skipped' });
  assert.equal(given.length, 0);
});

test('2: a step at the threshold is not over it', async () => {
  const { summarize } = summarizer();
  assert.deepEqual(await compact(prompt(), [step(200, ['a'])], { summarize, threshold: 200, tamp }), { type: 'skipped' });
});

test('3: a step over the threshold makes the prompt a summary, with the question beside it', async () => {
  const { summarize, given } = summarizer();
  const done = await compact(prompt(), [step(200, ['a'])], { summarize, threshold: 199, tamp });
  assert.equal(done.type, 'compacted');
  assert.deepEqual(shape(done.messages), ['S:SUM1', 'U:Q']);
  assert.equal(done.summary, 'SUM1');
  assert.deepEqual(given, [prompt()]);
});

test('4: without a threshold and without shouldCompact nothing is compacted', async () => {
  const { summarize } = summarizer();
  assert.deepEqual(await compact(prompt(), [step(200, ['a'])], { summarize, tamp }), { type: 'skipped' });
});

test('5: a step without a total is judged by its sides, one without any by an estimate', async () => {
  const { summarize } = summarizer();
  const judged = (usage, threshold) => compact(prompt(), [step(0, ['a'], { usage })], { summarize, threshold, tamp });
  assert.equal((await judged({}, 1)).type, 'compacted');
  assert.equal((await judged({}, 100_000)).type, 'skipped');
  assert.equal((await judged({ inputTokens: 1e6 }, 100_000)).type, 'compacted');
});

test('6: a step without usage is never an error', async () => {
  const { summarize } = summarizer();
  const bare = { ...step(0, ['a']), usage: undefined };
  assert.equal((await compact(prompt(), [bare], { summarize, threshold: 1, tamp })).type, 'compacted');
});

test('7: no tokens are not more than none', async () => {
  const { summarize } = summarizer();
  assert.equal((await compact(prompt(), [step(0, ['a'])], { summarize, threshold: 0, tamp })).type, 'skipped');
});

test('8 to 11: only a step that settled all its calls is safe', async () => {
  const { summarize } = summarizer();
  const settled = (content, finishReason) =>
    compact(prompt(), [step(200, ['a'], { content, finishReason })], { summarize, threshold: 1, tamp }).then(({ type }) => type);
  const [called, answered] = step(0, ['a']).content;
  assert.equal(await settled([called, answered], 'error'), 'skipped');
  assert.equal(await settled([called, { ...called, toolCallId: 'b' }, answered]), 'skipped');
  assert.equal(await settled([called, { type: 'tool-approval-request', approvalId: 'p', toolCallId: 'a' }]), 'skipped');
  assert.equal(await settled([called, { type: 'tool-error', toolCallId: 'a', toolName: 'look', error: 'no' }]), 'compacted');
});

test('12: shouldCompact is asked instead of the threshold', async () => {
  const { summarize } = summarizer();
  const run = (shouldCompact, threshold) => compact(prompt(), [step(200, ['a'])], { summarize, shouldCompact, threshold, tamp });
  assert.equal((await run(() => false, 1)).type, 'skipped');
  assert.equal((await run(() => true)).type, 'compacted');
});

test('13: only the last step counts', async () => {
  const { summarize } = summarizer();
  const first = step(9999, ['a']);
  const steps = [first, step(1, ['b'], { before: first })];
  assert.equal((await compact([...prompt(), call('b'), result('b')], steps, { summarize, threshold: 100, tamp })).type, 'skipped');
});

/** A turn compacted after step a. */
async function afterFirst(options) {
  const first = step(200, ['a']);
  assert.equal((await compact(prompt(), [first], options)).type, 'compacted');
  return first;
}
const later = () => [...prompt(), call('b'), result('b')];

test('14: the steps after a compaction are rebuilt on its summary; nobody is asked while they are small', async () => {
  const { summarize, given } = summarizer();
  let asked = 0;
  const options = { summarize, tamp, shouldCompact: () => { asked++; return true; } };
  const first = await afterFirst(options);
  const done = await compact(later(), [first, step(1, ['b'], { before: first })], options);
  assert.equal(done.type, 'rebuilt');
  assert.deepEqual(shape(done.messages), ['S:SUM1', 'U:Q', 'A:C(b)', 'T:R(b)']);
  assert.equal(given.length, 1);
  assert.equal(asked, 1);
});

test('15: over again, they are compacted again', async () => {
  const { summarize, given } = summarizer();
  const options = { summarize, tamp, threshold: 199 };
  const first = await afterFirst(options);
  const second = step(1e9, ['b'], { before: first });
  const done = await compact(later(), [first, second], options);
  assert.equal(done.type, 'compacted');
  assert.deepEqual(shape(done.messages), ['S:SUM2', 'U:Q']);
  assert.deepEqual(shape(given[1]), ['S:SUM1', 'U:Q', 'A:C(b)', 'T:R(b)']);
  const third = step(1, ['c'], { before: second });
  assert.deepEqual(shape((await compact([...later(), call('c'), result('c')], [first, second, third], options)).messages),
    ['S:SUM2', 'U:Q', 'A:C(c)', 'T:R(c)']);
});

test('16: after a compaction too, an unsafe step is skipped', async () => {
  const { summarize } = summarizer();
  const options = { summarize, tamp, threshold: 199 };
  const first = await afterFirst(options);
  const unsafe = step(300, ['b'], { before: first, content: [{ type: 'tool-call', toolCallId: 'b', toolName: 'look', input: {} }] });
  assert.equal((await compact(later(), [first, unsafe], options)).type, 'skipped');
});

test('17: responses of each step apart lose nothing', async () => {
  const { summarize } = summarizer();
  const options = { summarize, tamp, threshold: 199 };
  const first = await afterFirst(options);
  const done = await compact(later(), [first, step(1, ['b'])], options);
  assert.deepEqual(shape(done.messages), ['S:SUM1', 'U:Q', 'A:C(b)', 'T:R(b)']);
});

test('18: compactionStep resolves to undefined where nothing is done, else to the messages', async () => {
  const { summarize } = summarizer();
  const prepareStep = compactionStep({ summarize, threshold: 199, tamp });
  assert.equal(await prepareStep({ messages: [ask('Q')], steps: [] }), undefined);
  assert.deepEqual(shape((await prepareStep({ messages: prompt(), steps: [step(200, ['a'])] }))?.messages), ['S:SUM1', 'U:Q']);
});

test('19: only what was compacted has a summary, and what was skipped has no messages', async () => {
  const { summarize } = summarizer();
  const options = { summarize, tamp, threshold: 199 };
  const first = await afterFirst(options);
  const rebuilt = await compact(later(), [first, step(1, ['b'])], options);
  assert.equal('summary' in rebuilt, false);
  assert.equal('messages' in await compact([ask('Q')], [], options), false);
});

test('20: what a turn left is not there in the next one', async () => {
  const { summarize } = summarizer();
  const options = { summarize, tamp, threshold: 199 };
  await afterFirst(options);
  assert.equal((await compact(prompt(), [step(1, ['a'])], options)).type, 'skipped');
  const { acc } = accumulator();
  assert.equal(acc.state, null);
});

// ── the inner loop, a whole turn ─────────────────────────────────────────────────────────────────────────────

/** Runs a turn whose model calls these tools, one a step, and then says done; AI SDK 5 and 6 when `cumulative`. */
async function runTurn(acc, script, { cumulative = true, between = () => undefined, question = 'Q1', turn = 0, id = 'answer' } = {}) {
  const lane = await acc.addIncoming([ui.question(question)], 'submit-message', turn);
  const prepareStep = acc.prepareStep({ chatId: 'c', turn });
  const prompts = [];
  const steps = [];
  let carried = lane;
  for (const [name, tokens] of [...script, ['done', 50]]) {
    const messages = cumulative ? [...lane, ...steps.flatMap(({ own }) => own)] : carried;
    const prepared = await prepareStep({ messages, steps: steps.map(({ finished }) => finished) });
    const sent = prepared?.messages ?? messages;
    prompts.push(shape(sent));
    if (name === 'done') break;
    const finished = step(tokens, [name], { before: cumulative ? steps.at(-1)?.finished : undefined });
    steps.push({ finished, own: [call(name), result(name)] });
    carried = [...sent, call(name), result(name)];
    await between(steps.length);
  }
  const answer = ui.tool(id, script.map(([name]) => name), 'done')[0];
  await acc.addResponse(answer);
  return { prompts, answer };
}
const SCRIPT = [['a', 160], ['b', 50], ['c', 50]];

for (const cumulative of [true, false]) {
  const which = cumulative ? 'AI SDK 5 and 6' : 'AI SDK 7';
  test(`21, 22: each prompt after the compaction is the summary, the question and what followed (${which})`, async () => {
    const { acc, events } = accumulator();
    const { prompts, answer } = await runTurn(acc, SCRIPT, { cumulative });
    assert.deepEqual(prompts, [
      ['U:Q1'],
      ['S:SUM1', 'U:Q1'],
      ['S:SUM1', 'U:Q1', 'A:C(b)', 'T:R(b)'],
      ['S:SUM1', 'U:Q1', 'A:C(b)', 'T:R(b)', 'A:C(c)', 'T:R(c)'],
    ]);
    assert.equal(events.summarized.length, 1);
    assert.deepEqual(shape(acc.modelMessages), ['S:SUM1', 'U:Q1', 'A:C(b)', 'T:R(b)', 'A:C(c)', 'T:R(c)', 'A:done']);
    assert.equal(JSON.stringify(acc.modelMessages).includes('"a"'), false);
    assert.deepEqual(acc.uiMessages.at(-1), answer);
    assert.equal(acc.state?.source, 'inner');
  });
}

test('23: what people see of the turn keeps the covered step', async () => {
  const { acc } = accumulator();
  await runTurn(acc, SCRIPT);
  const tools = /** @type {any} */ (acc.uiMessages.at(-1)).parts.filter(({ type }) => type === 'tool-look');
  assert.deepEqual(tools.map(({ toolCallId }) => toolCallId), ['a', 'b', 'c']);
});

test('24: the next turn goes on from the summary without asking for another', async () => {
  const { acc, events } = accumulator();
  await runTurn(acc, SCRIPT);
  const lane = await acc.addIncoming([ui.question('Q2')], 'submit-message', 1);
  assert.deepEqual(shape(lane), ['S:SUM1', 'U:Q1', 'A:C(b)', 'T:R(b)', 'A:C(c)', 'T:R(c)', 'A:done', 'U:Q2']);
  assert.equal(events.summarized.length, 1);
});

test('25: of an answer with compacted steps the model reads the others, and the message is not changed', () => {
  const [answer] = ui.tool('x', ['a', 'b', 'c'], 'done');
  const kept = structuredClone(answer);
  const rest = (n) => /** @type {any} */ (answer).parts.slice(cutAfterSteps(answer, n)).filter(({ type }) => type === 'tool-look').length;
  assert.deepEqual([rest(1), rest(2), rest(3)], [2, 1, 0]);
  assert.deepEqual(answer, kept);
});

test('26: an empty step counts as a step', () => {
  const parts = [{ type: 'step-start' }, { type: 'step-start' }, { type: 'text', text: 'covered' }, { type: 'step-start' }, { type: 'text', text: 'kept' }];
  assert.equal(cutAfterSteps({ role: 'assistant', parts }, 2), 3);
});

test('27: an answer that ends with the compacted step leaves nothing to add', async () => {
  const { acc } = accumulator();
  await acc.addIncoming([ui.question('Q1')], 'submit-message', 0);
  const prepareStep = acc.prepareStep();
  await prepareStep({ messages: prompt(), steps: [step(160, ['a'])] });
  await acc.addResponse(ui.tool('answer', ['a'])[0]);
  assert.deepEqual(shape(acc.modelMessages), ['S:SUM1', 'U:Q1']);
});

test('28: text that was still streaming after the cut stays', () => {
  const parts = [{ type: 'step-start' }, { type: 'text', text: 'covered' }, { type: 'step-start' }, { type: 'text', text: 'par', state: 'streaming' }];
  assert.deepEqual(parts.slice(cutAfterSteps({ role: 'assistant', parts }, 1)).map(({ text }) => text), [undefined, 'par']);
});

test('29: data directly before the next step belongs to what stays', () => {
  const parts = [{ type: 'step-start' }, { type: 'text', text: 'covered' }, { type: 'data-chart', data: 1 }, { type: 'step-start' }];
  assert.equal(cutAfterSteps({ role: 'assistant', parts }, 1), 2);
});

test('30: an answer that goes on with an earlier one counts the steps it had', async () => {
  for (const [had, kept] of [[['x', 'y'], ['b']], [[], ['b']]]) {
    const { acc } = accumulator();
    const earlier = { id: 'answer', role: 'assistant', parts: ui.tool('answer', had)[0].parts };
    await acc.addIncoming([ui.question('Q1'), earlier], 'submit-message', 0);
    const prepareStep = acc.prepareStep();
    await prepareStep({ messages: [ask('Q1'), ...had.flatMap((id) => [call(id), result(id)]), call('a'), result('a')], steps: [step(160, ['a'])] });
    await acc.addResponse(ui.tool('answer', [...had, 'a', 'b'])[0]);
    assert.deepEqual(shape(acc.modelMessages), ['S:SUM1', 'U:Q1', ...kept.flatMap((id) => [`A:C(${id})`, `T:R(${id})`])]);
  }
  const { acc } = accumulator();
  await acc.addIncoming([ui.question('Q0'), ui.tool('other', ['x', 'y'])[0], ui.question('Q1')], 'submit-message', 0);
  await acc.prepareStep()({ messages: [ask('Q1'), call('a'), result('a')], steps: [step(160, ['a'])] });
  await acc.addResponse(ui.tool('answer', ['a', 'b'])[0]);
  assert.deepEqual(shape(acc.modelMessages).slice(-2), ['A:C(b)', 'T:R(b)']);
});

test('31: the lists of the inner events end where the turn began', async () => {
  const events = [];
  const { acc } = accumulator({
    compaction: {
      compactModelMessages: (event) => {
        events.push(event);
        return [{ role: 'user', content: event.summary }];
      },
      compactUIMessages: (event) => {
        events.push(event);
        return event.uiMessages;
      },
    },
  });
  await acc.addIncoming([ui.question('Q0'), ui.answer('A0'), ui.question('Q1')], 'submit-message', 0);
  const prepareStep = acc.prepareStep({ chatId: 'c', turn: 1, clientData: { plan: 'pro' } });
  await prepareStep({ messages: [ask('Q0'), say('A0'), ...prompt()], steps: [step(160, ['a'])] });
  assert.equal(events.length, 2);
  for (const event of events) {
    assert.deepEqual(shape(event.modelMessages), ['U:Q0', 'A:A0', 'U:Q1']);
    assert.deepEqual(event.uiMessages.map(({ id }) => id), ['Q0', 'A0', 'Q1']);
    assert.deepEqual([event.source, event.chatId, event.turn, event.clientData, event.summary], ['inner', 'c', 1, { plan: 'pro' }, 'SUM1']);
  }
});

test('32: a turn that was compacted inside is not asked about after it', async () => {
  const { acc, events } = accumulator();
  await runTurn(acc, SCRIPT);
  const asked = events.asked.length;
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), false);
  assert.equal(events.asked.length, asked);
  assert.equal(events.summarized.length, 1);
});

for (const cumulative of [true, false]) {
  test(`33: what the person says during a turn is in all its later prompts (${cumulative ? 'AI SDK 5 and 6' : 'AI SDK 7'})`, async () => {
    const { acc } = accumulator();
    const { prompts } = await runTurn(acc, SCRIPT, {
      cumulative,
      between: (steps) => (steps === 1 ? acc.steer(ui.question('WAIT')) : undefined),
    });
    assert.deepEqual(prompts.slice(1), [
      ['S:SUM1', 'U:Q1', 'U:WAIT'],
      ['S:SUM1', 'U:Q1', 'U:WAIT', 'A:C(b)', 'T:R(b)'],
      ['S:SUM1', 'U:Q1', 'U:WAIT', 'A:C(b)', 'T:R(b)', 'A:C(c)', 'T:R(c)'],
    ]);
    assert.deepEqual(shape(acc.modelMessages), ['S:SUM1', 'U:Q1', 'U:WAIT', 'A:C(b)', 'T:R(b)', 'A:C(c)', 'T:R(c)', 'A:done']);
  });

  test(`33: said after the compaction, it stays where it was said (${cumulative ? 'AI SDK 5 and 6' : 'AI SDK 7'})`, async () => {
    const { acc } = accumulator();
    const { prompts } = await runTurn(acc, SCRIPT, {
      cumulative,
      between: (steps) => (steps === 2 ? acc.steer(ui.question('WAIT')) : undefined),
    });
    assert.deepEqual(prompts.slice(2), [
      ['S:SUM1', 'U:Q1', 'A:C(b)', 'T:R(b)', 'U:WAIT'],
      ['S:SUM1', 'U:Q1', 'A:C(b)', 'T:R(b)', 'U:WAIT', 'A:C(c)', 'T:R(c)'],
    ]);
  });
}

test('34: a prompt says whether it was compacted or rebuilt', async () => {
  const { acc } = accumulator();
  await acc.addIncoming([ui.question('Q1')], 'submit-message', 0);
  const prepareStep = acc.prepareStep();
  const first = step(160, ['a']);
  const second = step(50, ['b'], { before: first });
  assert.equal(await prepareStep({ messages: [ask('Q1')], steps: [] }), undefined);
  assert.equal((await prepareStep({ messages: prompt(), steps: [first] })).type, 'compacted');
  assert.equal((await prepareStep({ messages: later(), steps: [first, second] })).type, 'rebuilt');
});

// ── the outer loop ───────────────────────────────────────────────────────────────────────────────────────────

test('35: after a turn the lane becomes a summary and people see what they saw', async () => {
  const { acc, events } = accumulator();
  await acc.addIncoming([ui.question('Q1')], 'submit-message', 0);
  await acc.addResponse(ui.answer('A1'));
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }, { turn: 0 }), true);
  const [{ source, totalTokens, turn, estimated, stepNumber }] = events.asked;
  assert.deepEqual({ source, totalTokens, turn, estimated, stepNumber }, { source: 'outer', totalTokens: 160, turn: 0, estimated: false, stepNumber: -1 });
  assert.deepEqual(shape(events.summarized[0].messages), ['U:Q1', 'A:A1']);
  assert.deepEqual(shape(acc.modelMessages), ['S:SUM1']);
  assert.deepEqual(acc.uiMessages.map((message) => /** @type {any} */ (message).id), ['Q1', 'A1']);
});

test('36: the next prompt is the summary and the question', async () => {
  const { acc } = await compacted();
  assert.deepEqual(shape(await acc.addIncoming([ui.question('Q2')], 'submit-message', 1)), ['S:SUM1', 'U:Q2']);
});

test('37: a second compaction takes the first summary in and replaces it', async () => {
  const { acc, events } = await compacted();
  for (const n of [2, 3]) {
    await acc.addIncoming([ui.question(`Q${n}`)], 'submit-message', n);
    await acc.addResponse(ui.answer(`A${n}`));
  }
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), true);
  assert.deepEqual(shape(events.summarized[1].messages), ['S:SUM1', 'U:Q2', 'A:A2', 'U:Q3', 'A:A3']);
  assert.equal(events.summarized[0].previousSummary, null);
  assert.equal(events.summarized[1].previousSummary, 'SUM1');
  assert.deepEqual(shape(acc.modelMessages), ['S:SUM2']);
  assert.equal(acc.state?.generation, 2);
});

test('38: the event tells the last call from the turn and the turn from the chat', async () => {
  const asked = [];
  const session = await createSession({
    chatId: 'c', tamp, format: 'ai-sdk-ui',
    compaction: { shouldCompact: (event) => { asked.push(event); return false; }, summarize: () => 'SUM' },
  });
  const turn = await session.send(ui.question('Q1'));
  const prepareStep = turn.prepareStep();
  const first = step(0, ['a'], { usage: { inputTokens: 1000, outputTokens: 10, totalTokens: 1010 } });
  await prepareStep({ messages: turn.messages, steps: [] });
  await prepareStep({ messages: [...turn.messages, call('a'), result('a')], steps: [first] });
  await turn.complete({ usage: { inputTokens: 1300, outputTokens: 20, totalTokens: 1320 }, message: ui.tool('A1', ['a'], 'done')[0] });
  const { source, inputTokens, turnUsage, totalUsage } = asked.at(-1);
  assert.deepEqual([source, inputTokens, turnUsage.inputTokens, totalUsage.inputTokens], ['outer', 1300, 2300, 2300]);
  const next = await session.send(ui.question('Q2'));
  await next.complete({ usage: { inputTokens: 700 }, message: ui.answer('A2') });
  assert.equal(asked.at(-1).totalUsage.inputTokens, 3000);
});

test('39: a stopped turn is not asked about, nor one without usage; an empty usage is judged by an estimate', async () => {
  const asked = [];
  const session = await createSession({
    chatId: 'c', tamp, format: 'ai-sdk-ui',
    compaction: { shouldCompact: (event) => { asked.push(event); return false; }, summarize: () => 'SUM' },
  });
  const stopped = await session.send(ui.question('Q1'));
  stopped.stop();
  await stopped.complete({ usage: { totalTokens: 160 }, message: ui.answer('A1') });
  const silent = await session.send(ui.question('Q2'));
  await silent.complete({ message: ui.answer('A2') });
  assert.equal(asked.length, 0);
  const empty = await session.send(ui.question('Q3'));
  await empty.complete({ usage: { totalTokens: undefined }, message: ui.answer('A3') });
  assert.equal(asked.length, 1);
  assert.equal(asked[0].estimated, true);
  assert.equal(asked[0].inputTokens, undefined);
  assert.ok(asked[0].totalTokens > 100);
});

test('40: the hook is told the step, -1 after a turn', async () => {
  const outer = await compacted();
  assert.equal(outer.events.compacted[0].stepNumber, -1);
  const inner = accumulator();
  await runTurn(inner.acc, SCRIPT);
  assert.equal(inner.events.compacted[0].stepNumber, 0);
});

test('41: the hook is told how many messages were summarised, and what came of them', async () => {
  const { events } = await compacted();
  const [{ messageCount, messages, messagesAfter, summary, source }] = events.compacted;
  assert.deepEqual([messageCount, shape(messages), shape(messagesAfter), summary, source], [2, ['U:Q1', 'A:A1'], ['S:SUM1'], 'SUM1', 'outer']);
});

test('42: the indicator opens, the summary is made, the hook is told, the indicator closes', async () => {
  const { log } = await compacted({ chatId: 'c' });
  const part = (status) => ({ type: 'data-compaction', id: 'compaction-c-1', data: { status, totalTokens: 160 } });
  assert.deepEqual(log, ['ask', part('compacting'), 'summarize', 'onCompacted', part('complete')]);
});

/** An accumulator with one exchange whose attempt to compact is expected to change nothing. */
async function unchanged(compaction, check) {
  const { acc, log, events } = accumulator({ compaction });
  await acc.addIncoming([ui.question('Q1')], 'submit-message', 0);
  await acc.addResponse(ui.answer('A1'));
  const [model, shown] = [acc.modelMessages, acc.uiMessages];
  await check(acc);
  assert.equal(acc.modelMessages, model);
  assert.equal(acc.uiMessages, shown);
  assert.equal(acc.state, null);
  assert.equal(events.compacted.length, 0);
  assert.deepEqual(log.filter((entry) => typeof entry === 'object').map(({ data }) => data.status), ['compacting', 'failed']);
  // Not again before there is something new.
  const asked = events.asked.length;
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), false);
  assert.equal(events.asked.length, asked);
  return acc;
}

test('43: a summarizer that throws changes nothing', () =>
  unchanged({ summarize: () => { throw new Error('offline'); } }, (acc) => assert.rejects(acc.compactIfNeeded({ totalTokens: 160 }), /offline/)));

test('44: a blank summary, one that is no string, and one that is not smaller change nothing', async () => {
  for (const [summary, code] of [['', 'blank'], [' \n\t', 'blank'], [undefined, 'not-text'], [{ text: 'S' }, 'not-text'], [long('S').repeat(9), 'not-smaller']]) {
    const acc = await unchanged({ summarize: async () => summary }, async (tried) => assert.equal(await tried.compactIfNeeded({ totalTokens: 160 }), false));
    assert.equal(acc.failure?.code, code);
  }
});

test('45: when a callback throws, both lanes are as they were', async () => {
  const fail = () => { throw new Error('no'); };
  for (const name of ['compactModelMessages', 'compactUIMessages']) {
    await unchanged({ [name]: fail }, (acc) => assert.rejects(acc.compactIfNeeded({ totalTokens: 160 }), /no/));
    await unchanged({ [name]: () => 'no list' }, (acc) => assert.rejects(acc.compactIfNeeded({ totalTokens: 160 }), TypeError));
  }
});

/** What people see, a summary and the last four. */
const lastFour = ({ summary, uiMessages }) => [
  { id: 'sum', role: 'assistant', parts: [{ type: 'text', text: `[Summary]\n\n${summary}` }] },
  ...uiMessages.slice(-4),
];

test('46: what people see becomes what compactUIMessages chose', async () => {
  for (const [exchanges, count] of [[5, 5], [1, 3]]) {
    const { acc } = accumulator({ compaction: { compactUIMessages: lastFour } });
    const messages = Array.from({ length: exchanges }, (_, n) => [ui.question(`Q${n}`), ui.answer(`A${n}`)]).flat();
    await acc.addIncoming(messages, 'submit-message', 0);
    assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), true);
    assert.equal(acc.uiMessages.length, count);
    assert.deepEqual(acc.uiMessages.slice(1), messages.slice(-4));
    assert.ok(acc.uiMessages.slice(1).every((message) => messages.includes(/** @type {any} */ (message))));
    assert.deepEqual(shape(acc.modelMessages), ['S:SUM1']);
  }
});

test('47: what people see may become one message; the model still reads its summary', async () => {
  const { acc } = accumulator({ compaction: { compactUIMessages: (event) => lastFour({ ...event, uiMessages: [] }) } });
  await acc.addIncoming([ui.question('Q1'), ui.answer('A1')], 'submit-message', 0);
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), true);
  assert.equal(acc.uiMessages.length, 1);
  assert.deepEqual(shape(await acc.addIncoming([ui.question('Q2')], 'submit-message', 1)), ['S:SUM1', 'U:Q2']);
});

test('48: a tail that begins with a result loses it', async () => {
  const { acc } = accumulator({
    compaction: { compactModelMessages: ({ summary, modelMessages }) => [{ role: 'user', content: summary }, ...modelMessages.slice(-2)] },
  });
  await acc.addIncoming([ui.question('Q1'), ...ui.tool('A1', ['a'], 'done')], 'submit-message', 0);
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), true);
  assert.deepEqual(shape(acc.modelMessages), ['U:SUM1', 'A:done']);
});

test('49: results alone leave none of them, and the summary in their place', async () => {
  const { acc } = accumulator({
    compaction: { compactModelMessages: ({ modelMessages }) => modelMessages.filter(({ role }) => role === 'tool') },
  });
  await acc.addIncoming([ui.question('Q1'), ...ui.tool('A1', ['a', 'b'], 'done')], 'submit-message', 0);
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), true);
  assert.deepEqual(shape(acc.modelMessages), ['S:SUM1']);
});

test('50: an empty chat is not compacted', async () => {
  const { acc, log } = accumulator();
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), false);
  assert.equal(await acc.compactNow(), false);
  assert.deepEqual(log, []);
});

test('51: nothing is compacted twice', async () => {
  const { acc, events } = await compacted();
  const { state } = acc;
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), false);
  assert.equal(await acc.compactNow(), false);
  assert.equal(events.summarized.length, 1);
  assert.equal(acc.state, state);
});

// ── durable state and what clears it ─────────────────────────────────────────────────────────────────────────

/** A stored chat of `count` messages m-0, m-1, … whose summary covers the first `covered`. */
async function stored(count, covered, store = memoryStore()) {
  const messages = Array.from({ length: count }, (_, n) => (n % 2 === 0 ? ui.question(`m-${n}`) : ui.answer(`m-${n}`)));
  const session = await open(store);
  await session.send(messages.slice(0, covered));
  assert.equal(await session.compact(), true);
  if (covered < count) await session.send(messages.slice(covered));
  await session.close();
  return { store, messages };
}
const open = (store, options) => createSession({
  chatId: 'c', tamp, format: 'ai-sdk-ui', store,
  compaction: { shouldCompact: ({ totalTokens }) => totalTokens > 100, summarize: () => 'SUM' },
  ...options,
});
const put = (message) => ({ type: 'put', id: message.id, message });

test('52: a summary that covers no message stands before all of them', async () => {
  const { acc } = await compacted();
  const state = { ...acc.state, throughId: '', covered: 0, digest: '0'.repeat(32) };
  const store = memoryStore();
  await store.save('c', [put(ui.question('u-2')), { type: 'state', state }]);
  assert.deepEqual(shape((await open(store)).modelMessages), ['S:SUM1', 'U:u-2']);
});

test('53, 56: without its last covered message a summary is dropped', async () => {
  const { store } = await stored(10, 6);
  await store.save('c', [{ type: 'remove', id: 'm-5' }]);
  const session = await open(store);
  assert.equal(session.state, null);
  assert.equal(session.invalidation?.code, 'removed');
  assert.equal(session.modelMessages.length, 9);
  const cut = (await stored(10, 6)).store;
  await cut.save('c', [{ type: 'truncateAfter', id: 'm-3' }]);
  assert.deepEqual(shape((await open(cut)).modelMessages), ['U:m-0', 'A:m-1', 'U:m-2', 'A:m-3']);
});

test('54: a covered message that was edited in the store drops the summary', async () => {
  const { store } = await stored(10, 6);
  await store.save('c', [put({ ...ui.question('m-2'), parts: [{ type: 'text', text: 'something else' }] })]);
  const session = await open(store);
  assert.equal(session.state, null);
  assert.equal(session.invalidation?.code, 'changed');
  assert.equal((await store.load('c'))?.state, null);
});

test('55: a covered message that is gone from the store drops the summary', async () => {
  const { store } = await stored(10, 6);
  await store.save('c', [{ type: 'remove', id: 'm-2' }]);
  assert.equal((await open(store)).state, null);
});

test('57: a chat goes on from its summary after a reload, and asks for no other', async () => {
  const store = memoryStore();
  const first = await open(store);
  const turn = await first.send(ui.question('Q1'));
  await turn.complete({ usage: { totalTokens: 160 }, message: ui.answer('A1') });
  const second = await first.send(ui.question('Q2'));
  await second.complete({ usage: { totalTokens: 50 }, message: ui.answer('A2') });
  await first.close();
  let asked = 0;
  const again = await open(store, { compaction: { shouldCompact: () => false, summarize: () => { asked++; return 'no'; } } });
  const { messages } = await again.send(ui.question('Q3'));
  assert.deepEqual(shape(messages), ['S:SUM', 'U:Q2', 'A:A2', 'U:Q3']);
  assert.equal(asked, 0);
});

test('58: undoing what came after the summary keeps it', async () => {
  const { store } = await stored(10, 6);
  const session = await open(store);
  await session.undo('m-7');
  assert.deepEqual(shape(session.modelMessages), ['S:SUM', 'U:m-6', 'A:m-7']);
  assert.equal(session.invalidation, null);
});

test('59: undoing into what it covers clears it in the same save; the next one is made of what is left', async () => {
  const { store } = await stored(10, 6);
  const saves = [];
  const given = [];
  const session = await open({ ...store, save: (id, changes) => { saves.push(changes); return store.save(id, changes); } }, {
    compaction: { shouldCompact: () => true, summarize: ({ messages }) => { given.push(shape(messages)); return 'SUM2'; } },
  });
  await session.undo('m-3');
  assert.deepEqual(saves, [[{ type: 'truncateAfter', id: 'm-3' }, { type: 'state', state: null }]]);
  assert.equal(session.invalidation?.code, 'removed');
  assert.equal(await session.compact(), true);
  assert.deepEqual(given, [['U:m-0', 'A:m-1', 'U:m-2', 'A:m-3']]);
});

test('60: editing a covered message clears the summary, editing a later one does not', async () => {
  const { store } = await stored(10, 6);
  const session = await open(store);
  await session.edit('m-8', { ...ui.question('m-8'), parts: [{ type: 'text', text: 'edited' }] });
  assert.notEqual(session.state, null);
  await session.edit('m-2', { ...ui.question('m-2'), parts: [{ type: 'text', text: 'edited' }] });
  assert.equal(session.state, null);
  assert.equal(session.invalidation?.code, 'edited');
  assert.match(session.invalidation?.message ?? '', /m-2/);
});

test('61: answering the last question again keeps the summary before it', async () => {
  const { store } = await stored(10, 6);
  const session = await open(store);
  const turn = await session.regenerate();
  assert.deepEqual(shape(turn.messages), ['S:SUM', 'U:m-6', 'A:m-7', 'U:m-8']);
});

test('62: an approval that is answered after a compaction goes on from the summary', async () => {
  const { acc } = accumulator();
  const waiting = (state, approval) => ({
    id: 'A2', role: 'assistant',
    parts: [{ type: 'step-start' }, { type: 'tool-pay', toolCallId: 'p', state, input: { sum: 1 }, approval: { id: 'ok', ...approval } }],
  });
  await acc.addIncoming([ui.question('Q1'), ui.answer('A1'), ui.question('Q2')], 'submit-message', 0);
  await acc.addResponse(waiting('approval-requested', {}));
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), true);
  const lane = await acc.addIncoming([waiting('approval-responded', { approved: true })], 'submit-message', 1);
  assert.deepEqual(shape(lane).slice(0, 3), ['S:SUM1', 'U:Q2', 'A:C(p)']);
  assert.equal(JSON.stringify(lane).includes('tool-approval-response'), true);
  await acc.addResponse({ ...waiting('output-available', { approved: true }), parts: [...ui.tool('A2', ['p'], 'paid')[0].parts] });
  assert.deepEqual(shape(await acc.addIncoming([ui.question('Q3')], 'submit-message', 2)).slice(0, 2), ['S:SUM1', 'U:Q2']);
});

test('63, 64: a store never trims a transcript: what was covered can be put back', async () => {
  const { store } = await stored(300, 200);
  const session = await open(store);
  assert.equal(session.uiMessages.length, 300);
  assert.equal(session.modelMessages.length, 101);
  await session.restore();
  assert.equal(session.modelMessages.length, 300);
});

test('65: a state of another version, or with a field of another type, is none; unknown members are dropped', async () => {
  const { acc } = await compacted();
  const { state } = acc;
  assert.deepEqual(parseState(JSON.parse(JSON.stringify(state))), state);
  assert.equal(parseState({ ...state, v: 2 }), null);
  assert.deepEqual(parseState({ ...state, more: 1 }), state);
  for (const [key, value] of [['summary', 1], ['throughId', null], ['covered', -1], ['covered', 1.5], ['digest', undefined], ['source', 'x'], ['generation', '1'], ['createdAt', null], ['kept', [1]], ['part', { id: 'x' }], ['lane', 'x']]) {
    assert.equal(parseState({ ...state, [key]: value }), null, key);
  }
  for (const value of [null, undefined, 'x', [], 7]) assert.equal(parseState(value), null);
});

test('66: what the person said in covered turns is not said again', async () => {
  const { acc } = accumulator();
  await acc.addIncoming([ui.question('Q1')], 'submit-message', 0);
  await acc.steer(ui.question('WAIT'));
  await acc.addResponse(ui.answer('A1'));
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), true);
  assert.deepEqual(shape(await acc.addIncoming([ui.question('Q2')], 'submit-message', 1)), ['S:SUM1', 'U:Q2']);
});

test('67: changes are idempotent, and unknown ids are no errors', () => {
  const [m1, m2, m3] = ['m1', 'm2', 'm3'].map((id) => ({ id, role: 'user', content: id }));
  const chat = { entries: [m1, m2].map((message) => ({ id: message.id, message })), state: null };
  const after = (...changes) => applyChanges(chat, changes).entries.map(({ message }) => message);
  const other = { ...m1, content: 'other' };
  assert.deepEqual(after(put(m3)), [m1, m2, m3]);
  assert.deepEqual(after(put(other)), [other, m2]);
  assert.deepEqual(after({ type: 'remove', id: 'no' }, { type: 'truncateAfter', id: 'no' }), [m1, m2]);
  assert.deepEqual(after({ type: 'truncateAfter', id: 'm1' }), [m1]);
  assert.deepEqual(after({ type: 'truncateAfter', id: null }), []);
  const changes = [{ type: 'truncateAfter', id: 'm1' }, put(m3), put(other), { type: 'state', state: null }];
  const once = applyChanges(chat, changes);
  assert.deepEqual(applyChanges(once, changes), once);
  assert.equal(applyChanges({ ...chat, state: { v: 1 } }, [{ type: 'state', state: null }]).state, null);
  assert.throws(() => after({ type: 'move' }), TypeError);
});

test('68: the changes between two transcripts make the one of the other', () => {
  const make = (...ids) => ids.map((id) => ({ id, message: { id } }));
  const [a, b, c, d] = make('a', 'b', 'c', 'd');
  const diff = (before, after) => {
    const changes = diffEntries(before, after);
    assert.deepEqual(applyChanges({ entries: before, state: null }, changes).entries, after);
    return changes.map(({ type, id }) => `${type} ${id}`);
  };
  assert.deepEqual(diff([a, b], [a, b, c]), ['put c']);
  assert.deepEqual(diff([a, b], [a, { id: 'b', message: { id: 'b', new: true } }]), ['put b']);
  assert.deepEqual(diff([a, b], [a, b]), []);
  assert.deepEqual(diff([a, b, c, d], [a, b]), ['truncateAfter b']);
  assert.deepEqual(diff([a, b, c], [a, b, d]), ['truncateAfter b', 'put d']);
  assert.deepEqual(diff([a, b], [c]), ['remove a', 'remove b', 'put c']);
  assert.deepEqual(diff([a, b, c], [a, c, b]), ['truncateAfter a', 'put c', 'put b']);
});

// ── accumulator and session ──────────────────────────────────────────────────────────────────────────────────

test('69: turn 0 and regenerate-message replace the transcript, anything else is appended', async () => {
  const { acc } = accumulator();
  assert.deepEqual(shape(await acc.addIncoming([ui.question('Q1')], 'submit-message', 0)), ['U:Q1']);
  assert.deepEqual(shape(await acc.addIncoming([ui.question('Q2')], 'submit-message', 1)), ['U:Q1', 'U:Q2']);
  assert.deepEqual(shape(await acc.addIncoming([ui.question('Q3')], 'regenerate-message', 2)), ['U:Q3']);
  assert.deepEqual(shape(await acc.addIncoming([ui.question('Q4')], 'submit-message', 0)), ['U:Q4']);
});

test('70: what an aborted turn left behind goes', () => {
  const settled = { type: 'tool-look', toolCallId: 'a', state: 'output-available', input: {}, output: 'x' };
  const asked = { type: 'tool-pay', toolCallId: 'p', state: 'approval-requested', input: {}, approval: { id: 'ok' } };
  const message = {
    id: 'A', role: 'assistant',
    parts: [
      { type: 'text', text: 'par', state: 'streaming' }, { type: 'reasoning', text: 'hm', state: 'streaming' }, settled, asked,
      { type: 'tool-look', toolCallId: 'b', state: 'input-available', input: {} },
      { type: 'tool-look', toolCallId: 'c', state: 'input-streaming' },
      { type: 'tool-look', toolCallId: 'd', state: 'output-available', input: {}, output: 'so far', preliminary: true },
    ],
  };
  assert.deepEqual(withoutAborted(message).parts, [
    { type: 'text', text: 'par', state: 'done' }, { type: 'reasoning', text: 'hm', state: 'done' }, settled, asked,
  ]);
  const clean = ui.answer('A');
  assert.equal(withoutAborted(clean), clean);
});

test('71: an answer without an id gets one that stays, and one with a known id takes its place', async () => {
  const { acc } = accumulator();
  await acc.addIncoming([ui.question('Q1')], 'submit-message', 0);
  await acc.addResponse({ ...ui.answer('A1'), id: '' });
  const { id } = /** @type {any} */ (acc.uiMessages[1]);
  assert.match(id, /.{8,}/);
  await acc.addResponse({ ...ui.answer('A1'), id, parts: [{ type: 'text', text: 'better' }] });
  assert.equal(acc.uiMessages.length, 2);
  assert.equal(textOf(acc.uiMessages[1]), 'better');
});

test('72: a covered answer that goes on keeps the summary', async () => {
  const { acc } = await compacted();
  const covered = /** @type {any} */ (acc.uiMessages[1]);
  await acc.addResponse({ ...covered, parts: [...covered.parts, { type: 'step-start' }, { type: 'text', text: 'more' }] });
  assert.deepEqual(shape(acc.modelMessages), ['S:SUM1', 'A:more']);
  await acc.addResponse({ ...covered, parts: [{ type: 'text', text: 'another' }] });
  assert.deepEqual(shape(acc.modelMessages), ['S:SUM1', 'A:another']);
  assert.equal(acc.uiMessages.length, 2);
});

test('73: without usage nothing is asked; an empty one is; the limit is the callback\'s', async () => {
  for (const [usage, asked, done] of [[undefined, 0, false], [null, 0, false], [{}, 1, true], [{ totalTokens: 100 }, 1, false], [{ totalTokens: 101 }, 1, true]]) {
    const { acc, events } = accumulator();
    await acc.addIncoming([ui.question('Q1'), ui.answer('A1')], 'submit-message', 0);
    assert.equal(await acc.compactIfNeeded(usage), done);
    assert.equal(events.asked.length, asked);
  }
});

test('74: without compaction there is none, and no prepareStep', async () => {
  const { acc } = accumulator({ compaction: null });
  await acc.addIncoming([ui.question('Q1'), ui.answer('A1')], 'submit-message', 0);
  assert.equal(await acc.compactIfNeeded({ totalTokens: 160 }), false);
  assert.equal(await acc.compactNow(), false);
  assert.equal(acc.prepareStep(), undefined);
});

test('75: the context is handed on as it is, and a callback\'s event has a chat and a turn all the same', async () => {
  const context = { chatId: 'c', turn: 3, clientData: { a: 1 }, turnUsage: { totalTokens: 5 }, totalUsage: { totalTokens: 9 } };
  for (const given of [context, {}]) {
    let chosen;
    const { acc, events } = accumulator({ compaction: { compactUIMessages: (event) => { chosen = event; return event.uiMessages; } } });
    await acc.addIncoming([ui.question('Q1'), ui.answer('A1')], 'submit-message', 0);
    await acc.compactIfNeeded({ totalTokens: 160 }, given);
    const [{ chatId, turn, clientData, turnUsage, totalUsage }] = events.asked;
    assert.deepEqual({ chatId, turn, clientData, turnUsage, totalUsage }, { chatId: given.chatId, turn: given.turn, clientData: given.clientData, turnUsage: given.turnUsage, totalUsage: given.totalUsage });
    assert.deepEqual([chosen.chatId, chosen.turn], [given.chatId ?? '', given.turn ?? 0]);
    assert.deepEqual([events.summarized[0].chatId, events.compacted[0].turn], [given.chatId, given.turn]);
  }
});

test('76: what the person says after a compaction is in both lanes, and the summary still in', async () => {
  const { acc } = await compacted();
  await acc.steer(ui.question('WAIT'));
  assert.deepEqual(shape(acc.modelMessages), ['S:SUM1', 'U:WAIT']);
  assert.equal(acc.uiMessages.length, 3);
});

test('77: a callback that changes what it was given changes nothing', async () => {
  const spoil = ({ messages }) => {
    messages[0].parts = messages[0].content = 'spoilt';
    messages.push({ role: 'user', content: 'please summarise' });
    throw new Error('no');
  };
  await unchanged({ summarize: spoil }, (acc) => assert.rejects(acc.compactIfNeeded({ totalTokens: 160 }), /no/));
});

test('78: the turn after an inner compaction has its own question', async () => {
  const { acc } = accumulator();
  await runTurn(acc, SCRIPT);
  const { prompts } = await runTurn(acc, [['d', 50], ['e', 50]], { question: 'Q2', turn: 1, id: 'answer2' });
  for (const sent of prompts) assert.ok(sent.includes('U:Q2') && sent.includes('S:SUM1'), sent.join(' '));
  assert.deepEqual(prompts.at(-1)?.slice(-5), ['U:Q2', 'A:C(d)', 'T:R(d)', 'A:C(e)', 'T:R(e)']);
});

test('79: regenerating drops the last answer, on the wire with no message too', async () => {
  const session = await open(memoryStore());
  await (await session.send(ui.question('Q1'))).complete({ message: ui.answer('A1') });
  const turn = await session.regenerate();
  assert.deepEqual(shape(turn.messages), ['U:Q1']);
  assert.equal(turn.number, 0);
  const { acc } = accumulator();
  await acc.addIncoming([ui.question('Q1'), ui.answer('A1')], 'submit-message', 0);
  assert.deepEqual(shape(await acc.addIncoming([], 'regenerate-message', 1)), ['U:Q1']);
});

test('80: a turn whose summary failed has its answer and can still be completed', async () => {
  const store = memoryStore();
  const session = await open(store, { compaction: { shouldCompact: () => true, summarize: () => { throw new Error('offline'); } } });
  const turn = await session.send(ui.question('Q1'));
  await assert.rejects(turn.complete({ usage: { totalTokens: 160 }, message: ui.answer('A1') }), /offline/);
  assert.deepEqual(shape(session.modelMessages), ['U:Q1', 'A:A1']);
  assert.equal((await store.load('c'))?.messages.length, 2);
  await turn.complete();
});

// ── because the person says so ───────────────────────────────────────────────────────────────────────────────

test('81, 84: compacting by hand shows one part, and the next prompt goes on from the summary', async () => {
  const parts = new Map();
  const session = await open(memoryStore(), { onIndicator: (part) => parts.set(part.id, [...(parts.get(part.id) ?? []), part.data.status]) });
  const turn = await session.send(ui.question('u1'));
  await turn.complete({ message: ui.answer('a1') });
  assert.equal(await session.compact(), true);
  assert.deepEqual([...parts.values()], [['compacting', 'complete']]);
  assert.deepEqual(shape(session.modelMessages), ['S:SUM']);
  assert.equal(session.state?.source, 'action');
  const next = await session.send(ui.question('Q2'));
  assert.deepEqual(shape(next.messages), ['S:SUM', 'U:Q2']);
  assert.equal(next.number, turn.number + 1);
});

test('82: what is no message of this chat is not edited', async () => {
  const { store } = await stored(4, 2);
  const session = await open(store);
  const { uiMessages } = session;
  await assert.rejects(session.edit('nobody', ui.question('x')), (error) => error instanceof TampError && error.code === 'unknown-message');
  await assert.rejects(session.undo('nobody'), TampError);
  assert.equal(session.uiMessages, uiMessages);
});

test('83: a compaction that replaces what people see is one save', async () => {
  const store = memoryStore();
  const saves = [];
  const session = await open({ ...store, save: (id, changes) => { saves.push(changes); return store.save(id, changes); } }, {
    compaction: { shouldCompact: () => true, summarize: () => 'SUM', compactUIMessages: (event) => lastFour({ ...event, uiMessages: [] }) },
  });
  await (await session.send(ui.question('u1'))).complete({ message: ui.answer('a1') });
  saves.length = 0;
  assert.equal(await session.compact(), true);
  assert.deepEqual(saves.map((changes) => changes.map(({ type, id }) => (id === undefined ? type : `${type} ${id}`))), [['remove u1', 'remove a1', 'put sum', 'state']]);
});

// ── what pruneMessages does, with strategies ─────────────────────────────────────────────────────────────────

const part = {
  reason: (text) => ({ type: 'reasoning', text }),
  text: (text) => ({ type: 'text', text }),
  call: (id, toolName) => ({ type: 'tool-call', toolCallId: id, toolName, input: {} }),
};
const assistant = (...content) => ({ role: 'assistant', content });
const answered = (id, toolName) => ({ role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName, output: { type: 'text', value: `found ${id}` } }] });
const USER = { role: 'user', content: 'Q' };
const L = [
  USER,
  assistant(part.reason('r1'), part.call('1', 'search')), answered('1', 'search'),
  assistant(part.reason('r2'), part.call('2', 'calc')), answered('2', 'calc'),
  assistant(part.reason('r3'), part.text('text')),
];

/** What a policy leaves: the places in the list of messages that stayed as they are, the rest spelled out. */
function pruned(messages, policy) {
  const { messages: left } = tamp.compact(messages, policy, { format: 'ai-sdk-model' });
  return left.map((message) => (messages.includes(message) ? messages.indexOf(message)
    : /** @type {any} */ (message).content.map(({ text, toolCallId }) => text ?? toolCallId).join(' ')));
}
const ALL = [0, 1, 2, 3, 4, 5];

test('85: a list that is right stays as it is', () => {
  assert.equal(tamp.compact(L, { strategy: 'repair' }, { format: 'ai-sdk-model' }).messages, L);
});

test('86, 87: reasoning goes from all turns but the newest, and never from what is newest', () => {
  assert.deepEqual(pruned(L, dropReasoning({ keepLastTurns: 0 })), [0, '1', 2, '2', 4, 5]);
  assert.deepEqual(pruned(L, dropReasoning()), ALL);
  assert.deepEqual(pruned([...L, { role: 'user', content: 'Q2' }], dropReasoning()).slice(0, 6), [0, '1', 2, '2', 4, 'text']);
});

test('88 to 92: tool calls go with their results and their reasoning, but for the newest groups; 0 keeps none', () => {
  assert.deepEqual(pruned(L, dropToolCalls({ keepLastToolCallGroups: 0 })), [0, 5]);
  assert.deepEqual(pruned(L, dropToolCalls({ keepLastToolCallGroups: 1 })), [0, 3, 4, 5]);
  assert.deepEqual(pruned(L, dropToolCalls({ keepLastToolCallGroups: 2 })), ALL);
  assert.deepEqual(pruned(L, dropToolCalls({ keepLastToolCallGroups: 100 })), ALL);
});

test('93: with names, only those tools go', () => {
  assert.deepEqual(pruned(L, dropToolCalls({ keepLastToolCallGroups: 0, tools: ['search'] })), [0, 3, 4, 5]);
  assert.deepEqual(pruned(L, dropToolCalls({ keepLastToolCallGroups: 0, tools: [] })), ALL);
  assert.deepEqual(pruned(L, dropToolCalls({ keepLastToolCallGroups: 1, tools: ['calc'] })), ALL);
  const both = [dropToolCalls({ keepLastToolCallGroups: 0, tools: ['search'] }), dropToolCalls({ keepLastToolCallGroups: 1, tools: ['calc'] })];
  assert.deepEqual(pruned(L, both), [0, 3, 4, 5]);
});

test('94: an approval stays with the call it is about while that waits, and goes with it', () => {
  const asked = assistant(part.text('text'), part.call('1', 'pay'), { type: 'tool-approval-request', approvalId: 'x', toolCallId: '1' });
  const approved = { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'x', approved: true }] };
  const none = dropToolCalls({ keepLastToolCallGroups: 0 });
  assert.deepEqual(pruned([USER, asked, approved], none), [0, 1, 2]);
  const done = [USER, asked, approved, answered('1', 'pay'), assistant(part.text('paid'))];
  assert.deepEqual(pruned(done, none), [0, 4]);
  assert.deepEqual(pruned(done, dropToolCalls({ keepLastToolCallGroups: 0, tools: ['other'] })), [0, 1, 2, 3, 4]);
});

test('95: messages that were empty before are nobody\'s business', () => {
  const empty = [{ role: 'user', content: '' }, { role: 'assistant', content: '' }, assistant(part.text('')), { role: 'user', content: [] }];
  assert.equal(tamp.compact(empty, { strategy: 'repair' }, { format: 'ai-sdk-model' }).messages, empty);
});

test('96: no reasoning is left of a call that went, and other reasoning stays', () => {
  const list = [USER, assistant(part.reason('a'), part.call('1', 's'), part.text('b')), answered('1', 's'), assistant(part.text('done'))];
  assert.deepEqual(pruned(list, dropToolCalls({ keepLastToolCallGroups: 0 })), [0, 3]);
  assert.deepEqual(pruned([USER, assistant(part.reason('only')), USER], dropToolCalls({ keepLastToolCallGroups: 0 })).length, 3);
});

test('97: a window that ends in a pair keeps both its halves', () => {
  assert.deepEqual(pruned(L.slice(0, 5), dropToolCalls({ keepLastToolCallGroups: 1 })), [0, 3, 4]);
});

// ── texts for the summarizer ─────────────────────────────────────────────────────────────────────────────────

test('98: an estimate decides where no usage was reported', async () => {
  const { acc, events } = accumulator({ over: 60_000 });
  await acc.addIncoming([{ ...ui.question('Q1'), parts: [{ type: 'text', text: long('Q1').repeat(1200) }] }, ui.answer('A1')], 'submit-message', 0);
  assert.equal(await acc.compactIfNeeded({}), true);
  assert.equal(events.asked[0].estimated, true);
});

test('99: a tail that a callback cuts off anywhere is repaired', async () => {
  const lane = [ui.question('Q1'), ...ui.tool('A1', ['a'], 'done')];
  for (const [count, left] of [[1, ['A:done']], [2, ['A:done']], [3, ['A:C(a)', 'T:R(a)', 'A:done']]]) {
    const { acc } = accumulator({
      compaction: { compactModelMessages: ({ summary, modelMessages }) => [{ role: 'user', content: summary }, ...modelMessages.slice(-count)] },
    });
    await acc.addIncoming(lane, 'submit-message', 0);
    await acc.compactIfNeeded({ totalTokens: 160 });
    assert.deepEqual(shape(acc.modelMessages), ['U:SUM1', ...left]);
  }
});

test('100: each message is rendered short, and never cut inside a character', () => {
  const text = renderMessages([{ role: 'user', content: 'a' + '🎉'.repeat(25_000) }]);
  assert.ok(text.length < 2100, String(text.length));
  assert.ok(text.startsWith('user: a🎉'));
  assert.equal(text.isWellFormed(), true);
});

test('messages that arrive during a compaction are behind it and not covered', async () => {
  const gate = deferred();
  const { acc, events } = accumulator({ compaction: { summarize: () => gate.promise } });
  await acc.addIncoming([ui.question('Q1'), ui.answer('A1')], 'submit-message', 0);
  const running = acc.compactIfNeeded({ totalTokens: 160 });
  const joined = acc.compactIfNeeded({ totalTokens: 160 });
  await acc.addIncoming([ui.question('Q2')], 'submit-message', 1);
  gate.resolve('SUM');
  assert.deepEqual(await Promise.all([running, joined]), [true, true]);
  assert.deepEqual(shape(acc.modelMessages), ['S:SUM', 'U:Q2']);
  assert.equal(acc.state?.covered, 2);
  assert.equal(events.asked.length, 1);
});
