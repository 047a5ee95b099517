/** The bridge under duress: no memory, handles that are not, callbacks that misbehave, promises that never come. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { PolicyError, TampError, clamp, digest, loadTamp, slidingWindow, summarize, truncation } from 'tamp';
import { collectGarbage } from '../lib/memory.js';
import { wasmWithMemoryOf } from '../lib/wasm.js';

const MIB = 2 ** 20;

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

/** @param {number} n @param {number} [size] */
const talk = (n, size = 10) => Array.from({ length: n }, (_, index) => ({
  id: `m${index}`, role: index % 2 === 0 ? 'user' : 'assistant', content: `${index} ${'x'.repeat(size)}`,
}));
/** Leaves what is protected: the last question and its answer. */
const last = slidingWindow({ keepMessages: 1, keepFirstUser: false });

/** @param {() => unknown} act @param {string} code */
function throwsWith(act, code) {
  assert.throws(act, (error) => {
    assert.ok(error instanceof TampError, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  });
}

describe('a memory of 16 MiB', () => {
  /** An instance of its own. @returns {Promise<import('tamp').Tamp>} */
  const small = () => loadTamp({ wasm: wasmWithMemoryOf(256) });

  /** @param {import('tamp').Tamp} instance */
  function worksOn(instance) {
    const list = talk(5);
    assert.deepEqual(instance.compact(list, last).messages, [list[4]]);
  }

  test('a history that outgrows it is a typed error, keeps what it had and goes on', async () => {
    const instance = await small();
    const history = instance.open(talk(20, 1000));
    const other = instance.open(talk(4));
    const [first, ...more] = talk(40, MIB);
    history.append(first);
    const before = history.inspect();
    throwsWith(() => history.append(...more), 'out-of-memory');
    assert.equal(history.length, 21);
    assert.deepEqual(history.inspect(), before);
    assert.ok(instance.bridge.memorySize <= 16 * MIB);
    assert.ok(history.compact(last).messages.length <= 2);
    assert.ok(other.compact(last).messages.length <= 2);
    history.append({ id: 'small', role: 'user', content: 'small' });
    assert.equal(history.length, 22);
    history.dispose();
    worksOn(instance);
    other.append(...talk(4, MIB));
    other.dispose();
  });

  test('a sync that does not fit leaves the list of before', async () => {
    const instance = await small();
    const list = talk(50, 1000);
    const history = instance.open(list);
    const before = history.inspect();
    throwsWith(() => history.sync([...list.slice(0, 10), ...talk(40, MIB)]), 'out-of-memory');
    assert.equal(history.length, 50);
    assert.deepEqual(history.inspect(), before);
    assert.equal(history.sync(list), 0);
    history.dispose();
    worksOn(instance);
  });

  test('every one-shot call that does not fit is a typed error, and the next one that does works', async () => {
    const instance = await small();
    const large = talk(40, MIB);
    for (const act of [
      () => instance.compact(large, last),
      () => instance.inspect(large),
      () => instance.countTokens(large),
      () => instance.countTokens('x'.repeat(40 * MIB)),
      () => instance.open(large),
      () => instance.checkPolicy([{ strategy: 'drop-tool-calls', tools: ['x'.repeat(40 * MIB)] }]),
    ]) {
      throwsWith(act, 'out-of-memory');
      worksOn(instance);
    }
    await assert.rejects(instance.compactAsync(large, summarize({ keepMessages: 1 }), { summarize: () => 'short' }),
      { code: 'out-of-memory' });
    worksOn(instance);
  });

  test('failing again and again takes no more memory', async () => {
    const instance = await small();
    const large = talk(20, MIB);
    throwsWith(() => instance.compact(large, last), 'out-of-memory');
    for (let i = 0; i < 50; i += 1) throwsWith(() => instance.compact(large, last), 'out-of-memory');
    worksOn(instance);
    instance.open(talk(5, MIB)).dispose();
  });

  test('a plan that does not fit beside its history leaves the history usable', async () => {
    const instance = await small();
    let held = 0;
    const history = instance.open();
    try {
      for (; held < 15_000; held += 1) history.append({ id: `m${held}`, role: held % 2 === 0 ? 'user' : 'assistant', content: 'x'.repeat(900) });
    } catch (error) {
      assert.equal(/** @type {TampError} */ (error).code, 'out-of-memory');
    }
    assert.ok(held > 5000 && held < 15_000, `${held} messages`);
    assert.equal(history.length, held);
    let refused = 0;
    for (const policy of [clamp({ maxChars: 800, headChars: 400, tailChars: 400, roles: ['assistant', 'user'] }), truncation({ maxMessages: 4, toMessages: 2 }), digest({ keepMessages: 1 }), last]) {
      try {
        history.compact(policy);
      } catch (error) {
        refused += 1;
        assert.equal(/** @type {TampError} */ (error).code, 'out-of-memory');
      }
      assert.equal(history.length, held);
    }
    assert.ok(refused > 0, 'at least one plan had no room');
    history.truncateAfter('m99');
    assert.ok(history.compact(last).messages.length <= 2);
    history.dispose();
  });
});

/** In MiB. */
const free = Number(/MemAvailable:\s+(\d+)/u.exec(existsSync('/proc/meminfo') ? readFileSync('/proc/meminfo', 'utf8') : '')?.[1] ?? 0) / 1024;
const skip = free < 8 * 1024 ? `${Math.round(free)} MiB of memory are free; 8192 are needed to fill a module` : false;

test('a memory of 4 GiB that is full is a typed error, and the instance goes on', { skip, timeout: 120_000 }, async (t) => {
  const instance = await loadTamp({ wasm: readFileSync(new URL('../../dist/tamp.wasm', import.meta.url)) });
  const history = instance.open();
  const start = performance.now();
  let held = 0;
  for (const size of [128 * MIB, 8 * MIB, MIB / 2]) {
    const content = 'x'.repeat(size);
    throwsWith(() => {
      for (let i = 0; i < 64; i += 1) {
        history.append({ id: `m${held}`, role: held % 2 === 0 ? 'user' : 'assistant', content });
        held += 1;
      }
    }, 'out-of-memory');
    assert.equal(history.length, held);
  }
  t.diagnostic(`${held} messages in ${(instance.bridge.memorySize / 2 ** 30).toFixed(2)} GiB, ${((performance.now() - start) / 1000).toFixed(1)} s`);
  assert.ok(instance.bridge.memorySize > 3.9 * 2 ** 30);
  const list = talk(5);
  assert.deepEqual(instance.compact(list, last).messages, [list[4]]);
  history.truncateAfter('m1');
  assert.equal(history.length, 2);
  history.dispose();
  const next = instance.open(talk(3, 64 * MIB));
  assert.equal(next.length, 3);
  next.dispose();
});

describe('handles', () => {
  test('a stale handle is a typed error, disposed of once and never twice', () => {
    const { bridge } = tamp;
    const handle = bridge.newHistory(bridge.format('ag-ui').index);
    assert.equal(bridge.length(handle), 0);
    assert.equal(bridge.dispose(handle), true);
    assert.equal(bridge.dispose(handle), false);
    for (const use of [
      () => bridge.length(handle), () => bridge.truncate(handle, 0), () => bridge.find(handle, 'x'),
      () => bridge.append(handle, { id: 'x' }, 0), () => bridge.inspect(handle, {}), () => bridge.tokens(handle, {}),
      () => bridge.appendArray(handle, new TextEncoder().encode('[]')),
      () => bridge.plan(handle, 0, handle, {}, []),
    ]) throwsWith(use, 'bad-handle');
  });

  test('a slot that is used again does not answer to its old handle', () => {
    const { bridge } = tamp;
    const { index } = bridge.format('ag-ui');
    const old = bridge.newHistory(index);
    bridge.dispose(old);
    for (let i = 0; i < 100; i += 1) {
      const next = bridge.newHistory(index);
      assert.notEqual(next, old);
      throwsWith(() => bridge.length(old), 'bad-handle');
      assert.equal(bridge.dispose(old), false);
      assert.equal(bridge.length(next), 0);
      bridge.dispose(next);
    }
  });

  test('a handle of another kind and numbers that are no handles are typed errors', () => {
    const { bridge } = tamp;
    const history = bridge.newHistory(bridge.format('ag-ui').index);
    const policy = bridge.policy('{"strategy":"repair"}');
    throwsWith(() => bridge.length(policy.handle), 'bad-handle');
    throwsWith(() => bridge.plan(policy.handle, 0, history, {}, []), 'bad-handle');
    throwsWith(() => bridge.plan(history, 0, history, {}, []), 'bad-handle');
    let seed = 1;
    const numbers = [0, -1, 1, 2 ** 20, 2 ** 31, 2 ** 32 - 1, 1.5, NaN];
    for (let i = 0; i < 2000; i += 1) numbers.push((seed = (seed * 1103515245 + 12345) % 2 ** 31));
    for (const number of numbers.filter((each) => each >>> 0 !== history && each >>> 0 !== policy.handle)) {
      let length = -1;
      try {
        length = bridge.length(number);
      } catch (error) {
        assert.equal(/** @type {TampError} */ (error).code, 'bad-handle');
      }
      /* A history of another test that is still open may have that number; memory never. */
      assert.ok(length >= -1);
    }
    assert.equal(bridge.length(history), 0);
    bridge.dispose(history);
    bridge.dispose(policy.handle);
  });

  test('what belongs to an instance means nothing to another', async () => {
    const other = await loadTamp({ wasm: wasmWithMemoryOf(256) });
    const handle = tamp.bridge.newHistory(tamp.bridge.format('ag-ui').index);
    throwsWith(() => other.bridge.length(handle), 'bad-handle');
    assert.equal(other.bridge.dispose(handle), false);
    assert.equal(tamp.bridge.dispose(handle), true);
  });

  test('a history that nobody holds any more is freed', async () => {
    const instance = await loadTamp({ wasm: wasmWithMemoryOf(1024) });
    const round = () => { for (let i = 0; i < 10; i += 1) instance.open(talk(4, MIB / 8)); };
    round();
    await collectGarbage();
    /* 64 MiB hold about ten rounds of them. */
    for (let i = 0; i < 25; i += 1) {
      round();
      await collectGarbage();
    }
    assert.ok(instance.bridge.memorySize <= 64 * MIB);
  });
});

describe('callbacks', () => {
  test('a history may not be disposed of or used from inside its own counting, but another may', () => {
    const history = tamp.open(talk(6));
    const other = tamp.open(talk(3));
    /** @type {string[]} */
    const codes = [];
    const attempt = (/** @type {() => unknown} */ act) => {
      try {
        act();
        codes.push('fine');
      } catch (error) {
        codes.push(/** @type {TampError} */ (error).code);
      }
    };
    const countTokens = (/** @type {string} */ text) => {
      if (codes.length === 0) {
        attempt(() => history.dispose());
        attempt(() => history.inspect());
        attempt(() => history.append({ id: 'x', role: 'user', content: 'x' }));
        attempt(() => history.truncateAfter(null));
        attempt(() => other.compact(last));
        attempt(() => tamp.compact(talk(4), last, { countTokens: (inner) => inner.length }));
        attempt(() => other.dispose());
      }
      return text.length;
    };
    const { messages } = history.compact(last, { countTokens });
    assert.deepEqual(codes, ['busy', 'bad-handle', 'bad-handle', 'bad-handle', 'fine', 'fine', 'fine']);
    assert.ok(messages.length <= 2);
    assert.equal(history.length, 6);
    history.append({ id: 'x', role: 'user', content: 'x' });
    assert.equal(history.length, 7);
    history.dispose();
  });

  test('a counter that throws deep inside leaves every handle free', () => {
    const history = tamp.open(talk(50));
    let calls = 0;
    for (let at = 1; at < 50; at += 1) {
      calls = 0;
      const boom = new Error(`call ${at}`);
      assert.throws(() => history.compact(last, {
        countTokens: (text) => {
          calls += 1;
          if (calls === at) throw boom;
          return text.length;
        },
      }), boom);
    }
    assert.ok(history.compact(last).messages.length <= 2);
    history.dispose();
  });

  test('a counter that opens a hundred histories while it counts breaks nothing', () => {
    /** @type {import('tamp').History<any>[]} */
    const opened = [];
    const { report } = tamp.compact(talk(20), last, {
      countTokens: (text) => {
        if (opened.length < 100) for (let i = 0; i < 10; i += 1) opened.push(tamp.open(talk(3, 5000)));
        return text.length;
      },
    });
    assert.equal(report.tokensBefore, talk(20).reduce((sum, { content }) => sum + content.length + 4, 0));
    for (const history of opened) {
      assert.equal(history.length, 3);
      history.dispose();
    }
  });
});

describe('summaries that never come', () => {
  test('an abort frees what a compaction held that nothing will ever answer', async () => {
    const instance = await loadTamp({ wasm: wasmWithMemoryOf(256) });
    const list = talk(20, 20_000);
    const waits = () => {
      const abort = new AbortController();
      const compaction = instance.compactAsync(list, summarize({ keepMessages: 1 }), {
        signal: abort.signal,
        summarize: () => { setImmediate(() => abort.abort()); return new Promise(() => {}); },
      });
      return assert.rejects(compaction, { name: 'AbortError' });
    };
    /* Each holds 400 KB: without being freed forty would fill the memory. */
    for (let i = 0; i < 200; i += 1) await waits();
    const size = instance.bridge.memorySize;
    for (let i = 0; i < 50; i += 1) await waits();
    assert.equal(instance.bridge.memorySize, size);
  });

  test('a bad policy among many holds no handle', () => {
    const size = tamp.bridge.memorySize;
    const policy = /** @type {any} */ ({ strategy: 'nothing', note: 'x'.repeat(10_000) });
    for (let i = 0; i < 3000; i += 1) assert.throws(() => tamp.compact([], policy), PolicyError);
    assert.ok(tamp.bridge.memorySize - size <= MIB);
  });
});
