// What of the elements does not need a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

test('the elements can be imported, and registered for nothing, on a server', async () => {
  assert.equal(globalThis.HTMLElement, undefined);
  const { CompactionBadge, ContextMeter, defineTampElements } = await import('tamp/elements');
  await import('tamp/elements/define');
  defineTampElements();
  for (const element of [CompactionBadge, ContextMeter]) assert.equal(typeof element, 'function');
});

test('registering happens once for each registry, and takes no name from anybody', async () => {
  const { CompactionBadge, ContextMeter, defineTampElements } = await import('tamp/elements');
  /** @type {Map<string, unknown>} */
  const names = new Map([['context-meter', class {}]]);
  const registry = /** @type {any} */ ({
    get: (/** @type {string} */ name) => names.get(name),
    define: (/** @type {string} */ name, /** @type {unknown} */ element) => {
      assert.ok(!names.has(name));
      names.set(name, element);
    },
  });
  defineTampElements(registry);
  defineTampElements(registry);
  assert.equal(names.get('compaction-badge'), CompactionBadge);
  assert.notEqual(names.get('context-meter'), ContextMeter);
});

test('both elements and the listener they use are at most 4 KB gzipped', async (t) => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(import.meta.resolve('tamp/elements'))],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
  });
  const size = gzipSync(outputFiles[0].contents, { level: 9 }).length;
  t.diagnostic(`${size} bytes`);
  assert.ok(size <= 4096, `${size} bytes`);
});
