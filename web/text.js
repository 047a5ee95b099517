/**
 * Transcripts held as JSON text: bytes in, bytes out. What is not touched is copied as it stands, with the white space
 * around it.
 */
import { makeReport, nameOf } from './compaction.js';
import { MessageError, TampError } from './errors.js';
import { readPolicy } from './history.js';
import { bridgeOptions } from './options.js';
import { NONE, PLAN_TEXT } from './wasm.js';

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
 * The array with the messages of the plan. Between two messages stands what stood before the second of them in the
 * original, so that the layout of the file stays.
 * @param {Uint8Array} source
 * @param {Uint32Array} spans pairs of offset and length
 * @param {import('./wasm.js').PlanView} plan
 */
function rebuild(source, spans, plan) {
  const start = (/** @type {number} */ index) => spans[2 * index];
  const end = (/** @type {number} */ index) => spans[2 * index] + spans[2 * index + 1];
  const count = spans.length / 2;
  const comma = new Uint8Array([0x2c]);
  const between = (/** @type {number} */ index) => (index > 0 ? source.subarray(end(index - 1), start(index)) : null);
  const usual = between(1) ?? comma;
  /** @type {Uint8Array[]} */
  const pieces = [source.subarray(0, start(0))];
  plan.order.forEach((at, place) => {
    const text = at >= PLAN_TEXT ? plan.texts[at - PLAN_TEXT] : null;
    const origin = text ? text.origin : at;
    if (place > 0) pieces.push((origin === NONE ? null : between(origin)) ?? usual);
    pieces.push(text ? text.json : source.subarray(start(at), end(at)));
  });
  pieces.push(source.subarray(end(count - 1)));
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

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
  const wanted = options.format ?? 'auto';
  const detected = wanted === 'auto' ? bridge.detect(source) : wanted;
  if (detected === null) {
    throw new TampError('unknown-format', 'The format of this transcript cannot be told from its messages. Say it: { format: "openai" }.');
  }
  const format = bridge.format(detected);
  const read = readPolicy(bridge, policy);
  let handle = 0;
  try {
    if (read.asks) throw bridge.noSummarizer();
    handle = bridge.newHistory(format.index);
    bridge.appendArray(handle, source);
    const plan = /** @type {import('./wasm.js').PlanView} */ (bridge.plan(handle, bridge.length(handle), read.handle, checked, []).plan);
    const decoder = new TextDecoder();
    const spans = plan.changed || plan.reasons.length > 0 ? bridge.spans(handle, plan.reasons.length) : new Uint32Array(0);
    const bytes = plan.changed ? rebuild(source, spans, plan) : source;
    const parse = (/** @type {Uint8Array} */ json) => JSON.parse(decoder.decode(json));
    return {
      bytes,
      text: () => (plan.changed || typeof text !== 'string' ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : text),
      changed: plan.changed,
      removed: plan.before - plan.after,
      before: plan.before,
      after: plan.after,
      format: /** @type {import('./options.js').Format} */ (detected),
      report: makeReport(
        bridge,
        plan,
        (index) => nameOf(format.idPath.length === 0 ? null : parse(source.subarray(spans[2 * index], spans[2 * index] + spans[2 * index + 1])), format.idPath, index),
        (made) => nameOf(parse(plan.texts[made].json), format.idPath, plan.order.indexOf(made + PLAN_TEXT)),
      ),
    };
  } finally {
    if (handle !== 0) bridge.dispose(handle);
    bridge.dispose(read.handle);
  }
}
