/**
 * Transcripts in Chromium: the worker, what the page's memory does meanwhile, progress, and aborts.
 *
 * TRANSCRIPT_MB says how large the generated file is (default 64); it is skipped, with a reason, where less than four
 * times as much memory is free.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

import { launch, serve } from './chromium.js';

const MEGABYTES = Number(process.env.TRANSCRIPT_MB ?? 64);
const NEEDED = Math.max(1024, 4 * MEGABYTES);
const free = Number(/MemAvailable:\s+(\d+)/u.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0) / 1024;
const skip = free < NEEDED ? `${Math.round(free)} MB of memory are free; ${NEEDED} are needed for a file of ${MEGABYTES} MB` : false;

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let site;
/** @type {import('playwright-core').Page} */
let page;

/** A module with what it imports, as a user's bundler makes it. @param {string} source */
async function bundled(source) {
  const { outputFiles } = await build({ stdin: { contents: source, resolveDir: dist }, bundle: true, format: 'esm', write: false });
  return outputFiles[0].contents;
}

before(async () => {
  browser = await launch();
  site = await serve(dist, { 'Content-Security-Policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'" }, {
    '/page.html': '<!doctype html><title>Tamp</title><script type="module" src="/page.js"></script>',
    '/favicon.ico': '',
    '/page.js': await bundled(`
      import { loadTamp } from './index.js';
      import { identifyTranscript, trimTranscript } from './transcript.js';
      Object.assign(globalThis, { identifyTranscript, loadTamp, trimTranscript });
      globalThis.makeFile = (megabytes) => {
        const parts = [];
        const word = 'lorem ipsum dolor sit amet 0123456789 ';
        let parent = null;
        for (let n = 0, bytes = 0, part = ''; bytes < megabytes * 1048576; n++) {
          const uuid = '00000000-0000-4000-8000-' + String(n).padStart(12, '0');
          const turn = n % 4;
          const message = turn === 0 ? { role: 'user', content: 'question ' + n }
            : turn === 1 ? { id: 'msg' + n, role: 'assistant', content: [{ type: 'tool_use', id: 'c' + n, name: 'Read', input: { file_path: 'f' + n } }] }
              : turn === 2 ? { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c' + (n - 1), content: word.repeat(100) }] }
                : { id: 'msg' + n, role: 'assistant', content: [{ type: 'text', text: 'answer ' + n }] };
          part += JSON.stringify({ parentUuid: parent, isSidechain: false, sessionId: 's', type: message.role, message, uuid, ...(turn === 2 && { toolUseResult: { stdout: word.repeat(60) } }) }) + '\\n';
          parent = uuid;
          if (part.length > 1048576) {
            bytes += part.length;
            parts.push(new Blob([part]));
            part = '';
          }
        }
        return new Blob(parts);
      };
    `),
    '/transcript-worker.js': await bundled("import './transcript-worker.js';"),
  });
  page = await browser.newPage();
  await page.goto(`${site.url}/page.html`);
  await page.waitForFunction(() => 'trimTranscript' in globalThis);
});
after(async () => {
  await browser?.close();
  await site?.close();
});

test('a worker trims as this thread does, summaries and errors included', async () => {
  const [there, here] = await page.evaluate(async () => {
    const { makeFile, trimTranscript } = /** @type {any} */ (globalThis);
    const file = makeFile(1);
    return Promise.all([true, false].map(async (worker) => {
      const digest = await trimTranscript(file, { strategy: 'digest', keepMessages: 6 }, { worker });
      const summary = await trimTranscript(file, { strategy: 'summarize', keepMessages: 6 }, { worker, summarize: async (request) => `${request.messages.length} ${request.signal instanceof AbortSignal}` });
      const bad = await trimTranscript('[{"role":"user","content":"x"},7]', [], { worker }).catch((error) => error);
      const mine = await trimTranscript(file, { strategy: 'summarize' }, { worker, summarize: () => { throw new RangeError('mine'); } }).catch((error) => error);
      const broken = await trimTranscript('[{"role":"user","content":"x"},7]', { strategy: 'repair' }, { worker }).catch((error) => error);
      return [await digest.text(), digest.report, await summary.text(), bad.problems, mine.name, broken.name, broken.index, broken.offset, broken.message];
    }));
  });
  assert.deepEqual(there, here);
  assert.equal(here[4], 'RangeError');
  assert.equal(here[5], 'MessageError');
});

