// mark, project, unmark: a compaction recorded on the list.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { clearToolResults, digest, loadTamp, mark, project, repair, slidingWindow, toolResults, truncation, unmark } from 'tamp';
import '../lib/seed.js';
import { deepFreeze } from '../lib/freeze.js';

/** @typedef {Record<string, any> & { id: string, role: string }} Message */

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const user = (/** @type {string} */ id, content = id) => ({ id, role: 'user', content });
const says = (/** @type {string} */ id, content = id) => ({ id, role: 'assistant', content });
const calls = (/** @type {string} */ id, /** @type {string[]} */ ...ids) => ({
  id, role: 'assistant', toolCalls: ids.map((call) => ({ id: call, type: 'function', function: { name: 'read', arguments: '{}' } })),
});
const result = (/** @type {string} */ id, /** @type {string} */ toolCallId, content = 'x'.repeat(400)) => ({ id, role: 'tool', toolCallId, content });
const idsOf = (/** @type {readonly any[]} */ messages) => messages.map(({ id }) => id);

/** @type {Message[]} */
const chat = deepFreeze([
  { id: 's', role: 'system', content: 'Be brief.' },
  user('u1'), calls('a1', 'c1', 'c2'), result('t1', 'c1'), result('t2', 'c2'), says('b1'),
  { id: 'act', role: 'activity', activityType: 'PLAN', content: {} },
  user('u2'), calls('a2', 'c3'), result('t3', 'c3'), says('b2'),
  user('u3'), says('b3'),
]);

const policies = {
  'sliding-window': slidingWindow({ keepMessages: 4 }),
  truncation: truncation({ maxMessages: 6, toMessages: 3 }),
  'tool-results': toolResults({ keepLastToolCallGroups: 0, maxChars: 60 }),
  'clear-tool-results': clearToolResults({ keepLast: 1 }),
  digest: digest({ keepMessages: 2, keepFirstUser: false, maxSummaryTokens: 60 }),
};

/** Compact the projection of a list, as `tamp/ag-ui` does after a run. */
const compact = (/** @type {any} */ list, /** @type {any} */ policy) => tamp.compact(project(list), policy);

for (const [name, policy] of Object.entries(policies)) {
  describe(name, () => {
    test('the projection of a marked list is what the compaction made', () => {
      const compaction = compact(chat, policy);
      assert.ok(compaction.changed);
      assert.deepEqual(project(mark(chat, compaction)), compaction.messages);
    });

    test('unmarking gives the full list back', () => {
      assert.deepEqual(unmark(mark(chat, compact(chat, policy))), chat);
    });

    test('a marked list survives JSON', () => {
      const compaction = compact(chat, policy);
      const stored = JSON.parse(JSON.stringify(mark(chat, compaction)));
      assert.deepEqual(project(stored), JSON.parse(JSON.stringify(compaction.messages)));
      assert.deepEqual(unmark(stored), chat);
    });

    test('only messages that carry a mark are new objects', () => {
      const marked = mark(chat, compact(chat, policy));
      for (const message of marked) {
        const original = chat.find(({ id }) => id === message.id);
        assert.equal(message === original, message.metadata?.tamp === undefined, message.id);
      }
    });
  });
}

test('an unmarked list projects to itself, the same array', () => {
  assert.equal(project(chat), chat);
  assert.deepEqual(unmark(chat), chat);
});

test('a dropped message carries the reason, a rewritten one what is sent instead', () => {
  const window = mark(chat, compact(chat, policies['sliding-window']));
  const dropped = window.find(({ id }) => id === 'a1');
  assert.equal(typeof dropped?.metadata.tamp.excluded, 'string');
  assert.notEqual(dropped?.metadata.tamp.excluded, '');
  const compaction = compact(chat, policies['clear-tool-results']);
  const rewritten = mark(chat, compaction).find(({ id }) => id === 't1');
  assert.equal(rewritten?.content, 'x'.repeat(400));
  assert.equal(rewritten?.metadata.tamp.sentAs, compaction.messages.find(({ id }) => id === 't1'));
});

test('a summary is inserted for the model while the reader keeps what it stands for', () => {
  const compaction = compact(chat, policies.digest);
  const marked = mark(chat, compaction);
  const summary = marked.findIndex(({ metadata }) => metadata?.tamp.summary !== undefined);
  assert.ok(summary > 0);
  assert.deepEqual(idsOf(marked).filter((id) => !id.startsWith('summary-')), idsOf(chat));
  assert.equal(marked[summary - 1].metadata.tamp.excluded !== undefined, true, 'it stands behind what it covers');
});

test('marking goes on where the last marking ended', () => {
  let stored = /** @type {any[]} */ ([...chat]);
  for (let turn = 4; turn < 12; turn++) {
    stored = [...stored, user(`u${turn}`), says(`b${turn}`)];
    const compaction = compact(stored, policies.digest);
    const marked = mark(stored, compaction);
    assert.deepEqual(project(marked), compaction.messages);
    stored = JSON.parse(JSON.stringify(marked));
  }
  const summaries = project(stored).filter(({ metadata }) => metadata?.tamp?.summary !== undefined);
  assert.equal(summaries.length, 1);
  const whole = unmark(stored);
  assert.deepEqual(whole.slice(0, chat.length), chat);
  assert.equal(whole.length, chat.length + 16);
});

