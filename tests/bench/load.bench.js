/** From nothing to a first compaction, in Chromium: what a page waits for once. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { launch, serve } from '../browser/chromium.js';
import { longSession } from '../lib/sessions.js';

export const name = 'load and first compact in Chromium';
export const rows = [];

const ROUNDS = 15;
const root = fileURLToPath(new URL('../../', import.meta.url));

const page = `<!doctype html><title>Tamp</title>
<script type="module">
const messages = await (await fetch('/messages.json')).json();
window.measure = async () => {
  const begun = performance.now();
  const { loadTamp } = await import('/dist/index.js');
  const imported = performance.now();
  const tamp = await loadTamp();
  const loaded = performance.now();
  const { after } = tamp.compact(messages, { strategy: 'sliding-window', keepMessages: 20 });
  return { scripts: imported - begun, module: loaded - imported, compact: performance.now() - loaded, after };
};
</script>`;

/** @param {number[]} list */
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

/** Every round is a profile of its own: nothing is compiled or cached yet. */
export async function figures() {
  const messages = JSON.stringify(longSession(200));
  const site = await serve(root, {}, { '/bench.html': page, '/messages.json': messages, '/favicon.ico': '' });
  const browser = await launch();
  /** @type {{ scripts: number, module: number, compact: number, after: number }[]} */
  const times = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const context = await browser.newContext();
      const tab = await context.newPage();
      await tab.goto(`${site.url}/bench.html`);
      await tab.waitForFunction(() => globalThis.measure !== undefined);
      times.push(await tab.evaluate(() => globalThis.measure()));
      await context.close();
    }
  } finally {
    await browser.close();
    await site.close();
  }
  assert.ok(times.every(({ after }) => after > 0 && after < 200));
  return [
    { name: 'loadTamp and the first compact, of 200 messages', value: median(times.map(({ module, compact }) => module + compact)), unit: 'ms', atMost: 20 },
    { name: 'of which the first compact', value: median(times.map(({ compact }) => compact)), unit: 'ms' },
    { name: 'before that, fetching and reading the scripts, unbundled', value: median(times.map(({ scripts }) => scripts)), unit: 'ms' },
  ];
}
