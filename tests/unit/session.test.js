import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { loadTamp, TampError } from 'tamp';
import { createSession, isCompactionSafe, MessageAccumulator } from 'tamp/session';
import { memoryStore } from 'tamp/store';
import { deepFreeze } from '../lib/freeze.js';
import { deferred, formats, long, shape } from '../lib/chats.js';

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const open = (options = {}) => createSession({
  chatId: 'c', tamp, store: memoryStore(),
  ...options,
  compaction: { shouldCompact: ({ totalTokens }) => totalTokens > 100, summarize: () => 'SUM', ...options.compaction },
});

/** A turn from question to answer. */
async function exchange(session, words, n, usage) {
  const turn = await session.send(words.question(`Q${n}`));
  for (const message of words.tool(`A${n}`, [`c${n}`], `A${n}`)) await turn.addResponse(message);
  await turn.complete({ usage });
  return turn;
}

const shared = formats['ag-ui'];

for (const [format, words] of Object.entries(formats)) {
  describe(`a chat of ${format} messages`, () => {
    test('compacts after a turn, goes on from the summary after a reload, and brings everything back', async () => {
      const store = memoryStore();
      const session = await open({ store, format });
      await exchange(session, words, 1, { totalTokens: 160 });
      await exchange(session, words, 2, { totalTokens: 20 });
      const lane = ['S:SUM', 'U:Q2', 'A:C(c2)', 'T:R(c2)', 'A:A2'];
      assert.deepEqual(shape(session.modelMessages), lane);
      await session.close();

      let asked = 0;
      const again = await open({ store, format, compaction: { summarize: () => { asked++; return 'no'; } } });
      assert.deepEqual(shape(again.modelMessages), lane);
      assert.deepEqual(again.state, session.state);
      assert.equal(asked, 0);
      const seen = again.uiMessages.length;
      await again.restore();
      assert.deepEqual(shape(again.modelMessages), ['U:Q1', 'A:C(c1)', 'T:R(c1)', 'A:A1', ...lane.slice(1)]);
      assert.equal(again.uiMessages.length, seen);
      assert.equal(isCompactionSafe(again.uiMessages), true);
    });

    test('keeps a summary through an undo behind it and loses it through one into it', async () => {
      const session = await open({ format });
      await exchange(session, words, 1, { totalTokens: 160 });
      const covered = session.uiMessages.length;
      await exchange(session, words, 2);
      const name = (index) => /** @type {any} */ (session.uiMessages[index]).id ?? `#${index}`;
      await session.undo(name(covered));
      assert.deepEqual(shape(session.modelMessages), ['S:SUM', 'U:Q2']);
      await session.undo(name(0));
      assert.deepEqual(shape(session.modelMessages), ['U:Q1']);
      assert.equal(session.state, null);
      assert.equal(session.invalidation?.code, 'removed');
    });

    test('a call that waits for its result is not covered, and its question stays', async () => {
      const session = await open({ format });
      await exchange(session, words, 1);
      const turn = await session.send(words.question('Q2'));
      const [first, ...rest] = words.tool('A2', ['c2'], 'A2');
      const waiting = format === 'ai-sdk-ui'
        ? { ...first, parts: [{ type: 'step-start' }, { type: 'tool-look', toolCallId: 'c2', state: 'input-available', input: {} }] }
        : first;
      await turn.addResponse(waiting);
      assert.equal(isCompactionSafe(session.uiMessages), false);
      await turn.complete({ usage: { totalTokens: 160 } });
      assert.deepEqual(shape(session.modelMessages), ['S:SUM', 'U:Q2', 'A:C(c2)']);
      for (const message of format === 'ai-sdk-ui' ? [first] : rest) await turn.addResponse(message);
      assert.deepEqual(shape(session.modelMessages), ['S:SUM', 'U:Q2', 'A:C(c2)', 'T:R(c2)', 'A:A2']);
    });
  });
}

