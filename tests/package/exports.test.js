import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// The entry points of the API: the key in "exports" and the module behind it. An entry that web/ has must be
// exported, and nothing is exported that web/ has not.
const ENTRIES = {
  '.': 'index',
  './ag-ui': 'ag-ui',
  './elements': 'elements',
  './elements/define': 'elements-define',
  './session': 'session',
  './ai-sdk': 'ai-sdk',
  './transcript': 'transcript',
  './store': 'store',
};

test('package.json exports exactly the entry points that exist', () => {
  const there = Object.keys(ENTRIES).filter((key) => existsSync(join(root, 'web', `${ENTRIES[key]}.js`)));
  assert.deepEqual(
    Object.keys(manifest.exports).sort(),
    [...there, './inline', './tamp.wasm', './tamp-scalar.wasm', './package.json'].sort(),
  );
});

test('every export leads to files that were built, types and module', () => {
  const files = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : [target.types, target.default]);
  assert.deepEqual(files.filter((file) => !existsSync(join(root, file))), []);
});

test('dist holds a copy of each module of web, and no other', () => {
  const modules = (folder) => readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.js')).sort();
  assert.deepEqual(modules('dist').filter((name) => name !== 'inline.js'), modules('web'));
  for (const name of modules('web')) {
    assert.equal(readFileSync(join(root, 'dist', name), 'utf8'), readFileSync(join(root, 'web', name), 'utf8'), name);
  }
});

test('only modules with side effects are listed as such, so that bundlers may drop the rest', () => {
  const listed = manifest.sideEffects.map((file) => file.replace('./dist/', ''));
  assert.deepEqual(listed, ['elements-define.js', 'transcript-worker.js']);
});

test('the two builds, with a file and inline, export the same names', async () => {
  const names = Object.keys(await import('tamp')).sort();
  assert.deepEqual(Object.keys(await import('tamp/inline')).sort(), names);
});
