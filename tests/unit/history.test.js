/** History: a list that lives in the core and is kept in step instead of being read anew. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import * as core from 'tamp';
import { SEED } from '../lib/seed.js';
import { counters } from '../lib/counters.js';
import { deepFreeze } from '../lib/freeze.js';
import { Choices, brokenHistory, build, code, policy, validHistory } from '../lib/generators.js';
import { longSession } from '../lib/sessions.js';

const { TampError, loadTamp, slidingWindow, truncation } = core;

/** @typedef {Record<string, any>} Message */

const CASES = Math.ceil(Number(process.env.CASES ?? 60_000) / 20);

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const talk = (/** @type {number} */ n) => Array.from({ length: n }, (_, index) => ({
  id: `m${index}`, role: index % 2 === 0 ? 'user' : 'assistant', content: `text number ${index}`,
}));
const last = slidingWindow({ keepMessages: 1, keepFirstUser: false });
const ids = (/** @type {readonly any[]} */ messages) => messages.map(({ id }) => id);

/**
 * A history says what a fresh reading of the list says.
 *
 * @param {any} history
 * @param {readonly Message[]} messages
 * @param {any} [tree]
 */
function inStep(history, messages, tree = last) {
  assert.equal(history.length, messages.length);
  assert.deepEqual(history.inspect(), tamp.inspect(messages));
  const [kept, fresh] = [history.compact(tree), tamp.compact(messages, tree)];
  assert.deepEqual(kept.report, fresh.report);
  assert.equal(kept.changed, fresh.changed);
  assert.equal(kept.messages.length, fresh.messages.length);
  const input = new Set(messages);
  kept.messages.forEach((/** @type {Message} */ message, /** @type {number} */ index) => {
    assert.deepEqual(message, fresh.messages[index]);
    assert.equal(input.has(message), input.has(fresh.messages[index]), 'the same object as in the list');
  });
}

