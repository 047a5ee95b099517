import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { countTokens as exactTokens } from 'gpt-tokenizer/encoding/o200k_base';
import '../lib/seed.js';
import { tokenTexts } from '../lib/token-texts.js';

const program = fileURLToPath(new URL('../../build/c-tests/tokens_test', import.meta.url));

/** The estimates of the native core, one for each text. @param {(string | Uint8Array)[]} texts */
function nativeTokens(texts) {
  const input = Buffer.concat(
    texts.flatMap((text) => {
      const bytes = Buffer.from(text);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    }),
  );
  const run = spawnSync(program, ['count'], { input, encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout.split('\n').slice(0, -1).map(Number);
}

/** @param {string} text */
const exact = (text) => exactTokens(text, { disallowedSpecial: new Set() });

const built = existsSync(program) ? false : 'build/c-tests/tokens_test is not built: run `make c-tests`';
const dist = existsSync(new URL('../../dist/index.js', import.meta.url))
  ? false
  : 'dist/ is not built: run `make dist`';

test(
  'estimates are within 3 % of exact o200k counts on average and within 8 % for every kind of text',
  { skip: built },
  (t) => {
    for (const { name, reason } of tokenTexts) if (reason) t.diagnostic(`${name} left out: ${reason}`);
    const texts = tokenTexts.filter(({ reason }) => !reason);
    const counts = nativeTokens(texts.map(({ text }) => text));
    const errors = texts.map(({ text }, index) => counts[index] / exact(text) - 1);
    texts.forEach(({ name }, index) => t.diagnostic(`${name}: ${(errors[index] * 100).toFixed(1)} %`));
    const mean = errors.reduce((sum, error) => sum + Math.abs(error), 0) / errors.length;
    t.diagnostic(`mean of ${errors.length} kinds: ${(mean * 100).toFixed(2)} %`);
    assert.ok(mean <= 0.03, `mean error ${mean}`);
    texts.forEach(({ name }, index) => assert.ok(Math.abs(errors[index]) <= 0.08, `${name}: ${errors[index]}`));
  },
);

test('a text followed by more text never counts less', { skip: built }, () => {
  const pieces = fc.array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(' ', '\n', '42', 'Word', '")'),
    ),
    { minLength: 1, maxLength: 60 },
  );
  fc.assert(
    fc.property(pieces, (list) => {
      const counts = nativeTokens(list.map((_, index) => list.slice(0, index + 1).join('')));
      counts.reduce((before, count) => {
        assert.ok(count >= before);
        return count;
      }, 0);
    }),
    { numRuns: 20 },
  );
});

test('texts of some length count within 1 % of their sum when they are joined', { skip: built }, () => {
  const texts = tokenTexts.map(({ text }) => text).filter((text) => text.length > 4000);
  const joined = texts.map((text, index) => text + texts[(index + 1) % texts.length]);
  const counts = nativeTokens([...texts, ...joined]);
  texts.forEach((_, index) => {
    const sum = counts[index] + counts[(index + 1) % texts.length];
    assert.ok(Math.abs(counts[texts.length + index] / sum - 1) <= 0.01);
  });
});

test('bytes that are not UTF-8 are counted, never refused', { skip: built }, () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 2000 }), { minLength: 1, maxLength: 20 }), (list) => {
      nativeTokens(list).forEach((count, index) => assert.ok(count >= 1 && count <= list[index].length * 4));
    }),
    { numRuns: 20 },
  );
});

test('the Wasm counts what the native core counts', { skip: built || dist }, async () => {
  const { loadTamp } = await import('tamp');
  const tamp = await loadTamp();
  const texts = ['', ...tokenTexts.map(({ text }) => text)];
  assert.deepEqual(
    texts.map((text) => tamp.countTokens(text)),
    nativeTokens(texts),
  );
});