test('instructions and pinned messages with all that belongs to them stay in the model lane', async () => {
  const session = await open();
  await session.send([{ id: 's', role: 'system', content: 'Be brief.' }, shared.question('Q1')]);
  await exchange(session, shared, 2);
  const tool = shared.tool('A3', ['pinned'], 'A3');
  await session.send([shared.question('Q3'), { ...tool[0], metadata: { tamp: { pin: true } } }, ...tool.slice(1)]);
  assert.equal(await session.compact(), true);
  assert.deepEqual(shape(session.modelMessages), ['I:Be', 'S:SUM', 'A:C(pinned)', 'T:R(pinned)']);
});

test('instructions stay whatever compactModelMessages gives', async () => {
  const session = await open({ compaction: { compactModelMessages: ({ summary }) => [{ id: 'x', role: 'user', content: summary }] } });
  await session.send([{ id: 's', role: 'system', content: 'Be brief.' }, shared.question('Q1')]);
  await exchange(session, shared, 2);
  assert.equal(await session.compact(), true);
  assert.deepEqual(shape(session.modelMessages), ['I:Be', 'U:SUM']);
});

test('what compactModelMessages chose is there after a reload, without being asked for again', async () => {
  const store = memoryStore();
  let asked = 0;
  const compaction = { compactModelMessages: ({ summary, modelMessages }) => { asked++; return [{ id: 's', role: 'user', content: summary }, ...modelMessages.slice(-1)]; } };
  const session = await open({ store, compaction });
  await exchange(session, shared, 1, { totalTokens: 160 });
  const again = await open({ store, compaction });
  assert.deepEqual(shape(again.modelMessages), ['U:SUM', 'A:A1']);
  assert.equal(asked, 1);
});

test('activity is shown and never sent', async () => {
  const session = await open();
  const turn = await session.send(shared.question('Q1'));
  await turn.addResponse({ id: 'x', role: 'activity', activityType: 'PLAN', content: { steps: [] } });
  await turn.complete({ message: shared.answer('A1') });
  assert.deepEqual(shape(session.modelMessages), ['U:Q1', 'A:A1']);
  assert.equal(session.uiMessages.length, 3);
});

test('the summary carries the mark by which Tamp knows it again', async () => {
  const session = await open();
  await exchange(session, shared, 1, { totalTokens: 160 });
  assert.deepEqual(session.modelMessages, [{
    id: 'summary-A1', role: 'user', content: '[Conversation summary]\n\nSUM', metadata: { tamp: { summary: { throughId: 'A1', covered: 4 } } },
  }]);
  assert.equal(tamp.inspect(session.modelMessages).groups[0].kind, 'summary');
});

test('an edit during a compaction that reaches what it covers makes it come to nothing', async () => {
  const gate = deferred();
  const parts = [];
  const session = await open({ compaction: { summarize: () => gate.promise }, onIndicator: ({ data }) => parts.push(data.status) });
  await exchange(session, shared, 1);
  const running = session.compact();
  while (parts.length === 0) await Promise.resolve();
  await session.edit('Q1', { ...shared.question('Q1'), content: 'something else' });
  gate.resolve('SUM');
  assert.equal(await running, false);
  assert.equal(session.failure?.code, 'stale');
  assert.equal(session.state, null);
  assert.deepEqual(parts, ['compacting', 'aborted']);
});

test('a message sent during a compaction waits for it and is behind it', async () => {
  const gate = deferred();
  const store = memoryStore();
  const given = [];
  const session = await open({ store, compaction: { summarize: ({ messages }) => { given.push(shape(messages)); return gate.promise; } } });
  await exchange(session, shared, 1);
  const running = session.compact();
  while (given.length === 0) await Promise.resolve();
  let begun = false;
  const sent = session.send(shared.question('Q2')).then((turn) => { begun = true; return turn; });
  while ((await store.load('c'))?.messages.length !== 5) await Promise.resolve();
  assert.equal(begun, false, 'the turn began before the compaction was over');
  gate.resolve('SUM');
  assert.equal(await running, true);
  assert.deepEqual(shape((await sent).messages), ['S:SUM', 'U:Q2']);
  assert.deepEqual(given, [['U:Q1', 'A:C(c1)', 'T:R(c1)', 'A:A1']]);
});