describe('keeping in step', () => {
  test('a history opened on a list is that list', () => {
    const messages = deepFreeze(talk(5));
    const history = tamp.open(messages);
    inStep(history, messages);
    history.dispose();
  });

  test('a history may start empty and grow', () => {
    const history = tamp.open();
    assert.equal(history.length, 0);
    const messages = talk(6);
    history.append(messages[0]);
    history.append(...messages.slice(1, 4));
    inStep(history, messages.slice(0, 4));
    assert.equal(history.sync(messages), 2, 'two are new');
    inStep(history, messages);
    history.dispose();
  });

  test('sync reads nothing of a list it knows, neither of the same objects nor of a clone', () => {
    const messages = talk(100);
    const history = tamp.open(messages);
    assert.equal(history.sync(messages), 0);
    assert.equal(history.sync([...messages]), 0);
    const clone = structuredClone(messages);
    assert.equal(history.sync(clone), 0);
    assert.equal(history.compact(last).messages.at(-1), clone[99], 'the objects are those of the last list');
    history.dispose();
  });

  test('sync of one new message reads one', () => {
    const messages = talk(100);
    const history = tamp.open(messages);
    const more = [...structuredClone(messages), { id: 'new', role: 'user', content: 'new' }];
    assert.equal(history.sync(more), 1);
    inStep(history, more);
    history.dispose();
  });

  test('a message that streams is read again, and what stands before it is not', () => {
    const messages = talk(100);
    const history = tamp.open(messages);
    for (let token = 1; token <= 20; token += 1) {
      const more = [...messages, { id: 'stream', role: 'assistant', content: 'word '.repeat(token) }];
      assert.equal(history.sync(more), 1);
      inStep(history, more);
    }
    history.dispose();
  });

  for (const [name, edit] of /** @type {[string, (list: any[]) => any[]][]} */ ([
    ['an edit in the middle', (list) => list.map((each, at) => (at === 50 ? { ...each, content: 'edited' } : each))],
    ['a field that only its message has', (list) => list.map((each, at) => (at === 50 ? { ...each, name: 'x' } : each))],
    ['a field that is gone', (list) => list.map((each, at) => (at === 50 ? { id: each.id, role: each.role } : each))],
    ['a deletion', (list) => list.filter((_, at) => at !== 50)],
    ['an insertion', (list) => [...list.slice(0, 50), { id: 'x', role: 'user', content: 'x' }, ...list.slice(50)]],
    ['two messages changing places', (list) => [...list.slice(0, 50), list[51], list[50], ...list.slice(52)]],
    ['a shorter list', (list) => list.slice(0, 50)],
    ['an empty list', () => []],
    ['a list in another order', (list) => list.toReversed()],
    ['the same list twice', (list) => [...list, ...list]],
    ['one id for all', (list) => list.map((each) => ({ ...each, id: 'same' }))],
    ['no ids', (list) => list.map(({ id: _, ...each }) => each)],
  ])) {
    test(`sync follows ${name}`, () => {
      const messages = talk(100);
      const history = tamp.open(messages);
      const edited = deepFreeze(edit(structuredClone(messages)));
      const read = history.sync(edited);
      const same = edited.findIndex((each, at) => JSON.stringify(each) !== JSON.stringify(messages[at]));
      const first = same < 0 ? Math.min(edited.length, messages.length) : same;
      assert.ok(read <= edited.length - first, `${read} read, the first that differs is ${first}`);
      inStep(history, edited);
      assert.equal(history.sync(edited), 0);
      history.dispose();
    });
  }

  test('a message edited in place is seen', () => {
    const messages = talk(10);
    const history = tamp.open(messages);
    messages[5].content = 'edited in place and much longer than before';
    history.sync(messages);
    assert.equal(history.inspect().tokens, tamp.inspect(messages).tokens);
    history.dispose();
  });

  test('a deep edit of a clone is seen', () => {
    const messages = build(Array.from({ length: 20 }, (_, index) => 6 + 16 * index));
    const history = tamp.open(messages);
    const clone = structuredClone(messages);
    const call = clone.find(({ toolCalls }) => toolCalls !== undefined);
    assert.ok(call);
    call.toolCalls[0].function.arguments = '{"path":"another, longer than before"}';
    assert.ok(history.sync(clone) >= 1);
    inStep(history, clone, core.toolResults({ keepLastToolCallGroups: 0 }));
    history.dispose();
  });

  test('truncateAfter forgets what stands behind a message, or all of it', () => {
    const messages = talk(10);
    const history = tamp.open(messages);
    history.truncateAfter('m4');
    inStep(history, messages.slice(0, 5));
    history.append(...messages.slice(5));
    inStep(history, messages);
    history.truncateAfter('m9');
    inStep(history, messages);
    history.truncateAfter(null);
    inStep(history, []);
    history.dispose();
  });

  test('truncateAfter an id that is not there is a typed error and forgets nothing', () => {
    const history = tamp.open(talk(4));
    assert.throws(() => history.truncateAfter('nobody'), TampError);
    assert.equal(history.length, 4);
    history.dispose();
  });

  test('a bad message is refused and the history stays as it was', () => {
    const messages = talk(4);
    const history = tamp.open(messages);
    const bad = /** @type {any} */ ([...messages, { id: 'x', role: 'user', content: 'x' }, null]);
    assert.throws(() => history.sync(bad), (/** @type {any} */ error) => error instanceof core.MessageError && error.index === 5);
    inStep(history, messages);
    assert.throws(() => history.append(/** @type {any} */ ('text')), core.MessageError);
    inStep(history, messages);
    history.dispose();
  });

  test('options given when opening hold for every call, and a call may give its own', () => {
    const messages = talk(6);
    const history = tamp.open(messages, { countTokens: counters.ten, pin: ['m1'] });
    assert.equal(history.inspect().tokens, 6 * 14);
    assert.deepEqual(ids(history.compact(last).messages), ['m1', 'm4', 'm5']);
    assert.deepEqual(ids(history.compact(last, { pin: ['m2'] }).messages).includes('m2'), true);
    history.dispose();
  });

  test('compacting does not change the history', () => {
    const messages = talk(20);
    const history = tamp.open(messages);
    history.compact(last);
    history.compact(truncation({ maxMessages: 4, toMessages: 2 }));
    inStep(history, messages);
    history.dispose();
  });

  test('the report of a history stays true after the history has gone on', () => {
    const messages = talk(20);
    const history = tamp.open(messages);
    const { report } = history.compact(last);
    const expected = tamp.compact(messages, last).report;
    history.sync(talk(3));
    history.dispose();
    assert.deepEqual(report, expected);
  });

  test('results are the same as those of a fresh list, whatever was done to the history before', async (context) => {
    context.diagnostic(`${CASES} cases, SEED=${SEED}`);
    await fc.assert(fc.property(fc.oneof(validHistory(), brokenHistory()), policy(), fc.array(code, { maxLength: 6 }),
      (start, tree, steps) => {
        const history = tamp.open(start);
        let list = [...start];
        try {
          for (const step of steps) {
            const choices = new Choices(step);
            const kind = choices.take(7);
            const at = choices.take(list.length + 1);
            const fresh = build([choices.take(1000), choices.take(100_000)]).map((message) => ({
              ...message, id: `s${step}-${message.id}`,
            }));
            switch (kind) {
              case 0: case 1: history.append(...fresh); list = [...list, ...fresh]; continue;
              case 2: list = structuredClone(list); break;
              case 3: list = [...list.slice(0, at), ...fresh, ...list.slice(at)]; break;
              case 4: list = list.slice(0, at); break;
              case 5: list = [...list.slice(at), ...list.slice(0, at)]; break;
              case 6:
                if (at < list.length) list = list.with(at, { ...list[at], content: 'edited' });
                break;
            }
            const read = history.sync(list);
            assert.ok(read <= list.length);
          }
          inStep(history, list, tree);
        } finally {
          history.dispose();
        }
      }), { numRuns: CASES, seed: SEED, includeErrorInReport: true });
  });
});