test('a result that moved to its call goes back behind what it stood behind', () => {
  const late = deepFreeze([user('u1'), calls('a1', 'c1', 'c2'), says('b1'), result('t2', 'c2', 'two'), result('t1', 'c1', 'one'), user('u2')]);
  const compaction = compact(late, repair({}));
  assert.deepEqual(idsOf(compaction.messages), ['u1', 'a1', 't1', 't2', 'b1', 'u2']);
  const marked = mark(late, compaction);
  assert.deepEqual(project(marked), compaction.messages);
  assert.deepEqual(unmark(JSON.parse(JSON.stringify(marked))), late);
});

test('an answer for a stale call goes when the marks go', () => {
  const stale = deepFreeze([user('u1'), calls('a1', 'c1'), user('u2')]);
  const compaction = compact(stale, repair({}));
  assert.equal(compaction.messages.length, 4);
  const marked = mark(stale, compaction);
  assert.deepEqual(project(marked), compaction.messages);
  assert.deepEqual(unmark(marked), stale);
});

test('marks of some messages can be taken off alone', () => {
  const marked = mark(chat, compact(chat, policies['sliding-window']));
  const some = unmark(marked, ['u1', 'no such id']);
  assert.deepEqual(some.find(({ id }) => id === 'u1'), chat[1]);
  assert.ok(idsOf(project(some)).includes('u1'));
  assert.ok(!idsOf(project(some)).includes('a1'));
});

test('metadata of other people stays, empty metadata too', () => {
  const list = deepFreeze([
    { ...user('u1'), metadata: { mine: { a: 1 }, tamp: { note: 'kept' } } },
    { ...says('b1'), metadata: {} },
    { ...user('u2'), metadata: { tamp: {} } },
    says('b2'), user('u3'), says('b3'),
  ]);
  const marked = mark(list, compact(list, truncation({ maxMessages: 3, toMessages: 2 })));
  assert.deepEqual(marked[0].metadata.mine, { a: 1 });
  assert.equal(marked[0].metadata.tamp.note, 'kept');
  assert.notEqual(marked[0].metadata.tamp.excluded, undefined);
  assert.deepEqual(unmark(marked), list);
});

test('a compaction that changed nothing marks nothing', () => {
  const compaction = compact(chat, slidingWindow({ maxMessages: 100 }));
  const marked = mark(chat, compaction);
  assert.deepEqual(marked, chat);
  assert.notEqual(marked, chat);
  marked.forEach((message, index) => assert.equal(message, chat[index]));
});

test('the compaction of another list is refused with a TampError', () => {
  const compaction = compact(chat, policies['sliding-window']);
  for (const other of [chat.slice(0, 3), [...chat, user('u9')], []]) {
    assert.throws(() => mark(other, compaction), { name: 'TampError', code: 'stale' });
  }
});

test('a compaction made elsewhere, of copies, can be recorded too', () => {
  const compaction = structuredClone(tamp.compact(structuredClone(chat), policies.digest));
  assert.deepEqual(project(mark(chat, compaction)), compaction.messages);
});

test('messages without ids can be marked', () => {
  const list = deepFreeze([
    { role: 'system', content: 's' },
    ...Array.from({ length: 12 }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: `m${index % 3}` })),
  ]);
  const compaction = tamp.compact(list, digest({ keepMessages: 2, keepFirstUser: false, maxSummaryTokens: 40 }), { format: 'openai' });
  assert.deepEqual(project(mark(list, compaction)), compaction.messages);
  assert.deepEqual(unmark(mark(list, compaction)), list);
});

test('hostile metadata is left alone', () => {
  const list = /** @type {any[]} */ (deepFreeze([
    { ...user('u1'), metadata: null },
    { ...says('b1'), metadata: ['tamp'] },
    { ...user('u2'), metadata: { tamp: 'excluded' } },
    JSON.parse('{"id":"b2","role":"assistant","content":"","metadata":{"__proto__":{"tamp":{"excluded":"x"}}}}'),
  ]));
  assert.equal(project(list), list);
  assert.deepEqual(unmark(list), list);
});

test('random chats: projected as compacted, unmarked as they were, whatever is marked on top', () => {
  const turn = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean(), fc.boolean());
  fc.assert(fc.property(fc.array(turn, { minLength: 1, maxLength: 12 }), fc.shuffledSubarray(Object.values(policies), { minLength: 1 }), (turns, chosen) => {
    /** @type {Message[]} */
    const list = [];
    turns.forEach(([tools, activity, answered], n) => {
      list.push(user(`u${n}`, `question ${n}`));
      if (tools > 0) {
        const ids = Array.from({ length: tools }, (_, k) => `c${n}-${k}`);
        list.push(calls(`a${n}`, ...ids), ...ids.map((id) => result(`t${id}`, id)));
      }
      if (activity) list.push({ id: `act${n}`, role: 'activity', activityType: 'PLAN', content: {} });
      if (answered) list.push(says(`b${n}`, `answer ${n}`));
    });
    let stored = deepFreeze(list);
    for (const policy of chosen) {
      const compaction = compact(stored, policy);
      const marked = deepFreeze(mark(stored, compaction));
      assert.deepEqual(project(marked), compaction.messages);
      stored = /** @type {any} */ (marked);
    }
    assert.deepEqual(unmark(stored), list);
  }), { numRuns: 200 });
});
