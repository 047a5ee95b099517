// A turn that runs: the prompts of its steps, and what its inner compaction leaves in the lanes once the answer is
// there. Nothing durable changes before that: the transcript does not hold the covered steps yet.
import { runAttempt } from './attempt.js';
import { cutAfterSteps, stepMarkers } from './convert.js';
import { same } from './copy.js';
import { chosenLanes, compactedEvent, shouldCompactEvent, summarizeEvent } from './events.js';
import { innerStep, responsesAfter } from './inner.js';
import { chosenHead, isQuestion, pinnedPlaces, questionStart, splitPrompt } from './lane.js';
import { isActivity, nameOf, roleOf } from './shapes.js';
import { isSummary } from './summary.js';
import { sumUsage } from './usage.js';

/** @import { CompactionContext, CompactionFailure, CompactionOptions, CompactionState, CompactionStep, CompactResult } from './types.js' */
/** @import { Lanes } from './lanes.js' */
/** @import { Basis } from './usage.js' */
/** @import { Occasion } from './events.js' */
/** @import { Generation, Memory, Steering } from './inner.js' */
/** @import { Listeners, Work } from './attempt.js' */

/**
 * What the turn needs of its surroundings.
 * @typedef {object} TurnHost
 * @property {CompactionOptions} compaction
 * @property {() => Listeners} listeners
 * @property {<T>(run: (signal: AbortSignal) => Promise<T>) => Promise<T>} alone one compaction at a time
 * @property {() => Promise<boolean>} outer the outer loop, on an estimate
 * @property {(failure: CompactionFailure) => void} refused
 */

/**
 * @typedef {object} Outcome
 * @property {string} summary
 * @property {object[]} standIn
 * @property {number} steps how many steps of the answer it covers
 * @property {number} answers the same in messages
 * @property {{ before: readonly object[], after: readonly object[] } | null} ui what compactUIMessages chose
 * @property {boolean} chosen whether a callback chose what the model reads or people see
 * @property {number} tokensBefore
 * @property {number} tokensAfter
 */

export class Turn {
  #lanes;
  #host;
  #context;
  #model;
  #ui;
  /** @type {Memory} */ #memory = new WeakMap();
  /** @type {Generation | null} */ #first = null;
  /** @type {Steering[]} */ #said = [];
  /** @type {readonly CompactionStep[]} */ #steps = [];
  /** @type {Outcome | null} */ #outcome = null;
  /** The answer that this turn goes on with, when it is one: its id and the steps it had. */
  #continued;

  /** @param {Lanes} lanes @param {TurnHost} host @param {CompactionContext} context */
  constructor(lanes, host, context) {
    this.#lanes = lanes;
    this.#host = host;
    this.#context = context;
    this.#model = lanes.model;
    this.#ui = lanes.messages;
    const last = lanes.messages.at(-1);
    const goesOn = last !== undefined && roleOf(last) === 'assistant';
    this.#continued = { name: goesOn ? nameOf(last, lanes.messages.length - 1) : null, markers: goesOn ? stepMarkers(last) : 0 };
  }

  /** Was there a compaction between its steps? */
  get compacted() {
    return this.#outcome !== null;
  }

  /** The finished steps it knows of. */
  get steps() {
    return this.#steps;
  }

  /** The person speaks while it runs. @param {readonly object[]} messages of the model lane */
  steer(messages) {
    for (const message of messages) this.#said.push({ message, after: Infinity });
  }