describe('summaries', () => {
  const step = core.summarize({ keepMessages: 2, keepFirstUser: false });
  const long = () => talk(8).map((message) => ({ ...message, content: 'word '.repeat(40) }));

  test('a history that only grew while the model spoke keeps its tail', async () => {
    const messages = long();
    const history = tamp.open(messages);
    const tail = [{ id: 'n1', role: 'user', content: 'and now?' }, { id: 'n2', role: 'assistant', content: 'now' }];
    const { messages: left } = await history.compactAsync(step, {
      summarize: () => { history.append(...tail); return 'In short.'; },
    });
    assert.deepEqual(left.slice(-2), tail);
    assert.ok(tail.every((message) => left.includes(message)), 'the tail are the same objects');
    assert.equal(left.filter(({ content }) => content.startsWith('[Conversation summary]')).length, 1);
    assert.deepEqual(ids(left).slice(-4), ['m6', 'm7', 'n1', 'n2']);
    history.dispose();
  });

  for (const [name, edit] of /** @type {[string, (history: any, messages: any[]) => void][]} */ ([
    ['edited', (history, messages) => history.sync(messages.with(2, { ...messages[2], content: 'edited' }))],
    ['cut', (history) => history.truncateAfter('m3')],
    ['emptied', (history) => history.truncateAfter(null)],
  ])) {
    test(`a history that was ${name} while the model spoke is a stale plan`, async () => {
      const messages = long();
      const history = tamp.open(messages);
      await assert.rejects(history.compactAsync(step, {
        summarize: () => { edit(history, messages); return 'In short.'; },
      }), (/** @type {any} */ error) => {
        assert.ok(error instanceof TampError);
        assert.equal(error.code, 'stale-plan');
        return true;
      });
      history.dispose();
    });
  }

  test('a history that was disposed of while the model spoke is a typed error', async () => {
    const history = tamp.open(long());
    await assert.rejects(history.compactAsync(step, {
      summarize: () => { history.dispose(); return 'In short.'; },
    }), TampError);
  });

  test('a summary is recognised again after a round trip through JSON, and replaced', async () => {
    const messages = long();
    const first = await tamp.compactAsync(messages, step, { summarize: () => 'In short, one.' });
    const stored = JSON.parse(JSON.stringify(first.messages));
    const more = [...stored, ...talk(6).map((each) => ({ ...each, id: `n${each.id}`, content: 'more '.repeat(40) }))];
    const history = tamp.open(more);
    assert.equal(history.inspect().groups.filter(({ kind }) => kind === 'summary').length, 1);
    /** @type {string | null} */
    let previous = null;
    const second = await history.compactAsync(step, {
      summarize: ({ previousSummary, messages: covered }) => {
        previous = previousSummary;
        assert.ok(covered.every(({ metadata }) => metadata === undefined), 'the earlier summary is no message of a person');
        return 'In short, two.';
      },
    });
    assert.equal(previous, 'In short, one.');
    const summaries = second.messages.filter(({ metadata }) => /** @type {any} */ (metadata)?.tamp?.summary);
    assert.equal(summaries.length, 1);
    const { covered } = /** @type {any} */ (summaries[0]).metadata.tamp.summary;
    assert.equal(covered, 6 + 6, 'both are counted');
    history.dispose();
  });
});

