/** Bad input: a typed error that says where, or the documented meaning; never a crash or half a result. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import * as core from 'tamp';
import { deepFreeze } from '../lib/freeze.js';

const { MessageError, PolicyError, TampError, loadTamp, slidingWindow, truncation } = core;

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

/** @type {any} */
const policy = slidingWindow({ keepMessages: 1, keepFirstUser: false });
const good = () => [
  { id: 'u1', role: 'user', content: 'one' },
  { id: 'a1', role: 'assistant', content: 'two' },
  { id: 'u2', role: 'user', content: 'three' },
];

/** After anything that failed the instance works as before. */
function stillWorks() {
  const list = good();
  assert.deepEqual(tamp.compact(list, policy).messages, [list[2]]);
}

/**
 * @param {() => unknown} act
 * @param {new (...values: any[]) => Error} type
 * @returns {any} what was thrown
 */
function thrownBy(act, type) {
  /** @type {any} */
  let thrown;
  assert.throws(act, (error) => { thrown = error; return true; });
  assert.ok(thrown instanceof type, `${thrown?.name}: ${thrown?.message}`);
  assert.ok(thrown instanceof TampError);
  assert.ok(typeof thrown.code === 'string' && thrown.code !== '', 'a code');
  if (type !== TampError) assert.equal(thrown.name, type.name);
  stillWorks();
  return thrown;
}

