// What happens to a page and its workers while Tamp is at work: workers that never start or are ended from outside, pages
// that are hidden, frozen and restored, or left and come back to.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

import { launch, serve } from './chromium.js';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const HTML = '<!doctype html><html lang="en"><title>Tamp</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script></html>';

/** A module with what it imports, as a user's bundler makes it. @param {string} source */
async function bundled(source) {
  const { outputFiles } = await build({ stdin: { contents: source, resolveDir: dist }, bundle: true, format: 'esm', write: false });
  return outputFiles[0].contents;
}

let pageScript;
let workerScript;
/** @type {import('playwright-core').Browser} */
let browser;
before(async () => {
  [pageScript, workerScript, browser] = await Promise.all([
    bundled(`
      import { loadTamp, slidingWindow } from './index.js';
      import { compactionMiddleware } from './ag-ui.js';
      import { createSession } from './session.js';
      import { indexedDBStore } from './store.js';
      import { trimTranscript } from './transcript.js';
      Object.assign(window, { compactionMiddleware, createSession, indexedDBStore, loadTamp, slidingWindow, trimTranscript });
      window.errors = [];
      addEventListener('error', (event) => errors.push(event.message));
      addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));
      // 3 MB, so that a page leaves it to a worker by itself; and what comes of it.
      window.text = JSON.stringify(Array.from({ length: 6000 }, (_, n) => ({ id: 'm' + n, role: n % 2 ? 'assistant' : 'user', content: 'x'.repeat(500) })));
      window.policy = { strategy: 'sliding-window', keepMessages: 2, keepFirstUser: false };
      window.trim = (options) => trimTranscript(new Blob([window.text]), window.policy, options).then(({ after, removed }) => ({ after, removed }), ({ name, code }) => ({ name, code }));
      window.ready = true;
    `),
    bundled("import './transcript-worker.js';"),
    launch(),
  ]);
});
after(() => browser?.close());

/**
 * Runs `use` in a page of a context of its own, in which nothing may go wrong that nobody handles.
 * @param {{ headers?: Record<string, string>, files?: Record<string, string | Uint8Array> }} site
 * @param {(page: import('playwright-core').Page, context: import('playwright-core').BrowserContext, url: string) => Promise<void>} use
 */
async function withPage({ headers = {}, files = {} }, use) {
  const site = await serve(dist, headers, { '/page.html': HTML, '/other.html': '<!doctype html><title>Other</title>', '/page.js': pageScript, '/transcript-worker.js': workerScript, ...files });
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${site.url}/page.html`);
    await page.waitForFunction(() => window.ready === true);
    await use(page, context, site.url);
    assert.deepEqual(await page.evaluate(() => window.errors), []);
  } finally {
    await context.close();
    await site.close();
  }
}

const TRIMMED = { after: 2, removed: 5998 };

for (const [what, site] of Object.entries({
  'is not there': { gone: true },
  'is a page, as servers answer that know one page only': { html: true },
  'is forbidden by the Content-Security-Policy': { headers: { 'Content-Security-Policy': "script-src 'self' 'wasm-unsafe-eval'; worker-src 'none'" } },
  'is refused by Trusted Types': { headers: { 'Content-Security-Policy': "script-src 'self' 'wasm-unsafe-eval'; require-trusted-types-for 'script'; trusted-types 'none'" } },
})) {
  test(`a worker whose file ${what} is one typed error for who asked for it, and the page's own work for who did not`, () => (
    withPage(site, async (page) => {
      if (site.gone) await page.route('**/transcript-worker.js', (route) => route.fulfill({ status: 404, body: 'not found' }));
      if (site.html) await page.route('**/transcript-worker.js', (route) => route.fulfill({ contentType: 'text/html', body: HTML }));
      assert.deepEqual(await page.evaluate(() => window.trim({ worker: true })), { name: 'TampError', code: 'no-worker' });
      assert.deepEqual(await page.evaluate(() => window.trim({})), TRIMMED);
      assert.deepEqual(await page.evaluate(() => window.trim({ worker: false })), TRIMMED);
      assert.equal(page.workers().length, 0);
    })
  ));
}

test('a worker whose file never comes is given up after ten seconds', () => withPage({}, async (page) => {
  await page.clock.install();
  await page.route('**/transcript-worker.js', () => {});
  for (const [options, expected] of [[{ worker: true }, { name: 'TampError', code: 'no-worker' }], [{}, TRIMMED]]) {
    const asked = page.waitForRequest('**/transcript-worker.js');
    const outcome = page.evaluate((given) => window.trim(given), options);
    await asked;
    await page.clock.fastForward(10_000);
    assert.deepEqual(await outcome, expected);
  }
}));

test('a worker that is ended from outside midway is one typed error, and the next call works', () => withPage({}, async (page) => {
  const outcome = await page.evaluate(async () => {
    const Native = window.Worker;
    const made = [];
    window.Worker = class extends Native {
      constructor(...words) {
        super(...words);
        made.push(this);
      }
    };
    const phases = [];
    for (const kill of ['reading', 'planning']) {
      phases.push(await window.trim({
        worker: true,
        onProgress: ({ phase }) => { if (phase === kill) made.at(-1).terminate(); },
      }));
    }
    /* In the middle of a summary, which is never answered. */
    phases.push(await window.trimTranscript(new Blob([window.text]), { strategy: 'summarize', keepMessages: 2 }, {
      worker: true,
      summarize: () => {
        made.at(-1).terminate();
        return new Promise(() => {});
      },
    }).catch(({ name, code }) => ({ name, code })));
    window.Worker = Native;
    return { phases, next: await window.trim({ worker: true }) };
  });
  assert.deepEqual(outcome.phases, Array(3).fill({ name: 'TampError', code: 'worker-ended' }));
  assert.deepEqual(outcome.next, TRIMMED);
}));
