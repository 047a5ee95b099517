// What the clients do, where tamp/ag-ui builds on it: each a fact that was seen, on both versions. When one of these fails, a
// client has changed, and what rests on the fact has to be looked at.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { loadTamp, slidingWindow } from 'tamp';
import { CompactionObserver, compactionEvent, compactionMiddleware, onCompaction, useCompaction } from 'tamp/ag-ui';
import { chat, idsOf, shown, user } from '../ag-ui/chats.js';
import { clients, quiet, run, until } from '../ag-ui/clients.js';
import { startServer } from '../ag-ui/server.js';

const WINDOW = slidingWindow({ maxMessages: 4, keepMessages: 2, keepFirstUser: false });

/** @type {Awaited<ReturnType<typeof startServer>>} */
let server;
before(async () => {
  server = await startServer();
  await loadTamp();
});
after(() => server.close());
beforeEach(() => { server.seen.length = 0; });

const sent = () => server.seen.map(({ input }) => idsOf(input.messages));
/** @typedef {any} Any */

for (const [name, { HttpAgent }] of clients) {
  const modern = name.includes('1.x');
  describe(name, () => {
    let threads = 0;
    const agentOn = (path = 'stateless', initialMessages = chat(3)) =>
      new HttpAgent({ url: `${server.url}/${path}`, threadId: `${name} ${threads += 1}`, initialMessages });

    test('a middleware may change the input\'s list: the agent\'s stays', async () => {
      const agent = agentOn();
      agent.use((/** @type {Any} */ input, /** @type {Any} */ next) => next.run({ ...input, messages: input.messages.slice(-1) }));
      await run(agent);
      assert.deepEqual(sent(), [['u3']]);
      assert.deepEqual(idsOf(agent.messages).slice(0, -1), idsOf(chat(3)));
    });

    test('after onRunInitialized gave messages, the input shares objects with the agent: ours writes to none of them', async () => {
      const agent = agentOn();
      agent.subscribe({ onRunInitialized: (/** @type {Any} */ { messages }) => ({ messages: [...messages] }) });
      let shared = false;
      agent.use((/** @type {Any} */ input, /** @type {Any} */ next) => {
        shared = input.messages[0] === agent.messages[0];
        return next.run(input);
      }, compactionMiddleware({ before: WINDOW }));
      await run(agent);
      assert.ok(shared);
      assert.deepEqual(agent.messages.slice(0, -1), chat(3));
    });

    test('onRunInitialized may change the stored list, or the outgoing one alone', async () => {
      const stored = agentOn();
      stored.subscribe({ onRunInitialized: (/** @type {Any} */ { messages }) => ({ messages: messages.slice(-2) }) });
      await run(stored);
      assert.deepEqual(idsOf(stored.messages).slice(0, -1), ['a2', 'u3']);
      const outgoing = agentOn();
      outgoing.subscribe({ onRunInitialized: (/** @type {Any} */ { input }) => { input.messages = input.messages.slice(-2); } });
      await run(outgoing);
      assert.deepEqual(sent()[1], ['a2', 'u3']);
      assert.equal(outgoing.messages.length, chat(3).length + 1);
    });

    test('what a subscriber throws is logged, and the run goes on', async (t) => {
      const { errors } = quiet(t);
      const agent = agentOn();
      agent.subscribe({ onRunInitialized() { throw new Error('in a hook'); } });
      assert.equal((await run(agent)).error, null);
      assert.equal(errors.length, 1);
    });

    test('a middleware that throws or returns a promise leaves detachActiveRun hanging: ours returns a stream at once', async (t) => {
      quiet(t);
      for (const broken of [() => { throw new Error('sync'); }, async () => null]) {
        const agent = agentOn();
        agent.use(broken);
        assert.notEqual((await run(agent)).error, null);
        const hung = Symbol('hung');
        const ticks = (async () => {
          for (let tick = 0; tick < 50; tick++) await new Promise((resolve) => setImmediate(resolve));
          return hung;
        })();
        assert.equal(await Promise.race([agent.detachActiveRun(), ticks]), hung);
      }
      const agent = agentOn();
      agent.use(compactionMiddleware({ before: /** @type {Any} */ (() => {}) }));
      await run(agent);
      await agent.detachActiveRun();
    });

    test('an activity that a hook puts into the list is shown, and heard by nobody: ours comes as an event', async () => {
      const heard = { snapshot: 0, changed: 0 };
      const subscriber = {
        onActivitySnapshotEvent() { heard.snapshot += 1; },
        onMessagesChanged() { heard.changed += 1; },
      };
      const agent = agentOn();
      const { messageId, activityType, content } = compactionEvent({ removed: 1, before: 2, after: 1 });
      agent.subscribe({
        onRunStartedEvent: (/** @type {Any} */ { messages }) => ({ messages: [...messages, { id: messageId, role: 'activity', activityType, content }] }),
      });
      agent.subscribe(subscriber);
      await run(agent);
      assert.ok(shown(agent.messages).includes('<compaction>'));
      assert.equal(heard.snapshot, 0);
      assert.ok(heard.changed > 0);
      const ours = agentOn();
      ours.use(compactionMiddleware({ before: new CompactionObserver(WINDOW) }));
      ours.subscribe(subscriber);
      await run(ours);
      assert.equal(heard.snapshot, 1);
    });

    test('setMessages during a run is lost, between runs it holds', async () => {
      const agent = agentOn();
      agent.subscribe({ onRunStartedEvent: () => { agent.setMessages([user('only')]); } });
      await run(agent);
      assert.equal(agent.messages.length, chat(3).length + 1);
      agent.setMessages([user('only')]);
      assert.deepEqual(idsOf(agent.messages), ['only']);
    });

    test('what onRunFinishedEvent returns is stored when runAgent resolves; onRunFinalized comes after', async () => {
      const agent = agentOn();
      /** @type {string[]} */
      const order = [];
      agent.subscribe({
        onRunFinishedEvent: async (/** @type {Any} */ { messages }) => {
          await new Promise((resolve) => setImmediate(resolve));
          return { messages: messages.slice(-1) };
        },
        onRunFinalized: async () => {
          await new Promise((resolve) => setImmediate(resolve));
          order.push('finalized');
          return { messages: [] };
        },
      });
      await agent.runAgent();
      order.push('resolved');
      assert.equal(agent.messages.length, 1);
      await until(() => order.length === 2, 'it is finalized');
      assert.deepEqual(order, ['resolved', 'finalized']);
    });

    test('connectAgent runs no middleware: useCompaction leaves what it brings alone', async () => {
      class Connecting extends HttpAgent {
        /** @param {Any} input */
        connect(input) {
          return this.run(input);
        }
      }
      const agent = new Connecting({ url: `${server.url}/stateless`, threadId: 'connected', initialMessages: chat(3) });
      let initialized = 0;
      agent.subscribe({ onRunInitialized: () => { initialized += 1; } });
      useCompaction(agent, { before: WINDOW, after: WINDOW });
      await agent.connectAgent();
      assert.equal(initialized, 1);
      assert.equal(sent()[0].length, 8);
      assert.ok(agent.messages.every(({ metadata }) => metadata === undefined));
    });

    test('unsubscribing during a run takes effect with the next one', async () => {
      const agent = agentOn();
      agent.use(compactionMiddleware({ before: new CompactionObserver(WINDOW) }));
      let heard = 0;
      const stop = onCompaction(agent, () => { heard += 1; });
      agent.subscribe({ onRunInitialized: () => stop() });
      await run(agent);
      assert.equal(heard, 1);
      await run(agent);
      assert.equal(heard, 1);
    });

    test('a clone shares middleware and subscribers', () => {
      const agent = agentOn();
      agent.use(compactionMiddleware({}));
      const subscriber = {};
      agent.subscribe(subscriber);
      const clone = agent.clone();
      assert.ok(clone.subscribers.includes(subscriber));
      assert.equal(clone.middlewares.at(-1), agent.middlewares.at(-1));
    });

    test('HttpAgent.run sends when it is called, not when it is heard', async () => {
      const agent = agentOn();
      agent.run({ threadId: 't', runId: 'r', messages: chat(1), tools: [], context: [] });
      await until(() => server.seen.length === 1, 'the request arrives');
    });

    test('messages given to runAgent are not used', async () => {
      await run(agentOn(), { messages: [user('other')] });
      assert.deepEqual(sent()[0], idsOf(chat(3)));
    });

    test(`a frozen input ${modern ? 'breaks the run' : 'is taken'}: ours freezes none`, async (t) => {
      quiet(t);
      const agent = agentOn('stateless', [{ ...user('u'), content: /** @type {Any} */ ([{ type: 'binary', mimeType: 'image/png', data: 'AAAA' }]) }]);
      agent.use((/** @type {Any} */ input, /** @type {Any} */ next) => next.run(Object.freeze({ ...input, messages: Object.freeze(input.messages) })));
      assert.equal((await run(agent)).error !== null, modern);
    });

    test('an activity before RUN_STARTED or after RUN_FINISHED fails the run; ours stands between', async (t) => {
      quiet(t);
      for (const first of [true, false]) {
        const agent = agentOn();
        agent.use((/** @type {Any} */ input, /** @type {Any} */ next) => {
          const source = next.run(input);
          return source.lift({
            call: (/** @type {Any} */ subscriber, /** @type {Any} */ from) => {
              if (first) subscriber.next(compactionEvent({ removed: 1, before: 2, after: 1 }));
              return from.subscribe({
                next: (/** @type {Any} */ event) => {
                  subscriber.next(event);
                  if (event.type === 'RUN_FINISHED') subscriber.next(compactionEvent({ removed: 1, before: 2, after: 1 }));
                },
                error: (/** @type {Any} */ error) => subscriber.error(error),
                complete: () => subscriber.complete(),
              });
            },
          });
        });
        assert.notEqual((await run(agent)).error, null);
      }
    });
  });
}