describe('policies', () => {
  const every = [
    ['sliding-window', ['maxMessages', 'maxTokens', 'maxBytes', 'keepMessages', 'keepTokens', 'keepGroups', 'keepTurns']],
    ['truncation', ['maxTokens', 'toTokens', 'maxMessages', 'toMessages', 'maxBytes', 'toBytes']],
    ['context-window', ['maxContextWindowTokens', 'maxOutputTokens', 'toolEvictionThreshold', 'truncationThreshold',
      'keepLastToolCallGroups']],
    ['tool-results', ['keepLastToolCallGroups', 'maxChars']],
    ['drop-tool-calls', ['keepLastToolCallGroups']],
    ['clear-tool-results', ['maxMessages', 'maxTokens', 'keepLast', 'minTokens']],
    ['clamp', ['maxChars', 'maxTokens', 'headChars', 'tailChars']],
    ['strip-binary', ['keepLastTurns', 'minBytes']],
    ['drop-reasoning', ['keepLastTurns']],
    ['summarize', ['maxMessages', 'maxTokens', 'keepMessages', 'keepTokens', 'maxInputTokens', 'maxSummaryTokens']],
    ['digest', ['maxMessages', 'maxTokens', 'keepMessages', 'keepTokens', 'maxSummaryTokens']],
    ['budget', ['maxTokens']],
  ];
  for (const [strategy, fields] of every) {
    test(`${strategy}: no number field takes NaN, Infinity, a negative, a text or null`, () => {
      for (const field of fields) {
        for (const [value, codes] of /** @type {[unknown, string[]][]} */ ([
          [NaN, ['out-of-range']], [Infinity, ['out-of-range']], [-Infinity, ['out-of-range']],
          [-1, ['out-of-range']], ['5', ['wrong-type']], [null, ['wrong-type']], [true, ['wrong-type']],
          [[], ['wrong-type']], [{}, ['wrong-type']], [1e308, ['out-of-range', 'not-integer']],
        ])) {
          const problems = tamp.checkPolicy({ strategy, [field]: value });
          const found = problems.find(({ path }) => path === `/${field}`);
          if (value === 1e308 && found === undefined) continue; // a number that only means "never"
          assert.ok(found, `${field}: ${String(value)} is a problem`);
          assert.ok(codes.includes(found.code), `${field}: ${String(value)} is ${found.code}`);
        }
      }
    });

    test(`${strategy}: no count takes a fraction`, () => {
      for (const field of fields) {
        if (field.endsWith('Threshold')) continue;
        const problems = tamp.checkPolicy({ strategy, [field]: 1.5 });
        assert.ok(problems.some(({ path, code }) => path === `/${field}` && code === 'not-integer'), field);
      }
    });
  }

  test('a sentence holds the numbers that contradict each other', () => {
    const [problem] = tamp.checkPolicy({ strategy: 'sliding-window', maxMessages: 80, keepMessages: 100 });
    assert.equal(problem.message, 'keepMessages (100) must be less than maxMessages (80)');
  });

  test('a PolicyError holds every problem and names the first', () => {
    const error = thrownBy(() => tamp.compact(good(), /** @type {any} */ ([{ strategy: 'nothing' },
      { strategy: 'clamp', maxChars: -1, extra: 1 }])), PolicyError);
    assert.deepEqual(error.problems.map((/** @type {any} */ { path, code }) => `${path} ${code}`).sort(),
      ['/0/strategy unknown-strategy', '/1/extra unknown-key', '/1/maxChars out-of-range']);
    assert.ok(error.message.includes(error.problems[0].message) || error.message.includes(error.problems[0].path));
  });

  test('a path escapes what a JSON Pointer escapes', () => {
    const [problem] = tamp.checkPolicy({ strategy: 'sliding-window', 'a/b~c': 1 });
    assert.equal(problem.path, '/a~1b~0c');
  });

  test('checkPolicy never throws, whatever it is given', () => {
    /** @type {any} */
    const circle = { strategy: 'budget', maxTokens: 1 };
    circle.steps = [circle];
    /** @type {any} */
    let deep = { strategy: 'repair' };
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const traps = new Proxy({}, { get() { throw new Error('trap'); }, ownKeys() { throw new Error('trap'); } });
    const values = [undefined, null, true, 0, NaN, '', 'x', 1n, Symbol('s'), () => 1, [], {}, new Date(), new Map(),
      circle, deep, traps, { strategy: 'repair', get head() { throw new Error('trap'); } },
      { toJSON() { throw new Error('trap'); } }, JSON.parse('{"__proto__":{"strategy":"repair"}}'),
      { strategy: 'repair', placeholder: '\ud83d' }, { strategy: 'repair', placeholder: 1n },
      { strategy: 'dedupe-tool-results', tools: JSON.parse('{"__proto__":"path"}') },
      { strategy: Symbol('s') }, { strategy: 'repair', [Symbol('s')]: 1 }, [,], [undefined]]; // eslint-disable-line no-sparse-arrays
    for (const value of values) {
      const problems = tamp.checkPolicy(value);
      assert.ok(Array.isArray(problems));
      for (const { path, code, message } of problems) {
        assert.ok([path, code, message].every((field) => typeof field === 'string'));
      }
    }
    stillWorks();
  });

  test('what is no policy is reported, not guessed', () => {
    for (const value of [undefined, 1n, () => 1, Symbol('s')]) {
      assert.ok(tamp.checkPolicy(value).length > 0, String(value));
      thrownBy(() => tamp.compact(good(), /** @type {any} */ (value)), PolicyError);
    }
    thrownBy(() => tamp.compact(good(), /** @type {any} */ (JSON.parse('{"__proto__":{"strategy":"repair"}}'))), PolicyError);
  });

  test('a policy of ten thousand steps is a policy', () => {
    const steps = Array.from({ length: 10_000 }, () => ({ strategy: 'drop-reasoning' }));
    assert.equal(tamp.compact(good(), /** @type {any} */ (steps)).changed, false);
  });

  test('a summarize step needs compactAsync and a summarizer', async () => {
    const step = core.summarize({ keepMessages: 1 });
    const long = [...good(), { id: 'a2', role: 'assistant', content: 'x '.repeat(200) }, { id: 'u3', role: 'user', content: 'q' }];
    thrownBy(() => tamp.compact(long, step), TampError);
    await assert.rejects(tamp.compactAsync(long, step, {}), TampError);
    stillWorks();
  });
});

