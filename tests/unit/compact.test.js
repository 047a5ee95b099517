/** What compact, inspect and countTokens promise beside the vectors: objects, reports, old bugs of others. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import * as core from 'tamp';
import { counters, words } from '../lib/counters.js';
import { deepFreeze } from '../lib/freeze.js';
import { refusals } from '../lib/validators.js';
import { weighAll } from '../lib/weigh.js';

const { loadTamp, slidingWindow, truncation } = core;

/** @typedef {Record<string, any>} Message */

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const user = (/** @type {string} */ id, content = `question ${id}`, more = {}) =>
  ({ id, role: 'user', content, ...more });
const answer = (/** @type {string} */ id, content = `answer ${id}`, more = {}) =>
  ({ id, role: 'assistant', content, ...more });
const system = (/** @type {string} */ id, content = 'Be good.') => ({ id, role: 'system', content });
const calls = (/** @type {string} */ id, ...names) => ({
  id,
  role: 'assistant',
  toolCalls: names.map((name) => ({
    id: name, type: 'function', function: { name: 'search', arguments: `{"q":"${name}"}` },
  })),
});
const result = (/** @type {string} */ call, content = `result of ${call}`, more = {}) =>
  ({ id: `t-${call}`, role: 'tool', toolCallId: call, content, ...more });
const ids = (/** @type {readonly any[]} */ messages) => messages.map(({ id }) => id);

/** A long tool loop: `rounds` calls, each with its result, under one question. */
const loop = (/** @type {number} */ rounds) => [
  user('u1', 'do it'),
  ...Array.from({ length: rounds }, (_, n) => [calls(`k${n}`, `c${n}`), result(`c${n}`, 'word '.repeat(50))])
    .flat(),
];

describe('loading', () => {
  test('the same options give the same promise', () => {
    assert.equal(loadTamp(), loadTamp());
  });

  test('two instances come to the same result and report', async () => {
    const { readFile } = await import('node:fs/promises');
    const { fileURLToPath } = await import('node:url');
    const bytes = await readFile(fileURLToPath(import.meta.resolve('tamp/tamp.wasm')));
    const other = await loadTamp({ wasm: bytes });
    assert.notEqual(other, tamp);
    const policy = [core.toolResults({ keepLastToolCallGroups: 1 }), truncation({ maxTokens: 300, toTokens: 200 })];
    const messages = loop(20);
    const [one, two] = [tamp.compact(messages, policy), other.compact(messages, policy)];
    assert.deepEqual(two.messages, one.messages);
    assert.deepEqual(two.report, one.report);
  });

  test('a module that is no Wasm is refused with a TampError that says what to do', async () => {
    await assert.rejects(loadTamp({ wasm: new Uint8Array([1, 2, 3]) }), (/** @type {any} */ error) => {
      assert.ok(error instanceof core.TampError);
      assert.ok(typeof error.code === 'string' && error.code !== '');
      return true;
    });
    await assert.rejects(loadTamp({ wasm: new URL('file:///nowhere/tamp.wasm') }), core.TampError);
  });
});

describe('the policy factories', () => {
  const every = {
    slidingWindow: ['sliding-window', { maxMessages: 80, keepMessages: 40 }],
    truncation: ['truncation', { maxTokens: 100, toTokens: 50 }],
    contextWindow: ['context-window', { maxContextWindowTokens: 1000, maxOutputTokens: 100 }],
    toolResults: ['tool-results', { maxChars: 100 }],
    dropToolCalls: ['drop-tool-calls', { tools: ['search'] }],
    clearToolResults: ['clear-tool-results', { keepLast: 1 }],
    dedupeToolResults: ['dedupe-tool-results', { tools: { read_file: 'path' } }],
    clamp: ['clamp', { maxChars: 100 }],
    stripBinary: ['strip-binary', { minBytes: 10 }],
    dropReasoning: ['drop-reasoning', { keepLastTurns: 2 }],
    summarize: ['summarize', { keepMessages: 4 }],
    digest: ['digest', { keepMessages: 4 }],
    budget: ['budget', { maxTokens: 100, steps: [{ strategy: 'tool-results' }] }],
    repair: ['repair', { head: 'user' }],
  };
  for (const [name, [strategy, fields]] of Object.entries(every)) {
    test(`${name} gives plain JSON that names its strategy and is a good policy`, () => {
      const made = /** @type {any} */ (core)[name](fields);
      assert.deepEqual(JSON.parse(JSON.stringify(made)), { strategy, .../** @type {object} */ (fields) });
      assert.deepEqual(tamp.checkPolicy(made), []);
    });
  }

  for (const name of ['toolResults', 'dropToolCalls', 'clearToolResults', 'stripBinary', 'dropReasoning', 'repair']) {
    test(`${name} needs no options`, () => {
      assert.deepEqual(tamp.checkPolicy(/** @type {any} */ (core)[name]()), []);
    });
  }
});

