/** An engine without vectors gets the module that needs none, and the same results from it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** V8 has vectors on x86 only where it may use SSE4.1, so this is an engine that really has none. */
const WITHOUT = '--no-enable-sse4-1';
/** For other processors: one that says so when it is asked, and would run them. */
const SAYS_WITHOUT = `--import=data:text/javascript,${encodeURIComponent('WebAssembly.validate = () => false;')}`;
/** Says which files were read as Wasm. */
const WATCH = `--import=data:text/javascript,${encodeURIComponent(`
  const { compile } = WebAssembly;
  WebAssembly.compile = (bytes) => { console.error('compiles ' + bytes.length); return compile(bytes); };
`)}`;

/** The environment of a program of its own, and not of a test's child. */
const { NODE_TEST_CONTEXT: _, ...env } = process.env;

/** @param {...string} words */
function node(...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, env, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return { status, stdout, stderr };
}

const hasVectors = (/** @type {string} */ flag) => node(flag, '--input-type=module', '-e', `
  const { readFileSync } = await import('node:fs');
  console.log(WebAssembly.validate(readFileSync('dist/tamp.wasm')));`).stdout.trim() === 'true';
const skip = hasVectors(WITHOUT) && `this processor's V8 has vectors whatever it is told (${process.arch})`;

for (const [engine, flag, options] of /** @type {const} */ ([
  ['has no vectors', WITHOUT, { skip }],
  ['says that it has no vectors', SAYS_WITHOUT, {}],
])) {
  test(`an engine that ${engine} gives the same results on every vector and for every transcript`, options, () => {
    for (const file of ['vectors', 'session-vectors', 'transcript', 'tokens']) {
      const { status, stdout, stderr } = node(flag, WATCH, '--test-reporter=tap', `tests/unit/${file}.test.js`);
      assert.equal(status, 0, `${file}: ${stdout}${stderr}`);
      assert.match(stdout, /^# pass [1-9]/mu);
      const read = new Set([...stderr.matchAll(/compiles (\d+)/gu)].map(([, length]) => Number(length)));
      assert.ok(!read.has(readFileSync(`${root}dist/tamp.wasm`).length), `${file} loads the module with vectors`);
      if (file !== 'session-vectors') assert.ok(read.has(readFileSync(`${root}dist/tamp-scalar.wasm`).length), file);
    }
  });
}

test('the module without vectors has none of their instructions, and the other has', { skip }, () => {
  const valid = (/** @type {string} */ file) => node(WITHOUT, '--input-type=module', '-e', `
    const { readFileSync } = await import('node:fs');
    console.log(WebAssembly.validate(readFileSync('dist/${file}')));`).stdout.trim();
  assert.equal(valid('tamp-scalar.wasm'), 'true');
  assert.equal(valid('tamp.wasm'), 'false');
});

test('the two modules import and export the same', () => {
  const [one, two] = ['tamp.wasm', 'tamp-scalar.wasm'].map((file) => new WebAssembly.Module(readFileSync(`${root}dist/${file}`)));
  assert.deepEqual(WebAssembly.Module.imports(one), WebAssembly.Module.imports(two));
  assert.deepEqual(WebAssembly.Module.exports(one), WebAssembly.Module.exports(two));
});

test('tamp/inline, which carries the module with vectors, says which one an engine without them needs', { skip }, () => {
  const { stdout } = node(WITHOUT, '--input-type=module', '-e', `
    import { loadTamp, slidingWindow } from 'tamp/inline';
    await loadTamp().catch(({ code, message }) => console.log(code, message));
    const { readFile } = await import('node:fs/promises');
    const tamp = await loadTamp({ wasm: await readFile('dist/tamp-scalar.wasm') });
    console.log(tamp.compact([{ id: 'a', role: 'user', content: 'b' }], slidingWindow({ keepMessages: 1 })).changed);`);
  assert.match(stdout, /^wasm-load .*tamp-scalar\.wasm/u);
  assert.match(stdout, /\nfalse\n$/u);
});
