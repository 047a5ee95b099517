// The two lanes of a chat with both loops: what a session is built on, and what a back end uses by itself.
import { linkSignals, untilAborted } from './attempt.js';
import { withoutAborted } from './convert.js';
import { shouldCompactEvent } from './events.js';
import { repair } from './lane.js';
import { Lanes, named } from './lanes.js';
import { coverable, outerCompaction } from './outer.js';
import { pairing, roleOf } from './shapes.js';
import { Turn } from './turn.js';
import { triggerBasis } from './usage.js';

/** @import { Tamp } from '../index.js' */
/** @import { CompactedEvent, CompactionContext, CompactionFailure, CompactionOptions, CompactionState, CompactResult, Usage } from './types.js' */
/** @import { IndicatorListener } from './indicator.js' */
/** @import { Listeners } from './attempt.js' */
/** @import { Occasion } from './events.js' */

/**
 * @typedef {object} AccumulatorOptions
 * @property {CompactionOptions} [compaction] without it nothing is ever compacted
 * @property {(event: CompactedEvent) => void | Promise<void>} [onCompacted] told after the lanes were replaced; what
 *   it throws goes to `onError`, the compaction stands
 * @property {string} [format] of the messages people see: 'ag-ui' (default), 'ai-sdk-ui', 'ai-sdk-model', 'openai' or
 *   'anthropic'. The model lane of 'ai-sdk-ui' is 'ai-sdk-model'; the others have one format, and activity messages
 *   are left out of the model lane
 * @property {Tamp | Promise<Tamp>} [tamp] default: `loadTamp()`
 * @property {string} [chatId] for events whose context names no chat
 * @property {IndicatorListener} [onIndicator] shows that a compaction runs
 * @property {(error: unknown) => void} [onError] gets what listeners threw, and what went wrong in `prepareStep()`,
 *   where the turn goes on with its full prompt. Default: console.error
 * @property {() => Promise<void>} [onCommit] awaited when both lanes were replaced, before `onCompacted`
 */

/** @param {unknown} error */
const printError = (error) => console.error(error);

export class MessageAccumulator {
  #options;
  #lanes;
  /** @type {Turn | null} */ #turn = null;
  /** The compaction that runs. @type {Promise<unknown> | null} */ #running = null;
  /** @type {AbortController | null} */ #controller = null;
  /** @type {CompactionFailure | null} */ #failure = null;
  /** The transcript that was last tried in vain. @type {readonly object[] | null} */ #tried = null;

  /** @param {AccumulatorOptions} [options] */
  constructor(options = {}) {
    this.#options = options;
    this.#lanes = new Lanes(options);
  }

  /** What people see. @returns {readonly object[]} */
  get uiMessages() {
    return this.#lanes.messages;
  }

  /** What the model reads. @returns {readonly object[]} */
  get modelMessages() {
    return this.#lanes.model;
  }

  /** The compaction that is in force. @returns {CompactionState | null} */
  get state() {
    return this.#lanes.state;
  }

  /** Why the last attempt to compact came to nothing; null when it did not. @returns {CompactionFailure | null} */
  get failure() {
    return this.#failure;
  }

  /** Why the last summary was cleared; null while one stands, or none was. */
  get invalidation() {
    return this.#lanes.invalidation;
  }

  /**
   * Adds what arrived: on turn 0 and with the trigger "regenerate-message" it is the whole transcript, else it
   * comes behind what is there. A message whose id is there already takes its place. What an aborted turn left in
   * assistant messages goes. "regenerate-message" without messages drops the last answer.
   * @param {readonly object[]} messages
   * @param {string} [trigger]
   * @param {number} [turn]
   * @returns {Promise<object[]>} the model lane, in an array of its own
   */
  async addIncoming(messages, trigger, turn) {
    this.#turn = null;
    const incoming = messages.map(withoutAborted);
    if (trigger === 'regenerate-message' && incoming.length === 0) {
      const last = this.uiMessages.findLastIndex((message) => roleOf(message) === 'user');
      await this.#lanes.replaceAll(this.uiMessages.slice(0, last + 1));
    } else if (turn === 0 || trigger === 'regenerate-message') {
      await this.#lanes.replaceAll(incoming);
    } else {
      for (const message of incoming) await this.#lanes.put(message);
    }
    return [...this.modelMessages];
  }

