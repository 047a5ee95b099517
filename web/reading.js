/**
 * Reading a transcript with the core: bytes of its file in, and a plan out, as slices of the file and the few texts that
 * are new. What is in memory at once is up to the caller; the core keeps facts only.
 */
import { makeReport, nameOf } from './compaction.js';
import { MessageError, TampError } from './errors.js';
import { PLAN_TEXT } from './wasm.js';

/** @typedef {import('./wasm.js').Bridge} Bridge */
/** @typedef {import('./options.js').Format} Format */
/** @typedef {[from: number, to: number] | Uint8Array} Slice a stretch of the file, or new bytes */

/** TampContainer of src/json/splitter.h. @type {readonly (Container | null)[]} */
const CONTAINERS = [null, 'json-array', 'jsonl', 'json-object'];
/** @typedef {'json-array' | 'jsonl' | 'json-object'} Container */

/** How many bytes cross at once. */
export const CHUNK = 1 << 20;

/**
 * What a transcript becomes.
 * @typedef {object} Trim
 * @property {boolean} changed
 * @property {number} removed
 * @property {number} before
 * @property {number} after
 * @property {Format} format
 * @property {Container} container
 * @property {import('./compaction.js').Report} report
 * @property {Slice[]} slices
 */

/** One transcript while it is read. Dispose of it. */
export class Reading {
  #bridge;
  #handle;
  #read;
  /** @type {Format | null} */
  format = null;
  /** @type {Container | null} */
  container = null;
  messages = 0;
  /** @type {{ line: number, offset: number, message: string }[]} */
  #unreadable = [];
  #size = 0;

  /**
   * @param {Bridge} bridge
   * @param {Format | 'auto'} format
   * @param {(offset: number, length: number) => Uint8Array} read bytes of the file again, at once
   */
  constructor(bridge, format, read) {
    this.#bridge = bridge;
    this.#read = read;
    this.#handle = bridge.newTranscript(format === 'auto' ? null : format, read);
  }

  /** The next bytes of the file, of any number. @param {Uint8Array} bytes */
  feed(bytes) {
    this.#size += bytes.length;
    for (let at = 0; at < bytes.length; at += CHUNK) {
      this.messages = this.#bridge.feed(this.#handle, bytes.subarray(at, at + CHUNK));
    }
  }

  /** The file has ended: `format` and `container` are known, or null. */
  finish() {
    const { container, format, messages, unreadable } = this.#bridge.finish(this.#handle);
    this.container = CONTAINERS[container];
    this.format = this.container ? /** @type {Format | null} */ (format) : null;
    this.messages = messages;
    this.#unreadable = unreadable;
  }

  /** Throws when it is not known what this is. */
  mustBeKnown() {
    if (!this.container) throw new MessageError('not-json', 'The transcript is empty: a list of messages, or a message a line, was expected.', -1, 0);
    if (!this.format) {
      throw new TampError('unknown-format', 'The format of this transcript cannot be told from its messages. Say it: { format: "openai" }.');
    }
  }

  /** @param {import('./wasm.js').BridgeOptions} options */
  tokens(options) {
    return this.#bridge.tokens(this.#handle, options);
  }

  /** A message as an object: read again. @param {number} index */
  message(index) {
    const { offset, length } = this.#bridge.transcriptMessage(this.#handle, index);
    return JSON.parse(new TextDecoder().decode(this.#read(offset, length)));
  }

  /**
   * Plans a policy on it; with a question instead when the plan needs a summary first.
   * @param {number} policy a handle
   * @param {import('./wasm.js').BridgeOptions} options
   * @param {(string | null)[]} answers
   * @param {boolean} dropDead
   * @returns {{ trim: Trim, question: null } | { trim: null, question: import('./wasm.js').Question }}
   */
  plan(policy, options, answers, dropDead) {
    const bridge = this.#bridge;
    const { plan, question, slices } = bridge.planTranscript(this.#handle, policy, options, answers, dropDead);
    if (!plan) return { trim: null, question };
    const format = /** @type {Format} */ (this.format);
    const { idPath } = bridge.format(format);
    /* Names of what went or changed: the report is read when this transcript is long gone. */
    const names = new Map();
    for (let index = 0; index < plan.reasons.length; index++) {
      if (plan.reasons[index] !== 0) names.set(index, bridge.transcriptMessage(this.#handle, index).id || `#${index}`);
    }
    const decoder = new TextDecoder();
    const report = makeReport(
      bridge,
      plan,
      (index) => names.get(index) ?? `#${index}`,
      (made) => nameOf(JSON.parse(decoder.decode(plan.texts[made].json)), idPath, plan.order.indexOf(made + PLAN_TEXT)),
    );
    report.unreadable = this.#unreadable;
    /* The whole file is one slice, or an empty one none. */
    const [first] = slices;
    const whole = slices.length < 2 && (first ? !(first instanceof Uint8Array) && first[1] - first[0] === this.#size : this.#size === 0);
    return {
      trim: {
        changed: plan.changed || !whole,
        removed: plan.before - plan.after,
        before: plan.before,
        after: plan.after,
        format,
        container: /** @type {Container} */ (this.container),
        report,
        slices,
      },
      question: null,
    };
  }

  dispose() {
    this.#bridge.dispose(this.#handle);
  }
}

/**
 * Slices of bytes in memory, one behind the other.
 * @param {Slice[]} slices
 * @param {Uint8Array} source
 */
export function joined(slices, source) {
  const pieces = slices.map((slice) => (slice instanceof Uint8Array ? slice : source.subarray(...slice)));
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
