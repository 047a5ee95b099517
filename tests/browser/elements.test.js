// <compaction-badge> and <context-meter> in Chromium.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launch, serve } from './chromium.js';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// The strictest page there is: no inline style, no markup from text, scripts of its own only.
const POLICY = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";
const HTML = '<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>Elements</title>'
  + '<script type="module" src="/page.js"></script><body><main></main></body></html>';
// A page of elements that are put there when asked for.
const PAGE = `
import '/elements-define.js';
window.put = (name, properties = {}, attributes = {}) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  document.querySelector('main').append(element);
  Object.assign(element, properties);
  return element;
};
window.notice = (messageId, removed, before, more) => ({
  messageId, removed, before, after: before - removed, at: 0, origin: 'server', threadId: null, runId: null, ...more,
});
window.part = (name, of = document.querySelector('main').lastElementChild) => of.shadowRoot.querySelector('[part="' + name + '"]');
window.ready = true;
`;

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let site;
/** @type {import('playwright-core').Page} */
let page;
/** @type {string[]} */
let complaints;

before(async () => {
  browser = await launch();
  site = await serve(dist, { 'Content-Security-Policy': POLICY }, { '/page.html': HTML, '/page.js': PAGE, '/favicon.ico': '' });
});
after(async () => {
  await browser?.close();
  await site?.close();
});

