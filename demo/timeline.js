import { h, once, svg } from './dom.js';
import { count, oneLine, plural } from './format.js';
import { preview } from './describe.js';

const ROOM = 112; // of the highest bar, up and down alike
const AXIS = ROOM + 12; // Above it stands what the transcript holds, below it what is sent.
const HEIGHT = AXIS * 2;
const SLIMMEST = 1.5;

/**
 * One bar a message, as a picture: upwards what the transcript holds, downwards what is sent, coloured by
 * role. A few paths draw it all, so that ten thousand messages cost as much as ten. Works as a slider: arrow keys
 * choose a message, Enter opens it in the list.
 */
export class Timeline {
  #root;
  #scroller;
  #svg;
  #tip;
  #entries = [];
  #groups = [];
  #width = 0;
  #pitch = 4;
  #scale = 1;
  #chosen = -1;
  #onOpen;
  #draw = once(() => this.#render());

  /** @param {HTMLElement} root  @param {(entry: object) => void} onOpen  the visitor wants to read a message */
  constructor(root, onOpen) {
    this.#root = root;
    this.#onOpen = onOpen;
    this.#svg = svg('svg', { class: 'bars', height: HEIGHT, 'aria-hidden': 'true', focusable: 'false' });
    this.#tip = h('p', { class: 'tip', 'aria-hidden': 'true' }, 'Point at a bar, or use the arrow keys, to see what it stands for.');
    this.#scroller = h('div', { class: 'bars-scroll', tabindex: '0', role: 'slider', 'aria-label': 'Messages of the transcript', 'aria-valuemin': '1', 'aria-valuemax': '1', 'aria-valuenow': '1' }, this.#svg);
    root.replaceChildren(this.#scroller, this.#tip);
    this.#scroller.addEventListener('pointermove', (event) => this.#choose(this.#at(event)));
    this.#scroller.addEventListener('click', (event) => this.#open(this.#at(event)));
    this.#scroller.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(this.#draw).observe(root);
  }

  /** @param {object[]} entries  @param {{kind: string, indices: number[]}[]} groups  by place in the transcript */
  show(entries, groups) {
    this.#entries = entries;
    this.#groups = groups;
    this.#chosen = Math.min(this.#chosen, entries.length - 1);
    this.#scroller.setAttribute('aria-valuemax', String(Math.max(1, entries.length)));
    this.#draw();
  }

  #height(tokens) {
    return tokens > 0 ? Math.max(2, Math.sqrt(tokens) * this.#scale) : 2;
  }

  #render() {
    const entries = this.#entries;
    const room = this.#root.clientWidth;
    if (!entries.length || !room) return this.#svg.replaceChildren();
    this.#pitch = Math.min(24, Math.max(SLIMMEST, room / entries.length));
    this.#width = Math.max(room, Math.ceil(this.#pitch * entries.length));
    const most = entries.reduce((max, entry) => Math.max(max, entry.tokens, entry.sentTokens), 1);
    this.#scale = ROOM / Math.sqrt(most);
    const gap = this.#pitch > 3 ? 1 : this.#pitch * 0.2;
    const wide = Math.round((this.#pitch - gap) * 100) / 100;
    const paths = new Map();
    const place = [];
    const bar = (name, x, y, height) => {
      paths.set(name, `${paths.get(name) ?? ''}M${x.toFixed(2)} ${y.toFixed(1)}h${wide}v${height.toFixed(1)}h${-wide}z`);
    };
    entries.forEach((entry, n) => {
      const x = n * this.#pitch;
      if (entry.index !== null) place[entry.index] = n;
      const { role } = entry.description;
      const up = this.#height(entry.tokens);
      if (entry.state !== 'added') bar(`${role} ${entry.state}`, x, AXIS - 7 - up, up);
      if (entry.sent !== null && role !== 'activity') {
        const down = this.#height(entry.sentTokens);
        bar(`${entry.state === 'added' ? 'summary' : role} sent ${entry.state}`, x, AXIS + 7, down);
      }
    });
    let brackets = '';
    for (const { indices } of this.#groups) {
      if (indices.length < 2) continue;
      const at = indices.map((index) => place[index]).filter((n) => n !== undefined);
      const from = Math.min(...at) * this.#pitch;
      const to = Math.max(...at) * this.#pitch + wide;
      if (to - from > 3) brackets += `M${from.toFixed(1)} ${AXIS - 4}v4h${(to - from).toFixed(1)}v-4`;
    }
    this.#svg.setAttribute('width', this.#width);
    this.#svg.setAttribute('viewBox', `0 0 ${this.#width} ${HEIGHT}`);
    this.#svg.replaceChildren(
      svg('path', { class: 'axis', d: `M0 ${AXIS + 3.5}H${this.#width}` }),
      svg('path', { class: 'brackets', d: brackets }),
      ...[...paths].map(([name, d]) => svg('path', { class: name, d })),
      svg('rect', { class: 'cursor', x: -10, y: 0, width: Math.max(wide, 2), height: HEIGHT, rx: 1 }));
    this.#point();
  }

  #at(event) {
    const box = this.#svg.getBoundingClientRect();
    const n = Math.floor((event.clientX - box.left) / this.#pitch);
    return n >= 0 && n < this.#entries.length ? n : -1;
  }

  #choose(n) {
    if (n < 0 || n === this.#chosen) return;
    this.#chosen = n;
    this.#point();
  }

  #point() {
    const entry = this.#entries[this.#chosen];
    const cursor = this.#svg.querySelector('.cursor');
    if (!entry || !cursor) return;
    cursor.setAttribute('x', this.#chosen * this.#pitch);
    const words = describeEntry(entry);
    this.#tip.replaceChildren(h('strong', null, words.what), ` ${words.says}`);
    this.#scroller.setAttribute('aria-valuenow', String(this.#chosen + 1));
    this.#scroller.setAttribute('aria-valuetext', `${words.what} ${words.says}`);
  }

  #open(n) {
    if (n < 0) return;
    this.#choose(n);
    this.#onOpen(this.#entries[n]);
  }

  #key(event) {
    const last = this.#entries.length - 1;
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
    if (event.key in steps) {
      event.preventDefault();
      const n = Math.max(0, Math.min(last, this.#chosen + steps[event.key]));
      this.#choose(n);
      const x = n * this.#pitch;
      if (x < this.#scroller.scrollLeft || x > this.#scroller.scrollLeft + this.#scroller.clientWidth - 40) this.#scroller.scrollLeft = x - this.#scroller.clientWidth / 2;
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.#open(Math.max(0, this.#chosen));
    }
  }
}

/** An entry in words, for the line under the drawing and for a screen reader. */
function describeEntry(entry) {
  const { role } = entry.description;
  const place = entry.index === null ? 'Added' : `Message ${entry.index + 1}`;
  const size = entry.state === 'rewritten' ? `${count(entry.tokens)} → ${plural(entry.sentTokens, 'token')}` : plural(entry.index === null ? entry.sentTokens : entry.tokens, 'token');
  const fate = role === 'activity' && entry.state === 'kept' ? 'for people, never sent' : entry.index === null ? '' : entry.state;
  return {
    what: [place, role, size, fate].filter(Boolean).join(' · '),
    says: entry.state === 'dropped' || entry.state === 'rewritten' ? entry.reason : oneLine(preview(entry.description), 160),
  };
}