test(`a file of ${MEGABYTES} MB is trimmed off the main thread with progress`, { skip }, async (context) => {
  const result = await page.evaluate(async (megabytes) => {
    const { identifyTranscript, makeFile, trimTranscript } = /** @type {any} */ (globalThis);
    const file = makeFile(megabytes);
    const gaps = [];
    let last = performance.now();
    let running = true;
    const tick = () => {
      gaps.push(performance.now() - last);
      last = performance.now();
      if (running) setTimeout(tick);
    };
    const seen = [];
    const start = performance.now();
    tick();
    const trimmed = await trimTranscript(file, [{ strategy: 'clear-tool-results', keepLast: 10 }, { strategy: 'truncation', maxTokens: 200000, toTokens: 100000 }], { onProgress: (progress) => seen.push(progress) });
    const took = performance.now() - start;
    running = false;
    const longest = gaps.reduce((most, gap) => Math.max(most, gap), 0);
    const found = await identifyTranscript(trimmed.blob());
    return { took, longest, seen: seen.length, phases: [...new Set(seen.map(({ phase }) => phase))], final: seen.at(-1), size: file.size, after: trimmed.after, tokens: trimmed.report.tokensAfter, found };
  }, MEGABYTES);
  context.diagnostic(`${(result.size / 1e6).toFixed(0)} MB in ${(result.took / 1000).toFixed(2)} s; the page waited ${result.longest.toFixed(0)} ms at most`);
  assert.deepEqual(result.phases, ['reading', 'planning', 'writing']);
  assert.ok(result.seen >= 3);
  assert.equal(result.final.bytes, result.size);
  assert.deepEqual([result.found.format, result.found.messages, result.found.tokens], ['claude-code', result.after, result.tokens]);
  assert.ok(result.tokens <= 100_000);
});

test('an abort ends the worker and rejects with an AbortError', { skip }, async () => {
  const outcome = await page.evaluate(async (megabytes) => {
    const { makeFile, trimTranscript } = /** @type {any} */ (globalThis);
    const controller = new AbortController();
    const error = await trimTranscript(makeFile(megabytes), { strategy: 'repair' }, { worker: true, signal: controller.signal, onProgress: () => controller.abort() }).catch((reason) => reason);
    return error.name;
  }, Math.min(MEGABYTES, 16));
  assert.equal(outcome, 'AbortError');
  await page.waitForFunction(() => true);
  assert.deepEqual(page.workers().length, 0);
});

test('without the worker\'s file the work is done in the page, unless a worker was asked for', async () => {
  const bare = await serve(dist, {}, { '/page.html': '<!doctype html><title>Tamp</title><script type="module" src="/page.js"></script>', '/favicon.ico': '', '/transcript-worker.js': 'syntax error here',
    '/page.js': await bundled("import * as transcript from './transcript.js'; Object.assign(globalThis, transcript);") });
  const tab = await browser.newPage();
  try {
    await tab.goto(`${bare.url}/page.html`);
    await tab.waitForFunction(() => 'trimTranscript' in globalThis);
    const outcome = await tab.evaluate(async () => {
      const { trimTranscript } = /** @type {any} */ (globalThis);
      const text = JSON.stringify(Array.from({ length: 3000 }, (_, n) => ({ id: `m${n}`, role: n % 2 ? 'assistant' : 'user', content: 'x'.repeat(500) })));
      const made = await trimTranscript(text, { strategy: 'sliding-window', keepMessages: 2, keepFirstUser: false });
      const asked = await trimTranscript(text, { strategy: 'repair' }, { worker: true }).catch((/** @type {any} */ error) => error);
      return [made.removed > 0, asked.code];
    });
    assert.deepEqual(outcome, [true, 'no-worker']);
  } finally {
    await tab.close();
    await bare.close();
  }
});
