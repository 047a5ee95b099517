/**
 * Reading a transcript with the core: bytes of its file in, and a plan out, as slices of the file and the few texts that
 * are new. What is in memory at once is up to the caller; the core keeps facts only.
 */
import { lazily, makeReport, nameOf } from './compaction.js';
import { MessageError, TampError } from './errors.js';
import { PLAN_TEXT } from './wasm.js';

/** @typedef {import('./wasm.js').Bridge} Bridge */
/** @typedef {import('./options.js').Format} Format */
/** @typedef {import('./wasm.js').Slices} Slices */

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
 * @property {Slices} slices
 * @property {Told} told
 */

/**
 * What a report is made of, in few large pieces: it may cross from a worker.
 * @typedef {object} Told
 * @property {import('./wasm.js').PlanView} plan without texts
 * @property {import('./wasm.js').Ids} ids
 * @property {string[]} added names of the messages that are new, by text of the plan
 * @property {{ line: number, offset: number, message: string }[]} unreadable
 * @property {boolean} counted
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
  #counted;

  /**
   * @param {Bridge} bridge
   * @param {Format | 'auto'} format
   * @param {(offset: number, length: number) => Uint8Array} read bytes of the file again, at once
   * @param {boolean} [counted] false for policies that do not weigh: nothing is counted, and a report tells no tokens
   */
  constructor(bridge, format, read, counted = true) {
    this.#bridge = bridge;
    this.#read = read;
    this.#counted = counted;
    this.#handle = bridge.newTranscript(format === 'auto' ? null : format, read, counted);
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
    const made = bridge.planTranscript(this.#handle, policy, options, answers, dropDead);
    if (!made.plan) return { trim: null, question: made.question };
    const { plan, slices, ids } = made;
    const format = /** @type {Format} */ (this.format);
    const { idPath } = bridge.format(format);
    const decoder = new TextDecoder();
    const added = plan.texts.map(({ json }, at) => (json.length > 0 ? nameOf(JSON.parse(decoder.decode(json)), idPath, plan.order.indexOf(at + PLAN_TEXT)) : ''));
    for (const text of plan.texts) text.json = new Uint8Array(0);
    /* The whole file is one slice, or an empty one none. */
    const [from = 0, length = 0] = slices.spans;
    const whole = slices.spans.length < 3 && from === 0 && length === this.#size;
    return {
      trim: {
        changed: plan.changed || !whole,
        removed: plan.before - plan.after,
        before: plan.before,
        after: plan.after,
        format,
        container: /** @type {Container} */ (this.container),
        slices,
        told: { plan, ids, added, unreadable: this.#unreadable, counted: this.#counted || options.countTokens !== undefined },
      },
      question: null,
    };
  }

  dispose() {
    this.#bridge.dispose(this.#handle);
  }
}

/**
 * The report of a trimmed transcript. Where nothing was counted, what tells tokens asks for the same trim once more,
 * counted, when it is read first.
 * @param {Bridge} bridge of the same module
 * @param {Told} told
 * @param {() => Told} recount
 * @returns {import('./compaction.js').Report}
 */
export function reportOf(bridge, { plan, ids, added, unreadable, counted }, recount) {
  const decoder = new TextDecoder();
  let block = -1;
  let index = 0;
  let offset = 0;
  /* Asked for mostly in their order: it goes on from the last one. */
  const name = (/** @type {number} */ wanted) => {
    const length = ids.lengths[wanted];
    if (length === 0) return `#${wanted}`;
    if (block < 0 || wanted < index) [block, index, offset] = [0, ids.blocks[0].from, 0];
    while (block + 1 < ids.blocks.length && ids.blocks[block + 1].from <= wanted) [block, index, offset] = [block + 1, ids.blocks[block + 1].from, 0];
    while (index < wanted) offset += ids.lengths[index++];
    return decoder.decode(ids.blocks[block].bytes.subarray(offset, offset + length));
  };
  const report = makeReport(bridge, plan, name, (text) => added[text]);
  report.unreadable = unreadable;
  if (counted) return report;
  /** @type {import('./wasm.js').PlanView | null} */
  let second = null;
  const again = () => (second ??= recount().plan);
  for (const key of /** @type {const} */ (['tokensBefore', 'tokensAfter'])) {
    lazily(report, key, () => again()[key]);
    report.steps.forEach((step, index) => lazily(step, key, () => /** @type {typeof step} */ (again().report.steps[index])[key]));
  }
  return report;
}

/**
 * What a transcript in memory becomes, at once, under a policy that asks for no summaries.
 * @param {Bridge} bridge
 * @param {Uint8Array} source
 * @param {{ format: Format | 'auto', policy: string, options: import('./wasm.js').BridgeOptions, dropDead: boolean }} job the
 *   policy as JSON
 * @param {boolean} [always] count also where tokens have no say in what becomes of it, which can take longer than all else
 * @returns {Trim}
 */
export function trimBytes(bridge, source, job, always = false) {
  const { format, policy, options, dropDead } = job;
  const { handle, asks, weighs } = bridge.policy(policy);
  /** @type {Reading | null} */
  let reading = null;
  try {
    if (asks) throw bridge.noSummarizer();
    /* The caller's own counter counts when the plan is made. */
    const counted = (always || weighs) && !options.countTokens;
    reading = new Reading(bridge, format, (offset, length) => source.subarray(offset, offset + length), counted);
    reading.feed(source);
    reading.finish();
    reading.mustBeKnown();
    return /** @type {Trim} */ (reading.plan(handle, options, [], dropDead).trim);
  } finally {
    reading?.dispose();
    bridge.dispose(handle);
  }
}

/**
 * The report of a transcript in memory, whose bytes must stay as they are until its tokens were read.
 * @param {Bridge} bridge
 * @param {Uint8Array} source
 * @param {Parameters<typeof trimBytes>[2]} job
 * @param {Trim} trim
 */
export function reportOfBytes(bridge, source, job, trim) {
  const { length } = source;
  const { format } = trim;
  return reportOf(bridge, trim.told, () => {
    if (source.length !== length) throw new TampError('source-changed', 'The bytes of this transcript are gone, so its tokens cannot be counted any more.');
    return trimBytes(bridge, source, { ...job, format }, true).told;
  });
}

/**
 * The pieces of a trimmed file.
 * @template {Uint8Array | Blob} S
 * @param {Slices} slices
 * @param {S} source
 * @returns {(S | Uint8Array)[]}
 */
export function piecesOf({ spans, bytes }, source) {
  const pieces = [];
  for (let i = 0; i < spans.length; i += 2) {
    const [from, length] = [spans[i], spans[i + 1]];
    if (from < 0) pieces.push(bytes.subarray(-1 - from, -1 - from + length));
    else pieces.push(source instanceof Uint8Array ? source.subarray(from, from + length) : source.slice(from, from + length));
  }
  return /** @type {(S | Uint8Array)[]} */ (pieces);
}

/**
 * The trimmed file of bytes in memory.
 * @param {Slices} slices
 * @param {Uint8Array} source
 */
export function joined(slices, source) {
  const pieces = piecesOf(slices, source);
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
