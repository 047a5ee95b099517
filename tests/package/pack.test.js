// The packed tarball, installed into an empty project, in Node and through bundlers into a page.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import * as esbuild from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { rollup } from 'rollup';
import { build as vite } from 'vite';
import webpack from 'webpack';

import { launch, serve } from '../browser/chromium.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = join(root, 'build/package');
const project = join(folder, 'project');

// What an application does, in a page and in Node.
const APPLICATION = `
import { loadTamp, slidingWindow } from 'tamp';
const messages = ['u1', 'a1', 'u2', 'a2'].map((id) => ({ id, role: id[0] === 'u' ? 'user' : 'assistant', content: id }));
const show = (text) => globalThis.document ? document.querySelector('output').textContent = text : console.log(text);
try {
  const tamp = await loadTamp();
  show(tamp.compact(messages, slidingWindow({ maxMessages: 3, keepMessages: 2 })).messages.map(({ id }) => id).join());
} catch (error) {
  show(String(error?.stack ?? error));
}
`;
const RESULT = 'u1,u2,a2';
const PAGE = '<!doctype html><title>app</title><link rel="icon" href="data:,"><output></output>'
  + '<script type="module" src="./app.js"></script>';

/** @type {{ files: { path: string }[], filename: string }} */
let packed;
let browser;