describe('messages', () => {
  for (const [name, value] of /** @type {[string, unknown][]} */ ([
    ['a text', 'hello'], ['a number', 7], ['null', null], ['nothing', undefined], ['true', true], ['a list', []],
    ['a function', () => 1], ['a symbol', Symbol('s')], ['a big integer', 1n],
  ])) {
    test(`${name} among messages is a MessageError with its index`, () => {
      const list = /** @type {any[]} */ ([...good(), value]);
      for (const act of [
        () => tamp.compact(list, policy), () => tamp.inspect(list), () => tamp.countTokens(list), () => tamp.open(list),
      ]) assert.equal(thrownBy(act, MessageError).index, 3);
    });
  }

  test('a hole in a list is a MessageError with its index', () => {
    const list = good();
    delete list[1];
    assert.equal(thrownBy(() => tamp.compact(list, policy), MessageError).index, 1);
  });

  for (const [name, value] of /** @type {[string, unknown][]} */ ([
    ['an object', {}], ['null', null], ['nothing', undefined], ['a number', 5], ['a set', new Set(good())],
    ['something with a length', { length: 1, 0: good()[0] }],
  ])) {
    test(`${name} instead of a list is a typed error`, () => {
      thrownBy(() => tamp.compact(/** @type {any} */ (value), policy), TampError);
      thrownBy(() => tamp.inspect(/** @type {any} */ (value)), TampError);
    });
  }

  test('a message that holds itself is a MessageError with its index', () => {
    const list = /** @type {any[]} */ (good());
    list[1].metadata = { self: list[1] };
    assert.equal(thrownBy(() => tamp.compact(list, policy), MessageError).index, 1);
  });

  test('a message with a value that JSON cannot hold is a MessageError with its index', () => {
    const list = /** @type {any[]} */ (good());
    list[2].metadata = { big: 1n };
    assert.equal(thrownBy(() => tamp.compact(list, policy), MessageError).index, 2);
  });

  test('a message whose field throws when read is a MessageError with its index and the cause', () => {
    const list = /** @type {any[]} */ (good());
    Object.defineProperty(list[1], 'content', { enumerable: true, get() { throw new Error('trap'); } });
    assert.equal(thrownBy(() => tamp.compact(list, policy), MessageError).index, 1);
  });

  test('nesting over a thousand levels is a typed error, at a million too', () => {
    for (const depth of [1_001, 5_000, 1_000_000]) {
      /** @type {any} */
      let deep = 1;
      for (let level = 0; level < depth; level += 1) deep = [deep];
      const list = /** @type {any[]} */ (good());
      list[1].metadata = deep;
      assert.equal(thrownBy(() => tamp.compact(list, policy), MessageError).index, 1, `${depth} levels`);
    }
  });

  test('nesting of nine hundred levels is read and kept', () => {
    /** @type {any} */
    let deep = 1;
    for (let level = 0; level < 900; level += 1) deep = [deep];
    const list = /** @type {any[]} */ (good());
    list[2].metadata = deep;
    assert.equal(tamp.compact(list, policy).messages[0], list[2]);
  });

  test('a message over 256 MiB is a typed error and the instance lives on', () => {
    const list = good();
    list[1].content = 'x'.repeat(300_000_000);
    thrownBy(() => tamp.compact(list, policy), MessageError);
  });

  test('ids, roles and contents of other types are never an error', () => {
    for (const value of [null, 7, true, [], {}, '', [null], [[]], ['x'], [{ type: 7 }], [{ text: {} }]]) {
      for (const key of ['id', 'role', 'content', 'toolCalls', 'toolCallId', 'metadata', 'error']) {
        for (const at of [0, 1, 2]) {
          const list = /** @type {any[]} */ (good());
          list[at][key] = value;
          const { messages } = tamp.compact(deepFreeze(list), policy);
          assert.ok(messages.length > 0, `${key}: ${JSON.stringify(value)}`);
          tamp.inspect(list);
        }
      }
    }
  });

  test('a call id of a megabyte is an id', () => {
    const id = 'x'.repeat(1_000_000);
    const list = [
      { id: 'u1', role: 'user', content: 'go' },
      { id: 'k1', role: 'assistant', toolCalls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { id: 't1', role: 'tool', toolCallId: id, content: 'long '.repeat(100) },
      { id: 'u2', role: 'user', content: 'and?' },
    ];
    assert.deepEqual(tamp.inspect(list).problems, []);
    assert.equal(tamp.compact(list, core.dropToolCalls({ keepLastToolCallGroups: 0 })).removed, 2);
  });

  test('missing ids and ids used twice are no error', () => {
    const list = /** @type {any[]} */ ([...good(), { role: 'assistant', content: 'x' }, { id: 'u1', role: 'user', content: 'y' }]);
    assert.deepEqual(tamp.compact(list, policy).messages.at(-1), list[4]);
    assert.ok(tamp.inspect(list).problems.some(({ kind, index }) => kind === 'duplicate-id' && index === 4));
  });
});

describe('options', () => {
  const over = truncation({ maxTokens: 3, toTokens: 1 });

  test('a counter that throws is heard, and nothing is changed', () => {
    const list = deepFreeze(good());
    const trouble = new Error('no vocabulary');
    assert.throws(() => tamp.compact(list, over, { countTokens: () => { throw trouble; } }),
      (/** @type {any} */ error) => error === trouble || error.cause === trouble);
    stillWorks();
  });

  for (const value of [NaN, -1, 1.5, Infinity, '7', null, undefined, {}, 1n, 2 ** 53]) {
    test(`a counter that returns ${typeof value} ${String(value)} is a typed error`, () => {
      const countTokens = () => /** @type {any} */ (value);
      thrownBy(() => tamp.compact(good(), over, { countTokens }), TampError);
      thrownBy(() => tamp.countTokens('text', { countTokens }), TampError);
      thrownBy(() => tamp.countTokens(good(), { countTokens }), TampError);
    });
  }

  test('a counter that calls Tamp again is answered or refused, and breaks nothing', () => {
    const list = good();
    const countTokens = (/** @type {string} */ text) => tamp.countTokens(text);
    try {
      assert.equal(tamp.compact(list, policy, { countTokens }).after, 1);
    } catch (error) {
      assert.ok(error instanceof TampError);
    }
    stillWorks();
  });

  for (const [name, options] of /** @type {[string, any][]} */ ([
    ['a counter that is no function', { countTokens: 7 }],
    ['reserved tokens that are NaN', { reservedTokens: NaN }],
    ['reserved tokens below nothing', { reservedTokens: -1 }],
    ['reserved tokens as a text', { reservedTokens: '5' }],
    ['a pin that is no list', { pin: 'u1' }],
    ['a pin that is no text', { pin: [7] }],
    ['a usage that is no object', { usage: 7 }],
    ['a usage with NaN tokens', { usage: { messageId: 'a1', inputTokens: NaN } }],
    ['an unknown format', { format: 'telegram' }],
    ['a format that is no text', { format: 7 }],
  ])) {
    test(`${name} is a typed error, or ignored where the rules say so`, () => {
      const list = good();
      /** @type {any} */
      let compaction;
      try {
        compaction = tamp.compact(list, policy, options);
      } catch (error) {
        assert.ok(error instanceof TampError, String(error));
        assert.ok(/** @type {Error} */ (error).message.length > 0);
        stillWorks();
        return;
      }
      // "ignored when its message is missing or inputTokens is not above 0".
      assert.ok('usage' in options, 'only usage may be ignored');
      assert.deepEqual(compaction.messages, [list[2]]);
    });
  }

  test('options that are null or absent are the defaults', () => {
    assert.deepEqual(tamp.compact(good(), policy, undefined).messages.length, 1);
  });
});

describe('summaries', () => {
  const step = core.summarize({ keepMessages: 1, keepFirstUser: false });
  const long = () => /** @type {any[]} */ ([
    { id: 'u1', role: 'user', content: 'word '.repeat(100) },
    { id: 'a1', role: 'assistant', content: 'word '.repeat(100) },
    { id: 'u2', role: 'user', content: 'and?' },
  ]);

  test('an exception of the model reaches the caller as it is', async () => {
    const list = deepFreeze(long());
    for (const trouble of [new Error('no model'), 'a text', null, { status: 500 }]) {
      await assert.rejects(tamp.compactAsync(list, step, { summarize: () => { throw trouble; } }),
        (error) => error === trouble);
      await assert.rejects(tamp.compactAsync(list, step, { summarize: () => Promise.reject(trouble) }),
        (error) => error === trouble);
    }
    stillWorks();
  });

  for (const [name, answer] of /** @type {[string, any][]} */ ([
    ['nothing', undefined], ['null', null], ['an object', { text: 'x' }], ['a number', 7], ['a list', ['x']],
    ['an empty text', ''], ['a blank text', ' \n\t'], ['ten megabytes', 'long '.repeat(2_000_000)],
  ])) {
    test(`${name} instead of a summary changes nothing and is reported`, async () => {
      const list = deepFreeze(long());
      const { changed, messages, report } = await tamp.compactAsync(list, step, { summarize: () => answer });
      assert.equal(changed, false);
      assert.equal(messages, list);
      assert.equal(report.fits, false);
      assert.ok(report.reason);
      assert.ok(report.steps[0].note);
    });
  }

  test('an abort before, during and after the model speaks is an AbortError', async () => {
    const list = deepFreeze(long());
    await assert.rejects(
      tamp.compactAsync(list, step, { summarize: () => 'short', signal: AbortSignal.abort() }),
      { name: 'AbortError' });
    const controller = new AbortController();
    /** @type {AbortSignal | undefined} */
    let seen;
    const waiting = tamp.compactAsync(list, step, {
      signal: controller.signal,
      summarize: ({ signal }) => new Promise(() => { seen = signal; }),
    });
    await Promise.resolve();
    controller.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
    assert.equal(seen?.aborted, true, 'the model hears of it');
    stillWorks();
  });

  test('a request may be changed at will: it is a copy', async () => {
    const list = deepFreeze(long());
    const { messages } = await tamp.compactAsync(list, step, {
      summarize: (request) => {
        for (const message of request.messages) message.content = 'gone';
        request.messages.length = 0;
        return 'short';
      },
    });
    assert.equal(messages.length, 2);
    assert.equal(list[0].content, 'word '.repeat(100));
  });

  test('two compactions may wait for their models at once', async () => {
    const both = await Promise.all(['one', 'two'].map((text) => tamp.compactAsync(long(), step, {
      summarize: async () => { await new Promise((resolve) => { setImmediate(resolve); }); return text; },
    })));
    assert.deepEqual(both.map(({ messages }) => messages[0].content.split('\n').at(-1)), ['one', 'two']);
  });

  test('the text of a model means nothing but itself', async () => {
    for (const text of ['$& $\' $$ $1', '{messages}', '</summary><system>', 'a\u0000b', '"}]', 'a\u2028b']) {
      const { messages } = await tamp.compactAsync(long(), step, { summarize: () => text });
      assert.equal(messages[0].content, `[Conversation summary]\n\n${text}`);
    }
  });

  test('what is asked of the model holds the covered texts as they are', async () => {
    const list = long();
    list[0].content = 'costs $& and $\' and {messages} </summary>';
    let asked = '';
    let prompt = '';
    await tamp.compactAsync(list, step, { summarize: (request) => { asked = request.text; prompt = request.prompt; return 'short'; } });
    assert.ok(asked.includes('costs $& and $\' and {messages} </summary>'));
    assert.ok(prompt.length > 0);
  });
});
