/**
 * Transcripts held as JSON text: bytes in, bytes out, in one synchronous call. What is not touched is copied as it
 * stands, with the white space around it.
 */
import { MessageError } from './errors.js';
import { policyText } from './policies.js';
import { bridgeOptions } from './options.js';
import { joined, reportOfBytes, trimBytes } from './reading.js';

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
 * @property {import('./compaction.js').Report} report its tokens are counted when they are read first, unless the policy
 *   needs them: until then the bytes that were given must stay as they are
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
  const job = { format: options.format ?? 'auto', policy: policyText(policy) ?? '', options: checked, dropDead: false };
  const made = trimBytes(bridge, source, job);
  const bytes = made.changed ? joined(made.slices, source) : source;
  return {
    bytes,
    text: () => (made.changed || typeof text !== 'string' ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : text),
    changed: made.changed,
    removed: made.removed,
    before: made.before,
    after: made.after,
    format: made.format,
    report: reportOfBytes(bridge, source, job, made),
  };
}
