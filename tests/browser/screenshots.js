// Takes the pictures of the demo that README.md shows, docs/*.png: `node tests/browser/screenshots.js`.
import { fileURLToPath } from 'node:url';

import { agentFromEnvironment } from '../../demo/server/agent.js';
import { createDemoServer } from '../../demo/server.js';
import { loadTamp } from '../../dist/index.js';
import { launch } from './chromium.js';

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
    await page.waitForFunction(() => document.querySelectorAll('#compare-rows tr').length > 0
      && [...document.querySelectorAll('#compare-rows tr td:nth-child(6)')].every((cell) => !['', '…'].includes(cell.textContent)));
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

const { handler } = await agentFromEnvironment({}, await loadTamp());
const server = createDemoServer({ agent: handler });
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await launch();
try {
  for (const [name, play] of Object.entries(PICTURES)) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce', colorScheme: 'light' });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/#${name}`);
    await play(page);
    await page.screenshot({ path: `${docs}${name}.png` });
    await context.close();
    console.log(`docs/${name}.png`);
  }
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
}