  /**
   * Adds an answer. One without an id gets one where the format has ids; one whose id is there already takes its
   * place, and a summary that ended with it stands on.
   * @param {object} message
   */
  async addResponse(message) {
    const turn = this.#turn;
    await this.#lanes.put(named(this.#lanes, message));
    if (turn !== null && turn === this.#turn) await turn.settle();
  }

  /** Replaces the transcript. A summary stands on when all it covers is still there, unchanged. @param {readonly object[]} messages */
  async setMessages(messages) {
    this.#turn = null;
    await this.#lanes.replaceAll(messages);
  }

  /**
   * Adds what the person says while a turn runs: to both lanes, and to every prompt `prepareStep()` makes from now on.
   * @param {object} message
   */
  async steer(message) {
    const own = named(this.#lanes, message);
    this.#turn?.steer(this.#lanes.convert([own]));
    await this.#lanes.put(own);
  }

  /** Puts the covered messages back in the model lane. @returns {Promise<boolean>} whether there were any */
  async restore() {
    this.#turn = null;
    return this.#lanes.restore();
  }

  /**
   * Takes over what a store held. A state that does not stand for these messages is cleared (`invalidation`).
   * @param {readonly object[]} messages
   * @param {unknown} state
   */
  async load(messages, state) {
    this.#turn = null;
    await this.#lanes.load(messages, state);
  }

  /** Aborts the compaction that runs, if one does. @param {unknown} [reason] */
  abort(reason) {
    this.#controller?.abort(reason);
  }

  /** Resolves when no compaction runs. */
  async idle() {
    while (this.#running !== null) await this.#running.catch(() => undefined);
  }

  /**
   * The model lane as a provider takes it: where a turn was stopped in the middle, or undone or edited to there, calls
   * without a result get one and results without a call go.
   * @returns {Promise<object[]>} an array of its own
   */
  async prompt() {
    const lane = this.modelMessages;
    const { open, orphans } = pairing(lane);
    if (open.length === 0 && orphans === 0) return [...lane];
    return [...repair(await this.#lanes.tamp(), lane, this.#lanes.modelFormat)];
  }

  /**
   * A `prepareStep` for the turn that begins now; undefined without `compaction`. Also for the first call of a
   * turn, when an edit cleared the summary since the last check.
   * @param {CompactionContext} [context] handed on to the callbacks
   * @returns {((step: any) => Promise<CompactResult | undefined>) | undefined} resolves to undefined when the prompt
   *   stays as it is, also when compacting failed
   */
  prepareStep(context = {}) {
    const { compaction } = this.#options;
    if (compaction === undefined) return undefined;
    const own = { ...context, chatId: context.chatId ?? this.#options.chatId };
    const turn = new Turn(this.#lanes, {
      compaction,
      listeners: () => this.#listeners(),
      alone: (run) => this.#alone(own.signal, run),
      outer: () => this.#outer({}, own, 'outer', compaction),
      refused: (failure) => this.#refused(failure),
    }, own);
    this.#turn = turn;
    return async ({ messages, steps }) => {
      try {
        const result = await turn.prepare(messages, steps);
        return result.type === 'skipped' ? undefined : result;
      } catch (error) {
        this.#report(error);
        return undefined;
      }
    };
  }

  /**
   * The outer loop: after a turn, compact when `shouldCompact` says so. Not asked after a compaction inside the
   * turn, when there is nothing new to cover, and after an attempt in vain until there are new messages. While
   * another compaction runs, its outcome is this one's.
   * @param {Usage | null} [usage] of the last model call; `{}` when it reported none, an estimate stands in then;
   *   without an object nothing is asked
   * @param {CompactionContext} [context]
   * @returns {Promise<boolean>} whether it compacted. A refused summary gives false and `failure`. Rejects with what
   *   a callback threw, or with an AbortError. Whatever fails, nothing has changed then
   */
  async compactIfNeeded(usage, context = {}) {
    const { compaction } = this.#options;
    if (compaction === undefined || usage === undefined || usage === null) return false;
    if (this.#turn?.compacted || this.#tried === this.uiMessages) return false;
    return this.#outer(usage, context, 'outer', compaction);
  }

  /**
   * The person says so: compact now, whatever the usage.
   * @param {CompactionContext} [context]
   * @returns {Promise<boolean>} as `compactIfNeeded`
   */
  async compactNow(context = {}) {
    const { compaction } = this.#options;
    return compaction === undefined ? false : this.#outer({}, context, 'action', compaction);
  }

  /**
   * @param {Usage} usage @param {CompactionContext} context @param {'outer' | 'action'} source
   * @param {CompactionOptions} compaction
   * @returns {Promise<boolean>}
   */
  #outer(usage, context, source, compaction) {
    if (this.#running !== null) return this.#running.then(Boolean);
    return this.#alone(context.signal, async (signal) => {
      const lanes = this.#lanes;
      const tamp = await lanes.tamp();
      /** @returns {Occasion} */
      const occasion = () => ({
        context: { ...context, chatId: context.chatId ?? this.#options.chatId },
        usage,
        source: 'outer',
        steps: this.#turn?.steps ?? [],
        stepNumber: -1,
        basis: triggerBasis(usage, () => tamp.countTokens(lanes.model, { format: lanes.modelFormat })),
        messages: lanes.model,
      });
      if (coverable(lanes, tamp) === null) return false;
      if (source === 'outer' && !await untilAborted(compaction.shouldCompact(shouldCompactEvent(occasion())), signal)) {
        lanes.unchecked = false;
        return false;
      }
      // Something may have changed while it was asked.
      const scope = coverable(lanes, tamp);
      if (scope === null) return false;
      const outcome = await outerCompaction(lanes, tamp, compaction, occasion(), scope, source, signal, this.#listeners());
      if ('failure' in outcome) this.#refused(outcome.failure);
      return 'built' in outcome;
    });
  }

  /**
   * Runs one compaction when the one before it is over.
   * @template T @param {AbortSignal | undefined} signal @param {(signal: AbortSignal) => Promise<T>} run @returns {Promise<T>}
   */
  #alone(signal, run) {
    const running = Promise.resolve(this.#running).catch(() => undefined).then(async () => {
      const linked = linkSignals([signal]);
      this.#controller = linked.controller;
      this.#failure = null;
      try {
        return await run(linked.signal);
      } catch (error) {
        const aborted = error instanceof Error && error.name === 'AbortError';
        this.#refused({ code: aborted ? 'aborted' : 'failed', message: error instanceof Error ? error.message : String(error) });
        throw error;
      } finally {
        linked.release();
        this.#controller = null;
        if (this.#running === running) this.#running = null;
      }
    });
    this.#running = running;
    return running;
  }

  /** @param {CompactionFailure} failure */
  #refused(failure) {
    this.#failure = failure;
    this.#tried = this.uiMessages;
  }

  /** @returns {Listeners} */
  #listeners() {
    const { chatId = 'chat', onIndicator, onCompacted, onCommit } = this.#options;
    return {
      onIndicator,
      onCompacted,
      save: onCommit,
      indicatorId: `compaction-${chatId}-${this.#lanes.generation + 1}`,
      report: (error) => this.#report(error),
    };
  }

  /** @param {unknown} error */
  #report(error) {
    (this.#options.onError ?? printError)(error);
  }
}
