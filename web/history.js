/**
 * A history that lives in the module and is kept up to date instead of being read anew each turn.
 */
import { applyPlan } from './compaction.js';
import { isEqualJson } from './equal.js';
import { MessageError, TampError } from './errors.js';
import { bridgeOptions } from './options.js';
import { policyText } from './policies.js';
import { SUMMARY_PROMPT } from './prompt.js';

/** @typedef {import('./wasm.js').Bridge} Bridge */
/** @typedef {import('./options.js').CompactOptions} CompactOptions */
/** @typedef {import('./policy.js').Policy} Policy */

/** Messages at the end that `sync` compares by value even when they are the same objects: clients write into the
 * newest ones while they stream. */
const STILL_WRITTEN = 8;

/** @type {FinalizationRegistry<{ bridge: Bridge, handle: number }>} */
const forgotten = new FinalizationRegistry(({ bridge, handle }) => bridge.dispose(handle));

/** @param {AbortSignal | undefined} signal */
export function throwIfAborted(signal) {
  if (!signal?.aborted) return;
  const { reason } = signal;
  if (reason instanceof DOMException && reason.name === 'AbortError') throw reason;
  throw Object.assign(new DOMException('The compaction was aborted.', 'AbortError'), { cause: reason });
}

/**
 * What a promise resolves to, or the abort, whichever comes first.
 * @template T
 * @param {T | Promise<T>} value
 * @param {AbortSignal} signal
 * @returns {Promise<T>}
 */
