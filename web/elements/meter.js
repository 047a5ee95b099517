// <context-meter>: how full the model's window is.
import { Speaking, dress, html, svg } from './dom.js';
import { write } from './text.js';

/** @import { Text } from './text.js' */

/** @typedef {{ at: number, label: string }} Mark */
/** @typedef {{ value: Text, passed: Text }} MeterText */

const CSS = `
:host{display:block}
.bar{fill:currentColor;display:block;inline-size:100%;block-size:var(--tamp-size,.5em);border-radius:99em}
:host(:dir(rtl)) .bar{transform:scaleX(-1)}
.track{opacity:.2}
.fill{fill:var(--f,var(--tamp-fill,var(--primary,#3b6fd4)))}
.passed{--f:var(--tamp-warn,#b7791f)}
.full{--f:var(--tamp-full,var(--destructive,#c53030))}
@media (forced-colors:active){.bar{forced-color-adjust:none;outline:1px solid CanvasText}
.fill.fill{fill:Highlight}}`;

/** @type {MeterText} */
const TEXT = { value: '{used} of {limit} tokens ({percent})', passed: ', past {label}' };

/** @param {unknown} value */
const count = (value) => Math.max(0, Number(value)) || 0;

/**
 * How full the model's window is: a bar, a mark at each threshold, and the numbers. Its name for screen readers is its
 * `aria-label`, "Context window" without one. Set `text` to say it otherwise.
 *
 * Attributes: used, limit. Parts: root, bar, track, fill, mark, text. Properties: --tamp-color, -size, -fill,
 * -warn (past a mark), -full.
 * @extends {Speaking<MeterText>}
 */
export class ContextMeter extends Speaking {
  static observedAttributes = ['used', 'limit', 'aria-label'];

  /** @type {readonly Mark[]} */
  #marks = [];
  #root;
  #fill;
  #ticks;
  #line;

  constructor() {
    const fill = svg('rect', 'fill', { height: '100%' });
    const ticks = svg('g', '');
    const line = html('div', 'text', { 'aria-hidden': 'true' });
    const track = svg('rect', 'track', { width: '100%', height: '100%' });
    const root = html('div', 'root', { role: 'meter', 'aria-valuemin': 0 },
      svg('svg', 'bar', { 'aria-hidden': 'true' }, track, fill, ticks), line);
    super(TEXT, CSS, root);
    this.#root = root;
    this.#fill = fill;
    this.#ticks = ticks;
    this.#line = line;
  }

  /** Tokens in use; 0 for what is no number. */
  get used() {
    return count(this.getAttribute('used'));
  }

  set used(used) {
    this.setAttribute('used', String(used));
  }

  /** Tokens the window holds. */
  get limit() {
    return count(this.getAttribute('limit'));
  }

  set limit(limit) {
    this.setAttribute('limit', String(limit));
  }

  /** Thresholds, in tokens. @returns {readonly Mark[]} */
  get marks() {
    return this.#marks;
  }

  set marks(marks) {
    this.#marks = [...marks];
    this.render();
  }

  /** @override @param {string | undefined} locale */
  draw(locale) {
    const { used, limit, text } = this;
    const share = (/** @type {number} */ tokens) => (limit ? Math.min(1, tokens / limit) : 0);
    const marks = this.#marks.filter(({ at }) => at >= 0 && at <= limit).sort((a, b) => a.at - b.at);
    const passed = marks.filter(({ at }) => used > at).at(-1);
    const percent = (limit && used / limit).toLocaleString(locale, { style: 'percent' });
    const said = write(text.value, { used, limit, percent, count: used }, locale);
    this.#line.textContent = said;
    dress(this.#root, {
      class: `root${passed ? ' passed' : ''}${used > limit ? ' full' : ''}`,
      'aria-label': this.getAttribute('aria-label') ?? 'Context window',
      'aria-valuemax': limit,
      'aria-valuenow': Math.min(used, limit),
      'aria-valuetext': said + (passed ? write(text.passed, { label: passed.label, count: passed.at }, locale) : ''),
    });
    dress(this.#fill, { width: `${share(used) * 100}%` });
    this.#ticks.replaceChildren(...marks.map(({ at, label }) =>
      svg('rect', 'mark', { x: `${share(at) * 100}%`, width: 2, height: '100%' }, svg('title', '', {}, label))));
  }
}
