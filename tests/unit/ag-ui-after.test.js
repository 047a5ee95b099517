// useCompaction's second phase: the stored history after a run, against both clients over HTTP.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { digest, loadTamp, project, slidingWindow, summarize, toolResults, unmark } from 'tamp';
import { CompactionObserver, compactionMiddleware, onCompaction, restoreCompactions, useCompaction } from 'tamp/ag-ui';
import { chat, idsOf, says, toolChat, user } from '../ag-ui/chats.js';
import { clients, noticesIn, quiet, run, until } from '../ag-ui/clients.js';
import { startServer } from '../ag-ui/server.js';

const WINDOW = slidingWindow({ maxMessages: 6, keepMessages: 4, keepFirstUser: false });

/** @type {Awaited<ReturnType<typeof startServer>>} */
let server;
before(async () => {
  server = await startServer();
  await loadTamp();
});
after(() => server.close());
beforeEach(() => { server.seen.length = 0; });

const sent = () => server.seen.map(({ input }) => idsOf(input.messages));
/** @param {any} agent */
const excluded = (agent) => idsOf(agent.messages.filter(({ metadata }) => metadata?.tamp?.excluded !== undefined));

for (const [name, { HttpAgent }] of clients) {
  describe(name, () => {
    let threads = 0;
    /** @param {string} path @param {any[]} initialMessages @returns {any} */
    const agentOn = (path, initialMessages) => new HttpAgent({
      url: `${server.url}/${path}`, threadId: `${name} ${threads += 1}`, initialMessages,
    });

    describe('"mark", the default', () => {
      test('what is dropped stays for the reader, marked, with the finished run counted in, and is never sent again', async () => {
        const agent = agentOn('stateless', chat(8));
        useCompaction(agent, { after: WINDOW });
        await run(agent);
        assert.deepEqual(sent()[0], idsOf(chat(8)), 'this run is not shortened');
        assert.deepEqual(idsOf(agent.messages).slice(0, -1), idsOf(chat(8)));
        const answer = agent.messages.at(-1).id;
        assert.deepEqual(idsOf(project(agent.messages)), ['s', 'u7', 'a7', 'u8', answer], 'the answer is one of the newest four');
        agent.addMessage(user('next'));
        await run(agent);
        assert.deepEqual(sent()[1], ['s', 'u7', 'a7', 'u8', answer, 'next']);
        assert.equal(agent.messages.length, chat(8).length + 3);
      });

      test('runAgent resolves with the marks in place', async () => {
        const agent = agentOn('stateless', chat(8));
        useCompaction(agent, { after: WINDOW });
        await agent.runAgent();
        assert.equal(excluded(agent).length, 14);
      });

      test('marks survive a reload, and unmark brings everything back', async () => {
        const agent = agentOn('stateless', chat(8));
        useCompaction(agent, { after: [toolResults({ keepLastToolCallGroups: 0 }), WINDOW] });
        await run(agent);
        const reloaded = agentOn('stateless', JSON.parse(JSON.stringify(agent.messages)));
        reloaded.use(compactionMiddleware({}));
        reloaded.addMessage(user('next'));
        await run(reloaded);
        assert.equal(sent()[1].length, 6);
        assert.deepEqual(unmark(agent.messages).slice(0, -1), chat(8));
      });

      test('what is rewritten is sent rewritten, and read as it was', async () => {
        const agent = agentOn('stateless', toolChat(4));
        useCompaction(agent, { after: toolResults({ keepLastToolCallGroups: 1 }) });
        await run(agent);
        assert.deepEqual(agent.messages.find(({ id }) => id === 'k0').toolCalls.length, 2);
        agent.addMessage(user('next'));
        await run(agent);
        assert.match(server.seen[1].input.messages.find(({ id }) => id === 'k0')?.content, /^\[Tool results: /);
        assert.ok(!sent()[1].includes('r0'));
      });

      test('a digest is stored once and replaced, and the servers\' snapshots leave it be', async () => {
        for (const path of ['stateless', 'snapshotting', 'snapshotting?bare', 'echoing', 'stateful', 'snapshotting?rekey']) {
          const agent = agentOn(path, chat(8));
          useCompaction(agent, { after: digest({ maxMessages: 8, keepMessages: 4, keepFirstUser: false, maxSummaryTokens: 80 }) });
          for (let turn = 0; turn < 6; turn++) {
            agent.addMessage(user(`next${turn}`));
            assert.equal((await run(agent)).error, null, path);
          }
          const summaries = project(agent.messages).filter(({ metadata }) => metadata?.tamp?.summary !== undefined);
          assert.equal(summaries.length, 1, path);
          assert.ok(server.seen.at(-1).input.messages.length <= 10, path);
          const whole = unmark(agent.messages);
          const texts = (/** @type {any[]} */ list) => list.map(({ role, content }) => `${role}: ${content}`);
          assert.deepEqual(texts(whole.slice(0, 18)), texts(chat(8)), path);
          assert.equal(whole.length, 18 + 12, path);
        }
      });

      test('a server\'s snapshots do not wipe marks away', async () => {
        for (const path of ['snapshotting', 'snapshotting?bare', 'stateful', 'snapshotting?activity']) {
          const agent = agentOn(path, chat(8));
          useCompaction(agent, { after: WINDOW });
          await run(agent);
          const before = excluded(agent);
          assert.ok(before.length > 0, path);
          agent.addMessage(user('next'));
          await run(agent);
          for (const id of before) assert.ok(excluded(agent).includes(id), `${path}: ${id} is still marked`);
          assert.equal(agent.messages.filter(({ role }) => role !== 'activity').length, chat(8).length + 3, path);
        }
      });

      test('marks alone say nothing', async () => {
        const agent = agentOn('stateless', chat(8));
        useCompaction(agent, { after: WINDOW });
        for (let turn = 0; turn < 2; turn++) {
          const { events } = await run(agent);
          assert.deepEqual(noticesIn(events), []);
          agent.addMessage(user(`next${turn}`));
        }
      });
    });

    describe('"remove"', () => {
      test('what goes is archived first, and gone when the run resolves', async () => {
        const agent = agentOn('stateless', chat(8));
        /** @type {any[]} */
        const archived = [];
        useCompaction(agent, {
          after: WINDOW,
          afterMode: 'remove',
          archive: async (removed, { threadId, runId }) => {
            assert.equal(agent.messages.length, chat(8).length + 1, 'not gone yet');
            archived.push({ removed, threadId, runId });
          },
        });
        await run(agent, { runId: 'run1' });
        assert.equal(archived.length, 1);
        assert.equal(archived[0].threadId, agent.threadId);
        assert.equal(archived[0].runId, 'run1');
        assert.deepEqual(archived[0].removed, chat(8).slice(1, 15));
        assert.deepEqual(idsOf(agent.messages).slice(0, -1), ['s', 'u7', 'a7', 'u8']);
      });

      test('an archive that fails keeps everything', async (t) => {
        quiet(t);
        const agent = agentOn('stateless', chat(8));
        /** @type {unknown[]} */
        const errors = [];
        useCompaction(agent, {
          after: WINDOW, afterMode: 'remove', archive: () => Promise.reject(new Error('disk full')), onError: (error) => errors.push(error),
        });
        assert.equal((await run(agent)).error, null);
        assert.equal(agent.messages.length, chat(8).length + 1);
        assert.equal(errors.length, 1);
      });

      test('the originals of what is rewritten are archived too', async () => {
        const agent = agentOn('stateless', toolChat(3));
        /** @type {any[]} */
        let archived = [];
        useCompaction(agent, {
          after: toolResults({ keepLastToolCallGroups: 1 }), afterMode: 'remove', archive: (removed) => { archived = removed; },
        });
        await run(agent);
        assert.deepEqual(archived, toolChat(3).filter(({ id }) => /^[krq][01]$/.test(id)));
        assert.match(agent.messages.find(({ id }) => id === 'k0').content, /^\[Tool results: /);
      });

      test('a stateful server\'s snapshot does not bring old turns back behind the newest', async () => {
        const agent = agentOn('stateful', chat(8));
        useCompaction(agent, { after: WINDOW, afterMode: 'remove' });
        await run(agent);
        const kept = idsOf(agent.messages);
        agent.addMessage(user('next'));
        await run(agent);
        assert.deepEqual(idsOf(agent.messages), [...kept, 'next', agent.messages.at(-1).id]);
        assert.equal(agent.messages.at(-1).role, 'assistant');
      });
    });

    describe('when', () => {
      test('once for each finished run', async () => {
        let times = 0;
        const agent = agentOn('stateless', chat(8));
        useCompaction(agent, { after: slidingWindow({ keepMessages: 4, keepFirstUser: false }), onCompacted: ({ phase }) => { times += phase === 'after' ? 1 : 0; } });
        for (let turn = 1; turn <= 3; turn++) {
          await run(agent);
          assert.equal(times, turn);
          agent.addMessage(user(`next${turn}`));
        }
      });

      test('not while a frontend tool is being called: the run that answers it is compacted', async () => {
        const agent = agentOn('tool', chat(8));
        useCompaction(agent, { after: WINDOW });
        const { newMessages } = await run(agent);
        assert.deepEqual(excluded(agent), []);
        agent.addMessage({ id: 'picked', role: 'tool', toolCallId: newMessages[0].toolCalls[0].id, content: 'this' });
        await run(agent);
        assert.ok(excluded(agent).length > 0);
      });

      test('not while an interrupt is open', async () => {
        const agent = agentOn('interrupting', chat(8));
        useCompaction(agent, { after: WINDOW });
        await run(agent);
        assert.deepEqual(excluded(agent), []);
        const [{ id, toolCallId }] = agent.pendingInterrupts;
        agent.addMessage({ id: 'approved', role: 'tool', toolCallId, content: 'yes' });
        await run(agent, { resume: [{ interruptId: id, status: 'resolved', payload: true }] });
        assert.ok(excluded(agent).length > 0);
      });

      test('not when the run failed', async (t) => {
        quiet(t);
        for (const path of ['failing', 'failing?status=500']) {
          const agent = agentOn(path, chat(8));
          useCompaction(agent, { after: WINDOW });
          await run(agent);
          assert.deepEqual(excluded(agent), [], path);
        }
      });

      test('not when connectAgent replays a run', async () => {
        class Connecting extends HttpAgent {
          /** @param {any} input */
          connect(input) {
            return this.run(input);
          }
        }
        const agent = new Connecting({ url: `${server.url}/stateless`, threadId: 'connected', initialMessages: chat(8) });
        useCompaction(agent, { before: WINDOW, after: WINDOW });
        await agent.connectAgent();
        assert.deepEqual(excluded(agent), []);
        assert.equal(sent()[0].length, 18);
      });

      test('also for a run that other middleware has changed the input of', async () => {
        const agent = agentOn('stateless', chat(8));
        agent.use((/** @type {any} */ input, /** @type {any} */ next) => next.run({ ...input }));
        useCompaction(agent, { after: WINDOW });
        await run(agent);
        assert.ok(excluded(agent).length > 0);
      });

      test('a summary by a model is waited for, and aborting the run gives it up', async () => {
        const agent = agentOn('stateless', chat(12));
        useCompaction(agent, {
          after: summarize({ maxMessages: 10, keepMessages: 3, keepFirstUser: false }), summarize: async () => 'They talked.',
        });
        await run(agent);
        assert.match(project(agent.messages)[1].content, /They talked\./);

        /** @type {AbortSignal | undefined} */
        let signal;
        const other = agentOn('stateless', chat(12));
        useCompaction(other, {
          after: summarize({ maxMessages: 10, keepMessages: 3 }),
          summarize: ({ signal: given }) => {
            signal = given;
            return new Promise(() => {});
          },
        });
        const running = run(other);
        await until(() => signal !== undefined, 'the summary is asked for');
        other.abortRun();
        assert.equal((await running).error, null);
        assert.deepEqual(excluded(other), []);
        assert.equal(other.messages.length, chat(12).length + 1);
      });
    });

    describe('notices', () => {
      test('a compaction after a run is told with the next one, the first that has the shorter history', async () => {
        const agent = agentOn('stateless', chat(8));
        /** @type {any[]} */
        const notices = [];
        onCompaction(agent, (notice) => notices.push(notice));
        useCompaction(agent, { after: new CompactionObserver(WINDOW) });
        await run(agent);
        assert.deepEqual(notices, []);
        agent.addMessage(user('next'));
        const { events } = await run(agent);
        assert.equal(events[1], noticesIn(events)[0]);
        assert.deepEqual(noticesIn(events)[0].content, { removed: 14, before: 19, after: 5 });
        assert.equal(notices.length, 1);
        assert.equal(notices[0].origin, 'client');
      });

      test('each phase that fires says so once', async () => {
        const agent = agentOn('stateless', chat(8));
        useCompaction(agent, {
          before: new CompactionObserver(slidingWindow({ maxMessages: 4, keepMessages: 2, keepFirstUser: false })),
          after: new CompactionObserver(WINDOW),
        });
        assert.equal(noticesIn((await run(agent)).events).length, 1);
        agent.addMessage(user('next'));
        assert.equal(noticesIn((await run(agent)).events).length, 2);
      });

      test('they are restored from the stored list', async () => {
        const agent = agentOn('stateless', chat(8));
        useCompaction(agent, { after: new CompactionObserver(WINDOW) });
        await run(agent, { runId: 'run1' });
        await run(agent);
        const [notice, ...rest] = restoreCompactions(JSON.parse(JSON.stringify(agent.messages)));
        assert.deepEqual(rest, []);
        assert.equal(notice.threadId, agent.threadId);
        assert.equal(notice.runId, 'run1');
        assert.equal(notice.origin, 'client');
        assert.ok(notice.at > 0);
      });
    });

    describe('attaching', () => {
      test('both phases at once', async () => {
        const agent = agentOn('stateless', toolChat(8));
        const phases = new Set();
        useCompaction(agent, { before: toolResults({ keepLastToolCallGroups: 0 }), after: slidingWindow({ maxMessages: 20, keepMessages: 10 }), onCompacted: ({ phase }) => phases.add(phase) });
        await run(agent);
        assert.deepEqual([...phases], ['before', 'after']);
      });

      test('attached twice, it compacts once, with the newer options', async () => {
        const agent = agentOn('stateless', chat(8));
        let times = 0;
        const onCompacted = () => { times += 1; };
        useCompaction(agent, { after: slidingWindow({ keepMessages: 8 }), onCompacted });
        useCompaction(agent, { after: WINDOW, onCompacted });
        await run(agent);
        assert.equal(times, 1);
        assert.equal(project(agent.messages).length, 5);
        assert.equal(agent.middlewares.length, agentOn('stateless', []).middlewares.length + 1, 'one middleware');
      });

      test('beside a middleware that compacts before the run', async () => {
        const agent = agentOn('stateless', chat(8));
        agent.use(compactionMiddleware({ before: new CompactionObserver(slidingWindow({ maxMessages: 8, keepMessages: 6 })) }));
        useCompaction(agent, { after: new CompactionObserver(WINDOW) });
        assert.equal(noticesIn((await run(agent)).events).length, 1);
        agent.addMessage(user('next'));
        const { events } = await run(agent);
        assert.deepEqual(noticesIn(events).map(({ content }) => content.removed), [14]);
      });

      test('a clone goes on with both phases', async () => {
        const agent = agentOn('stateless', chat(8));
        useCompaction(agent, { before: WINDOW, after: WINDOW });
        const clone = agent.clone();
        clone.threadId = 'cloned';
        await run(clone);
        assert.ok(excluded(clone).length > 0);
        assert.deepEqual(excluded(agent), []);
      });

      test('detached, the stored history is left alone, and what is marked stays unsent', async () => {
        const agent = agentOn('stateless', chat(8));
        const detach = useCompaction(agent, { after: WINDOW });
        await run(agent);
        const marked = excluded(agent).length;
        detach();
        for (let turn = 0; turn < 4; turn++) {
          agent.addMessage(user(`next${turn}`));
          await run(agent);
        }
        assert.equal(excluded(agent).length, marked);
        assert.ok(!sent().at(-1)?.includes('u0'));
      });

      test('what is no agent is refused', () => {
        for (const value of [null, undefined, {}, 'agent', []]) {
          assert.throws(() => useCompaction(value, {}), TypeError);
          assert.throws(() => onCompaction(value, () => {}), TypeError);
        }
      });

      test('subscribers in development get frozen lists, and that is no trouble', async (t) => {
        const before = process.env.NODE_ENV;
        process.env.NODE_ENV = 'test';
        t.after(() => {
          if (before === undefined) delete process.env.NODE_ENV;
          else process.env.NODE_ENV = before;
        });
        const agent = agentOn('snapshotting', chat(8));
        useCompaction(agent, { before: WINDOW, after: new CompactionObserver(WINDOW) });
        for (let turn = 0; turn < 3; turn++) {
          agent.addMessage(user(`next${turn}`), says(`said${turn}`));
          assert.equal((await run(agent)).error, null);
        }
        assert.ok(excluded(agent).length > 0);
      });
    });
  });
}