export async function unlessAborted(value, signal) {
  /** @type {() => void} */
  let stop = () => {};
  const aborted = new Promise((_resolve, reject) => {
    stop = () => {
      try {
        throwIfAborted(signal);
      } catch (error) {
        reject(error);
      }
    };
    signal.addEventListener('abort', stop);
  });
  try {
    stop();
    return /** @type {T} */ (await Promise.race([value, aborted]));
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** @param {Bridge} bridge @param {unknown} policy */
export function readPolicy(bridge, policy) {
  const json = policyText(policy);
  /* A policy that holds itself is no JSON at all, which is what the core says of an empty text. */
  return bridge.policy(json ?? '');
}

/**
 * Safari has no Symbol.dispose yet; a compiled `using` looks for this one there.
 * @type {typeof Symbol.dispose}
 */
const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/**
 * Messages of one conversation, in order. Get one from `tamp.open`.
 *
 * A message that was given is taken to stay as it is: to change one, replace the object. Only the newest few are looked
 * at again by `sync`.
 * @template {object} M
 */
export class History {
  /** @type {Bridge} */
  #bridge;
  #handle;
  /** @type {CompactOptions} */
  #options;
  /** @type {string[]} */
  #idPath;
  /** @type {M[]} */
  #messages = [];
  /** The shortest that the history was since a compaction began that waits for a summary. */
  #shortest = 0;
  #disposed = false;

  /**
   * @param {Bridge} bridge
   * @param {CompactOptions} [options] for every call that does not give its own
   */
  constructor(bridge, { format = 'ag-ui', ...options } = {}) {
    const { index, idPath } = bridge.format(format);
    bridgeOptions(options);
    this.#bridge = bridge;
    this.#options = options;
    this.#idPath = idPath;
    this.#handle = bridge.newHistory(index);
    forgotten.register(this, { bridge, handle: this.#handle }, this);
  }

  /** How many messages it holds. */
  get length() {
    return this.#messages.length;
  }

  /** The messages, as they were given. Do not change it. @internal @returns {readonly M[]} */
  get messages() {
    return this.#messages;
  }

  /** @internal @returns {number} */
  get handle() {
    return this.#open();
  }

  #open() {
    if (this.#disposed) throw new TampError('disposed', 'This history was disposed of. Open a new one.');
    return this.#handle;
  }

  /**
   * Adds messages at the end: all of them, or none when one is not a message.
   * @param {...M} messages
   * @throws {MessageError} with the index in this history
   */
  append(...messages) {
    this.#appendAll(messages, 0);
  }

  /** @param {readonly M[]} messages @param {number} from */
  #appendAll(messages, from) {
    const handle = this.#open();
    const before = this.#messages.length;
    try {
      for (let i = from; i < messages.length; i++) {
        this.#bridge.append(handle, messages[i], this.#messages.length);
        this.#messages.push(messages[i]);
      }
    } catch (error) {
      this.#cut(before);
      throw error;
    }
  }

  /** @param {number} length */
  #cut(length) {
    this.#bridge.truncate(this.#handle, length);
    this.#messages.length = length;
    this.#shortest = Math.min(this.#shortest, length);
  }

  /** The history's options with those of a call before them. @param {CompactOptions | undefined} options */
  #checked(options) {
    return bridgeOptions({ ...this.#options, ...options });
  }

  /** The first message that differs from `messages`. @param {readonly M[]} messages */
  #firstDifference(messages) {
    const handle = this.#open();
    const mine = this.#messages;
    const common = Math.min(mine.length, messages.length);
    const written = mine.length - STILL_WRITTEN;
    for (let i = 0; i < common; i++) {
      const message = messages[i];
      if (mine[i] !== message) {
        if (typeof message !== 'object' || !isEqualJson(mine[i], message)) return i;
        mine[i] = message;
      }
      if (i >= written && !this.#bridge.isSame(handle, i, message)) return i;
    }
    return common;
  }

  /**
   * Makes the history equal to `messages`, reading only what differs from the last call.
   * @param {readonly M[]} messages
   * @returns {number} how many messages were read
   * @throws {MessageError} and the history is as it was
   */
  sync(messages) {
    if (!Array.isArray(messages)) throw notAList(messages);
    const from = this.#firstDifference(messages);
    const replaced = this.#messages.slice(from);
    if (replaced.length > 0) this.#cut(from);
    try {
      this.#appendAll(messages, from);
    } catch (error) {
      this.#appendAll(replaced, 0);
      throw error;
    }
    return messages.length - from;
  }

  /**
   * Forgets every message after the one with this id; all of them with null.
   * @param {string | null} id
   * @throws {TampError} `unknown-id` when no message has it
   */
  truncateAfter(id) {
    const handle = this.#open();
    const index = id === null ? -1 : this.#bridge.find(handle, id);
    if (id !== null && index < 0) throw new TampError('unknown-id', `No message of this history has the id ${JSON.stringify(id)}.`);
    this.#cut(index + 1);
  }

  /**
   * Compacts the history as it is now. The history itself is not changed.
   * @param {Policy} policy
   * @param {CompactOptions} [options] `format` is the history's own
   * @returns {import('./compaction.js').Compaction<M>}
   */
  compact(policy, options) {
    const { plan } = this.plan(policy, options);
    return applyPlan(this.#bridge, plan, this.#messages.slice(), this.#idPath);
  }

  /**
   * The plan itself, for callers that apply it otherwise.
   * @internal
   * @param {Policy} policy
   * @param {CompactOptions} [options]
   * @returns {{ plan: import('./wasm.js').PlanView }}
   */
  plan(policy, options) {
    const handle = this.#open();
    const checked = this.#checked(options);
    const read = readPolicy(this.#bridge, policy);
    try {
      if (read.asks) throw this.#bridge.noSummarizer();
      const { plan } = this.#bridge.plan(handle, this.length, read.handle, checked, []);
      return { plan: /** @type {import('./wasm.js').PlanView} */ (plan) };
    } finally {
      this.#bridge.dispose(read.handle);
    }
  }

  /**
   * The same for policies that hold a `summarize` step. Messages appended while a summary is written stay behind the
   * result; an edit of what was planned on rejects with `stale-plan`.
   * @param {Policy} policy
   * @param {import('./options.js').CompactAsyncOptions<M>} options
   * @returns {Promise<import('./compaction.js').Compaction<M>>}
   */
  async compactAsync(policy, options) {
    const checked = this.#checked(options);
    const { summarize, signal = new AbortController().signal } = options ?? {};
    throwIfAborted(signal);
    const read = readPolicy(this.#bridge, policy);
    try {
      if (read.asks && typeof summarize !== 'function') throw this.#bridge.noSummarizer();
      const length = this.length;
      /** @type {(string | null)[]} */
      const answers = [];
      this.#shortest = length;
      for (;;) {
        const { plan, question } = this.#bridge.plan(this.#open(), length, read.handle, checked, answers);
        if (plan) return applyPlan(this.#bridge, plan, this.#messages.slice(), this.#idPath);
        const answer = await unlessAborted(
          /** @type {NonNullable<typeof summarize>} */ (summarize)(this.#request(question, signal)),
          signal,
        );
        if (this.#disposed || this.#shortest < length) throw this.#bridge.stalePlan();
        answers.push(typeof answer === 'string' ? answer : null);
      }
    } finally {
      this.#bridge.dispose(read.handle);
    }
  }

  /** @param {import('./wasm.js').Question} question @param {AbortSignal} signal */
  #request(question, signal) {
    const decoder = new TextDecoder();
    const messages = question.messages.map((message) => (
      'index' in message ? structuredClone(this.#messages[message.index]) : /** @type {M} */ (JSON.parse(decoder.decode(message.json)))
    ));
    return { messages, text: question.text, previousSummary: question.previous, prompt: SUMMARY_PROMPT, tokens: question.tokens, signal };
  }

  /**
   * Sizes, groups, turns and the reasons a provider would refuse this list.
   * @param {CompactOptions} [options]
   * @returns {import('./tamp.js').Inspection}
   */
  inspect(options) {
    return this.#bridge.inspect(this.#open(), this.#checked(options));
  }

  /** @internal @param {CompactOptions} [options] */
  tokens(options) {
    return this.#bridge.tokens(this.#open(), this.#checked(options));
  }

  /** Frees its memory. Using it afterwards throws; disposing twice does nothing. */
  dispose() {
    if (this.#disposed) return;
    if (!this.#bridge.dispose(this.#handle)) {
      throw new TampError('busy', 'This history is in use by the call whose countTokens is running; dispose of it afterwards.');
    }
    this.#disposed = true;
    this.#messages = [];
    forgotten.unregister(this);
  }

  /** For `using`. */
  [dispose]() {
    this.dispose();
  }
}

/** @param {unknown} value */
export function notAList(value) {
  const given = value === null ? 'null' : `a value of type ${typeof value}`;
  return new MessageError('not-a-list', `Messages must be an array; this is ${given}.`, -1);
}
