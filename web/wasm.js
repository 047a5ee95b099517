/**
 * The JavaScript end of the bridge: loads the module, moves strings across, calls its functions, and is the only
 * file that touches its memory. src/wasm.c is the other end; the two change together.
 *
 * Memory may grow in any call, which makes every view of it stale: views are taken after a call, never kept over one.
 */
import { MessageError, PolicyError, TampError } from './errors.js';
import { encodeValue, NotEncodable } from './encode.js';
import { checkedCount } from './options.js';

/** TampStatus of src/status.h. */
const OK = 0;
const NO_MEMORY = 1;
const BAD_JSON = 2;
const BAD_MESSAGE = 3;
const TOO_DEEP = 4;
const TOO_LARGE = 5;
const BAD_POLICY = 6;
const BAD_HANDLE = 7;
const BAD_COUNT = 8;
const NEEDS_SUMMARY = 9;
const STALE_PLAN = 10;
const NO_SUMMARIZER = 12;
const BAD_SOURCE = 13;

/** TAMP_NONE: no such index. */
export const NONE = 0xffffffff;
/** TAMP_PLAN_TEXT: in a plan's order, this and above are texts of the plan. */
export const PLAN_TEXT = 0x80000000;

/** Room that is asked for before a message is written; it grows when the message is longer. */
const FIRST_ROOM = 1024;
/** Room beyond a text for the end of its message: without it a long one would be moved into twice the room. */
const MORE_ROOM = 256;

/** Bytes of ids that cross at once. */
const IDS_ROOM = 1 << 16;

/** @typedef {import('./encode.js').Sink} Sink */
/** @typedef {(text: string) => number} Counter */

/**
 * A plan as it crosses: copies, so that the plan can be freed.
 * @typedef {object} PlanView
 * @property {boolean} changed
 * @property {boolean} fits
 * @property {number} before
 * @property {number} after
 * @property {number} tokensBefore
 * @property {number} tokensAfter
 * @property {number} bytesBefore
 * @property {number} bytesAfter
 * @property {Uint32Array} order indices of the input, or PLAN_TEXT and above: a text
 * @property {{ json: Uint8Array, origin: number, reason: string }[]} texts `origin` NONE for an added message
 * @property {Uint32Array} reasons by index of the input: 0 for kept, else a reason for `reason()`
 * @property {{ fits: boolean, reason: string | null, steps: object[] }} report
 */

/**
 * What a transcript's file becomes: pairs of offset and length in the file, or, where the offset is negative, at
 * -1 - offset in `bytes`, which are new.
 * @typedef {{ spans: Float64Array, bytes: Uint8Array }} Slices
 */

/**
 * Ids of messages: their lengths by index of the input, and their bytes one behind the other, in blocks that each begin with
 * the id of a message, `from`.
 * @typedef {{ blocks: { from: number, bytes: Uint8Array }[], lengths: Uint32Array }} Ids
 */

/**
 * What a plan asks for.
 * @typedef {object} Question
 * @property {string} text
 * @property {string | null} previous
 * @property {number} tokens
 * @property {({ index: number } | { json: Uint8Array })[]} messages
 */

/**
 * Options as the bridge takes them, already checked.
 * @typedef {object} BridgeOptions
 * @property {number} [reservedTokens]
 * @property {{ messageId: string, inputTokens: number, outputTokens: number }} [usage]
 * @property {readonly string[]} [pin]
 * @property {Counter} [countTokens]
 */

/** A sink outside the module. @returns {Sink} */
const newSink = () => ({
  bytes: new Uint8Array(256),
  at: 0,
  end: 256,
  grow(self, needed) {
    const larger = new Uint8Array(Math.max(self.bytes.length * 2, self.at + needed));
    larger.set(self.bytes.subarray(0, self.at));
    self.bytes = larger;
    self.end = larger.length;
  },
});

