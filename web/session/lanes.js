// The two lanes of one chat. The transcript is what people see; the model lane is derived from it and from the
// state of the last compaction, never kept beside it, so that nothing can undo a compaction by accident.
import { createConverter, hasIds, modelFormat, partsOf, sessionFormat } from './convert.js';
import { same } from './copy.js';
import { digestMessages } from './digest.js';
import { nameOf } from './shapes.js';
import { checkState, coveredMessages, deriveLane, explainChange, parseState } from './state.js';
import { tampOf } from './tamp.js';

/** @import { Tamp } from '../index.js' */
/** @import { CompactionState, Invalidation } from './types.js' */

/** @param {object} message @returns {unknown} */
const idOf = (message) => /** @type {{ id?: unknown }} */ (message).id;

/** The message, with an id if it had none. @param {object} message */
export function withId(message) {
  const id = idOf(message);
  return typeof id === 'string' && id !== '' ? message : { ...message, id: crypto.randomUUID() };
}

export class Lanes {
  /** Of the transcript. */
  format;
  /** Of the model lane. */
  modelFormat;
  /** What people see. Replaced by a new array with every change. @type {readonly object[]} */
  messages = [];
  /** Why the last summary was cleared; null while it stands. @type {Invalidation | null} */
  invalidation = null;
  /** How often this chat was compacted. */
  generation = 0;
  /** A summary was cleared: the size of what is sent next is known to nobody. */
  unchecked = false;
  /** @type {CompactionState | null} */ #state = null;
  /** @type {object[] | null} */ #model = null;
  #convert;
  #tamp;

  /** @param {{ format?: string, tamp?: Tamp | Promise<Tamp> }} options */
  constructor({ format, tamp }) {
    this.format = sessionFormat(format);
    this.modelFormat = modelFormat(this.format);
    this.#convert = createConverter(this.format);
    this.#tamp = tamp;
  }

  /** The core. */
  tamp() {
    return tampOf(this.#tamp);
  }

  /** The compaction in force. */
  get state() {
    return this.#state;
  }

  /** What the model reads. @returns {readonly object[]} */
  get model() {
    this.#model ??= deriveLane(this.#state, this.messages, this.#convert, this.modelFormat);
    return this.#model;
  }

  /** @param {readonly object[]} messages of the transcript @returns {object[]} as the model reads them */
  convert(messages) {
    return this.#convert(messages);
  }

  /** Takes over what a store held. @param {readonly object[]} messages @param {unknown} state */
  async load(messages, state) {
    this.#set(messages);
    this.#state = parseState(state);
    this.generation = this.#state?.generation ?? 0;
    await this.#revalidate(null);
  }

  /** Replaces the transcript; a summary stands on when all it covers is still there. @param {readonly object[]} messages */
  async replaceAll(messages) {
    const before = this.messages;
    this.#set([...messages]);
    await this.#revalidate(before);
  }

  /**
   * Appends a message, or replaces the one of its id. A summary that ends with that one stands on when it is the
   * newest: an answer goes on, it is not edited.
   * @param {object} message
   */
  async put(message) {
    const before = this.messages;
    const id = idOf(message);
    const index = typeof id === 'string' && id !== '' ? before.findLastIndex((other) => idOf(other) === id) : -1;
    if (index === -1) {
      this.#set([...before, message]);
      return;
    }
    // An object that was changed in place must be told from what it was.
    this.#set(before.with(index, before[index] === message ? { ...message } : message));
    if (this.#state === null || index > this.#state.covered) return;
    if (index === before.length - 1 && index >= this.#state.covered - 1) await this.#continueCovered(before[index], index);
    else await this.#revalidate(before);
  }

  /** Puts the covered messages back in the model lane. @returns {boolean} whether there were any */
  restore() {
    if (this.#state === null) return false;
    this.#clear({ code: 'restored', message: 'the covered messages were put back' });
    return true;
  }

  /**
   * Both lanes at once: the transcript and the state that stands for its beginning, whose digest is taken here.
   * @param {Tamp} tamp @param {readonly object[]} messages @param {CompactionState} state
   */
  commit(tamp, messages, state) {
    this.#set(messages);
    this.#seal(tamp, state);
    this.generation = Math.max(this.generation, state.generation);
    this.invalidation = null;
    this.unchecked = false;
  }

  /** @param {readonly object[]} messages */
  #set(messages) {
    this.messages = messages;
    this.#model = null;
  }

  /** @param {Tamp} tamp @param {CompactionState} state */
  #seal(tamp, state) {
    this.#state = { ...state, digest: digestMessages(tamp, coveredMessages(state, this.messages)) };
    this.#model = null;
  }

  /** @param {Invalidation} why */
  #clear(why) {
    this.#state = null;
    this.#model = null;
    this.invalidation = why;
  }

  /** Clears a state that no longer stands. @param {readonly object[] | null} before the transcript before the change, if known */
  async #revalidate(before) {
    if (this.#state === null) return;
    const tamp = await this.tamp();
    // Whoever changed something while the core was loading asks for himself.
    const state = this.#state;
    const found = state === null ? null : checkState(tamp, state, this.messages);
    if (state === null || found === null) return;
    this.#clear(before === null ? found : explainChange(found, state, before, this.messages));
    this.unchecked = true;
  }

  /**
   * The newest message, with which the summary ends, was replaced. Parts that are covered stay so while they are the
   * same; else the summary ends before the message, which is then read whole.
   * @param {object} old @param {number} index
   */
  async #continueCovered(old, index) {
    const tamp = await this.tamp();
    const state = this.#state;
    const message = this.messages[index];
    if (state === null || message === undefined || checkState(tamp, state, this.messages) === null) return;
    const covered = index === state.covered ? partsOf(old).slice(0, state.part?.parts ?? 0) : partsOf(old);
    const goesOn = covered.length > 0 && same(covered, partsOf(message).slice(0, covered.length));
    const { part: _part, ...rest } = state;
    this.#seal(tamp, {
      ...rest,
      covered: index,
      throughId: index === 0 ? '' : nameOf(this.messages[index - 1], index - 1),
      ...(goesOn ? { part: { id: nameOf(message, index), parts: covered.length } } : {}),
    });
  }
}

/** The message as a transcript of this format keeps it. @param {Lanes} lanes @param {object} message */
export const named = (lanes, message) => (hasIds(lanes.format) ? withId(message) : message);
