// The README's session in Chromium, as written: a local chat that compacts, reloads and undoes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const [, example] = /## Sessions[^]*?```js\n([^]*?)```/.exec(readme) ?? [];

const html = `<!doctype html><title>Chat</title>
<script type="importmap">{"imports": {
  "idb": "/node_modules/idb/build/index.js", "tamp/session": "/dist/session.js", "tamp/store": "/dist/store.js"
}}</script>`;
// A model that says what it was given, and how much that was.
const model = `
const filler = ' and so on and on and on'.repeat(40);
export let summaries = 0;
export const summarise = (text, previous) => 'summary ' + (++summaries) + (previous ? ' after ' + previous : '');
export async function ask(messages) {
  const given = messages.map(({ content }) => content.split(' ')[0]).join(' ');
  return { reply: 'read ' + given + filler, usage: { totalTokens: messages.some(({ content }) => content.startsWith('much')) ? 90_000 : 900 } };
}`;

let browser;
let site;
before(async () => {
  browser = await launch();
  site = await serve(root, {}, { '/': html, '/chat.html': html, '/chat.js': example ?? '', '/model.js': model, '/favicon.ico': '' });
});
after(async () => {
  await browser?.close();
  await site?.close();
});

test('the session of the README runs as written: it compacts, goes on after a reload, and undoes', async () => {
  assert.ok(example, 'the README has an example under "Sessions"');
  const page = await browser.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  const load = () => page.goto(`${site.url}/chat.html`);
  const look = (name, ...values) => page.evaluate(async ([method, args]) => {
    const chat = await import('/chat.js');
    const counted = await import('/model.js');
    if (method !== undefined) await chat[method](...args);
    const words = (list) => list.map(({ content }) => content.replace('[Conversation summary]\n\n', 'S:').split(' ').slice(0, 2).join(' '));
    return { shown: words(chat.session.uiMessages), sent: words(chat.session.modelMessages), ids: chat.session.uiMessages.map(({ id }) => id), summaries: counted.summaries };
  }, [name, values]);

  await load();
  assert.deepEqual((await look('say', 'much text')).sent, ['S:summary 1']);
  await look('say', 'hello there');
  await load();
  const again = await look();
  assert.deepEqual(again.shown, ['much text', 'read much', 'hello there', 'read [Conversation']);
  assert.deepEqual(again.sent, ['S:summary 1', 'hello there', 'read [Conversation']);
  assert.equal(again.summaries, 0);
  const compacted = await look('compact');
  assert.deepEqual(compacted.sent, ['S:summary 1']);
  assert.equal(compacted.summaries, 1);
  await look('say', 'one more');
  assert.deepEqual((await look('undo', compacted.ids[3])).sent, ['S:summary 1']);
  assert.deepEqual((await look('undo', compacted.ids[1])).sent, ['much text', 'read much']);
  assert.deepEqual(problems, []);
  await page.close();
});