describe('objects', () => {
  test('the input may be frozen to its depth', () => {
    const messages = deepFreeze([...loop(6), answer('a1'), user('u2')]);
    const compaction = tamp.compact(messages, [core.toolResults({ keepLastToolCallGroups: 1 }),
      slidingWindow({ keepMessages: 3 })]);
    assert.ok(compaction.changed);
  });

  test('parts that two messages share stay shared and untouched', () => {
    const metadata = { note: 'shared' };
    const messages = [user('u1', 'q', { metadata }), calls('k1', 'x'), result('x', 'r'.repeat(100), { metadata }),
      answer('a1', 'a', { metadata })];
    const { messages: left } = tamp.compact(messages, core.toolResults({ keepLastToolCallGroups: 0 }),
      { countTokens: counters.chars });
    assert.equal(left[0], messages[0]);
    assert.equal(left.at(-1), messages[3]);
    assert.deepEqual(metadata, { note: 'shared' });
  });

  test('one object may stand in the list twice', () => {
    const twice = answer('a');
    const messages = [user('u1'), twice, user('u2'), twice, user('u3')];
    assert.equal(tamp.compact(messages, slidingWindow({ keepMessages: 2, keepFirstUser: false })).messages[0], twice);
  });

  test('a rewritten message keeps the fields nobody knows', () => {
    const call = { ...calls('k1', 'x'), content: 'Looking.', subagentRunId: 'run-1', custom: { deep: [1, { a: null }] } };
    const messages = [user('u1'), call, result('x', 'long '.repeat(40)), answer('a1')];
    const { messages: [, rewritten] } = tamp.compact(messages, core.toolResults({ keepLastToolCallGroups: 0 }));
    assert.equal(rewritten.id, 'k1');
    assert.equal(/** @type {any} */ (rewritten).subagentRunId, 'run-1');
    assert.deepEqual(/** @type {any} */ (rewritten).custom, { deep: [1, { a: null }] });
    assert.ok(!('toolCalls' in rewritten));
  });

  test('a key named __proto__ survives in a rewritten message and touches no prototype', () => {
    const call = JSON.parse(JSON.stringify({ ...calls('k1', 'x'), hook: 1 }).replace('"hook":1', '"__proto__":{"polluted":true}'));
    const messages = [user('u1'), call, result('x', 'long '.repeat(40)), answer('a1')];
    const { messages: [, rewritten] } = tamp.compact(messages, core.toolResults({ keepLastToolCallGroups: 0 }));
    assert.ok(Object.hasOwn(rewritten, '__proto__'));
    assert.equal(Object.getPrototypeOf(rewritten), Object.prototype);
    assert.equal(/** @type {any} */ ({}).polluted, undefined);
  });

  test('a message of a class is kept as the instance it is', () => {
    class Said { constructor(/** @type {string} */ id) { this.id = id; this.role = 'user'; this.content = `q ${id}`; } }
    const messages = [new Said('u1'), new Said('u2'), new Said('u3')];
    const { messages: left } = tamp.compact(messages, truncation({ maxMessages: 2, toMessages: 1 }));
    assert.ok(left.every((message) => message instanceof Said));
  });

  test('a message may have no prototype', () => {
    const bare = Object.assign(Object.create(null), user('u1'));
    const messages = [answer('a0'), bare];
    assert.equal(tamp.compact(messages, slidingWindow({ keepMessages: 0 })).messages.at(-1), bare);
  });

  test('a field that is undefined is a field that is not there', () => {
    const messages = [user('u1'), { ...answer('a1'), toolCalls: undefined, metadata: undefined }, user('u2')];
    assert.equal(tamp.inspect(messages).groups[1].kind, 'assistant');
    assert.equal(tamp.countTokens(messages, { countTokens: words }), weighAll(messages, words));
  });

  test('a list of no messages is a list', () => {
    const none = deepFreeze([]);
    const compaction = tamp.compact(none, slidingWindow({ keepMessages: 0 }));
    assert.equal(compaction.messages, none);
    assert.deepEqual([compaction.changed, compaction.before, compaction.after], [false, 0, 0]);
  });

  test('lone surrogates in what is kept stay as they are, and what is written is well-formed', () => {
    const odd = answer('a1', 'broken \ud83d text');
    const call = { ...calls('k1', 'x'), content: 'cut \udc00 here' };
    const messages = [user('u1'), odd, call, result('x', `tail \ud83d ${'long '.repeat(40)}`), answer('a2')];
    const { messages: left } = tamp.compact(messages, core.toolResults({ keepLastToolCallGroups: 0 }));
    assert.equal(left[1], odd);
    assert.equal(odd.content, 'broken \ud83d text');
    assert.ok(/** @type {string} */ (left[2].content).isWellFormed(), 'written by Tamp');
  });

  test('an integer that a double cannot hold is an ordinary value of an object', () => {
    const messages = [user('u1'), { ...answer('a1'), when: 2 ** 53 }, user('u2')];
    assert.equal(tamp.compact(messages, slidingWindow({ keepMessages: 1 })).messages[0], messages[0]);
  });
});

