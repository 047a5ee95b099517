// Sessions in a real browser: IndexedDB, reloads, two pages on one chat, a page that is killed while it saves, and
// a disk that is full.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const html = `<!doctype html><title>Sessions</title>
<script type="importmap">{"imports": {"idb": "/node_modules/idb/build/index.js"}}</script>
<script type="module" src="/page.js"></script>`;

// What the tests call in the page.
const script = `
import { loadTamp } from '/dist/index.js';
import { createSession } from '/dist/session.js';
import { indexedDBStore } from '/dist/store.js';

const filler = 'the quick brown fox jumps over the lazy dog and the river flows by '.repeat(4);
const words = (list) => list.map(({ content }) => content.replace('[Conversation summary]\\n\\n', 'S:').split(' ')[0]);
const question = (id) => ({ id, role: 'user', content: id + ' ' + filler });
const answer = (id) => ({ id, role: 'assistant', content: id + ' ' + filler });
let session;
let summaries = 0;
const failures = [];
window.chat = {
  // Without \`tamp\` the core is loaded when a summary has to be checked, and not before.
  async open(tamp = loadTamp()) {
    session = await createSession({
      chatId: 'c', tamp: tamp ?? undefined, store: indexedDBStore(), onError: (error) => failures.push(error.code ?? String(error)),
      compaction: {
        shouldCompact: ({ totalTokens }) => totalTokens > 100,
        summarize: () => 'SUM' + (++summaries),
      },
    });
    return window.chat.look();
  },
  look: () => ({
    shown: words(session.uiMessages), sent: words(session.modelMessages), state: session.state, summaries, failures,
    unsaved: session.unsaved, invalidation: session.invalidation?.code ?? null,
  }),
  async exchange(n, totalTokens) {
    const turn = await session.send(question('Q' + n));
    await turn.complete({ usage: { totalTokens }, message: answer('A' + n) });
    return window.chat.look();
  },
  async call(method, ...values) {
    await session[method](...values);
    return window.chat.look();
  },
  say: (id) => session.send(question(id)),
  // Saves one message after another, and says so when each is acknowledged, until the page is gone.
  async flood(from) {
    for (let n = from; ; n++) {
      await session.send([question('m' + n), { ...answer('m' + n + 'a'), content: 'm' + n + 'a ' + filler.repeat(20) }]);
      await window.acknowledge(n);
    }
  },
  async fill(bytes) {
    await session.send({ id: 'big', role: 'user', content: 'x'.repeat(bytes) });
    return window.chat.look();
  },
};
window.ready = true;
`;

/** @type {import('playwright-core').Browser} */
let browser;
let site;
before(async () => {
  browser = await launch();
  site = await serve(root, {}, { '/page.html': html, '/page.js': script, '/favicon.ico': '' });
});
after(async () => {
  await browser?.close();
  await site?.close();
});

/** A page of a context, loaded. */
async function open(context) {
  const page = await context.newPage();
  await load(page);
  return page;
}

async function load(page) {
  await page.goto(`${site.url}/page.html`);
  await page.waitForFunction(() => window.ready === true);
}

const run = (page, method, ...values) => page.evaluate(([name, args]) => window.chat[name](...args), [method, values]);

/** Runs `use` with a browser that has never seen the site. */
async function fresh(use) {
  const context = await browser.newContext();
  try {
    await use(context);
  } finally {
    await context.close();
  }
}

test('a chat that was compacted before a reload goes on from its summary, and asks for no other', () => fresh(async (context) => {
  const page = await open(context);
  await run(page, 'open');
  await run(page, 'exchange', 1, 160);
  const before_ = await run(page, 'exchange', 2, 50);
  assert.deepEqual(before_.sent, ['S:SUM1', 'Q2', 'A2']);
  await load(page);
  const after_ = await run(page, 'open');
  assert.deepEqual(after_.sent, ['S:SUM1', 'Q2', 'A2']);
  assert.deepEqual(after_.shown, ['Q1', 'A1', 'Q2', 'A2']);
  assert.deepEqual(after_.state, before_.state);
  assert.equal(after_.summaries, 0);
  assert.deepEqual((await run(page, 'exchange', 3, 50)).sent, ['S:SUM1', 'Q2', 'A2', 'Q3', 'A3']);
}));

test('a summary that an edit cleared is not there after a reload, one that an undo behind it left is', () => fresh(async (context) => {
  const page = await open(context);
  await run(page, 'open');
  await run(page, 'exchange', 1, 160);
  await run(page, 'exchange', 2, 50);
  await run(page, 'call', 'undo', 'Q2');
  await load(page);
  assert.deepEqual((await run(page, 'open')).sent, ['S:SUM1', 'Q2']);
  assert.equal((await run(page, 'call', 'edit', 'Q1', { id: 'Q1', role: 'user', content: 'edited' })).invalidation, 'edited');
  await load(page);
  const { sent, state } = await run(page, 'open');
  assert.deepEqual(sent, ['edited', 'A1', 'Q2']);
  assert.equal(state, null);
}));

test('two pages on one chat lose no message of either', () => fresh(async (context) => {
  const [one, two] = [await open(context), await open(context)];
  await run(one, 'open');
  await run(one, 'exchange', 1, 50);
  await run(two, 'open');
  const many = Array.from({ length: 20 }, (_, n) => n);
  await Promise.all(many.flatMap((n) => [run(one, 'say', `one${n}`), run(two, 'say', `two${n}`)]).map((sent) => sent.then(() => undefined)));
  await load(one);
  const { shown, unsaved } = await run(one, 'open');
  assert.equal(unsaved, 0);
  assert.deepEqual([...shown].sort(), ['Q1', 'A1', ...many.flatMap((n) => [`one${n}`, `two${n}`])].sort());
  // Each page's own messages are in the order in which it said them.
  for (const page of ['one', 'two']) assert.deepEqual(shown.filter((id) => id.startsWith(page)), many.map((n) => `${page}${n}`));
  // A page that undoes what it has seen leaves what it has not.
  await run(two, 'say', 'late');
  await run(one, 'call', 'undo', 'A1');
  await load(one);
  assert.deepEqual((await run(one, 'open')).shown, ['Q1', 'A1', 'late']);
}));

// Every fifth time its process crashes; the other times the page is left, which ends it as suddenly and takes less of
// a test machine. CRASHES=200 makes every one a crash.
const every = 200 / Number(process.env.CRASHES ?? 40);

test('a page that is killed while it saves, 200 times, loses nothing that was acknowledged and keeps no half save', { timeout: 600_000 }, () => fresh(async (context) => {
  let acknowledged = -1;
  const newestAcknowledged = () => acknowledged;
  let killed = 0;
  let page;
  for (let round = 0; round < 200; round++) {
    if (page === undefined) {
      page = await context.newPage();
      await page.exposeFunction('acknowledge', (n) => { acknowledged = Math.max(acknowledged, n); });
    }
    await load(page);
    const { shown } = await run(page, 'open', null);
    const there = shown.filter((id) => !id.endsWith('a')).map((id) => Number(id.slice(1)));
    const newest = there.at(-1) ?? -1;
    assert.ok(newest >= acknowledged, `message ${acknowledged} was acknowledged, but the newest is ${newest}`);
    assert.deepEqual(there, Array.from({ length: newest + 1 }, (_, n) => n));
    assert.equal(shown.length, 2 * (newest + 1), 'a save is there by half');
    const flood = run(page, 'flood', newest + 1).catch(() => { killed++; });
    // From at once to in the middle of the third or fourth save.
    const goal = acknowledged + round % 4;
    while (newestAcknowledged() < goal) await new Promise(setImmediate);
    if (round % every === 0) {
      const session = await context.newCDPSession(page);
      const crashed = page.waitForEvent('crash');
      session.send('Page.crash').catch(() => undefined);
      await crashed;
      await page.close();
      page = undefined;
    } else {
      await page.goto('about:blank');
    }
    await flood;
  }
  assert.equal(killed, 200);
  assert.ok(acknowledged > 100, `only ${acknowledged} saves were acknowledged`);
}));

test('when the disk is full the chat goes on, and is saved when there is room', () => fresh(async (context) => {
  const page = await open(context);
  const session = await context.newCDPSession(page);
  const limit = (quotaSize) => session.send('Storage.overrideQuotaForOrigin', { origin: site.url, ...(quotaSize === undefined ? {} : { quotaSize }) });
  // Before the database is opened: Chromium asks for the quota every now and then only.
  await limit(500_000);
  await run(page, 'open');
  await run(page, 'exchange', 1, 50);
  const full = await run(page, 'fill', 5_000_000);
  assert.deepEqual(full.failures, ['quota-exceeded']);
  assert.equal(full.unsaved, 1);
  assert.equal(full.shown.length, 3);
  await limit();
  const saved = await run(page, 'exchange', 2, 50);
  assert.equal(saved.unsaved, 0);
  await load(page);
  assert.deepEqual((await run(page, 'open')).shown.map((text) => text.slice(0, 2)), ['Q1', 'A1', 'xx', 'Q2', 'A2']);
}));
