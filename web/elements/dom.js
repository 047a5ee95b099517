// What both elements build on. Everything is made node by node: no markup is parsed, no style attribute set, so the strictest
// Content-Security-Policy and Trusted Types have nothing to object to.
import { localeOf } from './text.js';

/** @typedef {Record<string, string | number>} Attributes */

/** @template {Element} E @param {E} element @param {Attributes} attributes @param {(Node | string)[]} children */
export function dress(element, attributes, ...children) {
  for (const name in attributes) element.setAttribute(name, String(attributes[name]));
  element.append(...children);
  return element;
}

/**
 * @param {string} space a namespace
 * @returns {(tag: string, part: string, attributes?: Attributes, ...children: (Node | string)[]) => Element} makes an
 *   element whose part is its class too
 */
const maker = (space) => (tag, part, attributes, ...children) =>
  dress(document.createElementNS(`http://www.w3.org/${space}`, tag), { part, class: part, ...attributes }, ...children);

export const html = maker('1999/xhtml');
export const svg = maker('2000/svg');

/** @type {Map<string, CSSStyleSheet>} */
const sheets = new Map();

/** A shadow root whose style sheet all elements of a kind share. @param {Element} host @param {string} css @param {Node} child */
export function shadow(host, css, child) {
  const root = host.attachShadow({ mode: 'open' });
  let sheet = sheets.get(css);
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    sheets.set(css, sheet);
  }
  root.adoptedStyleSheets = [sheet];
  root.append(child);
}

// A sentence in another language than the page's keeps its own order of words, on the page's side.
const SHARED = `
:host{font-size:.8125em;line-height:1.5;
color:var(--tamp-color,var(--muted-foreground,color-mix(in srgb,currentColor 75%,transparent)))}
:host([hidden]){display:none!important}
:host(:dir(rtl)){text-align:right}
.text,.item{unicode-bidi:plaintext}`;

/**
 * An element that says things: what it says can be set, and is written anew whenever that, an attribute or its place changes.
 * On a server, where there is no HTMLElement, the class is there and inert.
 * @template {object} T
 */
export class Speaking extends /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {}) {
  #text;

  /** @param {T} text @param {string} css @param {Node} root */
  constructor(text, css, root) {
    super();
    this.#text = text;
    shadow(this, SHARED + css, root);
  }

  connectedCallback() {
    // Properties that were set before the class was known.
    const element = /** @type {any} */ (this);
    for (const name of Object.keys(element)) {
      if (!(name in Object.getPrototypeOf(element))) continue;
      const value = element[name];
      delete element[name];
      element[name] = value;
    }
    this.render();
  }

  attributeChangedCallback() {
    this.render();
  }

  /** What it says; what is not given stays as it is. @returns {T} */
  get text() {
    return this.#text;
  }

  set text(text) {
    this.#text = { ...this.#text, ...text };
    this.render();
  }

  /** @internal */
  render() {
    if (this.isConnected) this.draw(localeOf(this));
  }

  /** @internal @param {string | undefined} _locale */
  draw(_locale) {}
}
