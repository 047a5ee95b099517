/**
 * The core's API: one `Tamp` for one instance of the module.
 */
import { applyPlan } from './compaction.js';
import { History, notAList } from './history.js';
import { bridgeOptions, checkedCount } from './options.js';
import { policyText } from './policies.js';
import { compactText } from './text.js';

/** @typedef {import('./wasm.js').Bridge} Bridge */
/** @typedef {import('./options.js').CompactOptions} CompactOptions */
/** @typedef {import('./policy.js').Policy} Policy */

/**
 * @typedef {object} Inspection
 * @property {number} messages conversation messages: neither instructions nor activity
 * @property {number} tokens
 * @property {number} bytes
 * @property {number} turns
 * @property {{ kind: 'system' | 'user' | 'assistant' | 'tool' | 'summary' | 'activity' | 'orphan' | 'other', indices: number[], tokens: number, pending: boolean, protected: boolean }[]} groups
 * @property {{ kind: 'orphan-result' | 'unanswered-call' | 'split-parallel' | 'result-before-call' | 'duplicate-id' | 'duplicate-result' | 'no-user-message', index: number, detail: string }[]} problems
 */

/** Compacts histories. Get one from `loadTamp`; it can be used for any number of conversations at once. */
export class Tamp {
  /** @type {Bridge} */
  #bridge;

  /** @param {Bridge} bridge @internal */
  constructor(bridge) {
    this.#bridge = bridge;
  }

  /** @internal */
  get bridge() {
    return this.#bridge;
  }

  /**
   * Runs `use` on a history of these messages, which is freed afterwards.
   * @template {object} M
   * @template T
   * @param {readonly M[]} messages
   * @param {CompactOptions | undefined} options
   * @param {(history: History<M>) => T} use
   * @returns {T}
   */
  #once(messages, options, use) {
    if (!Array.isArray(messages)) throw notAList(messages);
    const history = this.open(messages, options);
    try {
      return use(history);
    } finally {
      history.dispose();
    }
  }

  /**
   * Compacts a list. Never changes `messages` or any object in it; every message it keeps is the same object.
   * @template {object} M
   * @param {readonly M[]} messages
   * @param {Policy} policy
   * @param {CompactOptions} [options]
   * @returns {import('./compaction.js').Compaction<M>}
   * @throws {import('./errors.js').PolicyError} a bad policy: all its problems at once
   * @throws {import('./errors.js').MessageError} something that is not a message; says which
   */
  compact(messages, policy, options) {
    return this.#once(messages, options, (history) => {
      const { plan } = history.plan(policy, options);
      return applyPlan(this.#bridge, plan, messages, this.#bridge.format(options?.format ?? 'ag-ui').idPath);
    });
  }

  /**
   * The same for policies that hold a `summarize` step. Rejects with an AbortError when `signal` aborts, and with what
   * `summarize` throws; the input is never changed.
   * @template {object} M
   * @param {readonly M[]} messages
   * @param {Policy} policy
   * @param {import('./options.js').CompactAsyncOptions<M>} options
   * @returns {Promise<import('./compaction.js').Compaction<M>>}
   */
  async compactAsync(messages, policy, options) {
    if (!Array.isArray(messages)) throw notAList(messages);
    const history = this.open(messages, options);
    try {
      const compaction = await history.compactAsync(policy, options);
      return compaction.changed ? compaction : { ...compaction, messages };
    } finally {
      history.dispose();
    }
  }

  /**
   * A history that is kept up to date instead of being read anew each turn. Free it with `dispose`.
   * @template {object} M
   * @param {readonly M[]} [messages]
   * @param {CompactOptions} [options] for every later call that does not give its own
   * @returns {History<M>}
   */
  open(messages = [], options = {}) {
    if (!Array.isArray(messages)) throw notAList(messages);
    /** @type {History<M>} */
    const history = new History(this.#bridge, options ?? {});
    try {
      history.sync(messages);
    } catch (error) {
      history.dispose();
      throw error;
    }
    return history;
  }

  /**
   * Sizes, groups, turns and the reasons a provider would refuse this list.
   * @param {readonly object[]} messages
   * @param {CompactOptions} [options]
   * @returns {Inspection}
   */
  inspect(messages, options) {
    return this.#once(messages, options, (history) => history.inspect(options));
  }

  /**
   * Estimated model tokens of a text or of a list of messages.
   * @param {string | readonly object[]} input
   * @param {CompactOptions} [options]
   * @returns {number} an integer
   */
  countTokens(input, options) {
    if (typeof input !== 'string') return this.#once(input, options, (history) => history.tokens(options));
    const { countTokens } = bridgeOptions(options);
    return countTokens && input !== '' ? checkedCount(countTokens(input)) : this.#bridge.estimate(input);
  }

  /**
   * Everything wrong with a policy, with the path to each field; [] when it is fine. Never throws.
   * @param {unknown} policy
   * @returns {import('./errors.js').PolicyProblem[]}
   */
  checkPolicy(policy) {
    const json = policyText(policy);
    const read = this.#bridge.readPolicy(json ?? '');
    if (read.problems.length === 0) this.#bridge.dispose(read.handle);
    return read.problems;
  }

  /**
   * Compacts a transcript held as JSON text or bytes; untouched messages come back byte for byte.
   * @param {string | Uint8Array} text
   * @param {Policy} policy
   * @param {Omit<CompactOptions, 'format'> & { format?: import('./options.js').Format | 'auto' }} [options]
   * @returns {import('./text.js').TextCompaction}
   */
  compactText(text, policy, options) {
    return compactText(this.#bridge, text, policy, options);
  }
}
