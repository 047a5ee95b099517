// What a careful page forbids: scripts and styles that are not its own files, markup and code from text.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; "
  + "require-trusted-types-for 'script'; trusted-types 'none'";
const HTML = '<!doctype html><html lang="en"><title>Tamp</title><output></output><compaction-badge></compaction-badge>'
  + '<context-meter></context-meter><script type="module" src="/page.js"></script>';

// Says in <output> what came out of every part that a page would use, or the error. The messages are as hostile as
// messages can be: all of it is only ever text.
const PAGE = `
import { loadTamp, mark, project, slidingWindow, summarize, toolResults } from '/dist/index.js';
import * as agUi from '/dist/ag-ui.js';
import { createSession } from '/dist/session.js';
import { memoryStore } from '/dist/store.js';
import { compactPrepareStep } from '/dist/ai-sdk.js';
import { loadTamp as loadInline } from '/dist/inline.js';
import { identifyTranscript, trimTranscript } from '/dist/transcript.js';
import '/dist/elements-define.js';

const EVIL = '<img src=x onerror="window.evil=1"><script>window.evil=1</' + 'script>{{constructor}}\${1}';
const messages = JSON.parse(JSON.stringify([
  { id: EVIL, role: 'user', content: EVIL },
  { id: 'k', role: 'assistant', content: EVIL, toolCalls: [{ id: EVIL, type: 'function', function: { name: EVIL, arguments: EVIL } }] },
  { id: 't', role: 'tool', toolCallId: EVIL, content: EVIL.repeat(50), error: EVIL },
  { id: 'u2', role: 'user', content: 'second' },
  { id: 'a2', role: 'assistant', content: 'two' },
]).replaceAll('"content"', '"__proto__":{"evil":1},"constructor":{"prototype":{"evil":1}},"content"'));
const output = document.querySelector('output');
try {
  const tamp = await loadTamp();
  const compaction = tamp.compact(messages, toolResults({ keepLastToolCallGroups: 0, maxChars: 100 }));
  const trimmed = tamp.compactText(JSON.stringify(messages), slidingWindow({ keepMessages: 2 }), { format: 'ag-ui' });
  const summarised = await tamp.compactAsync(messages, summarize({ keepMessages: 1, keepFirstUser: false }), { summarize: () => EVIL });
  tamp.inspect(messages);
  const history = tamp.open(messages);
  history.sync(structuredClone(messages));
  history.dispose();
  const event = agUi.compactionEvent({ removed: 3, before: 5, after: 2 });
  const session = await createSession({ chatId: EVIL, tamp, store: memoryStore(), compaction: { shouldCompact: () => true, summarize: () => EVIL } });
  const turn = await session.send({ id: EVIL, role: 'user', content: EVIL });
  await turn.addResponse({ id: 'a', role: 'assistant', content: EVIL });
  await turn.complete({ usage: { totalTokens: 10 } });
  await session.close();
  const file = await trimTranscript(new Blob([JSON.stringify(messages)]), slidingWindow({ keepMessages: 2 }), { format: 'ag-ui' });
  const identified = await identifyTranscript(file.blob());
  const inline = (await loadInline()).compact(messages, slidingWindow({ keepMessages: 2 }));
  const step = await compactPrepareStep({ policy: slidingWindow({ keepMessages: 1, keepFirstUser: false }), tamp })({ messages: [
    { role: 'user', content: EVIL }, { role: 'assistant', content: EVIL }, { role: 'user', content: 'last' },
  ] });
  const badge = document.querySelector('compaction-badge');
  badge.text = { compacted: EVIL, item: EVIL };
  badge.state = 'compacted';
  output.textContent = JSON.stringify({
    changed: compaction.changed,
    trimmed: trimmed.changed,
    summary: summarised.messages.some(({ content }) => content.endsWith(EVIL)),
    file: [file.changed, identified?.format, inline.changed, step?.messages?.length],
    shows: agUi.readCompaction(event)?.removed,
    marked: project(mark(messages, compaction)).length,
    evil: [window.evil, {}.evil, Object.keys(Object.prototype), document.querySelectorAll('img').length],
  });
} catch (error) {
  output.textContent = String(error?.stack ?? error);
}
`;

/** @type {import('playwright-core').Browser} */
let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

test("everything works under default-src 'none' with Trusted Types, and hostile text stays text", async () => {
  const site = await serve(root, { 'Content-Security-Policy': POLICY }, {
    '/page.html': HTML, '/page.js': PAGE, '/favicon.ico': '',
  });
  const page = await browser.newPage();
  try {
    /** @type {string[]} */
    const complaints = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${site.url}/page.html`);
    const output = await page.locator('output:not(:empty)').textContent({ timeout: 30_000 }).catch(() => null);
    assert.deepEqual(complaints, []);
    assert.match(output ?? 'nothing', /^\{/u);
    assert.deepEqual(JSON.parse(output ?? 'null'), {
      changed: true, trimmed: true, summary: true, file: [true, 'ag-ui', true, 1], shows: 3, marked: 4, evil: [null, null, [], 0],
    });
    assert.equal(await page.evaluate('trustedTypes.emptyHTML.toString()'), '', 'Trusted Types are there');
  } finally {
    await page.close();
    await site.close();
  }
});
