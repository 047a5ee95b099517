import { h } from './dom.js';

const TOKEN = /(\/\/[^\n]*)|('(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\b(import|from|const|await|new|export|return|async)\b|\b(\d[\d_]*(?:\.\d+)?)\b/g;
const KINDS = ['comment', 'string', 'keyword', 'number'];

/** Lines of JS with a button that copies them. `show(text)` changes them. */
export class Code {
  #pre;
  #text = '';

  constructor(root, label) {
    this.#pre = h('pre', { tabindex: '0', role: 'region', 'aria-label': label });
    const said = h('span', { class: 'sr', role: 'status' });
    const button = h('button', {
      type: 'button',
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(this.#text);
          button.textContent = 'Copied';
          said.textContent = 'The code is in the clipboard.';
        } catch {
          const range = document.createRange();
          range.selectNodeContents(this.#pre);
          document.getSelection().removeAllRanges();
          document.getSelection().addRange(range);
          button.textContent = 'Selected: press Ctrl C';
        }
        setTimeout(() => { button.textContent = 'Copy'; }, 2500);
      },
    }, 'Copy');
    root.replaceChildren(h('div', { class: 'code' }, this.#pre, button, said));
  }

  get text() {
    return this.#text;
  }

  show(text) {
    this.#text = text;
    const parts = [];
    let last = 0;
    for (const match of text.matchAll(TOKEN)) {
      parts.push(text.slice(last, match.index));
      const kind = KINDS[match.slice(1).findIndex((group) => group !== undefined)];
      parts.push(h('span', { class: kind }, match[0]));
      last = match.index + match[0].length;
    }
    parts.push(text.slice(last));
    this.#pre.replaceChildren(...parts);
  }
}

/** A value as a JS literal: keys without quotes where they need none, single quotes. */
export function literal(value, indent = 0, width = 84) {
  const flat = inline(value);
  if (flat.length + indent <= width || typeof value !== 'object' || value === null) return flat;
  const pad = ' '.repeat(indent + 2);
  const close = ' '.repeat(indent);
  if (Array.isArray(value)) return `[\n${value.map((each) => `${pad}${literal(each, indent + 2, width)},`).join('\n')}\n${close}]`;
  return `{\n${Object.entries(value).map(([key, each]) => `${pad}${name(key)}: ${literal(each, indent + 2, width)},`).join('\n')}\n${close}}`;
}

const name = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : inline(key));

function inline(value) {
  if (typeof value === 'string') return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const body = Object.entries(value).map(([key, each]) => `${name(key)}: ${inline(each)}`).join(', ');
    return body ? `{ ${body} }` : '{}';
  }
  return String(value);
}
