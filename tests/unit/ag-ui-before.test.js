// compactionMiddleware against both clients and servers of every kind, over HTTP.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { clamp, clearToolResults, digest, loadTamp, slidingWindow, stripBinary, summarize, toolResults, truncation } from 'tamp';
import { CompactionObserver, compactionMiddleware, onCompaction, readCompaction } from 'tamp/ag-ui';
import { chat, idsOf, says, shown, toolChat, user } from '../ag-ui/chats.js';
import { clients, noticesIn, quiet, run, until } from '../ag-ui/clients.js';
import { refusal, startServer } from '../ag-ui/server.js';
import { deepFreeze } from '../lib/freeze.js';

const WINDOW = slidingWindow({ maxMessages: 6, keepMessages: 4, keepFirstUser: false });

/** @type {Awaited<ReturnType<typeof startServer>>} */
let server;
/** @type {import('tamp').Tamp} */
let tamp;
before(async () => {
  server = await startServer();
  tamp = await loadTamp();
});
after(() => server.close());
beforeEach(() => { server.seen.length = 0; });

/** What the server was sent, request by request. */
const sent = () => server.seen.map(({ input }) => idsOf(input.messages));

for (const [name, { HttpAgent, Middleware, verifyEvents }] of clients) {
  describe(name, () => {
    let threads = 0;
    /** @param {string} path @param {any[]} initialMessages @param {any} [options] @returns {any} */
    const agentOn = (path, initialMessages, options) => {
      const agent = new HttpAgent({ url: `${server.url}/${path}`, threadId: `${name} ${threads += 1}`, initialMessages });
      if (options !== undefined) agent.use(compactionMiddleware(options));
      return agent;
    };

    describe('what is sent', () => {
      test('the whole history is compacted before every run, and the list of the client stays whole', async () => {
        let times = 0;
        const agent = agentOn('stateless', chat(8), { before: WINDOW, onCompacted: () => { times += 1; } });
        for (let turn = 1; turn <= 3; turn++) {
          agent.addMessage(user(`next${turn}`));
          await run(agent);
          assert.equal(times, turn, 'it ran');
        }
        assert.deepEqual(sent()[0], ['s', 'u7', 'a7', 'u8', 'next1']);
        for (const { input } of server.seen) assert.ok(input.messages.length <= 7);
        assert.equal(agent.messages.length, chat(8).length + 6, 'all questions and all answers');
        assert.deepEqual(agent.messages.slice(0, 18), chat(8));
      });

      test('the runs that answer a frontend tool are compacted too', async () => {
        let times = 0;
        const agent = agentOn('tool', chat(8), { before: WINDOW, onCompacted: () => { times += 1; } });
        const { newMessages } = await run(agent);
        const call = newMessages[0].toolCalls[0];
        agent.addMessage({ id: 'picked', role: 'tool', toolCallId: call.id, content: 'this one' });
        await run(agent);
        assert.equal(times, 2);
        assert.deepEqual(sent()[1].slice(-2), [newMessages[0].id, 'picked']);
        assert.equal(refusal(server.seen[1].input.messages.filter(({ role }) => role !== 'system')), null);
      });

      test('a cut never parts calls from their results', async () => {
        for (const keepMessages of [1, 2, 3, 4, 5, 6, 7]) {
          const agent = agentOn('provider', toolChat(5), { before: slidingWindow({ maxMessages: 9, keepMessages }) });
          const { events } = await run(agent);
          assert.equal(events.at(-1).type, 'RUN_FINISHED', `with ${keepMessages} kept`);
        }
      });

      test('nothing to do: the run gets the very input', async () => {
        /** @type {any} */
        let got;
        const input = { threadId: 't', runId: 'r', messages: chat(1) };
        const middleware = compactionMiddleware({ before: WINDOW, tamp });
        const next = { run: (/** @type {any} */ given) => { got = given; return new Nothing(); } };
        /** @type {any} */ (middleware(input, next)).subscribe({});
        assert.equal(got, input);
      });

      test('input, messages and options are never written to', async () => {
        const input = deepFreeze({ threadId: 't', runId: 'r', messages: toolChat(6) });
        const options = deepFreeze({ before: [toolResults({ keepLastToolCallGroups: 1 }), WINDOW], pin: ['u1'] });
        const middleware = compactionMiddleware({ ...options, tamp });
        /** @type {any} */
        let got;
        const next = { run: (/** @type {any} */ given) => { got = given; return new Nothing(); } };
        /** @type {any} */ (middleware(input, next)).subscribe({});
        assert.ok(got.messages.length < input.messages.length);
        assert.ok(idsOf(got.messages).includes('u1'));
        for (const message of got.messages) assert.ok(input.messages.includes(message) || message.toolCalls === undefined);
      });

      test('a user message is never edited, whatever the policy', async () => {
        const image = { type: 'image', source: { type: 'data', value: 'AAAA'.repeat(400), mimeType: 'image/png' } };
        const list = [
          { id: 'u0', role: 'user', content: [{ type: 'text', text: 'look' }, image] }, says('a0', 'x'.repeat(9000)),
          user('u1', 'y'.repeat(9000)), says('a1'), user('u2'), says('a2'), user('u3'),
        ];
        const agent = agentOn('stateless', list, { before: [
          stripBinary({ keepLastTurns: 1 }),
          clamp({ maxChars: 1000, headChars: 100, tailChars: 100, roles: ['user', 'assistant'] }),
        ] });
        await run(agent);
        const [{ input }] = server.seen;
        for (const message of input.messages.filter(({ role }) => role === 'user')) {
          assert.deepEqual(message, list.find(({ id }) => id === message.id));
        }
        assert.ok(input.messages[1].content.length < 1000, 'the assistant\'s text is clamped');
      });

      test('messages of the reader are not sent: activity stays', async () => {
        const notice = { id: 'compaction-1', role: 'activity', activityType: 'compaction', content: { removed: 1, before: 2, after: 1 } };
        const list = [...chat(8).slice(0, 5), notice, ...chat(8).slice(5)];
        const agent = agentOn('stateless', list, { before: WINDOW });
        await run(agent);
        assert.ok(!sent()[0].includes('compaction-1'));
        assert.deepEqual(idsOf(agent.messages).slice(0, list.length), idsOf(list));
      });

      test('activity that a hook put into the input does not reach a server through us', async () => {
        const agent = agentOn('stateless', chat(8), { before: WINDOW });
        agent.subscribe({ onRunInitialized: (/** @type {any} */ { messages }) => ({
          messages: [{ id: 'compaction-1', role: 'activity', activityType: 'compaction', content: {} }, ...messages],
        }) });
        await run(agent);
        assert.ok(!sent()[0].includes('compaction-1'));
      });

      test('a summary that a model writes is sent in place of what it covers', async () => {
        const agent = agentOn('stateless', chat(12), {
          before: summarize({ maxMessages: 10, keepMessages: 3, keepFirstUser: false }),
          summarize: async () => 'They talked.',
        });
        await run(agent);
        const [{ input }] = server.seen;
        assert.equal(input.messages[1].content, '[Conversation summary]\n\nThey talked.');
        assert.ok(input.messages.length < 8);
        assert.deepEqual(agent.messages.slice(0, 26), chat(12));
      });
    });

    describe('the notice', () => {
      test('stands directly after RUN_STARTED, with exactly three numbers', async () => {
        const agent = agentOn('stateless', chat(8), { before: new CompactionObserver(WINDOW) });
        const { events } = await run(agent);
        assert.equal(events[0].type, 'RUN_STARTED');
        const [notice] = noticesIn(events);
        assert.equal(events[1], notice);
        assert.match(notice.messageId, /^compaction-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        const [{ input }] = server.seen;
        assert.deepEqual(notice.content, {
          removed: 18 - input.messages.length, before: 18, after: input.messages.length,
        });
        assert.equal(notice.metadata.tamp.origin, 'client');
        assert.ok(!('replace' in notice));
        assert.equal(events.length, 6, 'nothing else is added');
      });

      test('lands between the question and the answer in the client\'s list', async () => {
        const agent = agentOn('stateless', chat(8), { before: new CompactionObserver(WINDOW) });
        await run(agent);
        assert.deepEqual(shown(agent.messages).slice(-3, -1), ['u8', '<compaction>']);
      });

      test('is sent once each time the policy fires, under a new id', async () => {
        const agent = agentOn('stateless', chat(8), { before: new CompactionObserver(WINDOW) });
        const ids = new Set();
        for (let turn = 0; turn < 3; turn++) {
          agent.addMessage(user(`next${turn}`));
          const notices = noticesIn((await run(agent)).events);
          assert.equal(notices.length, 1);
          ids.add(notices[0].messageId);
        }
        assert.equal(ids.size, 3);
      });

      for (const [what, options] of /** @type {[string, any][]} */ ([
        ['an unwrapped policy', { before: WINDOW }],
        ['a mere rewrite', { before: new CompactionObserver(clearToolResults({ keepLast: 0 })) }],
        ['a policy that does not fire', { before: new CompactionObserver(slidingWindow({ maxMessages: 500 })) }],
        ['a policy that fails', { before: new CompactionObserver(/** @type {any} */ ({ strategy: 'no such' })) }],
      ])) {
        test(`${what} says nothing`, async (t) => {
          quiet(t);
          const { events, error } = await run(agentOn('stateless', toolChat(4), options));
          assert.equal(error, null);
          assert.deepEqual(noticesIn(events), []);
          assert.equal(events.at(-1).type, 'RUN_FINISHED');
        });
      }

      test('never comes without RUN_STARTED', async (t) => {
        quiet(t);
        const agent = agentOn('failing?status=500', chat(8), { before: new CompactionObserver(WINDOW) });
        const { events, error } = await run(agent);
        assert.equal(error.status, 500);
        assert.deepEqual(events, []);
      });
    });

    describe('what servers answer', () => {
      /** @type {[string, any][]} */
      const policies = [
        ['dropping', WINDOW],
        ['a digest in front', digest({ keepMessages: 3, keepFirstUser: false, maxSummaryTokens: 60 })],
        ['collapsing', toolResults({ keepLastToolCallGroups: 1 })],
        ['clearing', clearToolResults({ keepLast: 1 })],
      ];
      for (const path of ['stateless', 'snapshotting', 'snapshotting?bare', 'stateful', 'echoing', 'snapshotting?activity', 'snapshotting?rekey']) {
        for (const [what, policy] of policies) {
          test(`${path}, ${what}: nothing is lost, moved or added`, async () => {
            const list = toolChat(4);
            const agent = agentOn(path, list, { before: new CompactionObserver(policy) });
            const errors = [];
            agent.subscribe({ onRunFailed: (/** @type {any} */ { error }) => void errors.push(error) });
            for (let turn = 0; turn < 3; turn++) {
              agent.addMessage(user(`next${turn}`));
              const { error } = await run(agent);
              assert.equal(error, null);
            }
            const conversation = agent.messages.filter(({ role }) => role !== 'activity');
            assert.deepEqual(conversation.slice(0, list.length), list);
            assert.deepEqual(conversation.slice(list.length).map(({ role, content }) => (role === 'user' ? content : 'answer')), [
              'next0 asks', 'answer', 'next1 asks', 'answer', 'next2 asks', 'answer',
            ]);
            const fewer = noticesIn(agent.messages.map((message) => ({ ...message, type: 'ACTIVITY_SNAPSHOT' }))).length;
            assert.equal(fewer, what === 'clearing' ? 0 : 3, 'the notices stay');
            assert.deepEqual(errors, []);
          });
        }
      }

      test('reasoning stays where it is, whether servers send it back or not', async () => {
        const list = toolChat(4).flatMap((message) => (message.role === 'assistant' && message.toolCalls
          ? [{ id: `think-${message.id}`, role: 'reasoning', content: 'Hm.' }, message]
          : [message]));
        for (const path of ['snapshotting', 'snapshotting?bare', 'stateful', 'echoing']) {
          const agent = agentOn(path, list, { before: slidingWindow({ maxMessages: 10, keepMessages: 9 }) });
          await run(agent);
          assert.deepEqual(agent.messages.slice(0, -1), list, path);
        }
      });

      test('what a server changed in a message it got stays changed, also when its text had been shortened', async () => {
        const agent = agentOn('stateless', toolChat(4), { before: clearToolResults({ keepLast: 1 }) });
        agent.use((/** @type {any} */ input, /** @type {any} */ next) => appendSnapshot(next, input, input.messages.map((/** @type {any} */ message) => ({
          ...message, metadata: { seen: true }, ...message.id === 'u1' ? { content: 'corrected' } : {},
        }))));
        await run(agent);
        const byId = new Map(agent.messages.map((/** @type {any} */ message) => [message.id, message]));
        assert.equal(byId.get('u1').content, 'corrected');
        assert.equal(byId.get('r0').content, toolChat(4).find(({ id }) => id === 'r0')?.content);
        assert.deepEqual(byId.get('r0').metadata, { seen: true });
      });

      test('a message that a server deleted stays deleted', async () => {
        const agent = agentOn('stateless', chat(8), { before: WINDOW });
        agent.use((/** @type {any} */ input, /** @type {any} */ next) => appendSnapshot(next, input,
          input.messages.filter(({ id }) => id !== 'a7')));
        await run(agent);
        assert.ok(!idsOf(agent.messages).includes('a7'));
        assert.ok(idsOf(agent.messages).includes('a2'));
      });

      test('pins outlive a server that drops metadata', async () => {
        const list = chat(8).map((message) => (message.id === 'u8' ? { ...message, metadata: { tamp: { pin: true } } } : message));
        const agent = agentOn('snapshotting?bare', list, { before: WINDOW });
        await run(agent);
        assert.deepEqual(agent.messages.find(({ id }) => id === 'u8').metadata, { tamp: { pin: true } });
      });

      test('a stream that ends within a message leaves nothing running', async (t) => {
        quiet(t);
        const agent = agentOn('failing?broken', chat(8), { before: new CompactionObserver(WINDOW) });
        const { events } = await run(agent);
        assert.deepEqual(events.map(({ type }) => type), ['RUN_STARTED', 'ACTIVITY_SNAPSHOT', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT']);
        assert.equal(agent.isRunning, false);
        await agent.detachActiveRun();
      });

      test('an error of the model is passed on, and the run is not tried again', async (t) => {
        quiet(t);
        const agent = agentOn('failing', chat(8), { before: WINDOW });
        const { events } = await run(agent);
        assert.equal(events.at(-1).message, 'the model is down');
        assert.equal(server.seen.length, 1);
      });
    });

    describe('failing open', () => {
      for (const [what, broken] of /** @type {[string, () => any][]} */ ([
        ['the core cannot be loaded', () => ({ tamp: Promise.reject(new Error('no Wasm')), before: WINDOW })],
        ['the policy is bad', () => ({ before: slidingWindow({ maxMessages: -1 }) })],
        ['the counter throws', () => ({ before: truncation({ maxTokens: 10, toTokens: 5 }), countTokens() { throw new Error('no'); } })],
        ['a summary fails', () => ({ before: summarize({ maxMessages: 4, keepMessages: 2 }), summarize: () => Promise.reject(new Error('no')) })],
        ['nobody can write a summary', () => ({ before: summarize({ maxMessages: 4, keepMessages: 2 }) })],
      ])) {
        test(`${what}: the full history is sent, it warns once, and onError is called each time`, async (t) => {
          const { warnings } = quiet(t);
          /** @type {unknown[]} */
          const errors = [];
          const agent = agentOn('stateless', chat(8), { ...broken(), onError: (/** @type {unknown} */ error) => errors.push(error) });
          for (let turn = 0; turn < 2; turn++) assert.equal((await run(agent)).error, null);
          assert.deepEqual(sent()[0], idsOf(chat(8)));
          assert.equal(errors.length, 2);
          assert.equal(warnings.filter(([first]) => String(first).includes('[tamp]')).length, 1);
          assert.equal(agent.isRunning, false);
        });
      }

      test('callbacks that throw hurt nobody', async (t) => {
        const { errors } = quiet(t);
        const agent = agentOn('stateless', chat(8), {
          before: new CompactionObserver(WINDOW),
          onCompacted() { throw new Error('in onCompacted'); },
        });
        const { events, error } = await run(agent);
        assert.equal(error, null);
        assert.equal(noticesIn(events).length, 1);
        assert.equal(errors.length, 1);
      });

      test('it never throws while the run is set up, and what next throws fails the run', async (t) => {
        quiet(t);
        const agent = agentOn('stateless', chat(8), { before: WINDOW });
        agent.use(() => { throw new Error('a middleware of somebody else'); });
        const { error } = await run(agent);
        assert.match(String(error), /somebody else/);
        assert.equal(agent.isRunning, false);
        await agent.detachActiveRun();
      });
    });

    describe('waiting', () => {
      /** A core that is loaded when told. */
      const late = () => {
        /** @type {() => void} */
        let ready = () => {};
        return { loading: new Promise((resolve) => { ready = () => resolve(tamp); }), ready: () => ready() };
      };

      test('a run waits for the core', async () => {
        const { loading, ready } = late();
        const agent = agentOn('stateless', chat(8), { tamp: loading, before: WINDOW });
        const running = run(agent);
        await until(() => agent.isRunning, 'it runs');
        await new Promise((resolve) => setImmediate(resolve));
        assert.equal(server.seen.length, 0);
        ready();
        await running;
        assert.ok(sent()[0].length < 8);
      });

      test('aborted while waiting, nothing is sent and the run ends cleanly', async () => {
        const { loading, ready } = late();
        const agent = agentOn('stateless', chat(8), { tamp: loading, before: WINDOW });
        const running = run(agent);
        await until(() => agent.isRunning, 'it runs');
        agent.abortRun();
        ready();
        assert.equal((await running).error, null);
        assert.equal(server.seen.length, 0);
      });

      test('detached while waiting, nothing is sent and detachActiveRun ends', async () => {
        const { loading, ready } = late();
        const agent = agentOn('stateless', chat(8), { tamp: loading, before: WINDOW });
        let initialized = false;
        agent.subscribe({ onRunInitialized: () => { initialized = true; } });
        const running = run(agent);
        await until(() => initialized, 'it runs');
        await new Promise((resolve) => setImmediate(resolve));
        await agent.detachActiveRun();
        ready();
        await running;
        await new Promise((resolve) => setImmediate(resolve));
        assert.equal(server.seen.length, 0);
      });

      test('detached while a summary is written, the writer is told to stop', async () => {
        /** @type {AbortSignal | undefined} */
        let signal;
        const agent = agentOn('stateless', chat(12), {
          before: summarize({ maxMessages: 4, keepMessages: 2 }),
          summarize: (/** @type {any} */ request) => {
            ({ signal } = request);
            return new Promise(() => {});
          },
        });
        const running = run(agent);
        await until(() => signal !== undefined, 'the summary is asked for');
        await agent.detachActiveRun();
        await running;
        assert.equal(signal?.aborted, true);
        assert.equal(server.seen.length, 0);
      });
    });

    describe('too much for the server', () => {
      test('413: once more with less, and the list of the client stays whole', async () => {
        const agent = agentOn('too-large?limit=6000', toolChat(10), {});
        const { events, error } = await run(agent);
        assert.equal(error, null);
        assert.equal(server.seen.length, 2);
        assert.ok(server.seen[1].body.length < 6000);
        assert.equal(events.filter(({ type }) => type === 'RUN_STARTED').length, 1);
        assert.deepEqual(agent.messages.slice(0, -1), toolChat(10));
        assert.equal(refusal(server.seen[1].input.messages.filter(({ role }) => role !== 'system')), null);
      });

      for (const [where, query] of [['after RUN_STARTED', ''], ['within a step', '&step']]) {
        test(`an over-long context ${where}: once more with less`, async () => {
          const agent = agentOn(`too-long?limit=12${query}`, toolChat(3), { before: new CompactionObserver(slidingWindow({ maxMessages: 14, keepMessages: 13 })) });
          const { events, error } = await run(agent);
          assert.equal(error, null);
          assert.equal(server.seen.length, 2);
          assert.equal(events.filter(({ type }) => type === 'RUN_STARTED').length, 1);
          assert.equal(events.at(-1).type, 'RUN_FINISHED');
          assert.ok(!events.some(({ type }) => type === 'RUN_ERROR'));
          const notices = noticesIn(events);
          assert.equal(new Set(notices.map(({ messageId }) => messageId)).size, 1, 'one notice, that is put right');
          assert.deepEqual(notices.at(-1).content, { removed: 17 - sent()[1].length, before: 17, after: sent()[1].length });
          assert.equal(shown(agent.messages).filter((id) => id === '<compaction>').length, 1);
        });
      }

      test('a notice that was never said before is said when the second try fires', async () => {
        const agent = agentOn('too-large?limit=6000', toolChat(10), { before: new CompactionObserver(slidingWindow({ maxMessages: 1000 })) });
        const { events } = await run(agent);
        assert.equal(noticesIn(events).length, 1);
        assert.equal(events[1].type, 'ACTIVITY_SNAPSHOT');
      });

      test('an HTTP 400 that says the context is too long counts, another one does not', async (t) => {
        quiet(t);
        const body = encodeURIComponent('{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}');
        for (const [query, requests] of /** @type {[string, number][]} */ ([[`status=400&body=${body}`, 2], ['status=400', 1], ['status=500', 1]])) {
          server.seen.length = 0;
          const { error } = await run(agentOn(`failing?${query}`, toolChat(10), {}));
          assert.notEqual(error, null);
          assert.equal(server.seen.length, requests, query);
        }
      });

      test('not a third time, not after the answer began, and not when told not to', async (t) => {
        quiet(t);
        assert.equal((await run(agentOn('too-large?limit=10', toolChat(10), {}))).error.status, 413);
        assert.equal(server.seen.length, 2);
        server.seen.length = 0;
        const { events } = await run(agentOn('too-long?limit=3&late', toolChat(10), {}));
        assert.equal(events.at(-1).code, 'context_length_exceeded');
        assert.equal(server.seen.length, 1);
        server.seen.length = 0;
        await run(agentOn('too-large?limit=10', toolChat(10), { retryOnOverflow: false }));
        assert.equal(server.seen.length, 1);
        server.seen.length = 0;
        assert.equal((await run(agentOn('too-large?limit=10', [user('u')], {}))).error.status, 413);
        assert.equal(server.seen.length, 1, 'there is no less than this');
      });
    });

    describe('interrupts', () => {
      /** A run that was interrupted at a call, in a list that goes on after it. */
      const interrupted = async (/** @type {any} */ options) => {
        const agent = agentOn('interrupting', [user('u0'), says('a0'), user('u1')], options);
        await run(agent);
        const { id, toolCallId } = agent.pendingInterrupts[0];
        for (let n = 0; n < 6; n++) agent.messages.push(user(`later${n}`), says(`said${n}`));
        return { agent, interruptId: id, toolCallId };
      };
      const tight = [slidingWindow({ maxMessages: 3, keepMessages: 2, keepFirstUser: false })];

      test('the call of a pending interrupt stays, unanswered', async () => {
        const { agent, interruptId, toolCallId } = await interrupted({ before: tight });
        await run(agent, { resume: [{ interruptId, status: 'resolved', payload: true }] });
        const { messages } = server.seen[1].input;
        assert.ok(messages.length < 10);
        assert.ok(messages.some(({ toolCalls }) => toolCalls?.[0].id === toolCallId));
        assert.ok(!messages.some(({ role }) => role === 'tool'));
        assert.equal(agent.messages.length, 17, 'the list of the client is as it was, and has an answer more');
      });

      test('after a reload, when nobody remembers the interrupt, every open call stays', async () => {
        const { agent, interruptId, toolCallId } = await interrupted({ before: tight });
        const reloaded = agentOn('interrupting', agent.messages, { before: tight });
        await run(reloaded, { resume: [{ interruptId, status: 'resolved', payload: true }] });
        const { messages } = server.seen[1].input;
        assert.ok(messages.some(({ toolCalls }) => toolCalls?.[0].id === toolCallId));
        assert.ok(!messages.some(({ role }) => role === 'tool'));
      });
    });

    describe('twice, and at the same time', () => {
      test('registered twice, it compacts once and says so once', async () => {
        let times = 0;
        const options = { before: new CompactionObserver(WINDOW), onCompacted: () => { times += 1; } };
        const agent = agentOn('snapshotting', chat(8), options);
        agent.use(compactionMiddleware(options), compactionMiddleware({ ...options, before: new CompactionObserver(slidingWindow({ maxMessages: 2, keepMessages: 1 })) }));
        const { events } = await run(agent);
        assert.equal(times, 1);
        assert.equal(noticesIn(events).length, 1);
        assert.deepEqual(agent.messages.filter(({ role }) => role !== 'activity').slice(0, -1), chat(8));
      });

      test('nothing to do for the outer one: the inner one keeps still as well', async () => {
        const agent = agentOn('stateless', chat(2), { before: slidingWindow({ maxMessages: 100 }) });
        agent.use(compactionMiddleware({ before: slidingWindow({ maxMessages: 2, keepMessages: 1 }) }));
        await run(agent);
        assert.equal(sent()[0].length, 6);
      });

      test('a clone shares the middleware, and compacts once for itself', async () => {
        const agent = agentOn('stateless', chat(8), { before: new CompactionObserver(WINDOW) });
        const clone = agent.clone();
        clone.threadId = 'another';
        for (const each of [agent, clone]) assert.equal(noticesIn((await run(each)).events).length, 1);
      });

      test('concurrent runs of many threads never mix', async () => {
        const middleware = compactionMiddleware({ before: new CompactionObserver(WINDOW) });
        const agents = Array.from({ length: 12 }, (_, n) => {
          const list = chat(6 + n).map((message) => ({ ...message, id: `${n}.${message.id}`, content: `${n}: ${message.content}` }));
          const agent = agentOn(['snapshotting', 'echoing', 'stateless', 'stateful'][n % 4], list);
          agent.use(middleware);
          return { agent, list };
        });
        await Promise.all(agents.map(async ({ agent, list }, n) => {
          for (let turn = 0; turn < 2; turn++) {
            const { events } = await run(agent);
            assert.equal(noticesIn(events)[0].content.before, agent.messages.filter(({ role }) => role !== 'activity').length - 1);
          }
          assert.deepEqual(agent.messages.filter(({ role }) => role !== 'activity').slice(0, list.length), list, `thread ${n}`);
        }));
        for (const { input } of server.seen) {
          assert.equal(new Set(input.messages.filter(({ id }) => id.includes('.')).map(({ id }) => id.split('.')[0])).size, 1);
        }
      });

      test('a middleware outside that runs it twice gets two whole runs', async () => {
        const agent = agentOn('stateless', chat(8));
        let runs = 0;
        agent.use(
          (/** @type {any} */ input, /** @type {any} */ next) => {
            runs += 1;
            next.run(input).subscribe({});
            return next.run(input);
          },
          compactionMiddleware({ before: WINDOW }),
        );
        await run(agent);
        await until(() => server.seen.length === 2, `both arrive: ${server.seen.length}`);
        assert.equal(runs, 1);
        for (const ids of sent()) assert.ok(ids.length < 8);
      });
    });

    describe('beside other middleware', () => {
      test('classes outside and inside of it see whole events and apply their state', async () => {
        /** @type {any[]} */
        const outside = [];
        class Watching extends Middleware {
          /** @param {any} input @param {any} next */
          run(input, next) {
            return this.runNextWithState(input, next).pipe(mapTo(({ event, messages }) => {
              outside.push({ type: event.type, messages: messages.length });
              return event;
            }));
          }
        }
        const agent = agentOn('snapshotting', chat(8));
        agent.use(new Watching(), compactionMiddleware({ before: new CompactionObserver(WINDOW) }), (/** @type {any} */ input, /** @type {any} */ next) => next.run(input));
        const { events, error } = await run(agent);
        assert.equal(error, null);
        assert.equal(outside.length, events.length);
        assert.equal(outside.at(-1).messages, 20);
      });

      test('the client\'s verifier takes every stream of it', async () => {
        for (const path of ['stateless', 'snapshotting', 'stateful', 'echoing', 'too-large?limit=6000', 'too-long?limit=35&step', 'django', 'tool', 'interrupting']) {
          /** @type {any[]} */
          const events = [];
          const agent = agentOn(path, toolChat(8));
          agent.use((/** @type {any} */ input, /** @type {any} */ next) => verifyEvents(false)(next.run(input)).pipe(mapTo((event) => {
            events.push(event);
            return event;
          })), compactionMiddleware({ before: new CompactionObserver(slidingWindow({ maxMessages: 40, keepMessages: 36 })) }));
          const { error } = await run(agent);
          assert.equal(error, null, path);
          assert.equal(events.at(-1).type, 'RUN_FINISHED', path);
        }
      });
    });

    test('a badge can be fed with onCompaction alone, by client and server', async () => {
      const agent = agentOn('django', chat(8), { before: new CompactionObserver(WINDOW) });
      /** @type {any[]} */
      const notices = [];
      const stop = onCompaction(agent, (notice) => notices.push(notice));
      await run(agent, { runId: 'run1' });
      assert.deepEqual(notices.map(({ origin, threadId, runId }) => [origin, threadId, runId]), [
        ['client', agent.threadId, 'run1'], ['server', agent.threadId, 'run1'],
      ]);
      assert.deepEqual(notices.map(({ removed, before, after }) => removed === before - after), [true, true]);
      stop();
      await run(agent);
      assert.equal(notices.length, 2);
    });

    test('what a django-ag-ui client looks at is in our event: the exact type and a numeric removed', async () => {
      const { events } = await run(agentOn('stateless', chat(8), { before: new CompactionObserver(WINDOW) }));
      const { activityType, content } = noticesIn(events)[0];
      assert.equal(activityType, 'compaction');
      assert.equal(typeof content.removed, 'number');
      assert.notEqual(readCompaction(noticesIn(events)[0]), null);
    });
  });
}

/** An agent's stream that never says anything. */
class Nothing {
  subscribe() {
    return { unsubscribe() {} };
  }
}

/** rxjs's map, for the observables of any copy of it. @param {(value: any) => any} change */
function mapTo(change) {
  return (/** @type {any} */ source) => source.lift({
    call: (/** @type {any} */ subscriber, /** @type {any} */ from) => from.subscribe({
      next: (/** @type {any} */ value) => subscriber.next(change(value)),
      error: (/** @type {any} */ error) => subscriber.error(error),
      complete: () => subscriber.complete(),
    }),
  });
}

/** A server's stream with a MESSAGES_SNAPSHOT before its end. @param {any} next @param {any} input @param {any[]} messages */
function appendSnapshot(next, input, messages) {
  const source = next.run(input);
  return source.lift({
    call: (/** @type {any} */ subscriber, /** @type {any} */ from) => from.subscribe({
      next: (/** @type {any} */ event) => {
        if (event.type === 'RUN_FINISHED') subscriber.next({ type: 'MESSAGES_SNAPSHOT', messages });
        subscriber.next(event);
      },
      error: (/** @type {any} */ error) => subscriber.error(error),
      complete: () => subscriber.complete(),
    }),
  });
}
