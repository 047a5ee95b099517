/** Small helpers around the DOM. Everything a visitor's file holds goes in as text, never as markup. */

/**
 * Make an element. Attributes: `class`, `on…` listeners, booleans, else strings; `null` leaves one out.
 * Children: nodes, strings, null, and arrays of these.
 */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'value' && 'value' in element && element.localName !== 'li') element.value = value;
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const $ = (selector, root = document) => root.querySelector(selector);

/** Run `work` once in the next frame, however often it is asked for. */
export function once(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** Call `work` when nobody has asked for it again for `ms`. */
export function settle(work, ms) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(work, ms, ...args);
  };
}

/**
 * Lets the page draw and answer between pieces of long work: await what this returns after each piece.
 * @param {number} ms  how long the work may go on at a time
 */
export function breaths(ms) {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < ms) return;
    await new Promise((resolve) => { setTimeout(resolve); });
    since = performance.now();
  };
}

/** Hand the visitor a file. */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
