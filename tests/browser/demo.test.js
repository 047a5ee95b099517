import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { loadTamp } from '../../dist/index.js';
import { agentFromEnvironment } from '../../demo/server/agent.js';
import { createDemoServer } from '../../demo/server.js';
import { validate } from '../../demo/validator.js';
import { launch, serve } from './chromium.js';
import { compared, startDemo } from './demo.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const sampleBytes = await readFile(new URL('../../demo/sample.json', import.meta.url));
const sample = JSON.parse(sampleBytes.toString());

/** @type {import('playwright-core').Browser} */
let browser;
let address;
let close;

before(async () => {
  browser = await launch();
  ({ address, close } = await startDemo());
});
after(async () => {
  await browser?.close();
  await close?.();
});

/**
 * The page with the sample compacted, in a window of its own. It fails when the page complains, of anything but what is
 * `expected`, or asks anyone else.
 */
async function open(t, { hash = '', viewport = { width: 1280, height: 900 }, expected = /(?!)/, ...options } = {}) {
  const context = await browser.newContext({ viewport, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const complaints = [];
  const elsewhere = [];
  page.on('console', (message) => message.type() === 'error' && !expected.test(message.text()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => !request.url().startsWith(address) && !/^(data|blob):/.test(request.url()) && elsewhere.push(request.url()));
  t.after(async () => {
    await context.close();
    assert.deepEqual(complaints, [], 'the page complained');
    assert.deepEqual(elsewhere, [], 'the page asked another server');
  });
  await page.goto(address + hash);
  if (hash === '') await page.locator('#stat-tokens strong').waitFor();
  return page;
}

const numbers = async (page) => (await page.locator('#stat-tokens').textContent()).match(/[\d,]+/g).slice(0, 2).map((text) => Number(text.replaceAll(',', '')));
const choose = (page, file) => page.locator('#choose').setInputFiles(file);
const jsonFile = (name, value) => ({ name, mimeType: 'application/json', buffer: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)) });

test('the page opens with the sample compacted: fewer tokens, every call with its result', async (t) => {
  const page = await open(t);
  const [before, after] = await numbers(page);
  assert.ok(before > 40_000, `${before} tokens before`);
  assert.ok(after < before * 0.5, `${after} tokens after`);
  assert.equal(await page.locator('#stat-valid').textContent(), 'Yes');
  assert.equal(await page.locator('.messages > li').count() > 50, true);
});

test('what the page shows is what the core says', async (t) => {
  const page = await open(t);
  const policy = { strategy: 'truncation', maxTokens: 32000, toTokens: 24000, keepFirstUser: true };
  await page.selectOption('#preset', 'cut');
  await page.locator('#stat-tokens strong').waitFor();
  const tamp = await loadTamp();
  const { report, messages } = tamp.compact(sample, policy);
  assert.ok(validate(messages).ok);
  await page.waitForFunction((n) => document.querySelector('#stat-tokens strong').textContent === n, report.tokensAfter.toLocaleString('en-US'));
  assert.deepEqual(await numbers(page), [report.tokensBefore, report.tokensAfter]);
  assert.equal(await page.locator('[data-state="dropped"] .n').textContent(), String(report.dropped.length));
  const first = report.dropped[0];
  await page.locator('[data-state="dropped"]').click();
  const row = page.locator('.message').first();
  assert.equal(await row.locator('.place').textContent(), String(first.index + 1));
  assert.equal(await row.locator('.reason').textContent(), first.reason);
});

test('the downloaded result is a transcript whose kept messages are the same bytes', async (t) => {
  const page = await open(t);
  await page.selectOption('#preset', 'cut');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
  assert.equal(download.suggestedFilename(), 'sample.trimmed.json');
  const text = await readFile(await download.path(), 'utf8');
  const messages = JSON.parse(text);
  assert.ok(messages.length < sample.length);
  assert.ok(validate(messages).ok);
  const source = sampleBytes.toString().split('\n').map((line) => line.replace(/,$/, ''));
  for (const message of messages) {
    const line = source.find((each) => each.includes(`"id":"${message.id}"`) && each.startsWith('{'));
    assert.ok(text.includes(line), `message ${message.id} is as it was`);
  }
});

test('a number in the form changes the result, and its slider does too', async (t) => {
  const page = await open(t);
  await page.selectOption('#preset', 'cut');
  const field = page.getByLabel('Goes down to');
  await field.fill('12000');
  await page.waitForFunction(() => Number(document.querySelector('#stat-tokens strong').textContent.replace(',', '')) <= 12000);
  assert.equal(await page.locator('#preset').inputValue(), '', 'it is a policy of one’s own now');
  await page.locator('.step input[type="range"]').nth(1).evaluate((range) => {
    range.value = '20000';
    range.dispatchEvent(new Event('input'));
  });
  assert.equal(await field.inputValue(), '20000');
  await page.waitForFunction(() => Number(document.querySelector('#stat-tokens strong').textContent.replace(',', '')) > 12000);
});

test('a policy that is wrong says which field, in a sentence, and the result stays', async (t) => {
  const page = await open(t);
  await page.selectOption('#preset', 'window');
  await page.getByLabel('Keep the newest', { exact: true }).fill('100');
  const problem = page.locator('.problems li');
  await problem.waitFor();
  assert.match(await problem.textContent(), /keepMessages.*100.*80/);
  const field = page.getByLabel('Keep the newest', { exact: true });
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.equal(await page.locator(`#${await field.getAttribute('aria-describedby')}`).textContent(), await problem.textContent());
  assert.match(await page.locator('#result-notice').textContent(), /1 problem/);
});

test('a policy can be written as JSON, and the form follows', async (t) => {
  const page = await open(t);
  await page.locator('#as-json').click();
  await page.locator('#policy-text').fill('[{"strategy":"tool-results","keepLastToolCallGroups":1,"when":{"tokensOver":100}},{"strategy":"truncation","maxTokens":9000,"toTokens":8000}]');
  await page.waitForFunction(() => Number(document.querySelector('#stat-tokens strong').textContent.replace(',', '')) <= 9000);
  await page.locator('#as-form').click();
  assert.equal(await page.locator('.step').count(), 2);
  assert.equal(await page.locator('#step-0-when').inputValue(), 'tokensOver');
  assert.equal(await page.locator('#step-0-when-over').inputValue(), '100');
  await page.locator('#as-json').click();
  await page.locator('#policy-text').fill('[{');
  assert.match(await page.locator('.problems li').textContent(), /not JSON yet/);
});

test('a step can wait for a condition: chosen in the form, several of them in the JSON', async (t) => {
  const page = await open(t);
  const policy = async () => JSON.parse(await page.locator('#policy-text').inputValue());
  await page.selectOption('#preset', 'cut');
  await page.getByLabel('Only when the list').selectOption('messagesOver');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'step-0-when');
  await page.getByLabel('More than', { exact: true }).fill('100000');
  assert.deepEqual((await policy()).when, { messagesOver: 100000 });
  await page.waitForFunction(() => /No step ran/.test(document.querySelector('#result-notice').textContent));
  await page.getByLabel('Only when the list').selectOption('hasToolCalls');
  await page.waitForFunction(() => document.querySelector('#result-notice').hidden);
  await page.getByLabel('Only when the list').selectOption('');
  assert.equal('when' in await policy(), false);
  await page.locator('#as-json').click();
  await page.locator('#policy-text').fill('{"strategy":"repair","when":{"any":[{"turnsOver":1},{"tokensOver":5}]}}');
  await page.locator('#as-form').click();
  assert.equal(await page.getByLabel('Only when the list').count(), 0);
  assert.match(await page.locator('.step-others').textContent(), /when = \{"any":/);
});

test('a summary shows where it stands, and that here a stand-in takes the model’s place', async (t) => {
  const page = await open(t);
  await page.locator('#as-json').click();
  for (const [policy, text] of [['{"strategy":"summarize","keepMessages":20}', /Here your model's summary of \d+ messages/], ['{"strategy":"digest","keepMessages":20}', /Asked:/]]) {
    await page.locator('#policy-text').fill(policy);
    const added = page.locator('.message.added');
    await added.waitFor();
    await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('.message.added .says')?.textContent), text.source);
    assert.equal(await page.locator('#stat-valid').textContent(), 'Yes');
  }
});

test('reading a long file can be watched and cancelled, and the transcript before stays', async (t) => {
  const page = await open(t);
  const long = Array.from({ length: 60 }, (_, round) => sample.map((message) => JSON.parse(JSON.stringify(message).replaceAll(/"(id|toolCallId)":"([^"]+)"/g, `"$1":"$2-${round}"`)))).flat();
  const file = jsonFile('long.json', long);
  await page.evaluate(() => {
    // Pressed as soon as it is there: reading takes a second or so.
    window.pressed = 0;
    new MutationObserver(() => {
      if (document.querySelector('#source-reading').hidden || window.pressed > 0) return;
      window.pressed += 1;
      document.querySelector('#source-cancel').click();
    }).observe(document.querySelector('#source-reading'), { attributes: true });
  });
  await choose(page, file);
  await page.waitForFunction(() => window.pressed === 1 && document.querySelector('#source-reading').hidden && /^AG-UI/.test(document.querySelector('#source-facts').textContent));
  assert.match(await page.locator('#source-name').textContent(), /The sample/);
  assert.equal(await page.locator('#source-reading').isVisible(), false);
});

test('a file too long to show is trimmed in a worker, drawn by stretches, anew when the policy changes, and can be downloaded', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tamp-long-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'long.jsonl');
  const rounds = Math.ceil(49_000_000 / sampleBytes.length);
  await writeFile(file, Array.from({ length: rounds }, (_, round) => sample.slice(round && 1).map((message) => `${JSON.stringify(message).replaceAll(/"(id|toolCallId)":"([^"]+)"/g, `"$1":"$2-${round}"`)}\n`).join('')));
  const messages = Array.from({ length: rounds }, (_, round) => sample.slice(round && 1)).flat().filter(({ role }) => role !== 'activity').length;
  const page = await open(t);
  await choose(page, file);
  await page.waitForFunction((n) => document.querySelector('#timeline [role="img"]')?.getAttribute('aria-label').startsWith(`${n} messages became`), messages.toLocaleString('en-US'), { timeout: 60_000 });
  assert.equal(await page.locator('#source-name').textContent(), 'long.jsonl');
  assert.equal(await page.locator('#stat-valid').textContent(), 'Yes');
  assert.match(await page.locator('#pane-messages').textContent(), /too long to show/);
  assert.match(await page.locator('#pane-code').textContent(), /trimTranscript\(file, policy\)/);
  const drawn = await page.locator('#timeline [role="img"]').getAttribute('aria-label');
  await page.selectOption('#preset', 'window');
  await page.waitForFunction((before) => document.querySelector('#timeline [role="img"]').getAttribute('aria-label') !== before, drawn, { timeout: 60_000 });
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.ok(validate(lines).ok);
  assert.ok(lines.length >= 40 && lines.length < 60, `${lines.length} messages are left`);
  await page.locator('#use-sample').click();
  await page.locator('.message').first().waitFor();
  assert.equal(await page.getByRole('slider', { name: 'Messages of the transcript' }).count(), 1);
});

test('steps are added, moved and removed with the keyboard', async (t) => {
  const page = await open(t);
  await page.selectOption('#preset', 'collapse');
  await page.locator('#add-step').selectOption('truncation');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'step-1-strategy');
  await page.getByLabel('Move step 2 up').press('Enter');
  assert.deepEqual(await page.locator('.step-head select').evaluateAll((all) => all.map(({ value }) => value)), ['truncation', 'tool-results']);
  await page.getByLabel('Remove step 1').press('Enter');
  assert.equal(await page.locator('.step').count(), 1);
});

