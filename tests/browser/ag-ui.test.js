// The README's example in Chromium, as written, against the test server, with both versions of the client.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

import { chat } from '../ag-ui/chats.js';
import { startServer } from '../ag-ui/server.js';
import { launch, serve } from './chromium.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

// What stands in the README, on one line.
const EXAMPLE = 'agent.use(compactionMiddleware({ before: new CompactionObserver(slidingWindow({ maxMessages: 80, keepMessages: 40 })) })); onCompaction(agent, n => badge.add(n));';

const HTML = (/** @type {string} */ client) => `<!doctype html><html lang="en"><title>AG-UI</title>
<script type="importmap">${JSON.stringify({ imports: {
    tamp: '/dist/index.js', 'tamp/ag-ui': '/dist/ag-ui.js', 'tamp/elements/define': '/dist/elements-define.js', '@ag-ui/client': client,
  } })}</script>
<script type="module" src="/page.js"></script><main><compaction-badge></compaction-badge></main></html>`;

const page = (/** @type {string} */ url) => `
import { HttpAgent } from '@ag-ui/client';
import { slidingWindow } from 'tamp';
import { CompactionObserver, compactionMiddleware, onCompaction } from 'tamp/ag-ui';
import 'tamp/elements/define';
const agent = new HttpAgent({ url: ${JSON.stringify(url)}, initialMessages: ${JSON.stringify(chat(60))} });
const badge = document.querySelector('compaction-badge');
${EXAMPLE}
window.result = agent.runAgent().then(() => ({ messages: agent.messages.length, roles: agent.messages.slice(-3).map(({ role }) => role) }));
`;

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof startServer>>} */
let server;
before(async () => {
  browser = await launch();
  server = await startServer();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

for (const client of ['@ag-ui/client', 'ag-ui-client-0059']) {
  for (const path of ['stateless', 'snapshotting']) {
    test(`the README's lines run as written: ${client}, a ${path} server`, async () => {
      const bundle = await build({ entryPoints: [fileURLToPath(import.meta.resolve(client))], bundle: true, write: false, format: 'esm', platform: 'browser' });
      const site = await serve(root, {}, {
        '/page.html': HTML('/client.js'), '/page.js': page(`${server.url}/${path}`), '/client.js': bundle.outputFiles[0].contents, '/favicon.ico': '',
      });
      const tab = await browser.newPage();
      try {
        /** @type {string[]} */
        const complaints = [];
        tab.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
        tab.on('pageerror', (error) => complaints.push(String(error)));
        server.seen.length = 0;
        await tab.goto(`${site.url}/page.html`);
        await tab.waitForFunction('window.result');
        const { messages, roles } = await tab.evaluate('window.result');
        const sent = server.seen[0].input.messages.length;
        assert.ok(sent <= 43, `${sent} messages are sent`);
        assert.equal(messages, chat(60).length + 2, 'the list stays whole, with the notice and the answer');
        assert.deepEqual(roles, ['user', 'activity', 'assistant']);
        const line = await tab.getByRole('note').locator('.text').textContent();
        assert.equal(line, `${chat(60).length - sent} earlier messages are no longer sent to the model`);
        assert.deepEqual(complaints, []);
      } finally {
        await tab.close();
        await site.close();
      }
    });
  }
}
