// The package in a stock Firefox, driven over WebDriver BiDi: loading, elements, the worker and sessions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { launch } from 'puppeteer-core';

import { findFirefox } from '../../tools/firefox.js';
import { serve } from './chromium.js';

const executablePath = findFirefox();
const skip = executablePath === null && 'Firefox is not installed: apt-get install firefox-esr, or name one in FIREFOX=';
const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'";
const MEGABYTES = 50;

/** @type {import('puppeteer-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let site;

/** A module with what it imports, as a user's bundler makes it. @param {string} source */
async function bundled(source) {
  const { outputFiles } = await build({ stdin: { contents: source, resolveDir: dist }, bundle: true, format: 'esm', write: false });
  return outputFiles[0].contents;
}

before(async () => {
  if (executablePath === null) return;
  browser = await launch({ browser: 'firefox', executablePath, headless: true });
  site = await serve(dist, { 'Content-Security-Policy': POLICY }, {
    '/page.html': '<!doctype html><html lang="en"><title>Tamp</title><script type="module" src="/page.js"></script><main></main></html>',
    '/page.js': await bundled(`
      import { loadTamp, slidingWindow } from './index.js';
      import { createSession } from './session.js';
      import { indexedDBStore } from './store.js';
      import { identifyTranscript, trimTranscript } from './transcript.js';
      import './elements-define.js';
      Object.assign(window, { createSession, identifyTranscript, indexedDBStore, loadTamp, slidingWindow, trimTranscript });
      window.errors = [];
      addEventListener('securitypolicyviolation', (event) => errors.push(event.violatedDirective + ' ' + event.blockedURI));
      addEventListener('error', (event) => errors.push(event.message));
      addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));
      window.ready = true;
    `),
    '/transcript-worker.js': await bundled("import './transcript-worker.js';"),
    '/favicon.ico': '',
  });
});
after(async () => {
  await browser?.close();
  await site?.close();
});

/** Runs `use` in a page of a context of its own, which no error and no breach of the policy may have come from. */
async function withPage(use) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const load = async () => {
    await page.goto(`${site.url}/page.html`);
    await page.waitForFunction(() => window.ready === true);
  };
  try {
    await load();
    await use(page, load);
    assert.deepEqual(await page.evaluate(() => window.errors), []);
  } finally {
    await context.close();
  }
}

