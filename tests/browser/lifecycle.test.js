// What happens to a page and its workers while Tamp is at work: workers that never start or are ended from outside, pages
// that are hidden, frozen and restored, or left and come back to.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

import { chat } from '../ag-ui/chats.js';
import { startServer } from '../ag-ui/server.js';
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
  // Pages are kept when they are left, as for people: Playwright says otherwise.
  [pageScript, workerScript, browser] = await Promise.all([
    bundled(`
      import { HttpAgent } from '@ag-ui/client';
      import { loadTamp, slidingWindow } from './index.js';
      import { compactionMiddleware } from './ag-ui.js';
      import { createSession } from './session.js';
      import { indexedDBStore } from './store.js';
      import { trimTranscript } from './transcript.js';
      Object.assign(window, { HttpAgent, compactionMiddleware, createSession, indexedDBStore, loadTamp, slidingWindow, trimTranscript });
      window.errors = [];
      addEventListener('error', (event) => errors.push(event.message));
      addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));
      // 3 MB, so that a page leaves it to a worker by itself; and what comes of it.
      window.text = JSON.stringify(Array.from({ length: 6000 }, (_, n) => ({ id: 'm' + n, role: n % 2 ? 'assistant' : 'user', content: 'x'.repeat(500) })));
      window.policy = { strategy: 'sliding-window', keepMessages: 2, keepFirstUser: false };
      window.trim = (options) => trimTranscript(new Blob([window.text]), window.policy, options).then(({ after, removed }) => ({ after, removed }), ({ name, code }) => ({ name, code }));
      // Freezing, thawing and being shown again, as the page is told of them.
      window.seen = [];
      for (const type of ['freeze', 'resume']) document.addEventListener(type, () => seen.push(type));
      addEventListener('pageshow', ({ persisted }) => persisted && seen.push('restored'));
      // A session that saves a hundred messages, one after the other, and says how many are saved.
      window.saved = 0;
      window.open_ = async () => {
        window.session = await createSession({
          chatId: 'c', tamp: loadTamp(), store: indexedDBStore(), onError: (error) => errors.push(String(error)),
          compaction: { shouldCompact: () => false, summarize: () => '' },
        });
        return session.uiMessages.map(({ id }) => id);
      };
      window.save = async (from, to) => {
        for (let n = from; n < to; n++) {
          await session.send({ id: 'm' + n, role: 'user', content: 'message ' + n });
          window.saved += 1;
        }
      };
      window.ready = true;
    `),
    bundled("import './transcript-worker.js';"),
    launch([], ['--disable-back-forward-cache']),
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
    /* Enough to read that the first of its pieces is not the last. */
    const one = window.text.slice(1, -1);
    const large = new Blob([`[${one}`, ...Array(8).fill(`,${one}`), ']']);
    const phases = [];
    phases.push(await window.trimTranscript(large, window.policy, { worker: true, onProgress: () => made.at(-1).terminate() })
      .catch(({ name, code }) => ({ name, code })));
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
  assert.deepEqual(outcome.phases, Array(2).fill({ name: 'TampError', code: 'worker-ended' }));
  assert.deepEqual(outcome.next, TRIMMED);
}));

const NAMES = Array.from({ length: 100 }, (_, n) => `m${n}`);

/** Leaves a page, which hides and freezes it, and comes back. @param {import('playwright-core').Page} page @param {string} url */
async function leaveAndReturn(page, url) {
  await page.goto(`${url}/other.html`);
  await page.evaluate(() => window.history.back());
  await page.waitForFunction(() => window.ready === true);
  return page.evaluate(() => window.seen);
}

test('a page that is frozen while its middleware waits for a summary sends the run when it is shown again', async () => {
  const server = await startServer();
  try {
    await withPage({}, async (page, _context, site) => {
      const messages = chat(60);
      await page.evaluate(([url, initialMessages]) => {
        const agent = new window.HttpAgent({ url, initialMessages });
        agent.use(window.compactionMiddleware({
          before: { strategy: 'summarize', keepMessages: 4 },
          summarize: () => new Promise((resolve) => { window.answer = resolve; }),
        }));
        window.run = agent.runAgent().then(() => agent.messages.map(({ role }) => role));
      }, [`${server.url}/stateless`, messages]);
      await page.waitForFunction(() => window.answer !== undefined);
      const seen = await leaveAndReturn(page, site);
      assert.ok(seen.includes('freeze') && seen.includes('resume') && seen.includes('restored'), seen.join());
      assert.equal(server.seen.length, 0);
      await page.evaluate(() => window.answer('SUM'));
      const roles = await page.evaluate(() => window.run);
      assert.equal(server.seen.length, 1);
      const sent = server.seen[0].input.messages;
      assert.ok(sent.length < 10 && sent.some(({ content }) => content.includes('SUM')), JSON.stringify(sent));
      assert.equal(roles.length, messages.length + 1, 'the list stays whole, with the answer');
    });
  } finally {
    await server.close();
  }
});

test('a page that is left while its session saves, and come back to, goes on as it was', (t) => withPage({}, async (page, _context, url) => {
  await page.evaluate(() => window.open_());
  await page.evaluate(() => { window.saving = window.save(0, 100); });
  await page.waitForFunction(() => window.saved > 4);
  if ((await leaveAndReturn(page, url)).includes('restored')) {
    t.diagnostic('the page was restored');
    await page.evaluate(() => window.saving);
  } else {
    t.diagnostic('this Chromium loaded the page anew');
    const there = await page.evaluate(() => window.open_());
    assert.ok(there.length > 4);
    assert.deepEqual(there, NAMES.slice(0, there.length));
    await page.evaluate((from) => window.save(from, 100), there.length);
  }
  assert.equal(await page.evaluate(() => window.session.unsaved), 0);
  await page.reload();
  await page.waitForFunction(() => window.ready === true);
  assert.deepEqual(await page.evaluate(() => window.open_()), NAMES);
}));
