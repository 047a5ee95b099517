/**
 * Long use with a flat memory. `make test` runs the short form; SOAK=1000000 is the long one: so many compactions, a
 * tenth as many sessions, and a whole day of appends instead of a tenth of it.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  budget, clearToolResults, contextWindow, digest, dropReasoning, loadTamp, slidingWindow, summarize, toolResults, truncation,
} from 'tamp';
import { createSession } from 'tamp/session';
import { memoryStore } from 'tamp/store';
import { liveHeap } from '../lib/memory.js';

const COMPACTIONS = Number(process.env.SOAK ?? 20_000);
const LONG = COMPACTIONS >= 1e6;
const MIB = 2 ** 20;
const DAY = 24 * 60 * 60;

/** What the JavaScript heap may differ by and still be flat: caches, compiled code, the test runner itself. */
const HEAP_NOISE = 4 * MIB;

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

/** The same numbers in every run. @param {number} seed */
function random(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * A chat of an agent: questions, parallel calls, results, answers.
 * @param {number} turns
 * @param {string} name part of every id and text
 */
function chat(turns, name) {
  /** @type {any[]} */
  const messages = [{ id: `${name}-s`, role: 'system', content: 'Be brief.' }];
  for (let turn = 0; turn < turns; turn += 1) {
    const id = `${name}-${turn}`;
    messages.push(
      { id: `${id}-u`, role: 'user', content: `Question ${turn} of ${name}: what does src/file${turn}.c do?` },
      { id: `${id}-r`, role: 'reasoning', content: `I should read it. ${'Hm. '.repeat(turn % 9)}` },
      { id: `${id}-k`, role: 'assistant', content: 'Reading.', toolCalls: ['a', 'b'].map((call) => (
        { id: `${id}-${call}`, type: 'function', function: { name: 'read', arguments: `{"path":"src/file${turn}.c"}` } })) },
      { id: `${id}-ta`, role: 'tool', toolCallId: `${id}-a`, content: `int main(void) { return ${turn}; }\n`.repeat(1 + turn % 12) },
      { id: `${id}-tb`, role: 'tool', toolCallId: `${id}-b`, content: 'not found', error: 'not found' },
      { id: `${id}-t`, role: 'assistant', content: `It returns ${turn}.` },
    );
  }
  return messages;
}

const policies = [
  slidingWindow({ maxMessages: 20, keepMessages: 10 }),
  truncation({ maxTokens: 300, toTokens: 150 }),
  toolResults({ keepLastToolCallGroups: 1, maxChars: 60 }),
  clearToolResults({ keepLast: 1 }),
  contextWindow({ maxContextWindowTokens: 900, maxOutputTokens: 100 }),
  digest({ keepMessages: 4 }),
  budget({ maxTokens: 200, steps: [dropReasoning({ keepLastTurns: 0 }), toolResults(), truncation({ maxMessages: 6, toMessages: 3 })] }),
];

test(`${COMPACTIONS} compactions leave the module's memory and the heap as they were`, async (t) => {
  const lists = Array.from({ length: 12 }, (_, n) => chat(2 + n, `c${n}`));
  const texts = lists.map((list) => JSON.stringify(list));
  const compact = (/** @type {number} */ n) => {
    const list = lists[n % lists.length];
    const policy = policies[n % policies.length];
    switch (n % 16) {
      case 0:
        return tamp.compactText(texts[n % texts.length], policy).changed;
      case 1: {
        const history = tamp.open(list);
        const { changed } = history.compact(policy);
        history.dispose();
        return changed;
      }
      case 2:
        tamp.inspect(list);
        return tamp.compact(list, policy, { countTokens: (text) => text.length }).changed;
      default:
        return tamp.compact(list, policy).changed;
    }
  };
  const warm = Math.min(4000, COMPACTIONS / 5);
  for (let n = 0; n < warm; n += 1) compact(n);
  const module = tamp.bridge.memorySize;
  const heap = await liveHeap();
  let changed = 0;
  const start = performance.now();
  for (let n = 0; n < COMPACTIONS; n += 1) changed += Number(compact(n));
  const seconds = (performance.now() - start) / 1000;
  const grown = await liveHeap() - heap;
  t.diagnostic(`${COMPACTIONS} compactions in ${seconds.toFixed(1)} s, module ${module / MIB} MiB before and `
    + `${tamp.bridge.memorySize / MIB} after, heap ${(grown / MIB).toFixed(2)} MiB more`);
  assert.ok(changed > COMPACTIONS / 2);
  assert.equal(tamp.bridge.memorySize, module);
  assert.ok(grown < HEAP_NOISE, `the heap grew by ${grown} bytes`);
});

test('a thousand compactions that wait for their summaries at once are not mixed up', async (t) => {
  const next = random(7);
  const module = tamp.bridge.memorySize;
  /** @type {(() => void)[]} */
  const waiting = [];
  const results = Array.from({ length: 1000 }, async (_, n) => {
    const name = `run${n}`;
    const list = chat(3 + n % 5, name);
    /** @type {any} */
    const options = {
      summarize: async (/** @type {any} */ { text, messages }) => {
        assert.ok(messages.every((/** @type {any} */ { id }) => id.startsWith(`${name}-`)), 'only its own messages');
        assert.ok(text.includes(`of ${name}:`) && text.match(/of run\d+:/gu).every((/** @type {string} */ each) => each === `of ${name}:`));
        await new Promise((resolve) => { waiting.push(() => resolve(undefined)); });
        return `the summary of ${name}`;
      },
    };
    const policy = summarize({ keepMessages: 3 });
    const history = n % 2 === 0 ? tamp.open(list) : null;
    const { messages } = history ? await history.compactAsync(policy, options) : await tamp.compactAsync(list, policy, options);
    history?.dispose();
    const written = messages.filter(({ content }) => typeof content === 'string' && content.includes('the summary of'));
    assert.equal(written.length, 1);
    assert.equal(written[0].content, `[Conversation summary]\n\nthe summary of ${name}`);
    for (const message of messages) {
      assert.ok(message === written[0] || list.includes(message), 'every other message is its own object');
    }
  });
  await new Promise((resolve) => { setImmediate(resolve); });
  assert.equal(waiting.length, 1000);
  t.diagnostic(`1,000 at once hold ${((tamp.bridge.memorySize - module) / MIB).toFixed(1)} MiB of the module's memory`);
  /* They are answered in another order, with other compactions between them. */
  while (waiting.length > 0) {
    const [answer] = waiting.splice(next(waiting.length), 1);
    answer();
    tamp.compact(chat(2, 'between'), policies[0]);
    if (next(10) === 0) await Promise.resolve();
  }
  await Promise.all(results);
});

const seconds = LONG ? DAY : DAY / 10;
test(`a message a second for ${LONG ? 'a day' : 'a tenth of a day'} on one history takes no more memory at the end than after the first part`, async (t) => {
  const history = tamp.open();
  const policy = [clearToolResults({ maxTokens: 20_000 }), slidingWindow({ maxTokens: 30_000, keepTokens: 15_000 })];
  let compactions = 0;
  let longest = 0;
  let module = 0;
  let heap = 0;
  const pattern = chat(50, 'p').slice(1);
  const start = performance.now();
  for (let second = 0; second < seconds; second += 1) {
    const message = structuredClone(pattern[second % pattern.length]);
    const round = Math.floor(second / pattern.length);
    message.id += `-${round}`;
    if (message.toolCallId) message.toolCallId += `-${round}`;
    for (const call of message.toolCalls ?? []) call.id += `-${round}`;
    history.append(message);
    const { changed, messages, report } = history.compact(policy);
    assert.ok(report.fits, report.reason ?? '');
    if (changed) {
      compactions += 1;
      history.sync(messages);
    }
    longest = Math.max(longest, history.length);
    if (second === Math.floor(seconds / 4)) {
      module = tamp.bridge.memorySize;
      heap = await liveHeap();
    }
  }
  const took = performance.now() - start;
  const grown = await liveHeap() - heap;
  t.diagnostic(`${seconds} appends, each with a compaction asked for: ${(took * 1000 / seconds).toFixed(0)} µs a message, `
    + `${compactions} compactions changed something, at most ${longest} messages, module ${tamp.bridge.memorySize / MIB} MiB, heap ${(grown / MIB).toFixed(2)} MiB more`);
  assert.ok(compactions > seconds / 2000);
  assert.equal(tamp.bridge.memorySize, module);
  assert.ok(grown < HEAP_NOISE, `the heap grew by ${grown} bytes`);
  history.dispose();
});

describe('sessions', () => {
  const sessions = Math.ceil(COMPACTIONS / 10);
  test(`${sessions} sessions opened, used and closed leave nothing behind`, async (t) => {
    const one = async (/** @type {number} */ n) => {
      const session = await createSession({
        chatId: `chat${n}`, tamp, store: memoryStore(),
        compaction: { shouldCompact: ({ totalTokens }) => totalTokens > 100, summarize: () => 'SUM' },
      });
      for (let turn = 0; turn < 2; turn += 1) {
        const open = await session.send({ id: `u${turn}`, role: 'user', content: `question ${turn}` });
        await open.addResponse({ id: `a${turn}`, role: 'assistant', content: 'answer' });
        await open.complete({ usage: { totalTokens: 160 } });
      }
      await session.close();
    };
    for (let n = 0; n < Math.min(500, sessions / 2); n += 1) await one(n);
    const module = tamp.bridge.memorySize;
    const heap = await liveHeap();
    const start = performance.now();
    for (let n = 0; n < sessions; n += 1) await one(n);
    const took = (performance.now() - start) / 1000;
    const grown = await liveHeap() - heap;
    t.diagnostic(`${sessions} sessions of two turns in ${took.toFixed(1)} s, heap ${(grown / MIB).toFixed(2)} MiB more`);
    assert.equal(tamp.bridge.memorySize, module);
    assert.ok(grown < HEAP_NOISE, `the heap grew by ${grown} bytes`);
  });
});
