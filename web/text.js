/**
 * Transcripts held as JSON text: bytes in, bytes out, in one synchronous call. What is not touched is copied as it
 * stands, with the white space around it.
 */
import { MessageError } from './errors.js';
import { readPolicy } from './history.js';
import { bridgeOptions } from './options.js';
import { Reading, joined } from './reading.js';

/** @typedef {import('./wasm.js').Bridge} Bridge */

/**
 * @typedef {object} TextCompaction
 * @property {Uint8Array} bytes the input's own when nothing changed and it was bytes
 * @property {() => string} text
 * @property {boolean} changed
 * @property {number} removed
 * @property {number} before
 * @property {number} after
 * @property {import('./options.js').Format} format
 * @property {import('./compaction.js').Report} report
 */

/**
 * @param {Bridge} bridge
 * @param {string | Uint8Array} text
 * @param {import('./policy.js').Policy} policy
 * @param {Omit<import('./options.js').CompactOptions, 'format'> & { format?: import('./options.js').Format | 'auto' }} [options]
 * @returns {TextCompaction}
 */
export function compactText(bridge, text, policy, options = {}) {
  if (typeof text !== 'string' && !(text instanceof Uint8Array)) {
    throw new MessageError('not-a-list', `A transcript is a string or a Uint8Array; this is ${text === null ? 'null' : `a value of type ${typeof text}`}.`, -1);
  }
  const source = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  const checked = bridgeOptions({ ...options, format: undefined });
  const reading = new Reading(bridge, options.format ?? 'auto', (offset, length) => source.subarray(offset, offset + length));
  let policyHandle = 0;
  try {
    reading.feed(source);
    reading.finish();
    reading.mustBeKnown();
    const read = readPolicy(bridge, policy);
    policyHandle = read.handle;
    if (read.asks) throw bridge.noSummarizer();
    const trim = /** @type {import('./reading.js').Trim} */ (reading.plan(read.handle, checked, [], false).trim);
    const { changed, removed, before, after, format, report } = trim;
    const bytes = changed ? joined(trim.slices, source) : source;
    return {
      bytes,
      text: () => (changed || typeof text !== 'string' ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : text),
      changed,
      removed,
      before,
      after,
      format,
      report,
    };
  } finally {
    reading.dispose();
    if (policyHandle !== 0) bridge.dispose(policyHandle);
  }
}