/** One instance of the module. */
export class Bridge {
  /** @type {Record<string, any>} */
  #exports;
  /** @type {WebAssembly.Memory} */
  #memory;
  #bytes = new Uint8Array(0);
  #out = 0;
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #encoder = new TextEncoder();
  /** @type {Map<number, string>} */
  #reasons = new Map();
  /** The counters of calls under way, by key; and what one of them threw. @type {Map<number, Counter>} */
  #counters = new Map();
  /** Those who read the files of transcripts, by handle. @type {Map<number, (offset: number, length: number) => Uint8Array>} */
  #readers = new Map();
  /** @type {WeakMap<Counter, number>} */
  #keys = new WeakMap();
  #nextKey = 1;
  /** @type {{ error: unknown } | null} */
  #thrown = null;
  /** @type {Map<string, { index: number, idPath: string[] }>} */
  #formats = new Map();

  /** @param {WebAssembly.Module} module */
  constructor(module) {
    /** What this is an instance of, for another one in a worker. */
    this.module = module;
    const instance = new WebAssembly.Instance(module, {
      tamp: {
        count: (/** @type {number} */ key, /** @type {number} */ at, /** @type {number} */ length) => this.#count(key, at, length),
        read: (/** @type {number} */ key, /** @type {number} */ offset, /** @type {number} */ length, /** @type {number} */ at) => this.#read(key, offset, length, at),
      },
    });
    this.#exports = instance.exports;
    this.#memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
    this.#exports._initialize?.();
    this.#out = this.#exports.tamp_out();
  }

  // ── Memory ────────────────────────────────────────────────────────────────────────────────────────────────

  /** The memory as it is now. */
  #view() {
    if (this.#bytes.buffer !== this.#memory.buffer) this.#bytes = new Uint8Array(this.#memory.buffer);
    return this.#bytes;
  }

  /** Words that the last call left. @param {number} count */
  #words(count) {
    return new Uint32Array(this.#memory.buffer, this.#out, count).slice();
  }