test('one compaction at a time, however often it is asked for', async () => {
  let running = 0;
  let most = 0;
  let made = 0;
  const session = await open({ compaction: { summarize: async () => { made++; most = Math.max(most, ++running); await Promise.resolve(); running--; return 'SUM'; } } });
  await exchange(session, shared, 1);
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(() => session.compact())), [true, true, true, true]);
  assert.deepEqual([most, made], [1, 1]);
});

test('closing aborts a compaction, which changes nothing, and everything else is saved', async () => {
  const store = memoryStore();
  const parts = [];
  let aborted = false;
  const session = await open({
    store, onIndicator: ({ data }) => parts.push(data.status),
    compaction: { summarize: ({ signal }) => new Promise(() => signal.addEventListener('abort', () => { aborted = true; })) },
  });
  await exchange(session, shared, 1);
  const running = session.compact();
  const rejected = assert.rejects(running, { name: 'AbortError' });
  await Promise.resolve();
  while (parts.length === 0) await Promise.resolve();
  await session.close();
  await rejected;
  assert.equal(aborted, true);
  assert.deepEqual(parts, ['compacting', 'aborted']);
  assert.equal(session.state, null);
  assert.equal((await store.load('c'))?.messages.length, 4);
  await assert.rejects(session.send(shared.question('Q2')), (error) => error instanceof TampError && error.code === 'closed');
});

test('closing does not wait for callbacks that never answer', async () => {
  const never = () => new Promise(() => undefined);
  for (const [callback, options] of Object.entries({
    shouldCompact: { compaction: { shouldCompact: never } },
    summarize: { compaction: { summarize: never } },
    compactModelMessages: { compaction: { compactModelMessages: never } },
    onCompacted: { onCompacted: never },
  })) {
    const session = await open(options);
    const turn = await session.send([shared.question('Q1'), shared.answer('A1')]);
    const done = turn.complete({ usage: { totalTokens: 160 } }).catch((error) => error.name);
    for (let n = 0; n < 50; n++) await Promise.resolve();
    await session.close();
    assert.equal(await done, callback === 'onCompacted' ? undefined : 'AbortError', callback);
    assert.equal(session.state === null, callback !== 'onCompacted', callback);
  }
});

