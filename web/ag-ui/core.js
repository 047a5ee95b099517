// The core, as a middleware needs it: loaded late, and with one history kept up to date for each thread.
import { loadTamp } from '../index.js';
import { isObject } from './notice.js';

/** @import { Compaction, CompactOptions, History, Policy, Tamp } from '../index.js' */
/** @import { Message } from './types.js' */

/** Histories that stay in Wasm; the one that was used least recently makes room. */
const HISTORIES = 8;

/** @param {unknown} value @returns {value is Tamp} */
const isTamp = (value) => isObject(value) && typeof value.compact === 'function';

export class Core {
  /** @type {Tamp | null} */
  #tamp = null;
  /** @type {Promise<Tamp> | null} */
  #loading = null;
  #given;
  /** @type {Map<string, History<Message>>} */
  #histories = new Map();

  /** @param {Tamp | Promise<Tamp>} [given] */
  constructor(given) {
    this.#given = given;
    if (isTamp(given)) this.#tamp = given;
  }

  /** Null while it is not loaded. */
  get tamp() {
    return this.#tamp;
  }

  /** Load it; after a failure, try again. @returns {Promise<Tamp>} */
  load() {
    if (this.#tamp !== null) return Promise.resolve(this.#tamp);
    this.#loading ??= Promise.resolve(this.#given ?? loadTamp()).then(
      (tamp) => (this.#tamp = tamp),
      (error) => {
        this.#loading = null;
        throw error;
      },
    );
    return this.#loading;
  }

  /**
   * Compact the list of a thread, reading only what differs from last time.
   * @param {Tamp} tamp the loaded one
   * @param {string} threadId
   * @param {readonly Message[]} messages
   * @param {Policy} policy
   * @param {CompactOptions} options
   * @returns {Compaction<Message>}
   */
  compact(tamp, threadId, messages, policy, options) {
    let history = this.#histories.get(threadId);
    this.#histories.delete(threadId);
    try {
      if (history === undefined) history = tamp.open(messages);
      else history.sync(messages);
      const compaction = history.compact(policy, options);
      this.#keep(threadId, history);
      return compaction;
    } catch (error) {
      history?.dispose();
      throw error;
    }
  }

  /** @param {string} threadId @param {History<Message>} history */
  #keep(threadId, history) {
    this.#histories.set(threadId, history);
    for (const [oldest, unused] of this.#histories) {
      if (this.#histories.size <= HISTORIES) break;
      unused.dispose();
      this.#histories.delete(oldest);
    }
  }
}
