// <compaction-badge>: one line that says what the model no longer gets, with the compactions behind it.
import { onCompaction } from '../ag-ui/listener.js';
import { restoreCompactions } from '../ag-ui/notice.js';
import { announce, prepareAnnouncer } from './announcer.js';
import { Speaking, html, svg } from './dom.js';
import { write } from './text.js';

/** @import { CompactionNotice } from '../ag-ui/types.js' */
/** @import { Text } from './text.js' */

/** @typedef {'idle' | 'compacting' | 'compacted' | 'failed'} State */
/** @typedef {{ compacting: Text, compacted: Text, failed: Text, repeats: Text, item: Text }} BadgeText */

// Forced colours need no rule: text, borders and lines of the current colour are what they take over.
const CSS = `
:host{display:none}
:host([state]:not([state=idle])){display:block}
.root{border:1px solid var(--tamp-border,var(--border,color-mix(in srgb,currentColor 25%,transparent)));
border-radius:var(--tamp-radius,.5rem);background:var(--tamp-background,transparent)}
.label{display:flex;align-items:center;gap:.5em;padding:.375em .75em;border-radius:inherit;cursor:pointer}
.label::-webkit-details-marker{display:none}
.icon,.chevron{flex:none;inline-size:1em;block-size:1em;fill:none;stroke:currentColor;stroke-width:1.5}
.text{flex:1}
[open] .chevron{transform:scaleY(-1)}
.list{margin:0;padding:0 .75em .5em 2.25em;list-style:none}
.root:not(:has(li)) .chevron{display:none}
:host([state=failed]) .root{border-style:dashed}
@media (prefers-reduced-motion:no-preference){:host([state=compacting]) .icon{animation:fade 1s infinite alternate}}
@keyframes fade{to{opacity:.3}}`;

/** @type {BadgeText} */
const TEXT = {
  compacting: 'Compacting earlier messages…',
  compacted: {
    one: '{count} earlier message is no longer sent to the model',
    other: '{count} earlier messages are no longer sent to the model',
  },
  failed: 'Compacting earlier messages failed',
  repeats: ', {count} times',
  item: '{time}{after} of {before} messages sent{repeats}',
};

/** Whether a compaction lasts; others are made anew at every run, of the whole history. @param {CompactionNotice} notice */
const lasts = ({ phase }) => phase === 'after';

/** @param {string} part @param {string} d */
const drawing = (part, d) => svg('svg', part, { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, svg('path', '', { d }));

/**
 * One line that says what happened, with the history of compactions behind it. It stays out of sight while `state` is
 * "idle", and is no live region: with the attribute `live` it speaks through one that all badges share. Numbers and its own
 * sentences are all it shows. Set `text` to say it otherwise.
 *
 * Parts: root, details, label, icon, text, chevron, list, item. Slot: icon. Properties: --tamp-color, -border,
 * -background, -radius.
 * @extends {Speaking<BadgeText>}
 */
export class CompactionBadge extends Speaking {
  static observedAttributes = ['state', 'live'];

  /** @type {unknown} */
  #agent = null;
  #stop = () => {};
  /** By messageId. @type {Map<string, CompactionNotice>} */
  #notices = new Map();
  #line;
  #list;

  constructor() {
    const line = html('span', 'text');
    const list = html('ol', 'list');
    const icon = html('slot', '', { name: 'icon' }, drawing('icon', 'M8 1v5L5 3m3 3l3-3M2 8h12M8 15v-5l-3 3m3-3l3 3'));
    super(TEXT, CSS, html('div', 'root', { role: 'note' }, html('details', 'details', {},
      html('summary', 'label', {}, icon, line, drawing('chevron', 'M5 6l3 3 3-3')), list)));
    this.#line = line;
    this.#list = list;
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    this.#listen();
  }

  disconnectedCallback() {
    this.#stop();
  }

  /** The agent to listen to; its list's notices are shown, others are added as they come. @returns {unknown} */
  get agent() {
    return this.#agent;
  }

  set agent(agent) {
    this.#agent = agent;
    this.#listen();
  }

  /** In order, one for each messageId. @returns {readonly CompactionNotice[]} */
  get notices() {
    return [...this.#notices.values()];
  }

  set notices(notices) {
    this.#notices.clear();
    for (const notice of notices) this.#put(notice);
    this.state = this.#total() ? 'compacted' : 'idle';
  }

  /** @returns {State} */
  get state() {
    return /** @type {State} */ (this.getAttribute('state') ?? 'idle');
  }

  set state(state) {
    this.setAttribute('state', state);
  }

  /** Show a notice, or its new numbers when it is here already. @param {CompactionNotice} notice */
  add(notice) {
    const isNew = !this.#notices.has(notice.messageId);
    this.#put(notice);
    if (!this.#total()) return;
    this.state = 'compacted';
    if (isNew && this.hasAttribute('live')) announce(/** @type {string} */ (this.#line.textContent));
  }

  /** Forget all notices, as for another thread. */
  clear() {
    this.notices = [];
  }

  /** @param {CompactionNotice} notice */
  #put(notice) {
    if (notice.removed >= 0) this.#notices.set(notice.messageId, notice);
  }

  #listen() {
    this.#stop();
    this.#stop = () => {};
    const agent = /** @type {any} */ (this.#agent);
    if (!agent || !this.isConnected) return;
    for (const notice of restoreCompactions(agent.messages ?? [])) this.#put(notice);
    if (this.#total()) this.state = 'compacted';
    this.#stop = onCompaction(agent, (notice) => this.add(notice));
  }

  /** How many messages are not sent any more. */
  #total() {
    let lasting = 0;
    let latest = 0;
    for (const notice of this.#notices.values()) {
      if (lasts(notice)) {
        lasting += notice.removed;
        latest = 0;
      } else {
        latest = notice.removed;
      }
    }
    return lasting + latest;
  }

  /** @override @param {string | undefined} locale */
  draw(locale) {
    if (this.hasAttribute('live')) prepareAnnouncer();
    const { state, text } = this;
    this.#line.textContent = write(/** @type {any} */ (text)[state] ?? '', { count: this.#total() }, locale);
    /** A server that compacts at every run says the same again and again: one entry. @type {[CompactionNotice, number][]} */
    const entries = [];
    for (const notice of this.#notices.values()) {
      const [last, times] = entries.at(-1) ?? [];
      const repeats = last && !lasts(notice) && !lasts(last) && last.origin === notice.origin;
      if (repeats) entries.pop();
      entries.push([notice, repeats ? /** @type {number} */ (times) + 1 : 1]);
    }
    this.#list.replaceChildren(...entries.map(([{ at, removed, before, after }, count]) => html('li', 'item', {}, write(text.item, {
      count: removed,
      removed,
      before,
      after,
      time: at ? `${new Date(at).toLocaleTimeString(locale, { timeStyle: 'short' })} · ` : '',
      repeats: count > 1 ? write(text.repeats, { count }, locale) : '',
    }, locale))));
  }
}