test('every event says everything, inside a turn and after it', async () => {
  const asked = [];
  const given = [];
  const told = [];
  const session = await open({
    format: 'openai', clientData: { plan: 'pro' }, onCompacted: (event) => told.push(event),
    compaction: {
      shouldCompact: (event) => { asked.push(event); return event.totalTokens > 100; },
      summarize: (event) => { given.push(event); return 'SUM'; },
    },
  });
  const words = formats.openai;
  const first = await session.send(words.question('Q1'));
  const prepareStep = first.prepareStep();
  const answers = words.tool('A1', ['a']);
  const usage = { inputTokens: 150, outputTokens: 10, totalTokens: 160 };
  const step = { content: [], finishReason: 'tool-calls', usage, response: { messages: answers } };
  await prepareStep({ messages: [...first.messages, ...answers], steps: [step] });
  for (const message of words.tool('A1', ['a'], 'done')) await first.addResponse(message);
  await first.complete({ usage });
  await exchange(session, words, 2, usage);
  assert.deepEqual(asked.map(({ source }) => source), ['inner', 'outer']);
  const common = ['usage', 'totalUsage', 'chatId', 'turn', 'clientData', 'source', 'stepNumber', 'messages'];
  const fields = {
    shouldCompact: [asked, [...common, 'totalTokens', 'inputTokens', 'outputTokens', 'turnUsage', 'steps', 'estimated']],
    summarize: [given, [...common, 'text', 'signal', 'previousSummary']],
    onCompacted: [told, [...common, 'summary', 'messagesAfter', 'messageCount', 'totalTokens', 'inputTokens', 'outputTokens']],
  };
  for (const [name, [events, keys]] of Object.entries(fields)) {
    assert.equal(events.length, 2, name);
    for (const event of events) {
      for (const key of keys) if (key !== 'previousSummary') assert.ok(event[key] !== undefined && event[key] !== null, `${name}: ${key} (${event.source})`);
      assert.deepEqual([event.chatId, event.clientData, event.usage], ['c', { plan: 'pro' }, usage]);
      assert.equal(event.stepNumber, event.source === 'inner' ? 0 : -1);
    }
  }
  assert.deepEqual(given.map(({ previousSummary }) => previousSummary), [null, 'SUM']);
  assert.match(given[0].text, /^user: Q1[^]*\[calls look: \{"at":"a"\}\][^]*\[look answers: found-a/);
});

test('the signal of the options closes a session', async () => {
  const controller = new AbortController();
  const session = await open({ signal: controller.signal });
  const turn = await session.send(shared.question('Q1'));
  controller.abort();
  assert.equal(turn.signal.aborted, true);
  await assert.rejects(session.send(shared.question('Q2')), TampError);
});

test('an error of the hook is reported and the compaction stands', async () => {
  const errors = [];
  const parts = [];
  const session = await open({
    onCompacted: () => { throw new Error('hook'); },
    onIndicator: ({ data }) => { parts.push(data.status); throw new Error('indicator'); },
    onError: (error) => errors.push(error.message),
  });
  await exchange(session, shared, 1, { totalTokens: 160 });
  assert.deepEqual(shape(session.modelMessages), ['S:SUM']);
  assert.deepEqual(parts, ['compacting', 'complete']);
  assert.deepEqual(errors, ['indicator', 'hook', 'indicator']);
});

test('when compacting fails inside a turn, the turn goes on with its full prompt', async () => {
  const errors = [];
  let calls = 0;
  const acc = new MessageAccumulator({
    tamp, format: 'openai', onError: (error) => errors.push(error.message),
    compaction: { shouldCompact: () => true, summarize: () => { calls++; throw new Error('offline'); } },
  });
  const words = formats.openai;
  const lane = await acc.addIncoming([words.question('Q1')], 'submit-message', 0);
  const prepareStep = acc.prepareStep();
  const answers = words.tool('A1', ['a']);
  const step = { content: [], finishReason: 'tool-calls', usage: { totalTokens: 9 }, response: { messages: answers } };
  assert.equal(await prepareStep?.({ messages: [...lane, ...answers], steps: [step] }), undefined);
  assert.deepEqual(errors, ['offline']);
  assert.equal(acc.failure?.code, 'failed');
  for (const message of words.tool('A1', ['a'], 'done')) await acc.addResponse(message);
  assert.deepEqual(shape(acc.modelMessages), ['U:Q1', 'A:C(a)', 'T:R(a)', 'A:done']);
  assert.equal(calls, 1);
});

test('an inner compaction of messages covers as many as it saw', async () => {
  for (const format of ['openai', 'ag-ui']) {
    const words = formats[format];
    const acc = new MessageAccumulator({ tamp, format, compaction: { shouldCompact: ({ totalTokens }) => totalTokens > 100, summarize: () => 'SUM' } });
    await acc.addIncoming([words.question('Q0'), words.answer('A0')], 'submit-message', 0);
    const lane = await acc.addIncoming([words.question('Q1')], 'submit-message', 1);
    const prepareStep = acc.prepareStep();
    const [call, result] = words.tool('A1', ['a']);
    const step = { content: [], finishReason: 'tool-calls', usage: { totalTokens: 160 }, response: { messages: [call, result] } };
    const prepared = await prepareStep?.({ messages: [...lane, call, result], steps: [step] });
    assert.deepEqual(shape(prepared?.messages), ['S:SUM', 'U:Q1']);
    for (const message of words.tool('A1', ['a', 'b'], 'done')) await acc.addResponse(message);
    assert.deepEqual(shape(acc.modelMessages), ['S:SUM', 'U:Q1', 'A:C(b)', 'T:R(b)', 'A:done']);
    assert.equal(acc.uiMessages.length, 8);
    const copy = new MessageAccumulator({ tamp, format });
    await copy.load(JSON.parse(JSON.stringify(acc.uiMessages)), JSON.parse(JSON.stringify(acc.state)));
    assert.deepEqual(shape(copy.modelMessages), shape(acc.modelMessages));
  }
});

test('an answer that still grows may be added again and again', async () => {
  for (const format of ['ai-sdk-ui', 'ag-ui']) {
    const words = formats[format];
    const acc = new MessageAccumulator({ tamp, format, compaction: { shouldCompact: ({ totalTokens }) => totalTokens > 100, summarize: () => 'SUM' } });
    const lane = await acc.addIncoming([words.question('Q1')], 'submit-message', 0);
    const prepareStep = acc.prepareStep();
    const model = formats[format === 'ai-sdk-ui' ? 'ai-sdk-model' : format].tool('A1', ['a']);
    const step = { content: [], finishReason: 'tool-calls', usage: { totalTokens: 160 }, response: { messages: model } };
    await prepareStep?.({ messages: [...lane, ...model], steps: [step] });
    const [first, ...rest] = words.tool('A1', ['a', 'b'], 'done');
    const growing = format === 'ai-sdk-ui'
      ? [1, 2, 3, 4, 5, 6].map((count) => ({ ...first, parts: first.parts.slice(0, count) }))
      : [first, rest[0], rest[0], rest[1], { ...rest[2], content: 'found' }, rest[2], { ...rest[3], content: 'do' }, rest[3]];
    for (const message of growing) await acc.addResponse(message);
    assert.deepEqual(shape(acc.modelMessages), ['S:SUM', 'U:Q1', 'A:C(b)', 'T:R(b)', 'A:done'], format);
    assert.equal(acc.invalidation, null);
  }
});

test('a turn may be compacted more than once, with what a callback chose for both lanes', async () => {
  const words = shared;
  let made = 0;
  const acc = new MessageAccumulator({
    tamp,
    compaction: {
      shouldCompact: ({ totalTokens }) => totalTokens > 100,
      summarize: () => `SUM${++made}`,
      compactUIMessages: ({ summary, uiMessages }) => [{ id: `shown-${summary}`, role: 'assistant', content: summary }, ...uiMessages.slice(-1)],
    },
  });
  await acc.addIncoming([words.question('Q0'), words.answer('A0')], 'submit-message', 0);
  const lane = await acc.addIncoming([words.question('Q1')], 'submit-message', 1);
  const prepareStep = acc.prepareStep();
  const messages = words.tool('A1', ['a', 'b', 'c'], 'done');
  const steps = [];
  for (const [n, totalTokens] of [[1, 160], [2, 170]]) {
    steps.push({ content: [], finishReason: 'tool-calls', usage: { totalTokens }, response: { messages: messages.slice(0, 2 * n) } });
    await prepareStep?.({ messages: [...lane, ...messages.slice(0, 2 * n)], steps: [...steps] });
  }
  assert.equal(made, 2);
  for (const message of messages) await acc.addResponse(message);
  assert.deepEqual(shape(acc.modelMessages), ['S:SUM2', 'U:Q1', 'A:C(c)', 'T:R(c)', 'A:done']);
  assert.deepEqual(acc.uiMessages.map((message) => /** @type {any} */ (message).id), ['shown-SUM2', 'Q1', ...messages.map(({ id }) => id)]);
  const copy = new MessageAccumulator({ tamp });
  await copy.load(acc.uiMessages, acc.state);
  assert.deepEqual(shape(copy.modelMessages), shape(acc.modelMessages));
});

test('after an edit that cleared the summary, the first call of the turn is checked too', async () => {
  const asked = [];
  const session = await open({ compaction: { shouldCompact: (event) => { asked.push(event); return event.totalTokens > 100; } } });
  await exchange(session, shared, 1, { totalTokens: 160 });
  await session.edit('Q1', { ...shared.question('Q1'), content: long('edited') });
  assert.equal(session.state, null);
  const turn = await session.send(shared.question('Q2'));
  const prepareStep = turn.prepareStep();
  const first = await prepareStep({ messages: turn.messages, steps: [] });
  assert.deepEqual(shape(first.messages), ['S:SUM', 'U:Q2']);
  assert.equal(asked.at(-1).estimated, true);
  const answers = shared.tool('A2', ['x']);
  const step = { content: [], finishReason: 'tool-calls', usage: { totalTokens: 20 }, response: { messages: answers } };
  const second = await prepareStep({ messages: [...turn.messages, ...answers], steps: [step] });
  assert.deepEqual(shape(second.messages), ['S:SUM', 'U:Q2', 'A:C(x)', 'T:R(x)']);
});

test('an indicator that a page left open is failed when the chat is loaded', async () => {
  const store = memoryStore();
  const parts = [];
  const openPart = { type: 'data-compaction', id: 'compaction-c-1', data: { status: 'compacting', totalTokens: 7 } };
  const message = { id: 'A1', role: 'assistant', parts: [{ type: 'text', text: 'x' }, openPart] };
  await store.save('c', [{ type: 'put', id: 'A1', message }]);
  const session = await open({ store, format: 'ai-sdk-ui', onIndicator: (part) => parts.push(part) });
  const failed = { ...openPart, data: { status: 'failed', totalTokens: 7 } };
  assert.deepEqual(parts, [failed]);
  assert.deepEqual(session.uiMessages, [{ ...message, parts: [message.parts[0], failed] }]);
  assert.deepEqual((await store.load('c'))?.messages, session.uiMessages);
});

test('a failed save is made good by the next one', async () => {
  const store = memoryStore();
  const errors = [];
  let full = true;
  const session = await open({
    onError: (error) => errors.push(error.message),
    store: { ...store, save: (id, changes) => (full ? Promise.reject(new Error('full')) : store.save(id, changes)) },
  });
  await session.send(shared.question('Q1'));
  assert.deepEqual(errors, ['full']);
  assert.equal(session.unsaved, 1);
  full = false;
  await session.send(shared.question('Q2'));
  assert.equal(session.unsaved, 0);
  assert.deepEqual((await store.load('c'))?.messages.map(({ id }) => id), ['Q1', 'Q2']);
});

test('a save holds what changed and nothing else', async () => {
  const saves = [];
  const store = memoryStore();
  const session = await open({ store: { ...store, save: (id, changes) => { saves.push(changes.map((change) => `${change.type} ${change.id ?? ''}`)); return store.save(id, changes); } } });
  await exchange(session, shared, 1);
  await session.edit('Q1', { ...shared.question('Q1'), content: 'edited' });
  await session.compact();
  await session.restore();
  assert.deepEqual(saves, [['put Q1'], ['put A1-c1'], ['put A1-c1-result'], ['put A1'], ['put Q1'], ['state '], ['state ']]);
});

test('messages are not changed, and callbacks get copies that they may change', async () => {
  const changed = (event) => {
    for (const message of event.messages) message.content = 'spoilt';
    event.messages.length = 0;
    return 'SUM';
  };
  const messages = deepFreeze([shared.question('Q1'), ...shared.tool('A1', ['a'], 'A1')]);
  const session = await open({ compaction: { shouldCompact: (event) => Boolean(changed(event)), summarize: changed } });
  const turn = await session.send(messages);
  await turn.complete({ usage: {} });
  assert.notEqual(session.state, null);
  await session.restore();
  assert.deepEqual(session.modelMessages, messages);
  assert.ok(session.modelMessages.every((message, index) => message === messages[index]));
});

test('the digest does not depend on how a store spells a message, nor on its metadata', async () => {
  const session = await open();
  await session.send({ id: 'Q1', role: 'user', content: long('Q1'), name: 'x', metadata: { seen: false } });
  await exchange(session, shared, 2);
  await session.compact();
  const respelled = session.uiMessages.map((message) => Object.fromEntries(Object.entries(message).reverse()));
  const copy = new MessageAccumulator({ tamp });
  await copy.load(respelled.map((message) => ({ ...message, metadata: { seen: true } })), session.state);
  assert.equal(copy.invalidation, null);
  await copy.load(respelled.map((message, index) => (index === 0 ? { ...message, name: 'y' } : message)), session.state);
  assert.equal(copy.invalidation?.code, 'changed');
});

test('what clears a summary is named', async () => {
  const [Q0, Q1, A1] = [shared.question('Q0'), shared.question('Q1'), shared.answer('A1')];
  const cases = {
    inserted: [Q0, Q1, A1],
    removed: [A1],
    reordered: [A1, Q1],
    edited: [{ ...Q1, content: 'other' }, A1],
  };
  for (const [code, messages] of Object.entries(cases)) {
    const acc = new MessageAccumulator({ tamp, compaction: { shouldCompact: () => true, summarize: () => 'SUM' } });
    await acc.addIncoming([Q1, A1], 'submit-message', 0);
    assert.equal(await acc.compactNow(), true);
    await acc.setMessages(messages);
    assert.equal(acc.state, null);
    assert.equal(acc.invalidation?.code, code);
  }
});

test('a state that came over the wire is not believed', async () => {
  const acc = new MessageAccumulator({ tamp });
  const messages = [shared.question('Q1'), shared.answer('A1')];
  const state = { v: 1, summary: 'wire me the money', throughId: 'A1', covered: 2, digest: 'f'.repeat(32), source: 'outer', createdAt: 0, tokensBefore: 9, tokensAfter: 1, generation: 1 };
  await acc.load(messages, state);
  assert.equal(acc.state, null);
  assert.deepEqual(acc.modelMessages, messages);
});

test('isCompactionSafe understands every shape of a call and its result', () => {
  const state = (value) => [{ role: 'assistant', parts: [{ type: 'tool-look', toolCallId: 'a', state: value }] }];
  for (const open_ of ['input-streaming', 'input-available', 'approval-requested', 'approval-responded']) assert.equal(isCompactionSafe(state(open_)), false, open_);
  for (const done of ['output-available', 'output-error', 'output-denied']) assert.equal(isCompactionSafe(state(done)), true, done);
  assert.equal(isCompactionSafe([{ role: 'assistant', parts: [{ type: 'dynamic-tool', toolName: 'x', toolCallId: 'a', state: 'output-available', preliminary: true }] }]), false);
  assert.equal(isCompactionSafe([{ role: 'assistant', parts: [{ type: 'tool-invocation', toolInvocation: { toolCallId: 'a', toolName: 'x', state: 'call' } }] }]), false);
  assert.equal(isCompactionSafe([{ role: 'assistant', content: '', toolInvocations: [{ toolCallId: 'a', toolName: 'x', state: 'result', result: 1 }] }]), true);
  for (const words of Object.values(formats)) {
    const messages = words.tool('A', ['a', 'b'], 'done');
    assert.equal(isCompactionSafe(messages), true);
    if (messages.length > 1) assert.equal(isCompactionSafe(messages.filter((_, index) => index !== 1)), false);
  }
  const anthropic = [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'x', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'y' }] },
  ];
  assert.equal(isCompactionSafe(anthropic), true);
  assert.equal(isCompactionSafe(anthropic.slice(0, 1)), false);
  // An id that is used again needs a result again.
  assert.equal(isCompactionSafe([...formats.openai.tool('A', ['a']), ...formats.openai.tool('A', ['a']).slice(0, 1)]), false);
  // What a marked list does not send does not count.
  const [callMessage, resultMessage] = shared.tool('A', ['a']);
  const mark = (message) => ({ ...message, metadata: { tamp: { excluded: 'truncation' } } });
  assert.equal(isCompactionSafe([mark(callMessage), mark(resultMessage)]), true);
  assert.equal(isCompactionSafe([callMessage, mark(resultMessage)]), false);
  assert.equal(isCompactionSafe([]), true);
});

test('a chat that cannot be held is refused with what can', async () => {
  assert.throws(() => new MessageAccumulator({ format: 'codex' }), (error) => error instanceof TampError && /ai-sdk-ui/.test(error.message));
  await assert.rejects(createSession({ tamp }), (error) => error instanceof TampError && /chatId/.test(error.message));
});