  /** @param {number} at @param {number} length */
  #text(at, length) {
    return this.#decoder.decode(this.#view().subarray(at, at + length));
  }

  /** @param {number} at @param {number} length */
  #copy(at, length) {
    return this.#view().slice(at, at + length);
  }

  /** @param {Uint32Array} words @param {number} at */
  #long(words, at) {
    return words[at] + words[at + 1] * 2 ** 32;
  }

  /**
   * Copies bytes into a block of the module for the length of one call.
   * @template T
   * @param {Uint8Array} bytes
   * @param {(at: number, length: number) => T} call
   * @returns {T}
   */
  #pass(bytes, call) {
    const at = this.#exports.tamp_alloc(bytes.length) >>> 0;
    if (at === 0) throw this.#failure(NO_MEMORY);
    try {
      this.#view().set(bytes, at);
      return call(at, bytes.length);
    } finally {
      this.#exports.tamp_free(at);
    }
  }

  /**
   * Encodes a value of ours into bytes, valid until the next use of `sink`.
   * @param {unknown} value
   * @param {Sink} [sink]
   */
  #encoded(value, sink = newSink()) {
    sink.at = 0;
    encodeValue(sink, value);
    return sink.bytes.subarray(0, sink.at);
  }

  // ── Errors ────────────────────────────────────────────────────────────────────────────────────────────────

  /** @param {number} status @returns {Error} */
  #failure(status) {
    switch (status) {
      case NO_MEMORY:
        return new TampError('out-of-memory', 'There is no memory left for this (the module can use 4 GiB). Nothing was changed; free histories that are no longer used.');
      case TOO_LARGE:
        return new TampError('too-large', 'A single message may be 256 MiB long, and a list hold 4 billion of them; this is more.');
      case BAD_HANDLE:
        return new TampError('bad-handle', 'This history was disposed of, or is in use by the call whose countTokens is running.');
      case BAD_COUNT:
        return new TampError('bad-count', 'countTokens must return an integer of at least 0 for every text.');
      case BAD_SOURCE:
        return new TampError('source-changed', 'This transcript is no longer what it was when it was read. Nothing was written; read it again.');
      case STALE_PLAN:
        return new TampError('stale-plan', 'The history was edited while its summary was written, so the summary no longer fits it. Nothing was changed; compact again.');
      case NO_SUMMARIZER:
        return new TampError('no-summarizer', 'The policy has a summarize step: call compactAsync with a summarize callback, or use digest, which needs none.');
      default:
        return new TampError('internal', `The core failed with status ${status}. Please report this.`);
    }
  }

  /** @param {number} status of a call that reads messages; the fault is in `out` */
  #messageFailure(status) {
    if (![BAD_JSON, BAD_MESSAGE, TOO_DEEP, TOO_LARGE].includes(status)) return this.#failure(status);
    const words = this.#words(5);
    const index = words[0] === NONE ? -1 : words[0];
    const offset = this.#long(words, 1);
    const reason = this.#text(words[3], words[4]);
    const where = index < 0 ? `byte ${offset}` : `message ${index}, byte ${offset}`;
    if (status === BAD_MESSAGE) return new MessageError('not-a-message', `Message ${index} is not an object.`, index, offset);
    if (status === TOO_LARGE) return new MessageError('too-large', `Message ${index} is longer than 256 MiB.`, index, offset);
    if (status === TOO_DEEP) return new MessageError('too-deep', `The text is nested more than 1,000 levels deep (${where}).`, index, offset);
    return new MessageError('not-json', `The text is not JSON: ${reason} (${where}).`, index, offset);
  }

  /** Throws what a counter threw, or what the status says. @param {number} status @returns {never} */
  #raise(status) {
    const thrown = this.#thrown;
    this.#thrown = null;
    if ((status === BAD_COUNT || status === BAD_SOURCE) && thrown) throw thrown.error;
    throw this.#failure(status);
  }

  // ── Counters ──────────────────────────────────────────────────────────────────────────────────────────────

  /** The import: counts a text with the caller's function; -1 when it failed. @param {number} key @param {number} at @param {number} length */
  #count(key, at, length) {
    try {
      return checkedCount(this.#counters.get(key)?.(this.#text(at >>> 0, length >>> 0)));
    } catch (error) {
      this.#thrown ??= { error };
      return -1;
    }
  }

  /**
   * Runs a call with options in memory and their counter ready. Equal texts are counted once a call.
   * @template T
   * @param {BridgeOptions} options
   * @param {(at: number, length: number, key: number) => T} call
   * @returns {T}
   */
  #withOptions(options, call) {
    const { countTokens, ...rest } = options;
    const given = Object.keys(rest).length > 0;
    const bytes = given ? this.#encoded(rest) : new Uint8Array(0);
    if (!countTokens) return given ? this.#pass(bytes, (at, length) => call(at, length, 0)) : call(0, 0, 0);
    let key = this.#keys.get(countTokens);
    if (key === undefined) {
      key = this.#nextKey++;
      this.#keys.set(countTokens, key);
    }
    const outer = this.#counters.get(key);
    /** @type {Map<string, number>} */
    const counted = new Map();
    this.#counters.set(key, outer ?? ((text) => {
      let count = counted.get(text);
      if (count === undefined) counted.set(text, (count = countTokens(text)));
      return count;
    }));
    try {
      return this.#pass(bytes, (at, length) => call(at, length, /** @type {number} */ (key)));
    } finally {
      if (!outer) this.#counters.delete(key);
    }
  }

  // ── Transcripts ───────────────────────────────────────────────────────────────────────────────────────────

  /** The import: writes bytes of a transcript's file into memory; -1 when they cannot be read. @param {number} key @param {number} offset @param {number} length @param {number} at */
  #read(key, offset, length, at) {
    try {
      const bytes = this.#readers.get(key >>> 0)?.(offset, length >>> 0);
      if (bytes?.length !== length >>> 0) throw new TampError('source-changed', 'The transcript is not what it was when it was read: it became shorter. Nothing was written.');
      this.#view().set(bytes, at >>> 0);
      return 0;
    } catch (error) {
      this.#thrown ??= { error };
      return -1;
    }
  }

  /**
   * A transcript, to be fed with the bytes of its file.
   * @param {string | null} format null: to be told from its messages
   * @param {(offset: number, length: number) => Uint8Array} read bytes of the file again, at once
   * @param {boolean} counted false: tokens are not estimated
   * @returns {number} a handle
   */
  newTranscript(format, read, counted) {
    const status = this.#exports.tamp_transcript_new(format === null ? NONE : this.format(format).index, counted ? 1 : 0);
    if (status !== OK) throw this.#failure(status);
    const [handle] = this.#words(1);
    this.#readers.set(handle, read);
    return handle;
  }

  /** The next bytes; returns how many messages there were so far. @param {number} handle @param {Uint8Array} bytes */
  feed(handle, bytes) {
    return this.#pass(bytes, (at, length) => {
      const status = this.#exports.tamp_transcript_feed(handle, at, length);
      if (status === BAD_SOURCE) this.#raise(status);
      if (status !== OK) throw this.#messageFailure(status);
      return this.#words(1)[0];
    });
  }

  /**
   * The end of the file.
   * @param {number} handle
   * @returns {{ container: number, format: string | null, messages: number, unreadable: { line: number, offset: number, message: string }[] }}
   */
  finish(handle) {
    const status = this.#exports.tamp_transcript_finish(handle);
    if (status === BAD_SOURCE) this.#raise(status);
    if (status !== OK) throw this.#messageFailure(status);
    const words = this.#words(7);
    const lines = new Uint32Array(this.#memory.buffer, words[3], 6 * words[4]);
    const unreadable = [];
    for (let i = 0; i < lines.length; i += 6) {
      unreadable.push({ line: this.#long(lines, i + 2), offset: this.#long(lines, i), message: this.reason(lines[i + 4]) });
    }
    return { container: words[0], format: words[1] === NONE ? null : this.#text(words[5], words[6]), messages: words[2], unreadable };
  }

  /** Where a message of a transcript is. @param {number} handle @param {number} index */
  transcriptMessage(handle, index) {
    const status = this.#exports.tamp_transcript_message(handle, index);
    if (status !== OK) throw this.#failure(status);
    const words = this.#words(4);
    return { offset: this.#long(words, 0), length: this.#long(words, 2) };
  }

  /**
   * Plans a policy on a transcript, and what its file becomes.
   * @param {number} handle
   * @param {number} policy
   * @param {BridgeOptions} options
   * @param {(string | null)[]} answers
   * @param {boolean} dropDead
   * @returns {{ plan: PlanView, question: null, slices: Slices, ids: Ids } | { plan: null, question: Question }} the
   *   plan without the texts of rewritten messages
   */
  planTranscript(handle, policy, options, answers, dropDead) {
    /** @type {{ slices: Slices, ids: Ids } | undefined} */
    let written;
    const made = this.plan(handle, this.length(handle), policy, options, answers, (plan) => {
      const ids = this.#ids(handle, plan);
      const status = this.#exports.tamp_transcript_write(handle, plan, dropDead ? 1 : 0);
      if (status !== OK) this.#raise(status);
      const [at, count] = this.#words(2);
      written = { ids, slices: this.#slices(new Uint32Array(this.#memory.buffer, at, 6 * count)) };
    });
    return made.plan ? { ...made, .../** @type {{ slices: Slices, ids: Ids }} */ (written) } : made;
  }

  /** Six words a slice: offset and length, or what is new. @param {Uint32Array} words @returns {Slices} */
  #slices(words) {
    let size = 0;
    for (let i = 0; i < words.length; i += 6) size += words[i + 4] === 0 ? 0 : words[i + 2];
    const bytes = new Uint8Array(size);
    const spans = new Float64Array(words.length / 3);
    let made = 0;
    for (let i = 0; i < words.length; i += 6) {
      const length = this.#long(words, i + 2);
      spans[i / 3] = words[i + 4] === 0 ? this.#long(words, i) : -1 - made;
      spans[i / 3 + 1] = length;
      if (words[i + 4] === 0) continue;
      bytes.set(this.#view().subarray(words[i + 4], words[i + 4] + length), made);
      made += length;
    }
    return { spans, bytes };
  }

  /** @param {number} handle @param {number} plan @returns {Ids} */
  #ids(handle, plan) {
    const count = this.length(handle);
    /** @type {Ids} */
    const ids = { blocks: [], lengths: new Uint32Array(count) };
    for (let from = 0, size = IDS_ROOM; from < count;) {
      const at = this.#exports.tamp_alloc(2 * size) >>> 0;
      if (at === 0) throw this.#failure(NO_MEMORY);
      try {
        const status = this.#exports.tamp_transcript_ids(handle, plan, from, at + size, size, at, size / 4);
        if (status !== OK) throw this.#failure(status);
        const [done, used] = this.#words(2);
        ids.lengths.set(new Uint32Array(this.#memory.buffer, at, done), from);
        if (used > 0) ids.blocks.push({ from, bytes: this.#copy(at + size, used) });
        from += done;
        /* An id that finds no room is a long one. */
        if (done === 0) size *= 2;
      } finally {
        this.#exports.tamp_free(at);
      }
    }
    return ids;
  }

  // ── Formats ───────────────────────────────────────────────────────────────────────────────────────────────

  /** @param {string} name @returns {{ index: number, idPath: string[] }} */
  format(name) {
    let format = this.#formats.get(name);
    if (!format) {
      const status = typeof name === 'string' ? this.#pass(new TextEncoder().encode(name), (at, length) => this.#exports.tamp_format(at, length)) : -1;
      if (status !== OK) throw new TampError('unknown-format', `There is no message format called ${JSON.stringify(name)}.`);
      const words = this.#words(3);
      const path = this.#text(words[1], words[2]);
      format = { index: words[0], idPath: path === '' ? [] : path.split('/') };
      this.#formats.set(name, format);
    }
    return format;
  }

  // ── Histories ─────────────────────────────────────────────────────────────────────────────────────────────

  /** @param {number} format index @returns {number} a handle */
  newHistory(format) {
    const status = this.#exports.tamp_history_new(format);
    if (status !== OK) throw this.#failure(status);
    return this.#words(1)[0];
  }

  /** Frees what a handle stands for; a stale one is nothing. @param {number} handle */
  dispose(handle) {
    this.#readers.delete(handle);
    return this.#exports.tamp_dispose(handle) === OK;
  }

  /** Writes a message into the room of a history; returns its length. @param {number} handle @param {unknown} message @param {number} index for errors */
  #write(handle, message, index) {
    /** @type {Sink} */
    const sink = { bytes: this.#bytes, at: 0, end: 0, grow: () => {} };
    let start = 0;
    const open = (/** @type {number} */ size, /** @type {number} */ keep) => {
      const status = this.#exports.tamp_history_room(handle, size, keep);
      if (status !== OK) throw status === TOO_LARGE ? new MessageError('too-large', `Message ${index} is longer than 256 MiB.`, index) : this.#failure(status);
      const out = new Uint32Array(this.#memory.buffer, this.#out, 2);
      start = out[0];
      sink.bytes = this.#view();
      sink.at = start + keep;
      sink.end = start + out[1];
    };
    sink.grow = (self, needed) => {
      const written = self.at - start;
      open(Math.max(written + needed + MORE_ROOM, 2 * written), written);
    };
    open(FIRST_ROOM, 0);
    try {
      encodeValue(sink, message);
    } catch (error) {
      if (error instanceof TampError) throw error;
      /* Not what JSON holds, or a getter or toJSON of the message's own that threw. */
      const why = error instanceof NotEncodable ? error.message : 'reading it threw';
      throw new MessageError('not-json', `Message ${index} cannot be JSON: ${why}.`, index, undefined, { cause: error });
    }
    return sink.at - start;
  }

  /** Appends a message. On failure the history is as it was. @param {number} handle @param {unknown} message @param {number} index for errors */
  append(handle, message, index) {
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      throw new MessageError('not-a-message', `Message ${index} is ${message === null ? 'null' : Array.isArray(message) ? 'an array' : `a value of type ${typeof message}`}, not an object.`, index);
    }
    const length = this.#write(handle, message, index);
    const status = this.#exports.tamp_history_append(handle, length);
    if (status !== OK) throw this.#messageFailure(status);
  }

  /** Whether the message at `index` says exactly what `message` does. @param {number} handle @param {number} index @param {unknown} message */
  isSame(handle, index, message) {
    const length = this.#write(handle, message, index);
    return this.#exports.tamp_history_same(handle, index, length) === OK && this.#words(1)[0] === 1;
  }

  /** Appends the messages of a JSON array, all or none. @param {number} handle @param {Uint8Array} text */
  appendArray(handle, text) {
    this.#pass(text, (at, length) => {
      const status = this.#exports.tamp_history_append_array(handle, at, length);
      if (status !== OK) throw this.#messageFailure(status);
    });
  }

  /** How many messages it holds. @param {number} handle */
  length(handle) {
    const status = this.#exports.tamp_history_length(handle);
    if (status !== OK) throw this.#failure(status);
    return this.#words(1)[0];
  }

  /** @param {number} handle @param {number} count */
  truncate(handle, count) {
    const status = this.#exports.tamp_history_truncate(handle, count);
    if (status !== OK) throw this.#failure(status);
  }

  /** Index of the last message with this id, -1 when there is none. @param {number} handle @param {string} id */
  find(handle, id) {
    const status = this.#pass(new TextEncoder().encode(id), (at, length) => this.#exports.tamp_history_find(handle, at, length));
    if (status !== OK) throw this.#failure(status);
    const [index] = this.#words(1);
    return index === NONE ? -1 : index;
  }

  /** @param {number} handle @param {BridgeOptions} options */
  tokens(handle, options) {
    const status = this.#withOptions(options, (at, length, key) => this.#exports.tamp_history_tokens(handle, at, length, key));
    if (status !== OK) this.#raise(status);
    return this.#long(this.#words(2), 0);
  }

  /** @param {number} handle @param {BridgeOptions} options @returns {any} Inspection of api.d.ts */
  inspect(handle, options) {
    const status = this.#withOptions(options, (at, length, key) => this.#exports.tamp_history_inspect(handle, at, length, key));
    if (status !== OK) this.#raise(status);
    const [text, at, length] = this.#words(3);
    const json = this.#text(at, length);
    this.dispose(text);
    return JSON.parse(json);
  }

  /**
   * The digest of a list of messages (src/digest.h), in hexadecimal. They cross in batches, so that a long list needs
   * little memory.
   * @param {readonly object[]} messages
   */
  digest(messages) {
    const batch = 256;
    const sink = newSink();
    let words = new Uint32Array(4);
    for (let start = 0; start < messages.length; start += batch) {
      let bytes;
      try {
        bytes = this.#encoded(messages.slice(start, start + batch), sink);
      } catch (error) {
        if (!(error instanceof NotEncodable)) throw error;
        throw new MessageError('not-json', `A message cannot be JSON: ${error.message}.`, -1, undefined, { cause: error });
      }
      const [a, b, c, d] = words;
      const status = this.#pass(bytes, (at, length) => this.#exports.tamp_digest(at, length, a, b, c, d));
      if (status !== OK) throw this.#messageFailure(status);
      words = this.#words(4);
    }
    return [...new Uint8Array(words.buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  /** Estimated tokens of a text. @param {string} text */
  estimate(text) {
    // Written straight into the module: an array of its own and a copy of it cost three times the counting.
    // Three times as many bytes as characters are enough for any text, and as many for most.
    for (let room = text.length < 1e6 ? 3 * text.length : text.length; ; room = 3 * text.length) {
      const at = this.#exports.tamp_alloc(room) >>> 0;
      if (at === 0) throw this.#failure(NO_MEMORY);
      try {
        const { read, written } = this.#encoder.encodeInto(text, this.#view().subarray(at, at + room));
        if (read < text.length) continue;
        const status = this.#exports.tamp_estimate(at, written);
        if (status !== OK) throw this.#failure(status);
        return this.#words(1)[0];
      } finally {
        this.#exports.tamp_free(at);
      }
    }
  }

  /** Bytes of the module's memory. */
  get memorySize() {
    return this.#memory.buffer.byteLength;
  }

  // ── Policies and plans ────────────────────────────────────────────────────────────────────────────────────

  /**
   * Reads a policy.
   * @param {string} json
   * @returns {{ handle: number, asks: boolean, weighs: boolean, problems: import('./errors.js').PolicyProblem[] }} with
   *   problems, no handle. `asks`: for summaries. `weighs`: tokens have a say in what it does
   */
  readPolicy(json) {
    const status = this.#pass(new TextEncoder().encode(json), (at, length) => this.#exports.tamp_policy_new(at, length));
    if (status !== OK && status !== BAD_POLICY) throw this.#failure(status);
    const words = this.#words(3);
    if (status === OK) return { handle: words[0], asks: words[1] === 1, weighs: words[2] === 1, problems: [] };
    const problems = JSON.parse(this.#text(words[1], words[2]));
    this.dispose(words[0]);
    return { handle: 0, asks: false, weighs: false, problems };
  }

  /** The same, for use: throws a PolicyError. @param {string} json */
  policy(json) {
    const policy = this.readPolicy(json);
    if (policy.problems.length > 0) throw new PolicyError(policy.problems);
    return policy;
  }

  /** Why `TAMP_NO_SUMMARIZER`: for callers that cannot ask. */
  noSummarizer() {
    return this.#failure(NO_SUMMARIZER);
  }

  /** Why `TAMP_STALE_PLAN`: for callers that waited. */
  stalePlan() {
    return this.#failure(STALE_PLAN);
  }

  /**
   * Plans a policy on the first `count` messages.
   * @param {number} handle
   * @param {number} count
   * @param {number} policy
   * @param {BridgeOptions} options
   * @param {(string | null)[]} answers null for what was no string
   * @param {(plan: number) => void} [use] is given the handle of a plan that asks nothing; of that, only the texts of
   *   added messages are in the view
   * @returns {{ plan: PlanView, question: null } | { plan: null, question: Question }}
   */
  plan(handle, count, policy, options, answers, use) {
    const run = (/** @type {number} */ answersAt, /** @type {number} */ answersLength) =>
      this.#withOptions(options, (at, length, key) =>
        this.#exports.tamp_history_plan(handle, count, policy, at, length, key, answersAt, answersLength));
    const status = answers.length > 0 ? this.#pass(this.#encoded(answers), run) : run(0, 0);
    if (status !== OK && status !== NEEDS_SUMMARY) this.#raise(status);
    const [plan] = this.#words(1);
    try {
      if (status === OK) use?.(plan);
      return status === OK ? { plan: this.#planView(plan, use === undefined), question: null } : { plan: null, question: this.#question(plan, handle) };
    } finally {
      this.dispose(plan);
    }
  }

  /** @param {number} plan @param {boolean} whole also the texts of rewritten messages @returns {PlanView} */
  #planView(plan, whole) {
    let status = this.#exports.tamp_plan_view(plan);
    if (status !== OK) throw this.#failure(status);
    const words = this.#words(18);
    status = this.#exports.tamp_plan_report(plan);
    if (status !== OK) throw this.#failure(status);
    const [reportAt, reportLength] = this.#words(2);
    const { buffer } = this.#memory;
    const changed = words[4] === 1;
    const texts = [];
    const facts = new Uint32Array(buffer, words[2], 4 * words[3]);
    for (let i = 0; i < facts.length; i += 4) {
      const length = whole || facts[i + 2] === NONE ? facts[i + 1] : 0;
      texts.push({ json: this.#copy(facts[i], length), origin: facts[i + 2], reason: this.reason(facts[i + 3]) });
    }
    const report = JSON.parse(this.#text(reportAt, reportLength));
    const empty = new Uint32Array(0);
    const reasons = changed ? new Uint32Array(buffer, words[16], words[17]).slice() : empty;
    return {
      changed,
      fits: words[5] === 1,
      before: words[6],
      after: words[7],
      tokensBefore: this.#long(words, 8),
      tokensAfter: this.#long(words, 10),
      bytesBefore: this.#long(words, 12),
      bytesAfter: this.#long(words, 14),
      order: changed ? new Uint32Array(buffer, words[0], words[1]).slice() : empty,
      texts,
      reasons,
      report,
    };
  }

  /** A reason of a plan: static in the module, so read once. @param {number} at */
  reason(at) {
    if (at === 0) return '';
    let reason = this.#reasons.get(at);
    if (reason === undefined) {
      const bytes = this.#view();
      let end = at;
      while (bytes[end] !== 0) end++;
      reason = this.#text(at, end - at);
      this.#reasons.set(at, reason);
    }
    return reason;
  }

  /** @param {number} plan @param {number} history @returns {Question} */
  #question(plan, history) {
    const status = this.#exports.tamp_plan_question(plan);
    if (status !== OK) throw this.#failure(status);
    const words = this.#words(8);
    const question = {
      text: this.#text(words[0], words[1]),
      previous: words[4] === 1 ? this.#text(words[2], words[3]) : null,
      tokens: this.#long(words, 5),
      messages: /** @type {Question['messages']} */ ([]),
    };
    for (let i = 0; i < words[7]; i++) {
      if (this.#exports.tamp_plan_question_message(plan, history, i) !== OK) throw this.#failure(BAD_HANDLE);
      const [index, at, length] = this.#words(3);
      question.messages.push(index === NONE ? { json: this.#copy(at, length) } : { index });
    }
    return question;
  }
}
