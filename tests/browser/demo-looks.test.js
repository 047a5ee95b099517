/**
 * How the demo looks: nothing moves as a panel fills, and each panel looks as it did when somebody last looked at it.
 *
 * `UPDATE=1 node --test tests/browser/demo-looks.test.js` takes the pictures anew, into tests/browser/pictures: look at
 * them before they are committed. One that differs is left as build/pictures/NAME.png.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

import { launch } from './chromium.js';
import { compared, startDemo } from './demo.js';

const pictures = new URL('pictures/', import.meta.url);
const found = new URL('../../build/pictures/', import.meta.url);

/** Of all pixels, how many may differ: fonts are drawn a little differently from machine to machine. */
const TOLERANCE = 0.025;

/** Each panel, and what is there when it is whole. */
const PANELS = [
  { name: 'trim', hash: '', ready: () => document.querySelector('#stat-tokens strong') !== null && document.querySelector('.messages > li') !== null },
  { name: 'chat', hash: '#chat', ready: () => document.querySelector('#chat-prompts button:not([disabled])') !== null && document.querySelectorAll('#chat-log > li').length > 0 },
  { name: 'compare', hash: '#compare', ready: compared },
  { name: 'sessions', hash: '#sessions', ready: () => document.querySelectorAll('#session-ui > li').length > 0 },
];

/** Times differ from run to run. */
const RESTLESS = ['#stat-time', '#compare-rows td:nth-child(7)', '#session-database'];

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof startDemo>>} */
let demo;

before(async () => {
  browser = await launch();
  demo = await startDemo();
});
after(async () => {
  await browser?.close();
  await demo?.close();
});

/** A panel, whole. @param {import('node:test').TestContext} t @param {typeof PANELS[number]} panel @param {object} options */
async function open(t, { hash, ready }, options) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.moved = [];
    new window.PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) window.moved.push({ value, what: sources.map(({ node }) => node?.id || node?.className || node?.nodeName).join(', ') });
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(demo.address + hash);
  await page.waitForFunction(ready);
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  return page;
}

for (const panel of PANELS) {
  for (const width of [360, 768, 1280]) {
    test(`nothing moves as the panel "${panel.name}" fills, ${width} px wide`, async (t) => {
      const page = await open(t, panel, { viewport: { width, height: 800 } });
      const moved = await page.evaluate(() => window.moved);
      const sum = moved.reduce((/** @type {number} */ total, { value }) => total + value, 0);
      assert.ok(sum < 0.1, `a layout shift of ${sum.toFixed(3)}: ${JSON.stringify(moved)}`);
    });
  }
}

/** How many of the pixels differ, of 1. @param {Buffer} a @param {Buffer} b */
function difference(a, b) {
  const [one, other] = [PNG.sync.read(a), PNG.sync.read(b)];
  if (one.width !== other.width || one.height !== other.height) return 1;
  return pixelmatch(one.data, other.data, undefined, one.width, one.height, { threshold: 0.2 }) / (one.width * one.height);
}

const LOOKS = [
  ...PANELS.map((panel) => ({ panel, look: 'light', options: { viewport: { width: 1024, height: 720 }, colorScheme: 'light' } })),
  { panel: PANELS[0], look: 'dark', options: { viewport: { width: 1024, height: 720 }, colorScheme: 'dark' } },
  { panel: PANELS[0], look: 'narrow', options: { viewport: { width: 360, height: 720 }, colorScheme: 'light' } },
];

for (const { panel, look, options } of LOOKS) {
  test(`the panel "${panel.name}" looks as it did, ${look}`, async (t) => {
    const page = await open(t, panel, options);
    const now = await page.screenshot({ mask: RESTLESS.map((selector) => page.locator(selector)), maskColor: '#888888' });
    const name = `${panel.name}-${look}.png`;
    if (process.env.UPDATE) {
      await mkdir(pictures, { recursive: true });
      await writeFile(new URL(name, pictures), now);
      t.diagnostic(`${name} was taken anew`);
      return;
    }
    const ratio = difference(await readFile(new URL(name, pictures)), now);
    t.diagnostic(`${(ratio * 100).toFixed(2)} % of the pixels differ`);
    if (ratio > TOLERANCE) {
      await mkdir(found, { recursive: true });
      await writeFile(new URL(name, found), now);
    }
    assert.ok(ratio <= TOLERANCE, `${(ratio * 100).toFixed(1)} % of the pixels differ from tests/browser/pictures/${name}: see build/pictures/${name}`);
  });
}

test('a picture that is not of the panel is told from one that is', async () => {
  const [trim, chat] = await Promise.all(['trim-light.png', 'chat-light.png'].map((name) => readFile(new URL(name, pictures))));
  assert.equal(difference(trim, trim), 0);
  assert.ok(difference(trim, chat) > 2 * TOLERANCE);
});
