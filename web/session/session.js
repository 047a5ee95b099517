// One chat that lasts: its lanes, its turns, and the store that holds it. Whatever a person does is saved before
// the promise for it resolves; what could not be saved is saved with the next change.
import { TampError } from '../errors.js';
import { diffEntries } from '../store/changes.js';
import { MessageAccumulator } from './accumulator.js';
import { linkSignals } from './attempt.js';
import { hasIds, sessionFormat } from './convert.js';
import { closeStaleIndicators } from './indicator.js';
import { withId } from './lanes.js';
import { isQuestion } from './lane.js';
import { nameOf, roleOf } from './shapes.js';
import { sumUsage } from './usage.js';

/** @import { Tamp } from '../index.js' */
/** @import { Change, CompactedEvent, CompactionOptions, CompactionState, IndicatorPart, SessionStore, Usage } from './types.js' */
/** @import { Entry } from '../store/changes.js' */

/**
 * @typedef {object} SessionOptions
 * @property {string} chatId
 * @property {CompactionOptions} [compaction]
 * @property {(event: CompactedEvent) => void | Promise<void>} [onCompacted]
 * @property {(part: IndicatorPart) => void} [onIndicator]
 * @property {SessionStore} [store] without one nothing outlives the session
 * @property {string} [format] as `AccumulatorOptions.format`
 * @property {Tamp | Promise<Tamp>} [tamp] default: `loadTamp()`
 * @property {AbortSignal} [signal] closes the session
 * @property {unknown} [clientData] handed on to the callbacks
 * @property {(error: unknown) => void} [onError] gets errors of saves, which are tried again with the next one, and
 *   those `AccumulatorOptions.onError` names. Default: console.error
 */

/**
 * @typedef {object} Turn
 * @property {number} number from 0, in the order of the chat
 * @property {string} chatId
 * @property {object[]} messages what to send to the model: the model lane as a provider takes it (no call without its
 *   result, no result without its call), in an array of its own
 * @property {readonly object[]} uiMessages
 * @property {AbortSignal} signal aborts when the turn is stopped or the session closed
 * @property {() => any} prepareStep for `streamText` and `generateText`; gives undefined without `compaction`
 * @property {(message: object) => Promise<void>} addResponse
 * @property {(result?: { usage?: Usage, totalUsage?: Usage, message?: object }) => Promise<void>} complete ends the
 *   turn: adds `message`, saves, and compacts when `shouldCompact` says so to `usage`, that of the last model call
 *   (`{}` when it reported none; nothing is asked without an object, nor when the turn was stopped). Rejects with what
 *   a callback threw; the answer is saved by then, and the turn may be completed again
 * @property {() => void} stop aborts `signal`
 */

/** @param {unknown} error */
const printError = (error) => console.error(error);

/** @param {readonly object[]} messages @returns {Entry[]} */
const entriesOf = (messages) => messages.map((message, index) => ({ id: nameOf(message, index), message }));

/** How many turns people have taken. @param {readonly object[]} messages */
function countTurns(messages) {
  let turns = 0;
  let asking = false;
  for (const message of messages) {
    if (isQuestion(message)) {
      if (!asking) turns++;
      asking = true;
    } else if (roleOf(message) === 'assistant') {
      asking = false;
    }
  }
  return turns;
}

/** One chat. Made by `createSession`. */
export class Session {
  #options;
  #lanes;
  #linked;
  /** What the store has acknowledged. @type {readonly Entry[]} */ #saved = [];
  /** @type {CompactionState | null} */ #savedState = null;
  /** Saves run one after the other. @type {Promise<void>} */ #saving = Promise.resolve();
  #turns = 0;
  /** @type {Usage | undefined} */ #totalUsage;
  /** @type {{ controller: AbortController, release(): void } | null} the turn that runs */ #open = null;
  #closed = false;

