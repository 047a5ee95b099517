import { $, h } from './dom.js';
import { count, oneLine, plural, visible } from './format.js';
import { describe, preview } from './describe.js';

const CHUNK = 120;
const LONGEST = 20_000;
const STATES = [['all', 'All'], ['kept', 'Kept'], ['rewritten', 'Rewritten'], ['dropped', 'Dropped'], ['added', 'Added']];

/**
 * The list of messages with what became of each. Rows are made as they are scrolled to, texts
 * when a row is opened, so that a long transcript is there at once.
 */
export class MessageList {
  #entries = [];
  #shown = [];
  #made = 0;
  #state = 'all';
  #list;
  #end;
  #filters;

  constructor(root) {
    this.#filters = h('div', { class: 'segmented', role: 'group', 'aria-label': 'Which messages to show' });
    this.#list = h('ol', { class: 'messages' });
    this.#end = h('div', { class: 'more' }, h('button', { type: 'button', onclick: () => this.#more() }, 'Show more messages'));
    root.replaceChildren(this.#filters, this.#list, this.#end);
    new IntersectionObserver((seen) => {
      if (seen.some((each) => each.isIntersecting)) this.#more();
    }, { rootMargin: '600px' }).observe(this.#end);
  }

  /** No list, and why. @param {string} why */
  showNone(why) {
    this.#entries = this.#shown = [];
    this.#filters.replaceChildren();
    this.#list.replaceChildren(h('li', { class: 'nothing' }, why));
    this.#end.hidden = true;
  }

  /** @param {import('./story.js').Entry[]} entries */
  show(entries) {
    this.#entries = entries;
    const counts = new Map();
    for (const { state } of entries) counts.set(state, (counts.get(state) ?? 0) + 1);
    if (this.#state !== 'all' && !counts.has(this.#state)) this.#state = 'all';
    const focused = this.#filters.contains(document.activeElement) ? document.activeElement.dataset.state : null;
    this.#filters.replaceChildren(...STATES.map(([state, name]) => h('button', {
      type: 'button', 'data-state': state, 'aria-pressed': String(state === this.#state), disabled: state !== 'all' && !counts.has(state),
      onclick: () => this.#filter(state),
    }, name, ' ', h('span', { class: 'n' }, count(state === 'all' ? entries.length : counts.get(state) ?? 0)))));
    if (focused) $(`[data-state="${focused}"]`, this.#filters)?.focus();
    this.#render();
  }

  /** Scroll to a message and open it. */
  open(entry) {
    if (!this.#shown.includes(entry)) {
      this.#state = 'all';
      this.show(this.#entries);
    }
    const n = this.#shown.indexOf(entry);
    if (n < 0) return;
    while (this.#made <= n) this.#more();
    const details = this.#list.children[n].firstElementChild;
    details.open = true;
    details.scrollIntoView({ block: 'center', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
    details.firstElementChild.focus({ preventScroll: true });
  }

  #filter(state) {
    this.#state = state;
    for (const button of this.#filters.children) button.setAttribute('aria-pressed', String(button.dataset.state === state));
    this.#render();
  }

  #render() {
    const open = new Set([...this.#list.querySelectorAll('details[open]')].map((details) => details.dataset.key));
    const before = Math.max(CHUNK, Math.min(this.#made, CHUNK * 4));
    this.#shown = this.#state === 'all' ? this.#entries : this.#entries.filter(({ state }) => state === this.#state);
    this.#made = 0;
    this.#list.replaceChildren();
    this.#more(before, open);
  }

  #more(size = CHUNK, open = new Set()) {
    const part = this.#shown.slice(this.#made, this.#made + size);
    this.#made += part.length;
    this.#list.append(...part.map((entry) => row(entry, open)));
    this.#end.hidden = this.#made >= this.#shown.length;
  }
}

function row(entry, open) {
  const { role } = entry.description;
  const key = entry.index === null ? `+${entry.description.id}` : String(entry.index);
  const tag = role === 'activity' && entry.state === 'kept' ? 'not sent' : entry.state;
  const details = h('details', { class: `message ${role} ${entry.state}`, 'data-key': key },
    h('summary', null,
      h('span', { class: 'place' }, entry.index === null ? '+' : count(entry.index + 1)),
      h('span', { class: 'role' }, role),
      h('span', { class: 'says' }, visible(oneLine(preview(entry.description), 220))),
      h('span', { class: 'size' },
        entry.index === null ? plural(entry.sentTokens, 'token')
          : entry.state === 'rewritten' ? `${count(entry.tokens)} → ${plural(entry.sentTokens, 'token')}` : plural(entry.tokens, 'token')),
      h('span', { class: 'state' }, tag),
      entry.reason ? h('span', { class: 'reason' }, visible(entry.reason)) : null));
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(body(entry));
  });
  if (open.has(key)) details.open = true;
  return h('li', null, details);
}

function body(entry) {
  if (entry.state !== 'rewritten') return h('div', { class: 'body' }, parts(entry.description));
  return h('div', { class: 'body two' },
    h('div', null, h('h3', null, 'In the transcript'), parts(entry.description)),
    h('div', null, h('h3', null, 'Sent instead'), parts(describe(entry.sent))));
}

function parts(description) {
  const block = (label, text, name = '') => h('div', { class: `part ${name}` }, label ? h('span', { class: 'part-label' }, visible(label)) : null, h('pre', { tabindex: '0' }, clip(text)));
  const all = [
    ...description.texts.map(({ text, label }) => block(label, text)),
    ...description.calls.map((call) => block(`calls ${call.name}`, pretty(call.arguments), 'call')),
    ...description.results.map((result) => block(result.error ? 'failed result' : 'result', result.text, result.error ? 'failed' : '')),
  ];
  return all.length ? all : [h('p', { class: 'nothing' }, 'No text in this message.')];
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).replaceAll('\\n', '\n');
  } catch {
    return text;
  }
}

function clip(text) {
  if (text.length <= LONGEST) return visible(text);
  return `${visible(text.slice(0, LONGEST))}\n… ${count(text.length - LONGEST)} more characters are in the file but not shown here.`;
}