test('Firefox loads the core and compacts', { skip }, (context) => withPage(async (page) => {
  const { agent, ids, same } = await page.evaluate(async () => {
    const tamp = await window.loadTamp();
    const messages = ['u1', 'a1', 'u2', 'a2'].map((id) => ({ id, role: id[0] === 'u' ? 'user' : 'assistant', content: id }));
    const { messages: kept } = tamp.compact(messages, window.slidingWindow({ maxMessages: 3, keepMessages: 2 }));
    return { agent: navigator.userAgent, ids: kept.map(({ id }) => id), same: kept.every((message) => messages.includes(message)) };
  });
  context.diagnostic(agent);
  assert.match(agent, /Firefox\//u);
  assert.deepEqual(ids, ['u1', 'u2', 'a2']);
  assert.ok(same);
}));

test('Firefox shows the badge and the meter, and speaks a compaction once', { skip }, () => withPage(async (page) => {
  const found = await page.evaluate(async () => {
    const badge = document.createElement('compaction-badge');
    badge.setAttribute('live', '');
    const meter = document.createElement('context-meter');
    document.querySelector('main').append(badge, meter);
    meter.setAttribute('used', '75');
    meter.setAttribute('limit', '100');
    badge.add({ messageId: 'a', removed: 8, before: 20, after: 12, at: 0, origin: 'server', threadId: null, runId: null });
    const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
    await frame();
    await frame();
    const roots = [...document.body.children].flatMap((element) => element.shadowRoot ?? []);
    const { height } = badge.getBoundingClientRect();
    return {
      line: badge.shadowRoot.querySelector('[part="text"]').textContent,
      high: height > 10,
      meter: meter.getBoundingClientRect().width > 10,
      spoken: roots.flatMap((root) => [...root.querySelectorAll('[role=status]')]).map(({ textContent }) => textContent),
    };
  });
  assert.equal(found.line, '8 earlier messages are no longer sent to the model');
  assert.ok(found.high && found.meter);
  assert.equal(found.spoken.length, 1);
  assert.match(found.spoken[0], /8 earlier messages/u);
}));

test(`Firefox trims a Blob of ${MEGABYTES} MB in the worker`, { skip }, (context) => withPage(async (page) => {
  const result = await page.evaluate(async (megabytes) => {
    const word = 'lorem ipsum dolor sit amet 0123456789 ';
    const parts = [];
    for (let n = 0, bytes = 0; bytes < megabytes * 1e6; n += 4) {
      const part = [
        { id: `m${n}`, role: 'user', content: `question ${n}` },
        { id: `m${n + 1}`, role: 'assistant', content: '', toolCalls: [{ id: `c${n}`, type: 'function', function: { name: 'read', arguments: '{}' } }] },
        { id: `m${n + 2}`, role: 'tool', toolCallId: `c${n}`, content: word.repeat(200) },
        { id: `m${n + 3}`, role: 'assistant', content: `answer ${n}` },
      ].map((message) => `${JSON.stringify(message)}\n`).join('');
      bytes += part.length;
      parts.push(part);
    }
    const file = new Blob(parts);
    /* Gaps of this thread while the worker works. */
    let longest = 0;
    let last = performance.now();
    let running = true;
    const tick = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      if (running) setTimeout(tick);
    };
    const start = performance.now();
    tick();
    const policy = [{ strategy: 'clear-tool-results', keepLast: 10 }, { strategy: 'truncation', maxTokens: 20000, toTokens: 10000 }];
    const trimmed = await window.trimTranscript(file, policy, { worker: true });
    running = false;
    const took = performance.now() - start;
    const found = await window.identifyTranscript(trimmed.blob());
    return { size: file.size, took, longest, before: trimmed.before, after: trimmed.after, tokens: trimmed.report.tokensAfter, found, last: (await trimmed.text()).trimEnd().split('\n').at(-1), n: parts.length * 4 };
  }, MEGABYTES);
  context.diagnostic(`${(result.size / 1e6).toFixed(0)} MB in ${(result.took / 1000).toFixed(2)} s; the page waited ${result.longest.toFixed(0)} ms at most`);
  assert.ok(result.size >= MEGABYTES * 1e6);
  assert.equal(result.before, result.n);
  assert.ok(result.tokens <= 10_000 && result.after > 0);
  assert.deepEqual([result.found.format, result.found.container, result.found.messages, result.found.tokens], ['ag-ui', 'jsonl', result.after, result.tokens]);
  assert.equal(JSON.parse(result.last).id, `m${result.n - 1}`);
}));

test('a session in Firefox survives a reload, its summary included', { skip }, () => withPage(async (page, load) => {
  const open = () => page.evaluate(async () => {
    const options = { shouldCompact: ({ totalTokens }) => totalTokens > 100, summarize: () => 'SUM' };
    window.session = await window.createSession({ chatId: 'c', tamp: window.loadTamp(), store: window.indexedDBStore(), compaction: options });
  });
  const look = () => page.evaluate(() => ({
    shown: window.session.uiMessages.map(({ id }) => id),
    sent: window.session.modelMessages.map(({ content }) => content.replace('[Conversation summary]\n\n', 'S:').slice(0, 5)),
    unsaved: window.session.unsaved,
  }));
  const exchange = (n, totalTokens) => page.evaluate(async (number, total) => {
    const filler = ' the quick brown fox jumps over the lazy dog'.repeat(6);
    const turn = await window.session.send({ id: `Q${number}`, role: 'user', content: `Q${number}${filler}` });
    await turn.complete({ usage: { totalTokens: total }, message: { id: `A${number}`, role: 'assistant', content: `A${number}${filler}` } });
  }, n, totalTokens);
  await open();
  await exchange(1, 160);
  await exchange(2, 50);
  const saved = await look();
  assert.deepEqual(saved.shown, ['Q1', 'A1', 'Q2', 'A2']);
  assert.equal(saved.sent[0], 'S:SUM');
  assert.equal(saved.unsaved, 0);
  await load();
  await open();
  assert.deepEqual(await look(), saved);
}));