/** @param {import('playwright-core').BrowserContextOptions} [options] */
async function open(options = {}) {
  await page?.context().close();
  const context = await browser.newContext(options);
  page = await context.newPage();
  complaints = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${site.url}/page.html`);
  await page.waitForFunction('window.ready');
}
beforeEach(() => open());

// Functions given to `evaluate` run in the page, with what PAGE defines.
/* global put, notice, part, document, getComputedStyle, window, innerWidth, CSSStyleSheet, customElements */

describe('compaction-badge', () => {
  test('says in one line how many messages are no longer sent, by plural rules', async () => {
    const lines = await page.evaluate(() => [1, 8, 1012].map((removed) => {
      const badge = put('compaction-badge');
      badge.add(notice('a', removed, 2000));
      return part('text').textContent;
    }));
    assert.deepEqual(lines, [
      '1 earlier message is no longer sent to the model',
      '8 earlier messages are no longer sent to the model',
      '1,012 earlier messages are no longer sent to the model',
    ]);
    assert.deepEqual(complaints, []);
  });

  test('is out of sight until there is something to say, and when it is hidden', async () => {
    const shown = await page.evaluate(() => {
      const badge = put('compaction-badge');
      const displays = [];
      const look = () => displays.push(getComputedStyle(badge).display);
      look();
      badge.state = 'compacting';
      look();
      badge.add(notice('a', 8, 10));
      displays.push(badge.state);
      badge.hidden = true;
      look();
      badge.hidden = false;
      badge.state = 'failed';
      look();
      badge.clear();
      look();
      return displays;
    });
    assert.deepEqual(shown, ['none', 'block', 'compacted', 'none', 'block', 'none']);
  });

  test('says each state in words, and an unknown one is none', async () => {
    const lines = await page.evaluate(() => ['compacting', 'failed', 'idle', 'no such'].map((state) => {
      put('compaction-badge', { state });
      return part('text').textContent;
    }));
    assert.deepEqual(lines, ['Compacting earlier messages…', 'Compacting earlier messages failed', '', '']);
  });

  test('opens to its compactions with the keyboard', async () => {
    await page.evaluate(() => {
      const badge = put('compaction-badge');
      badge.add(notice('a', 8, 10, { at: Date.UTC(2026, 0, 5, 12, 30), origin: 'client' }));
      badge.add(notice('b', 3, 9));
    });
    const list = page.locator('compaction-badge').getByRole('listitem');
    assert.equal(await list.first().isVisible(), false);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await list.first().isVisible(), true);
    assert.match(String(await list.nth(0).textContent()), /^\d.* · 2 of 10 messages sent$/);
    assert.equal(await list.nth(1).textContent(), '6 of 9 messages sent');
    await page.keyboard.press('Enter');
    assert.equal(await list.first().isVisible(), false);
  });

  test('a server that compacts at every run makes one entry, whose newest numbers count', async () => {
    const said = await page.evaluate(() => {
      const badge = put('compaction-badge');
      for (let run = 0; run < 5; run++) badge.add(notice(`run${run}`, 8 + 2 * run, 10 + 2 * run));
      return [part('text').textContent, ...[...part('list').children].map((item) => item.textContent)];
    });
    assert.deepEqual(said, ['16 earlier messages are no longer sent to the model', '2 of 18 messages sent, 5 times']);
  });

  test('compactions that last add up, those of a run replace each other', async () => {
    const totals = await page.evaluate(() => {
      const badge = put('compaction-badge');
      const total = () => Number.parseInt(part('text').textContent, 10);
      const seen = [];
      for (const [id, removed, phase] of [['a', 41, 'before'], ['b', 41, 'after'], ['c', 40, 'after'], ['d', 5], ['e', 6]]) {
        badge.add(notice(id, removed, 90, { phase, origin: 'client' }));
        seen.push(total());
      }
      return seen;
    });
    assert.deepEqual(totals, [41, 41, 81, 86, 87]);
  });

  test('a notice that comes again is put right, not added', async () => {
    const [line, entries, ids] = await page.evaluate(() => {
      const badge = put('compaction-badge');
      badge.add(notice('a', 8, 10));
      badge.add(notice('a', 9, 11));
      return [part('text').textContent, part('list').children.length, badge.notices.map(({ messageId }) => messageId)];
    });
    assert.equal(line, '9 earlier messages are no longer sent to the model');
    assert.equal(entries, 1);
    assert.deepEqual(ids, ['a']);
  });

  test('listens to an agent while it is in the page, and shows what the agent\'s list holds', async () => {
    const seen = await page.evaluate(() => {
      const subscribers = new Set();
      const content = { removed: 8, before: 10, after: 2 };
      const agent = {
        threadId: 't',
        messages: [{ id: 'old', role: 'activity', activityType: 'compaction', content }],
        subscribe(subscriber) {
          subscribers.add(subscriber);
          return { unsubscribe: () => subscribers.delete(subscriber) };
        },
      };
      const badge = document.createElement('compaction-badge');
      badge.agent = agent;
      const log = [subscribers.size];
      document.querySelector('main').append(badge);
      log.push(subscribers.size, badge.state, part('text').textContent);
      for (const subscriber of subscribers) {
        subscriber.onActivitySnapshotEvent({
          event: { type: 'ACTIVITY_SNAPSHOT', messageId: 'new', activityType: 'compaction', content: { ...content, removed: 9 } }, messages: [],
        });
      }
      log.push(part('text').textContent);
      badge.remove();
      log.push(subscribers.size);
      document.querySelector('main').append(badge);
      log.push(subscribers.size, badge.notices.length);
      badge.agent = null;
      log.push(subscribers.size);
      return log;
    });
    assert.deepEqual(seen, [
      0, 1, 'compacted', '8 earlier messages are no longer sent to the model', '9 earlier messages are no longer sent to the model', 0, 1, 2, 0,
    ]);
  });

  test('properties that were set before the element was known are taken over', async () => {
    const line = await page.evaluate(async () => {
      const element = /** @type {any} */ (document.createElement('early-badge'));
      element.notices = [notice('a', 8, 10)];
      element.text = { compacted: '{count} gone' };
      document.querySelector('main').append(element);
      // A path of the page's own, not this file's.
      const { CompactionBadge } = await import(/* @vite-ignore */ String('/elements.js'));
      customElements.define('early-badge', class extends CompactionBadge {});
      return [part('text').textContent, Object.hasOwn(element, 'notices')];
    });
    assert.deepEqual(line, ['8 gone', false]);
  });

  test('text and format can be replaced, by sentences with plurals and by functions', async () => {
    const lines = await page.evaluate(() => {
      const one = { one: 'eine Nachricht', other: '{count} Nachrichten' };
      const german = put('compaction-badge', { text: { compacted: one } }, { lang: 'de' });
      german.add(notice('a', 1, 10));
      const lines = [part('text').textContent];
      german.add(notice('b', 1234, 9000));
      lines.push(part('text').textContent, part('item').textContent);
      put('compaction-badge', { text: { compacted: ({ count }) => `count: ${count}` } }).add(notice('a', 3, 10));
      lines.push(part('text').textContent);
      const polish = { one: 'wiadomość', few: '{count} wiadomości', many: '{count} wiadomości wiele', other: '?' };
      put('compaction-badge', { text: { compacted: polish } }, { lang: 'pl' }).add(notice('a', 5, 10));
      lines.push(part('text').textContent);
      return lines;
    });
    assert.deepEqual(lines, ['eine Nachricht', '1.234 Nachrichten', '7.766 of 9.000 messages sent, 2 times', 'count: 3', '5 wiadomości wiele']);
  });

  test('is not a live region; one announcer for all badges speaks what is new to those that ask for it', async () => {
    const said = await page.evaluate(() => {
      const regions = () => {
        const found = [];
        const walk = (/** @type {any} */ root) => {
          for (const element of root.querySelectorAll('*')) {
            if (element.matches('[aria-live],[role=status],[role=alert],[role=log]')) found.push(element);
            if (element.shadowRoot) walk(element.shadowRoot);
          }
        };
        walk(document);
        return found;
      };
      const quiet = put('compaction-badge');
      quiet.add(notice('a', 8, 10));
      const log = [regions().length];
      const live = put('compaction-badge', { notices: [notice('a', 8, 10)] }, { live: '' });
      put('compaction-badge', {}, { live: '' });
      log.push(regions().length, regions()[0].textContent, document.querySelector('main').contains(regions()[0].getRootNode().host));
      live.add(notice('b', 9, 12));
      log.push(regions()[0].textContent);
      live.add(notice('b', 10, 12));
      log.push(regions()[0].textContent);
      return log;
    });
    assert.deepEqual(said, [0, 1, '', false, '9 earlier messages are no longer sent to the model', '9 earlier messages are no longer sent to the model']);
  });

  test('content is only ever text', async () => {
    const found = await page.evaluate(() => {
      const evil = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</scr' + 'ipt>{removed}$&\u202e';
      const badge = put('compaction-badge', { text: { compacted: evil, item: evil } });
      badge.add(notice(evil, 8, 10, { origin: evil, threadId: evil, label: evil }));
      put('context-meter', { used: 5, limit: 10, marks: [{ at: 1, label: evil }], text: { value: evil } });
      return [window.hurt, document.querySelector('main').innerHTML.includes('img'), [...document.querySelector('main').children].map((each) => each.shadowRoot.querySelectorAll('img,script').length)];
    });
    assert.deepEqual(found, [undefined, false, [0, 0]]);
    assert.deepEqual(complaints, []);
  });

  test('numbers that are none, and notices that took nothing, say nothing', async () => {
    const state = await page.evaluate(() => {
      const badge = put('compaction-badge');
      for (const removed of [-1, Number.NaN, '<b>', undefined, 0]) badge.add(notice(String(removed), removed, 10));
      return [badge.state, part('text').textContent];
    });
    assert.deepEqual(state, ['idle', '']);
  });

  test('parts and custom properties reach inside', async () => {
    const [style, fallback] = await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`compaction-badge.mine{--tamp-color:rgb(1 2 3);--tamp-radius:7px;--tamp-border:rgb(4 5 6)}
        compaction-badge.mine::part(label){padding:11px} main{--muted-foreground:rgb(9 9 9)}`);
      document.adoptedStyleSheets = [sheet];
      const badge = put('compaction-badge', { className: 'mine' });
      badge.add(notice('a', 8, 10));
      const { color } = getComputedStyle(badge);
      const { borderRadius, borderTopColor } = getComputedStyle(part('root'));
      const { paddingTop } = getComputedStyle(part('label'));
      return [{ color, borderRadius, borderTopColor, paddingTop }, getComputedStyle(put('compaction-badge')).color];
    });
    assert.deepEqual(style, { color: 'rgb(1, 2, 3)', borderRadius: '7px', borderTopColor: 'rgb(4, 5, 6)', paddingTop: '11px' });
    assert.equal(fallback, 'rgb(9, 9, 9)', 'the page\'s theme');
  });

  test('nothing moves for those who asked for less motion', async () => {
    for (const [reducedMotion, expected] of /** @type {['reduce' | 'no-preference', string][]} */ ([['no-preference', 'fade'], ['reduce', 'none']])) {
      await open({ reducedMotion });
      assert.equal(await page.evaluate(() => {
        put('compaction-badge', { state: 'compacting' });
        return getComputedStyle(part('icon')).animationName;
      }), expected);
    }
  });

  test('in forced colours lines and text are the system\'s', async () => {
    await open({ forcedColors: 'active' });
    const colours = await page.evaluate(() => {
      put('compaction-badge').add(notice('a', 8, 10));
      const border = getComputedStyle(part('root')).borderTopColor;
      const probe = document.createElement('p');
      document.body.append(probe);
      return [border, getComputedStyle(probe).color];
    });
    assert.equal(colours[0], colours[1]);
  });

  test('right to left: the icon stands at the right, and an English line keeps its order', async () => {
    const [icon, text, width] = await page.evaluate(() => {
      document.documentElement.dir = 'rtl';
      put('compaction-badge').add(notice('a', 8, 10));
      const range = document.createRange();
      range.setStart(part('text').firstChild, 0);
      range.setEnd(part('text').firstChild, 1);
      return [part('icon').getBoundingClientRect().left, range.getBoundingClientRect().left, innerWidth];
    });
    assert.ok(icon > width - 60, 'the icon');
    assert.ok(text < icon - 100, 'the number stands at the start of the sentence');
  });
});

describe('context-meter', () => {
  test('is a meter with the numbers in words', async () => {
    await page.evaluate(() => put('context-meter', { used: 3200, limit: 8000, marks: [{ at: 2000, label: 'collapse tools' }] }));
    const meter = page.getByRole('meter', { name: 'Context window' });
    for (const [attribute, value] of [['min', '0'], ['max', '8000'], ['now', '3200'], ['text', '3,200 of 8,000 tokens (40%), past collapse tools']]) {
      assert.equal(await meter.getAttribute(`aria-value${attribute}`), value);
    }
    assert.match(await page.locator('main').ariaSnapshot(), /meter "Context window"/);
    assert.deepEqual(complaints, []);
  });

  test('takes its numbers from attributes as well, and its name from aria-label', async () => {
    await page.evaluate(() => put('context-meter', {}, { used: '10', limit: '40', 'aria-label': 'Window of the model' }));
    assert.equal(await page.getByRole('meter', { name: 'Window of the model' }).getAttribute('aria-valuetext'), '10 of 40 tokens (25%)');
  });

  test('fills up to the limit, never beyond, and marks stand where they are', async () => {
    const drawn = await page.evaluate(() => [[0, 100], [50, 100], [300, 100], [5, 0], ['x', 'y'], [-3, 100]].map(([used, limit]) => {
      put('context-meter', { used, limit, marks: [{ at: 80, label: 'b' }, { at: 40, label: 'a' }, { at: 1000, label: 'outside' }] });
      return [part('fill').getAttribute('width'), [...part('root').querySelectorAll('[part=mark]')].map((mark) => mark.getAttribute('x')).join(), part('root').className];
    }));
    assert.deepEqual(drawn, [
      ['0%', '40%,80%', 'root'], ['50%', '40%,80%', 'root passed'], ['100%', '40%,80%', 'root passed full'],
      ['0%', '', 'root full'], ['0%', '', 'root'], ['0%', '40%,80%', 'root'],
    ]);
  });

  test('fills from the right where reading starts there', async () => {
    const [fill, bar] = await page.evaluate(() => {
      document.documentElement.dir = 'rtl';
      put('context-meter', { used: 10, limit: 100 });
      return [part('fill').getBoundingClientRect().right, part('bar').getBoundingClientRect().right];
    });
    assert.ok(Math.abs(fill - bar) < 1);
  });

  test('in forced colours the filled part can be told from the rest', async () => {
    await open({ forcedColors: 'active' });
    const [fill, highlight] = await page.evaluate(() => {
      put('context-meter', { used: 90, limit: 100, marks: [{ at: 50, label: 'x' }] });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('.probe{forced-color-adjust:none;color:Highlight}');
      document.adoptedStyleSheets = [sheet];
      const probe = document.createElement('p');
      probe.className = 'probe';
      document.body.append(probe);
      return [getComputedStyle(part('fill')).fill, getComputedStyle(probe).color];
    });
    assert.equal(fill, highlight);
  });
});

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`axe finds nothing, ${colorScheme}`, async () => {
    await open({ colorScheme, bypassCSP: true });
    await page.evaluate(() => {
      const badge = put('compaction-badge', {}, { live: '' });
      badge.add(notice('a', 8, 10, { at: Date.now() }));
      part('details').open = true;
      put('compaction-badge', { state: 'compacting' });
      put('compaction-badge', { state: 'failed' });
      put('context-meter', { used: 90, limit: 100, marks: [{ at: 50, label: 'x' }] });
    });
    await page.evaluate(axe);
    const violations = await page.evaluate(async () => {
      const found = await window.axe.run(document.querySelector('main'), { rules: { region: { enabled: false } } });
      return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    });
    assert.deepEqual(violations, []);
  });
}

test('the badge reads well in the accessibility tree', async () => {
  await page.evaluate(() => {
    put('compaction-badge').add(notice('a', 8, 10));
    part('details').open = true;
  });
  const tree = await page.locator('main').ariaSnapshot();
  assert.match(tree, /- note:/);
  assert.match(tree, /8 earlier messages are no longer sent to the model/);
  assert.match(tree, /listitem: 2 of 10 messages sent/);
  assert.doesNotMatch(tree, /img|graphics|svg/);
});
