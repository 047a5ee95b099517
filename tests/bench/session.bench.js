/** What a durable session costs: the digest of what a summary covers, loading a long chat, saving one message. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { loadTamp } from 'tamp';
import { digestMessages } from '../../web/session/digest.js';
import { launch, serve } from '../browser/chromium.js';
import { longSession } from '../lib/sessions.js';
import { scansOf } from './scan.js';

export const name = 'digest of 10,000 messages';

const tamp = await loadTamp();
const messages = longSession(10_000);
const json = Buffer.from(JSON.stringify(messages));
const bytes = json.length;

/** What one writes without Tamp: members sorted, spelled, hashed. @param {unknown} value @returns {unknown} */
const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, sorted(member)]));
};
const peer = () => createHash('sha256').update(JSON.stringify(sorted(messages))).digest('hex');

// What is timed is right: another order of members is the same, another word is not.
const digest = digestMessages(tamp, messages);
assert.equal(digestMessages(tamp, messages.map((message) => Object.fromEntries(Object.entries(message).reverse()))), digest);
assert.notEqual(digestMessages(tamp, messages.with(5_000, { ...messages[5_000], content: 'other' })), digest);

export const rows = [
  { name: 'Tamp', bytes, run: () => digestMessages(tamp, messages), limit: 30 },
  { name: 'sorted JSON.stringify and SHA-256 of Node', bytes, run: peer, target: 1 },
  scansOf(json).bare,
];

const page = `<!doctype html>
<script type="importmap">{"imports": {"idb": "/node_modules/idb/build/index.js"}}</script>
<script type="module">
import { openDB } from 'idb';
import { loadTamp } from '/dist/index.js';
import { createSession } from '/dist/session.js';
import { indexedDBStore } from '/dist/store.js';

const time = async (run) => {
  const start = performance.now();
  await run();
  return performance.now() - start;
};
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
window.measure = async (count) => {
  const messages = (await (await fetch('/messages.json')).json()).slice(0, count);
  const tamp = await loadTamp();
  const saved = [];
  const open = (store) => createSession({
    chatId: 'c', tamp, store, compaction: { shouldCompact: () => false, summarize: () => 'a summary' },
  });
  const session = await open(indexedDBStore());
  await session.send(messages);
  await session.compact();
  const raw = await openDB('tamp');
  const loads = [];
  const reads = [];
  const saves = [];
  for (let round = 0; round < 7; round++) {
    reads.push(await time(() => raw.getAll('messages')));
    loads.push(await time(() => open(indexedDBStore())));
  }
  const store = indexedDBStore();
  const counting = await open({ ...store, save: (id, changes) => { saved.push(changes.length); return store.save(id, changes); } });
  for (let round = 0; round < 7; round++) {
    saves.push(await time(() => counting.send({ id: 'new' + round, role: 'user', content: 'one more' })));
  }
  const covered = counting.state?.covered;
  return { load: median(loads), read: median(reads), save: median(saves), most: Math.max(...saved), covered };
};
</script>`;

/** In Chromium, where IndexedDB is. */
export async function figures() {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const site = await serve(root, {}, { '/bench.html': page, '/messages.json': JSON.stringify(messages), '/favicon.ico': '' });
  const browser = await launch();
  try {
    const tab = await browser.newPage();
    await tab.goto(`${site.url}/bench.html`);
    await tab.waitForFunction(() => globalThis.measure !== undefined);
    const { load, read, save, most, covered } = await tab.evaluate(() => globalThis.measure(10_000));
    assert.ok(covered > 9_000, `the summary covers ${covered}`);
    return [
      { name: 'loading 10,000 messages with their summary checked, Chromium', value: load, unit: 'ms' },
      { name: 'of which IndexedDB itself takes to read them', value: read, unit: 'ms' },
      { name: 'the one over the other', value: load / read, unit: 'x', atMost: 2 },
      { name: 'saving one message more', value: save, unit: 'ms' },
      { name: 'changes in such a save', value: most, unit: '', atMost: 1 },
    ];
  } finally {
    await browser.close();
    await site.close();
  }
}
