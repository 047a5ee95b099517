// CopilotKit 1.74 with React 19 renders our event, through the schema that we export, and its repair leaves our filter's
// lists alone. Its packages are installed into build/copilotkit the first time.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { clearToolResults, loadTamp, slidingWindow, toolResults } from 'tamp';
import { createMessageFilter } from 'tamp/ag-ui';

import { chat, toolChat } from '../ag-ui/chats.js';
import { startServer } from '../ag-ui/server.js';
import { launch, serve } from './chromium.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'build/copilotkit');
const fixture = join(root, 'tests/ag-ui/copilotkit');

/** Null, or why CopilotKit cannot be had here. */
function install() {
  const wanted = JSON.parse(readFileSync(join(fixture, 'package.json'), 'utf8')).dependencies;
  const there = Object.entries(wanted).every(([name, version]) => {
    const manifest = join(folder, 'node_modules', name, 'package.json');
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
  if (there) return null;
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(fixture, 'package.json'), join(folder, 'package.json'));
  copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'));
  const { status, stderr, error } = spawnSync('npm', ['install', '--ignore-scripts', '--no-package-lock', '--loglevel=error'], {
    cwd: folder, encoding: 'utf8',
  });
  return status === 0 ? null : `CopilotKit could not be installed: ${error ?? stderr}`;
}

const missing = install();
const skip = missing ?? false;

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof startServer>>} */
let server;
before(async () => {
  server = await startServer();
  if (!missing) browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test('renderActivityMessages renders our event through compactionContentSchema', { skip }, async () => {
  const bundle = await build({
    entryPoints: [join(fixture, 'page.jsx')],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    outdir: '/',
    nodePaths: [join(folder, 'node_modules')],
    alias: {
      tamp: join(root, 'dist/index.js'),
      'tamp/ag-ui': join(root, 'dist/ag-ui.js'),
      'tamp/elements/define': join(root, 'dist/elements-define.js'),
      '@ag-ui/client': join(folder, 'node_modules/@ag-ui/client'), // CopilotKit's own, 0.0.59
    },
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.woff': 'empty', '.woff2': 'empty', '.ttf': 'empty' },
    logLevel: 'error',
  });
  const script = bundle.outputFiles.find(({ path }) => path.endsWith('.js'));
  const site = await serve(join(root, 'dist'), {}, {
    '/page.html': '<!doctype html><html lang="en"><title>CopilotKit</title><main></main><script src="/settings.js"></script><script type="module" src="/page.js"></script></html>',
    '/settings.js': `window.settings = ${JSON.stringify({ url: `${server.url}/stateless`, messages: chat(8) })};`,
    '/page.js': script?.contents ?? '',
    '/favicon.ico': '',
  });
  const page = await browser.newPage();
  try {
    /** @type {string[]} */
    const complaints = [];
    page.on('console', (message) => /activity message|\[tamp\]/.test(message.text()) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    // Nothing outside of this machine is asked for anything.
    await page.route((url) => url.hostname !== '127.0.0.1', (route) => route.abort());
    await page.goto(`${site.url}/page.html`);
    await page.locator('li').first().waitFor();
    assert.equal(await page.locator('compaction-badge').count(), 0);
    const messages = await page.evaluate('window.run()');
    assert.equal(messages, chat(8).length + 2);
    const badge = page.locator('li compaction-badge');
    await badge.waitFor();
    assert.equal(await badge.locator('.text').textContent(), '13 earlier messages are no longer sent to the model');
    assert.deepEqual(await page.evaluate('window.rendered.at(-1)'), { removed: 13, before: 18, after: 5 });
    assert.equal(await page.locator('main > ol > li').count(), messages, 'the reader sees every message');
    assert.deepEqual(complaints, []);
  } finally {
    await page.close();
    await site.close();
  }
});

for (const [name, policy] of /** @type {[string, any][]} */ ([
  ['a sliding window', slidingWindow({ maxMessages: 9, keepMessages: 6 })],
  ['masking, which the repair would undo', clearToolResults({ keepLast: 0 })],
  ['collapsing', [toolResults({ keepLastToolCallGroups: 1 }), slidingWindow({ maxMessages: 9, keepMessages: 6 })]],
])) {
  test(`messageFilter, ${name}: what the filter gives is what CopilotKit sends`, { skip }, async () => {
    const { resolve } = createRequire(join(folder, 'node_modules/@copilotkit/react-core/package.json'));
    const { ProxiedCopilotRuntimeAgent } = await import(pathToFileURL(resolve('@copilotkit/core').replace(/\.cjs$/, '.mjs')).href);
    const filter = createMessageFilter(await loadTamp(), policy);
    for (const turns of [2, 3, 4, 7]) {
      server.seen.length = 0;
      const list = toolChat(turns);
      const agent = new ProxiedCopilotRuntimeAgent({
        runtimeUrl: server.url, transport: 'rest', agentId: 'default', threadId: `filter ${name} ${turns}`, initialMessages: list, messageFilter: filter,
      });
      await agent.runAgent();
      assert.deepEqual(server.seen[0].input.messages, filter(list));
    }
  });
}
