/** compactText: a JSON list as text or bytes in, and out with every untouched message byte for byte. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import * as core from 'tamp';
import { SEED } from '../lib/seed.js';
import { brokenHistory, policy, validHistory } from '../lib/generators.js';

const { MessageError, PolicyError, TampError, loadTamp, slidingWindow, toolResults } = core;

const CASES = Math.ceil(Number(process.env.CASES ?? 60_000) / 20);

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const encoder = new TextEncoder();
const last = slidingWindow({ keepMessages: 1, keepFirstUser: false });
const agui = /** @type {const} */ ({ format: 'ag-ui' });

/** A user message whose JSON text is spelled in an unusual way. @param {string} more members */
const odd = (more) => `{ "id":"odd" ,\t"role" : "user",\n "content":"q", ${more} }`;
const plain = '{"id":"a0","role":"assistant","content":"gone"}';

/** @param {() => unknown} act @returns {any} */
function messageError(act) {
  /** @type {any} */
  let thrown;
  assert.throws(act, (error) => { thrown = error; return true; });
  assert.ok(thrown instanceof MessageError, `${thrown.name}: ${thrown.message}`);
  assert.equal(typeof thrown.index, 'number');
  assert.equal(tamp.compactText(`[${plain},${odd('"x":1')}]`, last, agui).after, 1, 'the instance lives on');
  return thrown;
}

describe('bytes', () => {
  for (const [name, more] of [
    ['an integer over 2^53', '"big":2512292042121000001'],
    ['numbers spelled as nobody prints them', '"n":[1.0,1e2,-0,1E400,0.10,123456789.000]'],
    ['keys in no order, and one of them twice', '"b":1,"2":2,"1":3,"b":4'],
    ['a key named __proto__', '"__proto__":{"x":1},"constructor":null'],
    ['escapes that need not be', '"t":"\\u0041\\/\\u00e9 \\ud83d\\ude00"'],
    ['a lone surrogate', '"t":"\\ud83d and \\udc00"'],
    ['a zero character', '"t":"a\\u0000b"'],
    ['white space wherever it may stand', '"a" : [ 1 ,\r\n\t2 ] , "o" : { }'],
    ['line separators of Unicode', '"t":"a\u2028b\u2029c\u0085d"'],
  ]) {
    test(`a kept message keeps ${name}`, () => {
      const message = odd(more);
      const made = tamp.compactText(`[${plain},${message}]`, last, agui);
      assert.equal(made.changed, true);
      assert.ok(made.text().includes(message), made.text());
      assert.deepEqual(JSON.parse(made.text()), [JSON.parse(message)]);
    });
  }

  test('a text that nothing was done to comes back byte for byte, white space and all', () => {
    const text = ` \r\n[ ${odd('"big":2512292042121000001')} ,\n\n ${plain} ]\n `;
    const bytes = encoder.encode(text);
    for (const input of [text, bytes]) {
      const made = tamp.compactText(input, slidingWindow({ keepMessages: 40 }), agui);
      assert.equal(made.changed, false);
      assert.deepEqual(Buffer.from(made.bytes), Buffer.from(bytes));
      assert.equal(made.text(), text);
    }
  });

  test('white space behind the first of the lines is its own, however much it is and whatever ends the line', () => {
    /* The first line holds a list, so it might be all of the file until the second one comes. */
    const line = (/** @type {number} */ n) => JSON.stringify({ id: `m${n}`, role: n % 2 === 0 ? 'user' : 'assistant', content: `text ${n}`, messages: [] });
    for (const space of [0, 1, 14, 15, 16, 17, 255, 256, 300]) {
      for (const end of ['\n', '\r\n']) {
        const lines = Array.from({ length: 20 }, (_, n) => (n === 0 ? line(n) + ' '.repeat(space) : line(n)));
        const kept = (/** @type {boolean} */ keepFirstUser) => tamp.compactText(lines.map((each) => each + end).join(''), { strategy: 'sliding-window', keepMessages: 3, keepFirstUser }, agui).text();
        const newest = lines.slice(-3).map((each) => each + end).join('');
        assert.equal(kept(true), lines[0] + end + newest, `${space} spaces, ${JSON.stringify(end)}`);
        assert.equal(kept(false), newest, `${space} spaces, ${JSON.stringify(end)}`);
      }
    }
  });

  test('an empty list is a list', () => {
    for (const text of ['[]', ' [ ] ']) assert.equal(tamp.compactText(text, last, agui).text(), text);
  });

  test('text and bytes give the same, in a view into a larger buffer too', () => {
    const text = `[${plain},${odd('"x":"中文🎉"')}]`;
    const bytes = encoder.encode(`garbage${text}garbage`).subarray(7, -7);
    const [one, two] = [tamp.compactText(text, last, agui), tamp.compactText(bytes, last, agui)];
    assert.equal(two.text(), one.text());
    assert.deepEqual(two.report, one.report);
  });

  test('the input bytes are not written to, and the output does not share them', () => {
    const bytes = encoder.encode(`[${plain},${odd('"x":1')}]`);
    const copy = bytes.slice();
    const made = tamp.compactText(bytes, last, agui);
    made.bytes.fill(0);
    assert.deepEqual(bytes, copy);
    const same = tamp.compactText(bytes, slidingWindow({ keepMessages: 40 }), agui);
    assert.deepEqual(same.bytes, copy);
  });

  test('what a result holds stays true after the next call', () => {
    const made = tamp.compactText(`[${plain},${odd('"x":1')}]`, last, agui);
    const text = made.text();
    tamp.compactText(`[${plain.repeat(1)},${odd(`"x":"${'y'.repeat(100_000)}"`)}]`, last, agui);
    assert.equal(made.text(), text);
  });

  test('a rewritten message keeps the bytes of what was not rewritten', () => {
    const call = '{"id":"k1","role":"assistant","big":2512292042121000001,"toolCalls":[{"id":"x","type":"function",'
      + '"function":{"name":"search","arguments":"{}"}}],"one":1.0}';
    const result = `{"id":"t1","role":"tool","toolCallId":"x","content":"${'long '.repeat(40)}"}`;
    const text = `[{"id":"u1","role":"user","content":"q"},${call},${result},${plain}]`;
    const made = tamp.compactText(text, toolResults({ keepLastToolCallGroups: 0 }), agui).text();
    assert.ok(made.includes('"big":2512292042121000001'), made);
    assert.ok(made.includes('"one":1.0'), made);
  });

  test('a list in text is compacted as the same list of objects', async (context) => {
    context.diagnostic(`${CASES} cases, SEED=${SEED}`);
    await fc.assert(fc.property(fc.oneof(validHistory(), brokenHistory()), policy(), fc.nat(2), (messages, tree, indent) => {
      // White space counts where bytes are compared with a limit.
      const text = JSON.stringify(messages, null, /bytes/iu.test(JSON.stringify(tree)) ? 0 : indent);
      const made = tamp.compactText(text, tree, agui);
      const { report, ...whole } = tamp.compact(messages, tree);
      assert.deepEqual(JSON.parse(made.text()), whole.messages);
      assert.deepEqual([made.changed, made.before, made.after, made.removed],
        [whole.changed, whole.before, whole.after, whole.removed]);
      assert.deepEqual(made.report.dropped, report.dropped);
      assert.deepEqual(made.report.rewritten, report.rewritten);
      assert.deepEqual(JSON.parse(new TextDecoder().decode(made.bytes)), whole.messages);
    }), { numRuns: CASES, seed: SEED, includeErrorInReport: true });
  });
});