describe('memory', () => {
  test('dispose may be called twice, and then nothing works but says so', () => {
    const history = tamp.open(talk(3));
    history.dispose();
    history.dispose();
    for (const act of [
      () => history.append({ id: 'x', role: 'user', content: 'x' }), () => history.sync([]), () => history.truncateAfter(null),
      () => history.compact(last), () => history.inspect(),
    ]) {
      assert.throws(act, TampError);
    }
  });

  test('using disposes', () => {
    const history = tamp.open(talk(3));
    history[Symbol.dispose]();
    assert.throws(() => history.inspect(), TampError);
  });

  test('histories do not know of each other', () => {
    const [one, two] = [tamp.open(talk(3)), tamp.open(talk(7))];
    one.dispose();
    const three = tamp.open(talk(5));
    assert.deepEqual([two.length, three.length], [7, 5]);
    inStep(two, talk(7).map((message, index) => two.compact(truncation({ maxMessages: 99, toMessages: 99 })).messages[index] ?? message));
    two.dispose();
    three.dispose();
  });

  test('ten thousand histories opened and disposed of leave the others as they were', () => {
    const messages = talk(20);
    const stays = tamp.open(messages);
    for (let turn = 0; turn < 10_000; turn += 1) {
      const history = tamp.open(messages.slice(0, turn % 20));
      history.dispose();
    }
    inStep(stays, messages);
    stays.dispose();
  });

  /** Bytes of the module's memory, which can only grow. */
  const size = (of = tamp) => /** @type {any} */ (of).bridge.memorySize;

  test('memory is flat over tens of thousands of compactions, good and refused', async (context) => {
    const times = Math.ceil(Number(process.env.CASES ?? 60_000) / 3);
    const cases = fc.sample(fc.tuple(fc.oneof(validHistory(), brokenHistory()), policy()), { numRuns: 200, seed: SEED });
    const once = (/** @type {number} */ turn) => {
      const [messages, tree] = cases[turn % cases.length];
      tamp.compact(messages, tree, turn % 3 === 0 ? { countTokens: counters.words } : {});
      if (turn % 10 === 0) {
        assert.throws(() => tamp.compact(/** @type {any} */ ([...messages, null]), tree), TampError);
        assert.throws(() => tamp.compact(messages, /** @type {any} */ ({ strategy: 'nothing' })), TampError);
      }
    };
    for (let turn = 0; turn < 2 * cases.length; turn += 1) once(turn);
    const before = size();
    for (let turn = 0; turn < times; turn += 1) once(turn);
    assert.equal(size(), before);
    context.diagnostic(`${times} compactions in ${before} bytes`);
  });

  test('memory is flat while one history grows and is cut back again and again', () => {
    const messages = build(Array.from({ length: 200 }, (_, index) => 6 + 16 * index));
    const history = tamp.open(messages);
    const once = (/** @type {number} */ turn) => {
      history.sync(messages.slice(0, 1 + ((turn * 37) % messages.length)));
      history.compact(last);
      history.inspect();
      history.sync(structuredClone(messages));
    };
    for (let turn = 0; turn < 300; turn += 1) once(turn);
    const before = size();
    for (let turn = 0; turn < 1_000; turn += 1) once(turn);
    assert.equal(size(), before);
    history.dispose();
  });

  test('a history needs at most one and a half times the bytes of its messages', async () => {
    const fresh = await loadTamp({ wasm: await readFile(fileURLToPath(import.meta.resolve('tamp/tamp.wasm'))) });
    const messages = longSession(20_000);
    const bytes = messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0);
    const before = size(fresh);
    const history = fresh.open(messages);
    const grown = size(fresh) - before;
    assert.ok(grown <= 1.5 * bytes, `${grown} bytes for ${bytes}`);
    assert.equal(history.length, messages.length);
    history.dispose();
  });
});
