/** The core's reader of JSON against JSON.parse: the same texts are accepted, and their values survive. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { SEED } from '../lib/seed.js';
import { MessageError, clamp, loadTamp, slidingWindow } from 'tamp';

const RUNS = Math.ceil(Number(process.env.CASES ?? 60_000) / 12);

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const policy = slidingWindow({ keepMessages: 1, keepFirstUser: false });
const encoder = new TextEncoder();

/** @param {string} text */
function isJsonArray(text) {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

/**
 * What the core says of a text: true when it was read as an array of messages, the byte of the fault when it is no JSON,
 * null when it stopped before the end, at an element that is no object.
 * @param {string | Uint8Array} text
 * @returns {true | number | null}
 */
function accepts(text) {
  const { bridge } = tamp;
  const handle = bridge.newHistory(bridge.format('openai').index);
  try {
    bridge.appendArray(handle, typeof text === 'string' ? encoder.encode(text) : text);
    return true;
  } catch (error) {
    assert.ok(error instanceof MessageError, String(error));
    return error.code === 'not-a-message' ? null : /** @type {number} */ (error.offset);
  } finally {
    bridge.dispose(handle);
  }
}

/** A message with any JSON value in a field of it, spelled by JSON.stringify. */
const message = fc.record({
  role: fc.constantFrom('user', 'assistant', 'critic'),
  content: fc.oneof(fc.string({ unit: 'binary' }), fc.string()),
  extra: fc.jsonValue({ maxDepth: 3 }),
});
const messages = fc.array(message, { minLength: 1, maxLength: 4 });

/** What mutations put in: bytes that mean something, and some that may not stand anywhere. */
const PIECES = ['"', '\\', '\\u', '\\ud83d', '{', '}', '[', ']', ',', ':', '-', '+', '.', 'e', '0', '01', '1e5', 'true', 'nul', ' ',
  '\n', '\t', '\u0000', '\u0001', '\u001f', '\u007f', '\u2028', '\ufeff', '/', '/**/', 'NaN', 'Infinity', "'", '\\x41', '\\/', '\u00e9', '😀'];

const mutation = fc.record({
  at: fc.nat(1e6), cut: fc.nat(3), piece: fc.option(fc.constantFrom(...PIECES)),
});

/** @param {string} text @param {{ at: number, cut: number, piece: string | null }[]} mutations */
function mutate(text, mutations) {
  return mutations.reduce((now, { at, cut, piece }) => {
    const where = at % (now.length + 1);
    return now.slice(0, where) + (piece ?? '') + now.slice(where + cut);
  }, text);
}

describe(`JSON, in ${RUNS} cases from seed ${SEED}`, () => {
  test('a text is accepted exactly when JSON.parse accepts it, and a fault lies inside of it', () => {
    let accepted = 0;
    fc.assert(fc.property(messages, fc.array(mutation, { maxLength: 3 }), fc.constantFrom(undefined, 1), (list, mutations, indent) => {
      /* A lone surrogate is no UTF-8: as a text of JavaScript it becomes U+FFFD on the way to bytes. */
      const text = mutate(JSON.stringify(list, null, indent), mutations).toWellFormed();
      const result = accepts(text);
      if (result === null) return;
      accepted += Number(result === true);
      assert.equal(result === true, isJsonArray(text), text);
      if (result !== true) assert.ok(result >= 0 && result <= encoder.encode(text).length);
    }), { numRuns: RUNS, seed: SEED });
    assert.ok(accepted > RUNS / 10 && accepted < RUNS, `${accepted} of ${RUNS} were JSON`);
  });

  test('bytes that are no UTF-8 are refused where a strict decoder refuses them, outside of strings too', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    fc.assert(fc.property(messages, fc.nat(1e6), fc.nat(255), fc.integer({ min: 1, max: 3 }), (list, at, byte, count) => {
      const bytes = encoder.encode(JSON.stringify(list));
      for (let i = 0; i < count; i += 1) bytes[(at + i) % bytes.length] = (byte + i * 37) & 0xff;
      let expected = false;
      try {
        expected = isJsonArray(decoder.decode(bytes));
      } catch {
        expected = false;
      }
      const result = accepts(bytes);
      if (result !== null) assert.equal(result === true, expected);
    }), { numRuns: RUNS, seed: SEED });
  });

  test('every message that is kept has the bytes it had, and its value', () => {
    fc.assert(fc.property(messages, fc.constantFrom(undefined, 2), (list, indent) => {
      const text = JSON.stringify(list, null, indent);
      const kept = tamp.compactText(text, policy, { format: 'openai' });
      const values = JSON.parse(kept.text());
      const spelled = list.map((each) => JSON.stringify(each));
      for (const value of values) assert.ok(spelled.includes(JSON.stringify(value)));
      assert.deepEqual(values.at(-1), JSON.parse(JSON.stringify(list.at(-1))));
    }), { numRuns: Math.ceil(RUNS / 4), seed: SEED });
  });

  test('a message that is written anew keeps the values of what was not edited', () => {
    const cut = clamp({ maxChars: 30, headChars: 1, tailChars: 1, roles: ['user', 'assistant'] });
    fc.assert(fc.property(messages, (list) => {
      /* As JSON has them: no -0. */
      const long = JSON.parse(JSON.stringify(list.map((each) => ({ ...each, role: 'assistant', content: `${each.content}${'long '.repeat(30)}` }))));
      const { messages: result } = tamp.compact(long, cut, { format: 'openai' });
      assert.equal(result.length, long.length);
      result.forEach((/** @type {unknown} */ value, /** @type {number} */ at) => {
        const { content, ...rest } = /** @type {any} */ (value);
        const { content: before, ...expected } = long[at];
        assert.deepEqual(rest, expected);
        assert.ok(content === before || content.includes(' characters removed]'));
      });
    }), { numRuns: Math.ceil(RUNS / 4), seed: SEED });
  });
});
