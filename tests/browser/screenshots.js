// Takes the pictures of the demo that README.md shows, docs/*.png: `node tests/browser/screenshots.js`.
import { fileURLToPath } from 'node:url';

import { launch } from './chromium.js';
import { compared, startDemo } from './demo.js';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

/** Each panel, and what a visitor does before the picture is taken. */
const PICTURES = {
  trim: async (page) => {
    await page.locator('.messages > li').first().waitFor();
  },
  chat: async (page) => {
    for (const [question, answer] of [['Were there slow requests in the logs?', /took longer than ten seconds/], ['Compare Ada’s two orders', /same two workers/]]) {
      await page.getByRole('button', { name: question }).click();
      await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#chat-status').textContent), answer.source);
    }
    await page.locator('#chat-meter').evaluate((meter) => window.scrollTo(0, meter.getBoundingClientRect().top + window.scrollY - 96));
  },
  compare: async (page) => {
    await page.waitForFunction(compared);
  },
  sessions: async (page) => {
    await page.locator('#session-ui .nothing').waitFor();
    await page.locator('#session-more:not([disabled])').click();
    await page.waitForFunction(() => /^[1-9]/.test(document.querySelector('#session-ui-says').textContent));
    await page.locator('#session-compact:not([disabled])').click();
    await page.waitForFunction(() => document.querySelector('#session-status').textContent === 'Compacted.');
    await page.locator('#session-more:not([disabled])').click();
    await page.waitForFunction(() => !/^1 /.test(document.querySelector('#session-model-says').textContent));
  },
};

const demo = await startDemo();
const browser = await launch();
try {
  for (const [name, play] of Object.entries(PICTURES)) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce', colorScheme: 'light' });
    const page = await context.newPage();
    await page.goto(`${demo.address}#${name}`);
    await play(page);
    await page.screenshot({ path: `${docs}${name}.png` });
    await context.close();
    console.log(`docs/${name}.png`);
  }
} finally {
  await browser.close();
  await demo.close();
}