describe('formats', () => {
  test('a list of OpenAI messages is recognised', () => {
    const text = JSON.stringify([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'x', content: 'done' },
      { role: 'user', content: 'and?' },
    ]);
    assert.equal(tamp.compactText(text, last, { format: 'auto' }).format, 'openai');
    assert.equal(tamp.compactText(text, last).format, 'openai', 'auto is the default');
  });

  test('a list of AG-UI messages is recognised', () => {
    const text = JSON.stringify([
      { id: '1', role: 'user', content: 'go' },
      { id: '2', role: 'assistant', toolCalls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { id: '3', role: 'tool', toolCallId: 'x', content: 'done' },
    ]);
    assert.equal(tamp.compactText(text, last, { format: 'auto' }).format, 'ag-ui');
  });
});

describe('what is not JSON', () => {
  for (const [name, text, index, offset] of /** @type {[string, string, number, number | null][]} */ ([
    ['a torn text', `[${plain},{"id":"x"`, 1, null],
    ['a bare word', `[${plain},?]`, 1, plain.length + 2],
    ['a comma too many', `[${plain},]`, 1, plain.length + 2],
    ['no comma', `[${plain} ${plain}]`, 1, plain.length + 2],
    ['a number with a leading zero', `[${plain},{"id":"x","n":01}]`, 1, null],
    ['a raw line break in a text', `[${plain},{"id":"a\nb"}]`, 1, null],
    ['a text that is no UTF-16', `[${plain},{"id":"\\ud8"}]`, 1, null],
  ])) {
    test(`${name} is a MessageError with its index and byte offset`, () => {
      const error = messageError(() => tamp.compactText(text, last, agui));
      assert.equal(error.index, index);
      assert.ok(Number.isInteger(error.offset) && error.offset >= 0 && error.offset <= text.length, `${error.offset}`);
      if (offset !== null) assert.equal(error.offset, offset);
    });
  }

  test('an offset counts bytes, not UTF-16 units', () => {
    const text = '[{"id":"中文🎉"},?]';
    const error = messageError(() => tamp.compactText(text, last, agui));
    assert.equal(error.offset, Buffer.byteLength('[{"id":"中文🎉"},'));
  });

  for (const [name, text] of [
    ['nothing', ''], ['white space', ' \n'], ['a text', '"hello"'], ['a number', '7'],
    ['something behind the list', `[${plain}] x`], ['two lists', '[][]'], ['a trailing zero byte', '[]\u0000'],
  ]) {
    test(`${name} instead of a list is a typed error`, () => {
      assert.throws(() => tamp.compactText(text, last, agui), TampError);
    });
  }

  test('a message that is not an object is a MessageError with its index and byte offset', () => {
    for (const value of ['null', '7', '"text"', '[]', 'true']) {
      const error = messageError(() => tamp.compactText(`[${plain}, ${value}]`, last, agui));
      assert.equal(error.index, 1);
      assert.equal(error.offset, plain.length + 3);
    }
  });

  test('bytes that are not UTF-8 are a MessageError', () => {
    const bytes = Buffer.from(`[${plain},{"id":"x?"}]`);
    bytes[bytes.indexOf('?')] = 0xff;
    const error = messageError(() => tamp.compactText(bytes, last, agui));
    assert.equal(error.index, 1);
    assert.equal(error.offset, bytes.indexOf(0xff));
  });

  test('nesting over a thousand levels, and of a million, is a MessageError', () => {
    for (const depth of [1_001, 1_000_000]) {
      const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
      assert.equal(messageError(() => tamp.compactText(`[${plain},{"deep":${deep}}]`, last, agui)).index, 1);
    }
    messageError(() => tamp.compactText(`[${plain},${'{"a":'.repeat(1_000_000)}`, last, agui));
  });

  test('something else than text or bytes is a typed error', () => {
    for (const value of [null, undefined, 7, {}, [], new Date()]) {
      assert.throws(() => tamp.compactText(/** @type {any} */ (value), last, agui), TampError, String(value));
    }
  });

  test('a bad policy is a PolicyError', () => {
    assert.throws(() => tamp.compactText('[]', /** @type {any} */ ({ strategy: 'x' })), PolicyError);
  });

  test('a text cut at any byte is a typed error or a list, never a crash', () => {
    const bytes = encoder.encode(JSON.stringify([
      { id: 'u1', role: 'user', content: 'q é 🎉 \ud83d' },
      { id: 'k1', role: 'assistant', toolCalls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{"a":"\\"b"}' } }] },
      { id: 't1', role: 'tool', toolCallId: 'x', content: [{ type: 'text', text: 'r' }] },
    ]));
    for (let length = 0; length < bytes.length; length += 1) {
      assert.throws(() => tamp.compactText(bytes.subarray(0, length), last, agui), TampError, `${length} bytes`);
    }
    assert.equal(tamp.compactText(bytes, last, agui).before, 3);
  });

  test('a byte changed anywhere is a typed error or a list, never a crash', () => {
    const bytes = encoder.encode(`[${plain},{"id":"k","role":"assistant","toolCalls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]}]`);
    for (let at = 0; at < bytes.length; at += 1) {
      for (const value of [0, 0x01, 0x22, 0x2c, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x80, 0xed, 0xff]) {
        const changed = bytes.slice();
        changed[at] = value;
        try {
          JSON.parse(tamp.compactText(changed, last, agui).text());
        } catch (error) {
          assert.ok(error instanceof TampError, `byte ${at} as ${value}: ${error}`);
        }
      }
    }
  });
});

// The public suite: y_ must parse, n_ must not, i_ either way without a crash.
const suite = fileURLToPath(new URL('../../../shared/data/json-parsing/', import.meta.url));
describe('the JSON parsing suite as a member of a message', {
  skip: existsSync(suite) ? false : 'the suite is not beside the repository',
}, () => {
  const files = existsSync(suite) ? readdirSync(suite, { recursive: true })
    .map(String).filter((name) => name.endsWith('.json')) : [];
  const wrap = (/** @type {Buffer} */ value) => Buffer.concat([
    Buffer.from(`[${plain},{"id":"u1","role":"user","content":"q","value":`), value, Buffer.from('}]')]);
  const kind = (/** @type {string} */ name) => name.split('/').at(-1)?.[0];
  // Whether a fragment that breaks on its own still breaks in the middle of an object is JSON.parse's to say.
  const parses = (/** @type {Buffer} */ bytes) => {
    try {
      JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
      return true;
    } catch {
      return false;
    }
  };

  test('what must parse is kept byte for byte', () => {
    const must = files.filter((name) => kind(name) === 'y');
    assert.ok(must.length > 50, `${must.length} files`);
    for (const name of must) {
      const value = readFileSync(join(suite, name));
      const made = tamp.compactText(wrap(value), last, agui);
      assert.ok(Buffer.from(made.bytes).includes(value), name);
    }
  });

  test('what must not parse is a MessageError', () => {
    const mustNot = files.filter((name) => kind(name) === 'n');
    assert.ok(mustNot.length > 100, `${mustNot.length} files`);
    for (const name of mustNot) {
      const bytes = wrap(readFileSync(join(suite, name)));
      if (parses(bytes)) continue;
      assert.throws(() => tamp.compactText(bytes, last, agui), MessageError, name);
    }
  });

  test('what may parse or not ends in one of both', () => {
    for (const name of files.filter((each) => kind(each) === 'i')) {
      try {
        tamp.compactText(wrap(readFileSync(join(suite, name))), last, agui);
      } catch (error) {
        assert.ok(error instanceof MessageError, `${name}: ${error}`);
      }
    }
  });
});