  /**
   * The prompt of the next step, when it is to be another.
   * @param {readonly object[]} messages @param {readonly CompactionStep[]} steps
   * @returns {Promise<CompactResult>}
   */
  async prepare(messages, steps) {
    this.#steps = [...steps];
    if (steps.length === 0) return this.#prepareFirst(messages);
    const { compaction } = this.#host;
    const answers = responsesAfter(steps, null).length;
    for (const said of this.#said) said.after = Math.min(said.after, answers);
    const turnUsage = sumUsage(steps.map((step) => step.usage));
    const context = { ...this.#context, turnUsage, totalUsage: sumUsage([this.#context.totalUsage, turnUsage]) };
    const { modelFormat } = this.#lanes;
    const tamp = await this.#lanes.tamp();
    /** @param {readonly object[]} prompt @param {Basis} basis */
    const occasion = (prompt, basis) => ({
      context, basis, steps, usage: steps.at(-1)?.usage, source: /** @type {const} */ ('inner'), stepNumber: steps.length - 1, messages: prompt,
    });
    return innerStep(messages, steps, {
      memory: this.#memory,
      first: this.#first,
      retain: true,
      said: this.#said,
      estimate: async (prompt) => tamp.countTokens(prompt, { format: modelFormat }),
      fires: (prompt, basis) => compaction.shouldCompact(shouldCompactEvent(occasion(prompt, basis))),
      summarize: (prompt, turnStart, basis) => this.#host.alone((signal) =>
        this.#summarize(prompt, turnStart, occasion(prompt, basis), signal)),
    });
  }

  /**
   * The first prompt of a turn is the lane, which the outer loop has checked; but not after a summary was cleared.
   * @param {readonly object[]} messages
   * @returns {Promise<CompactResult>}
   */
  async #prepareFirst(messages) {
    const lanes = this.#lanes;
    if (!lanes.unchecked || messages.length !== lanes.model.length) return { type: 'skipped' };
    if (!await this.#host.outer() || lanes.state === null) return { type: 'skipped' };
    this.#model = lanes.model;
    this.#ui = lanes.messages;
    this.#first = { standIn: [...lanes.model], floor: 0, step: null };
    return { type: 'compacted', messages: [...lanes.model], summary: lanes.state.summary };
  }

  /**
   * @param {object[]} prompt @param {number} turnStart @param {Occasion} occasion @param {AbortSignal} signal
   */
  async #summarize(prompt, turnStart, occasion, signal) {
    const lanes = this.#lanes;
    const { compaction, listeners, refused } = this.#host;
    const { modelFormat } = lanes;
    const tamp = await lanes.tamp();
    const split = splitPrompt(tamp, prompt, turnStart, modelFormat);
    if (split.covered.length === 0) return null;
    const weigh = (/** @type {readonly object[]} */ list) => tamp.countTokens(list, { format: modelFormat });
    const tokensBefore = weigh(prompt);
    const ui = this.#ui;
    const previous = this.#outcome?.summary ?? lanes.state?.summary ?? null;
    const outcome = await runAttempt(/** @type {Work<Outcome> & Listeners} */ ({
      ...listeners(),
      totalTokens: occasion.basis.totalTokens,
      signal,
      summarize: () => compaction.summarize(summarizeEvent(occasion, previous, signal)),
      build: async (summary) => {
        const chosen = await chosenLanes(lanes, tamp, compaction, occasion, summary, ui, this.#model);
        const usual = split.withSummary(summary, modelFormat);
        const head = chosen.model === null ? usual : chosenHead(tamp, chosen.model, this.#model, [], usual, modelFormat);
        // The question stays, whatever was chosen.
        const standIn = [...head, ...split.kept.filter((message) => !head.some((other) => same(message, other)))];
        const tokensAfter = weigh(standIn);
        if (tokensAfter >= tokensBefore) {
          const message = `the prompt would have ${tokensAfter} tokens with the summary, not fewer than the ${tokensBefore} without it`;
          return { failure: { code: 'not-smaller', message } };
        }
        /** @type {Outcome} */
        const built = {
          summary,
          standIn,
          steps: occasion.steps.length,
          answers: responsesAfter(occasion.steps, null).length,
          ui: chosen.ui === null ? null : { before: ui, after: chosen.ui },
          chosen: chosen.model !== null || chosen.ui !== null,
          tokensBefore: Math.max(tokensBefore, this.#outcome?.tokensBefore ?? 0),
          tokensAfter,
        };
        return { built };
      },
      commit: (built) => {
        if (ui.some((message, index) => lanes.messages[index] !== message)) {
          return { code: 'stale', message: 'messages that the summary stands for were changed while it was made' };
        }
        this.#outcome = built;
        lanes.generation++;
        return null;
      },
      describe: (built) => compactedEvent(occasion, built.summary, built.standIn),
    }));
    if ('failure' in outcome) {
      refused(outcome.failure);
      return null;
    }
    const { standIn, summary } = outcome.built;
    return { standIn, summary, floor: weigh(standIn.filter(isSummary)) };
  }

  /**
   * An answer of this turn was added to the transcript: when that brings in the last of what an inner compaction
   * covers, both lanes are committed. An answer that still grows may be added again and again.
   */
  async settle() {
    const outcome = this.#outcome;
    if (outcome === null) return;
    const lanes = this.#lanes;
    const tamp = await lanes.tamp();
    const { messages, format } = lanes;
    const last = messages.length - 1;
    const goesOn = last >= 0 && nameOf(messages[last], last) === this.#continued.name;
    // Whatever was there before the turn must still be, but for an answer that goes on.
    const before = this.#ui.slice(0, goesOn ? -1 : undefined);
    if (before.some((message, index) => messages[index] !== message)) return;
    const shown = outcome.ui === null ? messages : [...outcome.ui.after, ...messages.slice(outcome.ui.before.length)];
    const inSteps = format === 'ai-sdk-ui';
    const covered = inSteps ? shown.length - 1 : this.#coveredBy(outcome, shown, shown.length - messages.length);
    if (covered === null) return;
    const answer = shown[covered];
    const parts = inSteps ? cutAfterSteps(answer, outcome.steps + (goesOn ? this.#continued.markers : 0)) : 0;
    const questions = this.#questions(shown, covered, shown.length - messages.length);
    /** @type {CompactionState} */
    const state = {
      v: 1,
      summary: outcome.summary,
      throughId: covered === 0 ? '' : nameOf(shown[covered - 1], covered - 1),
      covered,
      digest: '',
      source: 'inner',
      createdAt: Date.now(),
      tokensBefore: outcome.tokensBefore,
      tokensAfter: outcome.tokensAfter,
      generation: lanes.generation,
    };
    if (parts > 0) state.part = { id: nameOf(answer, covered), parts };
    const stays = new Set([...questions, ...pinnedPlaces(tamp, shown.slice(0, covered), format)]);
    if (stays.size > 0) state.kept = [...stays].sort((a, b) => a - b).map((index) => nameOf(shown[index], index));
    if (outcome.chosen) {
      const said = lanes.convert(questions.map((index) => shown[index]));
      state.lane = [...outcome.standIn, ...said.filter((message) => !outcome.standIn.some((other) => same(message, other)))];
    }
    lanes.commit(tamp, shown, state);
  }

  /**
   * How many messages of the transcript are covered when each step's answers are messages of their own; null while
   * they are not all there.
   * @param {Outcome} outcome @param {readonly object[]} messages @param {number} moved how much longer compactUIMessages made them
   */
  #coveredBy(outcome, messages, moved) {
    let left = outcome.answers;
    for (let index = this.#ui.length + moved; index < messages.length; index++) {
      if (!isQuestion(messages[index]) && !isActivity(messages[index]) && --left === 0) return index + 1;
    }
    return null;
  }

  /**
   * Places of what the person asked in this turn, before it began and since: the model goes on reading that.
   * @param {readonly object[]} messages @param {number} end @param {number} moved
   */
  #questions(messages, end, moved) {
    const asked = this.#ui.slice(questionStart(this.#ui));
    const since = this.#ui.length + moved;
    return messages.slice(0, end).flatMap((message, index) =>
      (isQuestion(message) && (index >= since || asked.includes(message)) ? [index] : []));
  }
}
