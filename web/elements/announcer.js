// One polite live region for the page, outside of any transcript: a log that holds badges would speak them twice.
import { html, shadow } from './dom.js';

/** @type {Element | undefined} */
let region;

/** A region speaks what changes in it after it is there: make it before it is needed. */
export function prepareAnnouncer() {
  if (region?.isConnected) return;
  const host = document.createElement('div');
  region = html('p', 'text', { role: 'status' });
  shadow(host, '.text{position:fixed;margin:0;clip-path:inset(50%)}', region);
  document.body.append(host);
}

/** @param {string} text */
export function announce(text) {
  prepareAnnouncer();
  /** @type {Element} */ (region).textContent = text;
}