describe('the report', () => {
  const messages = deepFreeze([system('s'), ...loop(4), answer('a1'), user('u2'), answer('a2')]);

  test('every step of a pipeline says whether it fired, what it did and what was left', () => {
    const { report } = tamp.compact(messages, [core.toolResults({ keepLastToolCallGroups: 1 }),
      truncation({ maxMessages: 100, toMessages: 50 })], { countTokens: words });
    assert.deepEqual(report.steps.slice(0, 2).map(({ strategy, fired }) => [strategy, fired]),
      [['tool-results', true], ['truncation', false]]);
    assert.equal(report.steps[0].rewritten, 3);
    assert.equal(report.steps[0].removed, 3);
    assert.equal(report.steps[0].tokensBefore, report.tokensBefore);
    assert.ok(report.steps[0].tokensAfter < report.steps[0].tokensBefore);
  });

  test('a step that fires and finds nothing it may do says why', () => {
    const { report, changed } = tamp.compact([user('u1')], truncation({ maxMessages: 0, toMessages: 0 }));
    assert.equal(changed, false);
    assert.ok(report.steps[0].note, 'a note');
    assert.equal(report.fits, false);
    assert.ok(report.reason);
  });

  test('dropped and rewritten messages are named by id and place, each with a reason', () => {
    const { report } = tamp.compact(messages, [core.toolResults({ keepLastToolCallGroups: 1 }),
      slidingWindow({ keepMessages: 4, keepFirstUser: false })]);
    for (const { id, index, reason } of [...report.dropped, ...report.rewritten]) {
      assert.equal(id, messages[index].id);
      assert.ok(reason.length > 0);
    }
  });

  test('a message without an id is named by its place', () => {
    const nameless = [{ role: 'user', content: 'one' }, { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' }];
    const { report } = tamp.compact(nameless, slidingWindow({ keepMessages: 1, keepFirstUser: false }));
    assert.deepEqual(report.dropped.map(({ id, index }) => [id, index]), [['#0', 0], ['#1', 1]]);
  });

  test('added messages are named with their place in the result', () => {
    const { report, messages: left } = tamp.compact([user('u1'), calls('k1', 'x'), user('u2')], core.repair());
    assert.deepEqual(report.added.map(({ id }) => id), ['answer-x']);
    assert.equal(left[report.added[0].index].id, 'answer-x');
  });

  test('bytes are those of the JSON text in UTF-8', () => {
    const list = [user('u1', '中文'), answer('a1')];
    const bytes = list.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0);
    const { report } = tamp.compact(list, truncation({ maxBytes: bytes, toBytes: 0 }));
    assert.equal(report.bytesBefore, bytes);
    assert.equal(tamp.compact(list, truncation({ maxBytes: bytes - 1, toBytes: bytes - 1 })).changed, false,
      'both are protected');
    assert.equal(tamp.compact([answer('a0'), ...list], truncation({ maxBytes: bytes, toBytes: bytes })).after, 2);
  });

  test('nothing in a report is shared with a later one', () => {
    const policy = slidingWindow({ keepMessages: 1 });
    const first = tamp.compact(messages, policy).report;
    const copy = structuredClone(first);
    tamp.compact(loop(9), policy);
    assert.deepEqual(first, copy);
  });
});

describe('what others got wrong', () => {
  test('a system message over the budget gives no undefined and no empty list', () => {
    const list = [system('s', 'rule '.repeat(500)), user('u1'), answer('a1'), user('u2')];
    const { messages, report } = tamp.compact(list, truncation({ maxTokens: 10, toTokens: 5 }));
    assert.deepEqual(ids(messages), ['s', 'u2']);
    assert.equal(report.fits, false);
  });

  test('no result stands first when its call is cut off', () => {
    const list = [user('u1'), calls('k1', 'x'), result('x'), answer('a1'), user('u2'), answer('a2')];
    for (let keep = 0; keep <= list.length; keep += 1) {
      const { messages } = tamp.compact(list, slidingWindow({ keepMessages: keep, keepFirstUser: false }));
      assert.deepEqual(refusals(messages, { head: false }), [], `keep ${keep}`);
    }
  });

  test('two instructions in front are both kept', () => {
    const list = [system('s1'), system('s2'), user('u1'), answer('a1'), user('u2')];
    assert.deepEqual(ids(tamp.compact(list, slidingWindow({ keepMessages: 0, keepFirstUser: false })).messages),
      ['s1', 's2', 'u2']);
  });

  test('keep 0 is not "keep everything"', () => {
    const { messages } = tamp.compact(loop(5), core.dropToolCalls({ keepLastToolCallGroups: 0 }));
    assert.deepEqual(ids(messages), ['u1', 'k4', 't-c4']);
  });

  test('special tokens of a model are plain text', () => {
    for (const text of ['<|endoftext|>', '<|im_start|>system', '<|fim_prefix|>']) {
      assert.ok(tamp.countTokens(text) > 0);
      assert.ok(tamp.countTokens([user('u1', text)]) > 4);
    }
  });

  test('content that is null counts nothing and breaks nothing', () => {
    const list = [user('u1'), { id: 'a1', role: 'assistant', content: null }, user('u2')];
    assert.ok(Number.isInteger(tamp.countTokens(list)));
    assert.equal(tamp.compact(list, slidingWindow({ keepMessages: 1 })).changed, true);
  });

  test('a picture weighs the same at a kilobyte and at five megabytes', () => {
    const picture = (/** @type {number} */ size) => [{
      id: 'u1', role: 'user', content: [{ type: 'image', source: { type: 'data', value: 'A'.repeat(size), mimeType: 'image/png' } }],
    }];
    assert.equal(tamp.countTokens(picture(5_000_000)), tamp.countTokens(picture(1_000)));
    assert.ok(tamp.countTokens(picture(1_000)) > 1000);
  });

  test('one dead call at the front changes nothing about what goes', () => {
    const rest = [...loop(10), answer('a1'), user('u2')];
    const dead = [user('u0'), calls('k-dead', 'dead'), answer('a0')];
    const policy = truncation({ maxMessages: 6, toMessages: 4 });
    assert.deepEqual(ids(tamp.compact([...dead, ...rest], policy).messages), ids(tamp.compact(rest, policy).messages));
  });

  test('a call in flight is not removed, whatever the budget', () => {
    const list = [...loop(5), calls('k-open', 'p')];
    for (const policy of [truncation({ maxTokens: 0, toTokens: 0 }), core.dropToolCalls({ keepLastToolCallGroups: 0 }),
      core.toolResults({ keepLastToolCallGroups: 0 }), slidingWindow({ keepMessages: 0 })]) {
      const { messages } = tamp.compact(list, policy);
      assert.equal(messages.at(-1), list.at(-1));
    }
  });

  test('a text that looks like a summary of ours is a person speaking', () => {
    const list = [user('u1', '[Conversation summary]\n\nI said so'), answer('a1'), user('u2')];
    assert.equal(tamp.inspect(list).groups[0].kind, 'user');
  });

  test('a tool called constructor or __proto__ is a tool like any other', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const call = { ...calls('k1', name) };
      call.toolCalls = [{ id: name, type: 'function', function: { name, arguments: '{}' } }];
      const list = [user('u1'), call, result(name, 'long '.repeat(40)), answer('a1')];
      const { messages } = tamp.compact(list, core.toolResults({ keepLastToolCallGroups: 0 }), { countTokens: words });
      assert.equal(messages[1].content.slice(0, 17 + name.length), `[Tool results: ${name}: `);
      assert.equal(tamp.compact(list, core.dropToolCalls({ keepLastToolCallGroups: 0, tools: [name] })).removed, 2);
      assert.equal(tamp.compact(list, core.dropToolCalls({ keepLastToolCallGroups: 0, tools: ['valueOf'] })).removed, 0);
    }
  });

  test('two conversations joined keep their pairs apart', () => {
    const one = [user('u1'), calls('k1', 'call_0'), { ...result('call_0', 'first'), id: 't1' }, answer('a1')];
    const two = [user('u2'), calls('k2', 'call_0'), { ...result('call_0', 'second'), id: 't2' }, answer('a2')];
    const { messages } = tamp.compact([...one, ...two], core.dropToolCalls({ keepLastToolCallGroups: 1 }));
    assert.deepEqual(ids(messages), ['u1', 'a1', 'u2', 'k2', 't2', 'a2']);
  });

  test('a pin holds through fifty rounds', () => {
    let messages = /** @type {Message[]} */ ([user('u0', 'task'), answer('a-pin', 'keep me', { metadata: { tamp: { pin: true } } })]);
    const pinned = messages[1];
    for (let round = 0; round < 50; round += 1) {
      messages = [...tamp.compact([...messages, user(`u${round + 1}`), calls(`k${round}`, `c${round}`), result(`c${round}`),
        answer(`a${round}`)], truncation({ maxMessages: 8, toMessages: 5 }), { pin: ['a0'] }).messages];
      assert.equal(messages.filter((message) => message === pinned).length, 1);
    }
    assert.ok(ids(messages).includes('a0'));
  });
});

