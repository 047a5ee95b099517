import { h, once, svg } from './dom.js';
import { count, oneLine, plural } from './format.js';
import { preview } from './describe.js';

const ROOM = 112; // of the highest bar, up and down alike
const AXIS = ROOM + 12; // Above it stands what the transcript holds, below it what is sent.
const HEIGHT = AXIS * 2;
const SLIMMEST = 2; // px; where there are more messages than that, a bar stands for several

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
  #note;
  #entries = [];
  #groups = [];
  /** Instead of entries, where there are too many. @type {{ messages: number, dropped: number, rewritten: number }[] | null} */
  #stretches = null;
  #width = 0;
  #pitch = 4;
  /** Messages a bar stands for. */
  #each = 1;
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
    this.#note = h('p', { class: 'tip' });
    root.replaceChildren(this.#scroller, this.#tip, this.#note);
    this.#scroller.addEventListener('pointermove', (event) => this.#choose(this.#at(event)));
    this.#scroller.addEventListener('click', (event) => this.#open(this.#at(event)));
    this.#scroller.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(this.#draw).observe(root);
  }

  /**
   * A long transcript, by stretches: each as high as it has messages, what is left of them full, what went an outline.
   * @param {{ messages: number, dropped: number, rewritten: number }[]} stretches
   * @param {string} words  what is drawn, in a sentence
   */
  showStretches(stretches, words) {
    this.#entries = [];
    this.#stretches = stretches;
    this.#root.dataset.drawn = 'stretches';
    for (const name of ['tabindex', 'aria-valuemin', 'aria-valuemax', 'aria-valuenow', 'aria-valuetext']) this.#scroller.removeAttribute(name);
    this.#scroller.setAttribute('role', 'img');
    this.#scroller.setAttribute('aria-label', words);
    this.#tip.textContent = words;
    this.#draw();
  }

  /** @param {object[]} entries  @param {{kind: string, indices: number[]}[]} groups  by place in the transcript */
  show(entries, groups) {
    this.#stretches = null;
    this.#root.dataset.drawn = 'messages';
    for (const [name, value] of [['role', 'slider'], ['tabindex', '0'], ['aria-label', 'Messages of the transcript'], ['aria-valuemin', '1'], ['aria-valuenow', '1']]) this.#scroller.setAttribute(name, value);
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
    if (this.#stretches && room) return this.#renderStretches(this.#stretches, room);
    if (!entries.length || !room) return this.#svg.replaceChildren();
    this.#each = Math.max(1, Math.ceil((entries.length * SLIMMEST) / room));
    const columns = Math.ceil(entries.length / this.#each);
    this.#pitch = Math.min(24, room / columns);
    this.#width = room;
    const most = entries.reduce((max, entry) => Math.max(max, entry.tokens, entry.sentTokens), 1);
    this.#scale = ROOM / Math.sqrt(most);
    const gap = this.#pitch > 3 ? 1 : this.#pitch * 0.2;
    const wide = Math.round((this.#pitch - gap) * 100) / 100;
    const paths = new Map();
    const place = [];
    const bar = (name, x, y, height) => {
      paths.set(name, `${paths.get(name) ?? ''}M${x.toFixed(2)} ${y.toFixed(1)}h${wide}v${height.toFixed(1)}h${-wide}z`);
    };
    for (let column = 0; column < columns; column += 1) {
      const part = entries.slice(column * this.#each, (column + 1) * this.#each);
      const x = column * this.#pitch;
      for (const { index } of part) if (index !== null) place[index] = column;
      const held = largest(part.filter(({ state }) => state !== 'added'), ({ tokens }) => tokens);
      const sent = largest(part.filter((entry) => entry.sent !== null && entry.description.role !== 'activity'), ({ sentTokens }) => sentTokens);
      if (held) {
        const up = this.#height(held.tokens);
        bar(`${held.description.role} ${held.state}`, x, AXIS - 7 - up, up);
      }
      if (sent) bar(`${sent.state === 'added' ? 'summary' : sent.description.role} sent ${sent.state}`, x, AXIS + 7, this.#height(sent.sentTokens));
    }
    let brackets = '';
    for (const { indices } of this.#groups) {
      if (indices.length < 2 || this.#each > 1) continue;
      const at = indices.map((index) => place[index]).filter((n) => n !== undefined);
      const from = Math.min(...at) * this.#pitch;
      const to = Math.max(...at) * this.#pitch + wide;
      if (to - from > 3) brackets += `M${from.toFixed(1)} ${AXIS - 4}v4h${(to - from).toFixed(1)}v-4`;
    }
    this.#svg.classList.toggle('dense', this.#pitch < 4);
    this.#note.textContent = this.#each > 1 ? `Each bar stands for ${this.#each} messages and is as high as the largest of them.` : '';
    this.#svg.setAttribute('width', this.#width);
    this.#svg.setAttribute('viewBox', `0 0 ${this.#width} ${HEIGHT}`);
    this.#svg.replaceChildren(
      svg('path', { class: 'axis', d: `M0 ${AXIS + 3.5}H${this.#width}` }),
      svg('path', { class: 'brackets', d: brackets }),
      ...[...paths].map(([name, d]) => svg('path', { class: name, d })),
      svg('rect', { class: 'cursor', x: -10, y: 0, width: Math.max(wide, 2), height: HEIGHT, rx: 1 }));
    this.#point();
  }

  #renderStretches(stretches, room) {
    const pitch = room / stretches.length;
    const wide = Math.max(0.5, pitch - Math.min(1, pitch * 0.2));
    const most = stretches.reduce((max, { messages }) => Math.max(max, messages), 1);
    const paths = { dropped: '', rewritten: '', kept: '' };
    stretches.forEach(({ messages, dropped, rewritten }, n) => {
      let y = AXIS;
      for (const [name, count] of [['kept', messages - dropped - rewritten], ['rewritten', rewritten], ['dropped', dropped]]) {
        const tall = (count / most) * ROOM;
        if (count === 0) continue;
        y -= tall;
        paths[name] += `M${(n * pitch).toFixed(2)} ${y.toFixed(1)}h${wide.toFixed(2)}v${tall.toFixed(1)}h${(-wide).toFixed(2)}z`;
      }
    });
    this.#note.textContent = `Each bar stands for ${plural(most, 'message')}: full what is kept, light what is rewritten, an outline what went.`;
    this.#svg.classList.remove('dense');
    this.#svg.setAttribute('width', room);
    this.#svg.setAttribute('viewBox', `0 0 ${room} ${HEIGHT}`);
    this.#svg.replaceChildren(svg('path', { class: 'axis', d: `M0 ${AXIS + 3.5}H${room}` }), ...Object.entries(paths).map(([name, d]) => svg('path', { class: `assistant ${name}`, d })));
  }

  #at(event) {
    const box = this.#svg.getBoundingClientRect();
    const from = Math.floor((event.clientX - box.left) / this.#pitch) * this.#each;
    if (from < 0 || from >= this.#entries.length) return -1;
    const part = this.#entries.slice(from, from + this.#each);
    return from + part.indexOf(largest(part, ({ tokens, sentTokens }) => Math.max(tokens, sentTokens)));
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
    cursor.setAttribute('x', Math.floor(this.#chosen / this.#each) * this.#pitch);
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
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.#open(Math.max(0, this.#chosen));
    }
  }
}

const largest = (entries, size) => entries.reduce((best, entry) => (best === null || size(entry) > size(best) ? entry : best), null);

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
