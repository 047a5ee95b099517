// Random lives of a chat: whatever people and models do in whatever order, some things always hold.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { loadTamp } from 'tamp';
import { createSession, isCompactionSafe } from 'tamp/session';
import { memoryStore } from 'tamp/store';
import { checkState } from '../../web/session/state.js';
import '../lib/seed.js';
import { formats, shape } from '../lib/chats.js';

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const CASES = Number(process.env.CASES ?? 150);

const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('turn'), calls: fc.nat(3), over: fc.nat(3), total: fc.constantFrom(20, 50, 160), steer: fc.boolean(), answer: fc.constantFrom('whole', 'none', 'twice') }) },
  fc.record({ do: fc.constantFrom('edit', 'undo'), at: fc.nat(30) }),
  fc.record({ do: fc.constantFrom('compact', 'restore', 'reload', 'regenerate') }),
  fc.record({ do: fc.constant('summarizer'), says: fc.constantFrom('SUM', '', 'throw') }),
);
const choices = fc.record({
  ui: fc.constantFrom('all', 'last', 'one'),
  model: fc.constantFrom('summary', 'tail', 'tools'),
});

/** One chat in one format, and everything a test does to it. */
class Life {
  constructor(format, { ui, model }) {
    this.format = format;
    this.words = formats[format];
    this.store = memoryStore();
    this.says = 'SUM';
    this.count = 0;
    this.compaction = {
      shouldCompact: ({ totalTokens }) => totalTokens > 100,
      summarize: () => {
        if (this.says === 'throw') throw new Error('offline');
        return this.says && `${this.says}${++this.count}`;
      },
    };
    if (ui !== 'all') this.compaction.compactUIMessages = ({ uiMessages }) => uiMessages.slice(ui === 'last' ? -3 : -1);
    const own = (message) => (format === 'ag-ui' ? { id: `own-${++this.count}`, ...message } : message);
    if (model === 'tail') this.compaction.compactModelMessages = ({ summary, modelMessages }) => [own({ role: 'user', content: summary }), ...modelMessages.slice(-2)];
    if (model === 'tools') this.compaction.compactModelMessages = ({ modelMessages }) => modelMessages.filter(({ role }) => role === 'tool');
  }

  async open() {
    this.session = await createSession({ chatId: 'c', tamp, store: this.store, format: this.format, compaction: this.compaction, onError: () => undefined });
  }

  async turn(turn, { calls, over, total, steer, answer }) {
    const id = `A${++this.count}`;
    const names = Array.from({ length: calls }, (_, n) => `${id}-${n}`);
    const modelWords = this.format === 'ai-sdk-ui' ? formats['ai-sdk-model'] : this.words;
    const prepareStep = turn.prepareStep();
    const steps = [];
    const answers = [];
    assert.ok(isCompactionSafe(turn.messages), 'a prompt breaks a pair');
    await prepareStep({ messages: turn.messages, steps: [] });
    for (const [n, name] of names.entries()) {
      answers.push(...modelWords.tool(id, [name]));
      steps.push({ content: [], finishReason: 'tool-calls', usage: { totalTokens: n === over ? 160 : 40 }, response: { messages: [...answers] } });
      if (steer && n === 1) await this.session.steer(this.words.question(`W${++this.count}`));
      const prepared = await prepareStep({ messages: [...turn.messages, ...answers], steps: [...steps] });
      if (prepared !== undefined) assert.ok(isCompactionSafe(prepared.messages), 'a prompt breaks a pair');
    }
    if (answer === 'none') return;
    for (const message of this.words.tool(id, names, 'done')) {
      await turn.addResponse(message);
      if (answer === 'twice' && 'id' in message) await turn.addResponse({ ...message });
    }
    await turn.complete({ usage: { totalTokens: total } }).catch((error) => assert.equal(error.message, 'offline'));
  }

  async act(command) {
    const { session } = this;
    const named = (index) => /** @type {any} */ (session.uiMessages[index]).id ?? `#${index}`;
    const place = session.uiMessages.length === 0 ? -1 : command.at % session.uiMessages.length;
    switch (command.do) {
      case 'turn':
        return this.turn(await session.send(this.words.question(`Q${++this.count}`)), command);
      case 'edit':
        return place === -1 ? undefined : session.edit(named(place), { ...this.words.question(`E${++this.count}`), ...(this.format.includes('ui') ? { id: named(place) } : {}) });
      case 'undo':
        return place === -1 ? undefined : session.undo(named(place));
      case 'compact':
        return session.compact().catch((error) => assert.equal(error.message, 'offline'));
      case 'regenerate':
        return session.regenerate().catch((error) => assert.equal(error.code, 'unknown-message'));
      case 'restore':
        return session.restore();
      case 'reload':
        await session.close();
        return this.open();
      default:
        this.says = command.says;
        return undefined;
    }
  }

  async check() {
    const { session } = this;
    const { state, uiMessages, modelMessages } = session;
    assert.equal(session.unsaved, 0);
    const stored = await this.store.load('c') ?? { messages: [], state: null };
    assert.deepEqual(stored.messages, uiMessages, 'the store holds what people see');
    assert.deepEqual(stored.state, state, 'and the state');
    if (state !== null) {
      assert.equal(checkState(tamp, state, uiMessages), null, 'the state stands for the transcript');
      assert.ok(state.tokensAfter < state.tokensBefore, 'a compaction makes the lane smaller');
    } else if (uiMessages.length > 0) {
      assert.ok(modelMessages.length > 0, 'the lane of a chat is not empty');
    }
    const again = await createSession({ chatId: 'c', tamp, store: { ...this.store, save: async () => undefined }, format: this.format, compaction: this.compaction });
    assert.deepEqual(again.modelMessages, modelMessages, 'a reload reads the same');
    assert.ok(shape(modelMessages).filter((said) => said.startsWith('S:')).length <= 1, 'there are never two summaries');
  }
}

for (const format of Object.keys(formats)) {
  test(`whatever happens to a chat of ${format} messages, it is stored, its summary stands for it, and a reload reads the same`, async () => {
    await fc.assert(fc.asyncProperty(choices, fc.array(action, { maxLength: 12 }), async (chosen, commands) => {
      const life = new Life(format, chosen);
      await life.open();
      for (const command of commands) {
        await life.act(command);
        await life.check();
      }
    }), { numRuns: CASES, seed: 7 });
  });
}