test('every file a visitor can get wrong is answered with a sentence, and the last transcript stays', async (t) => {
  const page = await open(t);
  const cases = [
    [jsonFile('broken.json', '[{"role":"user"'), /broken\.json: This file is not JSON/],
    [jsonFile('empty.json', ''), /This file is empty/],
    [jsonFile('none.json', '[]'), /nothing to trim/],
    [jsonFile('object.json', { settings: true }), /without a list of messages/],
    [jsonFile('numbers.json', [{ id: 'u', role: 'user', content: 'q' }, 42]), /Message 2 of the list.*Put it right/],
    [{ name: 'picture.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe]) }, /not text in UTF-8/],
  ];
  for (const [file, sentence] of cases) {
    await choose(page, file);
    await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#source-problem').textContent), sentence.source);
  }
  assert.match(await page.locator('#source-name').textContent(), /The sample/);
  await choose(page, jsonFile('mine.json', [{ id: 'u', role: 'user', content: 'q' }, { id: 'a', role: 'assistant', content: 'a' }]));
  await page.waitForFunction(() => document.querySelector('#source-name').textContent === 'mine.json');
  assert.equal(await page.locator('#source-problem').isVisible(), false);
});

test('a hostile transcript is text: no tag runs, no direction mark turns the page around', async (t) => {
  const page = await open(t);
  const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202etxt.exe\u001b[31m';
  await choose(page, jsonFile('<img onerror=alert(1)>.json', [
    { id: evil, role: 'user', content: evil },
    { id: 'a', role: 'assistant', content: evil, toolCalls: [{ id: 'c', type: 'function', function: { name: evil, arguments: evil } }] },
    { id: 't', role: 'tool', toolCallId: 'c', content: evil.repeat(50) },
    { id: 'x', role: '__proto__', content: evil },
  ]));
  await page.waitForFunction(() => document.querySelector('#source-name').textContent.startsWith('<img'));
  for (const details of await page.locator('.message').all()) await details.evaluate((element) => { element.open = true; });
  await page.locator('.message pre').nth(2).waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator('.messages img, .messages script').count(), 0);
  assert.match(await page.locator('.messages').textContent(), /⟨U\+202E⟩txt\.exe␛\[31m/);
});

test('an OpenAI transcript is read as one and its code says so', async (t) => {
  const page = await open(t);
  await choose(page, jsonFile('openai.json', [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', content: 'result '.repeat(400) },
    { role: 'assistant', content: 'a' },
    { role: 'user', content: 'q2' },
  ]));
  await page.waitForFunction(() => /^OpenAI/.test(document.querySelector('#source-facts').textContent));
  await page.locator('#tab-code').click();
  assert.match(await page.locator('#pane-code pre').textContent(), /format: 'openai'/);
});

test('the drawing is a slider: arrow keys name each message, Enter opens it in the list', async (t) => {
  const page = await open(t);
  const slider = page.getByRole('slider', { name: 'Messages of the transcript' });
  await slider.focus();
  await page.keyboard.press('Home');
  assert.match(await slider.getAttribute('aria-valuetext'), /^Message 1 · system/);
  await page.keyboard.press('ArrowRight');
  assert.match(await slider.getAttribute('aria-valuetext'), /^Message 2 · user · .*(kept|dropped)/);
  await page.keyboard.press('Enter');
  const opened = page.locator('.message[open]');
  assert.equal(await opened.locator('.place').textContent(), '2');
  assert.equal(await page.evaluate(() => document.activeElement.localName), 'summary');
});

test('the report and the code follow the policy, and can be taken along', async (t) => {
  const page = await open(t, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.selectOption('#preset', 'cut');
  await page.locator('#tab-messages').press('ArrowRight');
  assert.match(await page.locator('#pane-report').textContent(), /Truncation \(truncation\)/);
  await page.locator('#pane-report').getByRole('button', { name: 'JSON' }).click();
  const report = JSON.parse(await page.locator('#pane-report pre:not([hidden])').textContent());
  assert.equal(report.fits, true);
  await page.locator('#tab-report').press('ArrowRight');
  await page.locator('#pane-code').getByRole('button', { name: 'Copy' }).click();
  const code = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(code, /import \{ loadTamp \} from 'tamp'/);
  assert.match(code, /maxTokens: 32000, toTokens: 24000/);
});

test('"What if?" judges every way by the same check, and Tamp’s are never refused', async (t) => {
  const page = await open(t, { hash: '#compare' });
  const rows = page.locator('#compare-rows tr');
  await rows.first().waitFor();
  await page.waitForFunction(compared);
  const table = await rows.evaluateAll((all) => all.map((row) => ({ name: row.querySelector('label').textContent, ours: row.classList.contains('ours'), verdict: row.dataset.verdict, swept: row.cells[5].textContent })));
  assert.ok(table.length >= 7, `${table.length} rows`);
  for (const row of table.filter(({ ours }) => ours)) {
    assert.notEqual(row.verdict, 'bad', row.name);
    assert.match(row.swept, /^0 of/, row.name);
  }
  const langchain = table.find(({ name }) => name === 'LangChain trimMessages');
  assert.ok(Number.parseInt(langchain.swept, 10) > 0, 'trimMessages cuts through a pair at some budget');
});

/** The chat, ready to be asked. */
async function openChat(t, options) {
  const page = await open(t, { hash: '#chat', ...options });
  await page.locator('#chat-prompts button:not([disabled])').first().waitFor();
  return page;
}

async function ask(page, text) {
  await page.fill('#chat-input', text);
  await page.press('#chat-input', 'Enter');
}

const answered = (page, pattern) => page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#chat-status').textContent), pattern.source);

test('in the live chat a full window is compacted, the badge says so, and the agent was sent less than one can scroll to', async (t) => {
  const page = await openChat(t);
  assert.equal(await page.locator('#chat-badge').getAttribute('state'), 'idle');
  await ask(page, 'Were there slow requests in the logs?');
  await answered(page, /took longer than ten seconds/);
  assert.equal(await page.locator('#chat-badge').getAttribute('state'), 'compacted');
  assert.match(await page.locator('.mark-line').textContent(), /messages were left out of this request/);
  const [stored] = (await page.locator('#chat-stored').textContent()).match(/\d+/);
  const [sent] = (await page.locator('#chat-sent-says').textContent()).match(/\d+/);
  assert.ok(Number(sent) < Number(stored), `${sent} sent, ${stored} stored`);
  assert.ok(await page.locator('.turn.dropped').count() > 0, 'what was not sent is marked');
  await ask(page, 'What do you still remember?');
  await answered(page, /I was sent \d+ messages/);
  const told = Number(/I was sent (\d+) messages/.exec(await page.locator('#chat-status').textContent())[1]);
  assert.equal(told, Number((await page.locator('#chat-sent-says').textContent()).match(/\d+/)[0]), 'the agent and the page agree');
});

test('with compaction off the provider refuses a full window, and the page says what to do', async (t) => {
  const page = await openChat(t);
  await page.selectOption('#chat-window', '8000');
  await page.uncheck('#chat-on');
  await ask(page, 'Compare Ada’s two orders');
  await page.waitForFunction(() => /context_length_exceeded.*Switch compaction on/s.test(document.querySelector('#chat-problem').textContent));
  await page.check('#chat-on');
  await ask(page, 'Compare Ada’s two orders');
  await answered(page, /same two workers/);
  assert.equal(await page.locator('#chat-problem').isVisible(), false);
});

test('a tool of the page asks the person, and the answer goes on with the run', async (t) => {
  const page = await openChat(t);
  await ask(page, 'Refund order HB-71718');
  await page.getByRole('group', { name: 'The agent asks' }).getByRole('button', { name: 'Yes' }).click();
  await answered(page, /refunded in full/);
  assert.equal(await page.getByRole('group', { name: 'The agent asks' }).count(), 0);
});

test('the chat talks to an AG-UI server of the visitor’s own, and says when none answers there', async (t) => {
  const { handler } = await agentFromEnvironment({}, await loadTamp());
  const own = createServer(handler);
  await new Promise((resolve) => own.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    own.closeAllConnections();
    own.close();
  });
  const page = await open(t, { hash: '#chat', expected: /502 \(Bad Gateway\)|HTTP 502/ });
  const ownAddress = `http://127.0.0.1:${own.address().port}/agui`;
  await page.getByText('Talk to your own AG-UI server').click();
  await page.getByLabel('Its address').fill(ownAddress);
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.waitForFunction((text) => document.querySelector('#private').textContent === text, `Messages go to ${ownAddress}`);
  assert.match(await page.locator('#chat-code pre').textContent(), new RegExp(`url: '${ownAddress}'`));
  await page.getByRole('button', { name: 'Compare Ada’s two orders' }).click();
  await page.waitForFunction(() => /same two workers/.test(document.querySelector('#chat-status').textContent));

  await page.getByLabel('Its address').fill('http://127.0.0.1:9/nobody');
  await page.getByLabel('Its address').press('Enter');
  await page.waitForFunction(() => /127\.0\.0\.1:9/.test(document.querySelector('#private').textContent));
  await page.getByRole('button', { name: 'Compare Ada’s two orders' }).click();
  await page.waitForFunction(() => /No AG-UI server answers at http:\/\/127\.0\.0\.1:9\/nobody .*Is it running\?/.test(document.querySelector('#chat-problem').textContent));
  await page.getByLabel('Its address').fill('');
  await page.getByLabel('Its address').press('Enter');
  await page.waitForFunction(() => document.querySelector('#private').textContent === 'Talks to its own server only');
});

test('without its server the chat says what to do, and the rest of the page works', async (t) => {
  const alone = createDemoServer({ root });
  await new Promise((resolve) => alone.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    alone.closeAllConnections();
    alone.close();
  });
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(`http://127.0.0.1:${alone.address().port}/#chat`);
  await page.waitForFunction(() => /make demo/.test(document.querySelector('#chat-problem').textContent));
  assert.ok(await page.locator('#chat-send').isDisabled());
  await page.getByRole('link', { name: 'Trim', exact: true }).click();
  await page.locator('#stat-tokens strong').waitFor();
});

test('a session compacts, survives a reload, puts everything back and undoes', async (t) => {
  const page = await open(t, { hash: '#sessions' });
  const says = (id) => page.locator(id).textContent().then((text) => Number(text.match(/\d+/)[0]));
  await page.locator('#session-ui .nothing').waitFor();
  await page.locator('#session-more').click();
  await page.waitForFunction(() => /^[1-9]/.test(document.querySelector('#session-ui-says').textContent));
  const sent = await says('#session-model-says');
  await page.locator('#session-compact:not([disabled])').click();
  await page.waitForFunction(() => document.querySelector('#session-status').textContent === 'Compacted.');
  const shown = await says('#session-ui-says');
  assert.equal(await says('#session-model-says'), 1);
  assert.match(await page.locator('#session-state').textContent(), /"throughId"/);
  await page.reload();
  await page.waitForFunction(() => /going on from its summary/.test(document.querySelector('#session-status').textContent));
  assert.equal(await says('#session-ui-says'), shown);
  assert.equal(await says('#session-model-says'), 1);
  await page.locator('#session-restore').click();
  await page.waitForFunction((n) => document.querySelector('#session-model-says').textContent.startsWith(`${n} `), sent);
  await page.fill('#session-input', 'One more thing');
  await page.press('#session-input', 'Enter');
  await page.waitForFunction((n) => document.querySelector('#session-ui-says').textContent.startsWith(`${n} `), shown + 2);
  await page.locator('#session-undo:not([disabled])').click();
  await page.waitForFunction((n) => !document.querySelector('#session-ui-says').textContent.startsWith(`${n} `), shown + 2);
});

for (const [scheme, width] of [['light', 1280], ['dark', 360]]) {
  test(`axe finds nothing on any panel, ${scheme}, ${width} px`, async (t) => {
    const page = await open(t, { colorScheme: scheme, viewport: { width, height: 800 } });
    await choose(page, jsonFile('short.json', sample.slice(0, 27)));
    await page.waitForFunction(() => document.querySelector('#source-name').textContent === 'short.json');
    await page.selectOption('#preset', 'collapse');
    for (const n of [2, 3, 4]) await page.locator('.message summary').nth(n).click();
    for (const panel of ['trim', 'chat', 'compare', 'sessions']) {
      await page.evaluate((name) => { location.hash = name; }, panel);
      await page.locator(`#panel-${panel}`).waitFor();
      await page.waitForFunction((name) => !document.querySelector(`#panel-${name}`).textContent.includes('One moment.'), panel);
      // A script tag is what the page's policy allows from nobody: axe comes through the debugger.
      await page.evaluate(await readFile(axe, 'utf8'));
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html).join(' | ')}`), [], panel);
    }
  });
}

test('nothing is wider than a screen of 360 px', async (t) => {
  const page = await open(t, { viewport: { width: 360, height: 740 } });
  for (const panel of ['trim', 'chat', 'compare', 'sessions']) {
    await page.evaluate((name) => { location.hash = name; }, panel);
    await page.locator(`#panel-${panel}`).waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360, panel);
  }
});

test('the page that `make site` makes works under a sub-path of a static host, and offline after one visit', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tamp-site-'));
  const made = spawnSync(process.execPath, [join(root, 'demo/server/build.js'), '--site', join(folder, 'some', 'path')], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const site = await serve(folder);
  const context = await browser.newContext();
  // In this order: a page that still loads asks for files until it is closed.
  t.after(async () => {
    await context.close();
    await site.close();
    await rm(folder, { recursive: true });
  });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(`${site.url}/some/path/index.html`);
  await page.locator('#stat-tokens strong').waitFor();
  assert.deepEqual(complaints, []);
  await cached(page);
  await page.goto(`${site.url}/some/path/index.html#chat`);
  await page.waitForFunction(() => /make demo/.test(document.querySelector('#chat-problem').textContent));
  await page.goto(`${site.url}/some/path/index.html`);
  await context.setOffline(true);
  await page.reload();
  await page.locator('#stat-tokens strong').waitFor();
});

/** Until the service worker has kept what the page has loaded. @param {import('playwright-core').Page} page */
const cached = (page) => page.evaluate(async () => {
  await navigator.serviceWorker.ready;
  const cache = await window.caches.open('tamp-demo-1');
  const wanted = ['/tamp.wasm', '/sample.json', '/trim.js', '/base.css'];
  for (;;) {
    const urls = (await cache.keys()).map(({ url }) => new URL(url).pathname);
    if (wanted.every((end) => urls.some((url) => url.endsWith(end)))) return;
    await new Promise((resolve) => { requestAnimationFrame(resolve); });
  }
});

test('before a file is opened the page transfers less than 150 KB and does not move as it fills', async (t) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  t.after(() => context.close());
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  const samples = new Set();
  session.on('Network.responseReceived', ({ requestId, response }) => response.url.endsWith('/sample.json') && samples.add(requestId));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => { bytes += samples.has(requestId) ? 0 : encodedDataLength; });
  await page.addInitScript(() => {
    window.shift = 0;
    new window.PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(address);
  await page.locator('.messages > li').first().waitFor();
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  t.diagnostic(`${Math.round(bytes / 1000)} KB transferred, layout shift ${await page.evaluate(() => window.shift)}`);
  assert.ok(bytes < 150_000, `${bytes} bytes`);
  assert.ok(await page.evaluate(() => window.shift) < 0.05);
});

test('after one visit the page works without the server', async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(address);
  await page.locator('#stat-tokens strong').waitFor();
  await cached(page);
  await context.setOffline(true);
  await page.reload();
  await page.locator('#stat-tokens strong').waitFor();
  await choose(page, jsonFile('mine.json', sample));
  await page.waitForFunction(() => document.querySelector('#source-name').textContent === 'mine.json');
});