  /** @param {SessionOptions} options */
  constructor(options) {
    if (typeof options?.chatId !== 'string' || options.chatId === '') throw new TampError('missing', 'a session needs a chatId');
    this.#options = options;
    this.#linked = linkSignals([options.signal]);
    this.#lanes = new MessageAccumulator({
      compaction: options.compaction,
      onCompacted: options.onCompacted,
      onIndicator: options.onIndicator,
      onError: options.onError,
      format: options.format,
      tamp: options.tamp,
      chatId: options.chatId,
      onCommit: () => this.#save(),
    });
  }

  /**
   * Loads what the store holds; to be awaited once, before anything else.
   * @internal
   */
  async load() {
    const stored = await this.#options.store?.load(this.#options.chatId);
    if (stored === null || stored === undefined) return;
    this.#saved = entriesOf(stored.messages);
    this.#savedState = stored.state;
    const mended = stored.messages.map(closeStaleIndicators);
    await this.#lanes.load(mended.map(({ message }) => message), stored.state);
    this.#turns = countTurns(stored.messages);
    for (const part of mended.flatMap(({ closed }) => closed)) this.#options.onIndicator?.(part);
    // Only what changed by itself; a record of another version is left as it is.
    if (mended.some(({ closed }) => closed.length > 0) || this.#lanes.invalidation !== null) await this.#save();
    else this.#savedState = this.#lanes.state;
  }

  /** What people see. @returns {readonly object[]} */
  get uiMessages() {
    return this.#lanes.uiMessages;
  }

  /** What the model reads. @returns {readonly object[]} */
  get modelMessages() {
    return this.#lanes.modelMessages;
  }

  /** The compaction in force. @returns {CompactionState | null} */
  get state() {
    return this.#lanes.state;
  }

  /** Why the last attempt to compact came to nothing; null when it did not. */
  get failure() {
    return this.#lanes.failure;
  }

  /** Why the last summary was cleared; null while one stands, or none was. */
  get invalidation() {
    return this.#lanes.invalidation;
  }

  /** How many changes the store has not acknowledged: 0 when all is safe. */
  get unsaved() {
    return this.#options.store === undefined ? 0 : this.#changes().length;
  }

  /**
   * The person says something. It is saved at once; the turn begins when a compaction that runs is over, which does
   * not cover it.
   * @param {object | readonly object[]} message
   * @returns {Promise<Turn>}
   */
  async send(message) {
    this.#check();
    const messages = /** @type {object[]} */ (Array.isArray(message) ? message : [message]);
    await this.#lanes.addIncoming(hasIds(sessionFormat(this.#options.format)) ? messages.map(withId) : messages);
    await this.#save();
    return this.#begin();
  }

  /**
   * What the person says while a turn runs: it joins that turn's next step.
   * @param {object} message
   */
  async steer(message) {
    this.#check();
    await this.#lanes.steer(message);
    await this.#save();
  }

  /**
   * Replaces a message. A summary that stands for it is cleared (`invalidation`).
   * @param {string} id or "#<place>" for a message without one
   * @param {object} message
   */
  async edit(id, message) {
    this.#check();
    await this.#change(this.uiMessages.with(this.#find(id), message));
  }

  /** Removes everything after the message `toId`, with null everything. @param {string | null} toId */
  async undo(toId) {
    this.#check();
    await this.#change(this.uiMessages.slice(0, toId === null ? 0 : this.#find(toId) + 1));
  }

  /** Drops what stands after the last question and begins its turn anew. @returns {Promise<Turn>} */
  async regenerate() {
    this.#check();
    const last = this.uiMessages.findLastIndex(isQuestion);
    if (last === -1) throw new TampError('unknown-message', 'there is no question to answer again');
    await this.#change(this.uiMessages.slice(0, last + 1));
    this.#turns = Math.max(0, this.#turns - 1);
    return this.#begin();
  }

  /**
   * A "/compact" command or a button: compact now, whatever the usage.
   * @returns {Promise<boolean>} whether it did; `failure` says why not, null when there was nothing to do. Rejects
   *   with what a callback threw
   */
  async compact() {
    this.#check();
    return this.#lanes.compactNow({ ...this.#context(), turn: Math.max(0, this.#turns - 1), signal: this.#linked.signal });
  }

  /** Puts the covered messages back in the model lane. */
  async restore() {
    this.#check();
    await this.#lanes.restore();
    await this.#save();
  }

  /** Stops the turn and the compaction that run, and resolves when everything is saved that can be. */
  async close() {
    this.#closed = true;
    this.#linked.controller.abort(new DOMException('the session was closed', 'AbortError'));
    this.#lanes.abort();
    this.#linked.release();
    await this.#lanes.idle();
    await this.#save();
  }

  #check() {
    if (this.#closed || this.#linked.signal.aborted) throw new TampError('closed', `the session of chat ${JSON.stringify(this.#options.chatId)} is closed`);
  }

  /** @param {string} id @returns {number} */
  #find(id) {
    const index = this.uiMessages.findIndex((message, place) => nameOf(message, place) === id);
    if (index === -1) throw new TampError('unknown-message', `there is no message ${JSON.stringify(id)} in chat ${JSON.stringify(this.#options.chatId)}`);
    return index;
  }

  #context() {
    return { chatId: this.#options.chatId, clientData: this.#options.clientData, totalUsage: this.#totalUsage };
  }

  /** @param {readonly object[]} messages */
  async #change(messages) {
    this.#open?.controller.abort();
    await this.#lanes.setMessages(messages);
    await this.#save();
  }

  /** @returns {Promise<Turn>} */
  async #begin() {
    await this.#lanes.idle();
    const number = this.#turns++;
    const lanes = this.#lanes;
    const turn = linkSignals([this.#linked.signal]);
    const { signal } = turn;
    this.#open = turn;
    const context = { ...this.#context(), turn: number, signal };
    const messages = await lanes.prompt();
    let prepared = false;
    /** @type {Usage[]} of the steps that prepareStep saw */
    let steps = [];
    return {
      number,
      chatId: this.#options.chatId,
      messages,
      get uiMessages() {
        return lanes.uiMessages;
      },
      signal,
      prepareStep: () => {
        const prepare = lanes.prepareStep(context);
        if (prepare === undefined) return undefined;
        prepared = true;
        return (/** @type {any} */ step) => {
          steps = step.steps.map((/** @type {{ usage?: Usage }} */ { usage }) => usage ?? {});
          return prepare(step);
        };
      },
      addResponse: async (message) => {
        await lanes.addResponse(message);
        await this.#save();
      },
      complete: async ({ usage, totalUsage, message } = {}) => {
        if (message !== undefined) await lanes.addResponse(message);
        await this.#save();
        const turnUsage = sumUsage(prepared ? [...steps, usage] : [usage]);
        this.#totalUsage = totalUsage ?? sumUsage([context.totalUsage, turnUsage]);
        if (!signal.aborted) {
          await lanes.compactIfNeeded(usage, { ...context, turnUsage, totalUsage: this.#totalUsage });
        }
        turn.release();
        if (this.#open === turn) this.#open = null;
      },
      stop: () => turn.controller.abort(),
    };
  }

  /** What the store does not have yet. @returns {Change[]} */
  #changes() {
    const changes = diffEntries(this.#saved, entriesOf(this.uiMessages));
    if (this.state !== this.#savedState) changes.push({ type: 'state', state: this.state });
    return changes;
  }

  /** Saves what has changed, after the saves that run. Never rejects: what fails is part of the next save. */
  #save() {
    const { store, chatId, onError = printError } = this.#options;
    if (store === undefined) return Promise.resolve();
    this.#saving = this.#saving.then(async () => {
      const changes = this.#changes();
      if (changes.length === 0) return;
      const entries = entriesOf(this.uiMessages);
      const { state } = this;
      try {
        await store.save(chatId, changes);
        this.#saved = entries;
        this.#savedState = state;
      } catch (error) {
        onError(error);
      }
    });
    return this.#saving;
  }
}

/**
 * Opens a chat and loads what the store holds, so that one that was compacted before a reload goes on from its
 * summary. An indicator that a page left open is closed as failed.
 * @param {SessionOptions} options
 * @returns {Promise<Session>} Rejects with a TampError when an option is wrong, and with what the store threw
 */
export async function createSession(options) {
  const session = new Session(options);
  await session.load();
  return session;
}