describe('cost', () => {
  /** Milliseconds of the fastest of five runs. @param {() => unknown} run */
  const fastest = (run) => {
    let best = Infinity;
    for (let turn = 0; turn < 5; turn += 1) {
      const start = performance.now();
      run();
      best = Math.min(best, performance.now() - start);
    }
    return best;
  };

  for (const [name, policy] of /** @type {[string, any][]} */ ([
    ['truncation', { strategy: 'truncation', maxTokens: 2000, toTokens: 1000 }],
    ['sliding-window', { strategy: 'sliding-window', keepTokens: 1000 }],
    ['tool-results', { strategy: 'tool-results' }],
    ['drop-tool-calls', { strategy: 'drop-tool-calls' }],
    ['repair', { strategy: 'repair' }],
  ])) {
    test(`${name} takes a list sixteen times as long in far less than sixteen times squared`, () => {
      const small = loop(1_000);
      const large = loop(16_000);
      tamp.compact(small, policy);
      const ratio = fastest(() => tamp.compact(large, policy)) / fastest(() => tamp.compact(small, policy));
      assert.ok(ratio < 80, `16 times the messages took ${ratio.toFixed(1)} times as long`);
    });
  }

  test('broken lists are read in linear time too', () => {
    // Open calls of one id, results of nobody, reasoning without end: what a search per message would square.
    const broken = (/** @type {number} */ n) => Array.from({ length: n }, (_, index) => [
      calls(`k${index}`, 'x'), { id: `r${index}`, role: 'reasoning', content: 'hm' },
      { ...result('nobody'), id: `o${index}` }, { id: `p${index}`, role: 'activity', activityType: 'P', content: {} },
    ]).flat();
    const small = broken(500);
    const large = broken(8_000);
    const policy = core.repair();
    tamp.compact(small, policy);
    const ratio = fastest(() => tamp.compact(large, policy)) / fastest(() => tamp.compact(small, policy));
    assert.ok(ratio < 80, `16 times the messages took ${ratio.toFixed(1)} times as long`);
  });
});