before(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(project, { recursive: true });
  const npm = (...words) => execFileSync('npm', words, { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  [packed] = Object.values(JSON.parse(npm('pack', root, '--json', '--ignore-scripts', '--pack-destination', folder)));
  writeFileSync(join(project, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
  npm('install', join(folder, packed.filename), '--offline', '--no-audit', '--no-fund', '--no-package-lock', '--omit=peer');
  writeFileSync(join(project, 'app.js'), APPLICATION);
  writeFileSync(join(project, 'index.html'), PAGE);
  browser = await launch();
});
after(() => browser?.close());

/** Opens index.html of a folder of the project and gives what the application put out. */
async function open(output) {
  const site = await serve(join(project, output));
  const tab = await browser.newPage();
  try {
    await tab.goto(`${site.url}/index.html`);
    return await tab.locator('output:not(:empty)').textContent({ timeout: 30_000 });
  } finally {
    await tab.close();
    await site.close();
  }
}

/** For bundlers that leave `new URL('./tamp.wasm', import.meta.url)` alone: the files are put beside the bundle. */
function finish(output) {
  writeFileSync(join(project, output, 'index.html'), PAGE);
  for (const name of ['tamp.wasm', 'tamp-scalar.wasm']) {
    copyFileSync(join(project, 'node_modules/tamp/dist', name), join(project, output, name));
  }
}

test('the package holds dist, the licence, the README and its manifest, and nothing else', () => {
  const outside = packed.files.map(({ path }) => path)
    .filter((path) => !/^dist\/.+\.(js|d\.ts|wasm|css)$/.test(path));
  assert.deepEqual(outside.sort(), ['LICENSE', 'README.md', 'package.json']);
});

test('publint has nothing to say about the package', async () => {
  const { messages } = await publint({ pkgDir: join(project, 'node_modules/tamp'), strict: true, pack: false });
  assert.deepEqual(messages.map((message) => formatMessage(message, manifest)), []);
});

test('are-the-types-wrong finds the types of every entry point, however an ES module is resolved', async () => {
  const tarball = new Uint8Array(readFileSync(join(folder, packed.filename)));
  const { types, problems } = await checkPackage(createPackageFromTarballData(tarball), {
    excludeEntrypoints: ['./tamp.wasm', './tamp-scalar.wasm'],
  });
  assert.deepEqual(types, { kind: 'included' });
  // The package is ES modules only and has subpaths: CommonJS, and Node 10 which knew no "exports", are not served.
  const served = problems.filter(({ resolutionKind }) => resolutionKind !== 'node10' && resolutionKind !== 'node16-cjs');
  assert.deepEqual(served, []);
});

test('the same sources in another folder give the same bytes, to the last one of the tarball', {
  skip: readFileSync(join(root, 'build/variant'), 'utf8').includes('debug') && 'dist/ is a debug build',
}, () => {
  const elsewhere = join(folder, 'another place');
  mkdirSync(join(elsewhere, 'build'), { recursive: true });
  const options = { recursive: true, preserveTimestamps: true };
  for (const name of ['Makefile', 'package.json', 'package-lock.json', 'tsconfig.json', 'README.md', 'LICENSE', 'src', 'web', 'tools']) {
    cpSync(join(root, name), join(elsewhere, name), options);
  }
  // What is fetched, and not built.
  for (const name of ['cjson', 'cjson.from', 'modules.stamp']) cpSync(join(root, 'build', name), join(elsewhere, 'build', name), options);
  symlinkSync(join(root, 'node_modules'), join(elsewhere, 'node_modules'));
  // As from a shell, and not as part of the make that runs the tests.
  const { MAKEFLAGS: _flags, MFLAGS: _same, MAKELEVEL: _level, ...env } = process.env;
  execFileSync('make', ['-j2', 'all'], { cwd: elsewhere, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const digests = (place) => Object.fromEntries(packed.files.map(({ path }) => [
    path, createHash('sha256').update(readFileSync(join(place, path))).digest('hex'),
  ]));
  assert.deepEqual(digests(elsewhere), digests(root));
  const [again] = Object.values(JSON.parse(execFileSync('npm', ['pack', elsewhere, '--json', '--ignore-scripts', '--pack-destination', elsewhere], {
    cwd: elsewhere, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'],
  })));
  assert.equal(again.integrity, packed.integrity);
});

test('a Node project that installed the package compacts', () => {
  const output = execFileSync(process.execPath, ['app.js'], { cwd: project, encoding: 'utf8' });
  assert.equal(output.trim(), RESULT);
});

test('every entry point can be imported in Node, where there is no page', () => {
  for (const [key, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue;
    const entry = key.replace(/^\./, manifest.name);
    execFileSync(process.execPath, ['--input-type=module', '-e', `await import('${entry}')`], { cwd: project });
  }
});

test('Vite builds an application that compacts in the page', async () => {
  await vite({ root: project, logLevel: 'error', base: './', build: { outDir: 'vite', target: 'es2022' } });
  assert.equal(await open('vite'), RESULT);
});

test('webpack builds an application that compacts in the page', async () => {
  const stats = await new Promise((resolve, reject) => {
    webpack({
      context: project,
      entry: './app.js',
      mode: 'production',
      output: { path: join(project, 'webpack'), filename: 'app.js', publicPath: 'auto' },
      experiments: { topLevelAwait: true },
      performance: false,
    }, (error, result) => error ? reject(error) : resolve(result));
  });
  assert.deepEqual(stats.toJson({ errors: true, warnings: true }).errors, []);
  assert.deepEqual(stats.toJson({ errors: true, warnings: true }).warnings, []);
  writeFileSync(join(project, 'webpack/index.html'), PAGE);
  assert.equal(await open('webpack'), RESULT);
});

test('Rollup builds an application that compacts in the page', async () => {
  const alone = {
    name: 'alone',
    resolveId: (source) => source === 'tamp' ? join(project, 'node_modules/tamp/dist/index.js') : null,
  };
  const bundle = await rollup({ input: join(project, 'app.js'), plugins: [alone], onLog: (level, log) => assert.fail(log.message) });
  await bundle.write({ dir: join(project, 'rollup'), format: 'es' });
  await bundle.close();
  finish('rollup');
  assert.equal(await open('rollup'), RESULT);
});

test('esbuild builds an application that compacts in the page', async () => {
  const { warnings } = await esbuild.build({
    absWorkingDir: project,
    entryPoints: ['app.js'],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    outdir: 'esbuild',
  });
  assert.deepEqual(warnings, []);
  finish('esbuild');
  assert.equal(await open('esbuild'), RESULT);
});

test('tamp/inline is bundled into one file that needs no other', async () => {
  await esbuild.build({
    absWorkingDir: project,
    stdin: { contents: APPLICATION.replace("'tamp'", "'tamp/inline'"), resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    outfile: 'inline/app.js',
  });
  writeFileSync(join(project, 'inline/index.html'), PAGE);
  assert.equal(await open('inline'), RESULT);
});

// What an application loads for one name, gzipped and at most: about a tenth over what it was.
for (const [entry, name, most] of [
  ['tamp', 'slidingWindow', 128],
  ['tamp', 'TampError', 160],
  ['tamp', 'mark', 1700],
  ['tamp', 'loadTamp', 11_000],
  ['tamp/ag-ui', 'readCompaction', 450],
  ['tamp/ag-ui', 'createMessageFilter', 500],
  ['tamp/ag-ui', 'onCompaction', 1100],
  ['tamp/ag-ui', 'compactionMiddleware', 16_500],
  ['tamp/elements', 'ContextMeter', 2000],
  ['tamp/elements', 'CompactionBadge', 3600],
  ['tamp/store', 'memoryStore', 750],
  ['tamp/store', 'indexedDBStore', 3000],
  ['tamp/session', 'createSession', 23_500],
  ['tamp/ai-sdk', 'compactPrepareStep', 11_500],
  ['tamp/transcript', 'trimTranscript', 13_000],
]) {
  test(`an application that uses only ${name} of ${entry} loads at most ${most} bytes for it`, async (t) => {
    const { outputFiles } = await esbuild.build({
      absWorkingDir: project,
      stdin: { contents: `import { ${name} } from '${entry}'; console.log(${name});`, resolveDir: project },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      external: ['comlink', 'idb', 'rxjs'],
    });
    const size = gzipSync(outputFiles[0].contents).length;
    t.diagnostic(`${size} bytes`);
    assert.ok(size <= most, `${size} bytes`);
  });
}
