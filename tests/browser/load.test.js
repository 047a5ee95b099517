import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const html = (script) => `<!doctype html><title>Tamp</title><output></output><script type="module" src="${script}"></script>`;

// Says in <output> what came out, or the error.
const page = (source) => `
import { loadTamp, slidingWindow } from '${source}';
const messages = [
  { id: 'u1', role: 'user', content: 'first' },
  { id: 'a1', role: 'assistant', content: 'one' },
  { id: 'u2', role: 'user', content: 'second' },
  { id: 'a2', role: 'assistant', content: 'two' },
];
const output = document.querySelector('output');
try {
  const tamp = await loadTamp();
  const compaction = tamp.compact(messages, slidingWindow({ maxMessages: 3, keepMessages: 2 }));
  output.textContent = JSON.stringify({
    removed: compaction.removed,
    ids: compaction.messages.map((message) => message.id),
    same: compaction.messages.every((message) => messages.includes(message)),
  });
} catch (error) {
  output.textContent = String(error?.stack ?? error);
}
`;

const compacted = { removed: 1, ids: ['u1', 'u2', 'a2'], same: true };

/** @type {import('playwright-core').Browser} */
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/**
 * Opens a page that runs page(source) under `policy`; what it put out, what the browser complained of, and which Wasm it
 * asked for.
 */
async function run(source, policy, from = browser) {
  const site = await serve(root, { 'Content-Security-Policy': policy }, {
    '/page.html': html('/page.js'),
    '/page.js': page(source),
    '/favicon.ico': '',
  });
  const tab = await from.newPage();
  try {
    const complaints = [];
    const wasm = [];
    tab.on('request', (request) => request.url().endsWith('.wasm') && wasm.push(new URL(request.url()).pathname));
    tab.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    tab.on('pageerror', (error) => complaints.push(String(error)));
    await tab.goto(`${site.url}/page.html`);
    const output = await tab.locator('output:not(:empty)').textContent({ timeout: 30_000 }).catch(() => null);
    return { output, complaints, wasm };
  } finally {
    await tab.close();
    await site.close();
  }
}

test('the core loads and compacts in a page that allows its own scripts and WebAssembly, nothing else', async () => {
  const { output, complaints, wasm } = await run('/dist/index.js', "script-src 'self' 'wasm-unsafe-eval'");
  assert.deepEqual(complaints, []);
  assert.deepEqual(JSON.parse(output ?? 'null'), compacted);
  assert.deepEqual(wasm, ['/dist/tamp.wasm']);
});

test('a browser without WebAssembly SIMD loads the module that needs none, and no other', async (t) => {
  const old = await launch(['--js-flags=--no-enable-sse4-1']);
  try {
    const tab = await old.newPage();
    const bytes = [...readFileSync(`${root}dist/tamp.wasm`)];
    const validates = await tab.evaluate((wasm) => WebAssembly.validate(new Uint8Array(wasm)), bytes);
    await tab.close();
    if (validates) {
      t.skip(`this processor's V8 has SIMD whatever it is told (${process.arch})`);
      return;
    }
    const { output, complaints, wasm } = await run('/dist/index.js', "script-src 'self' 'wasm-unsafe-eval'", old);
    assert.deepEqual(complaints, []);
    assert.deepEqual(JSON.parse(output ?? 'null'), compacted);
    assert.deepEqual(wasm, ['/dist/tamp-scalar.wasm']);
  } finally {
    await old.close();
  }
});

test('tamp/inline needs no file but its own script', async () => {
  const { output, complaints } = await run(
    '/dist/inline.js',
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'",
  );
  assert.deepEqual(complaints, []);
  assert.deepEqual(JSON.parse(output ?? 'null'), compacted);
});

test('without leave to compile WebAssembly loading fails with a TampError that says so', async () => {
  const { output } = await run('/dist/index.js', "script-src 'self'");
  assert.match(output ?? '', /TampError/);
  assert.match(output ?? '', /Content.Security.Policy|wasm-unsafe-eval/i);
});
