// One attempt at a compaction: show it, ask for the summary, prepare everything, commit it at once, tell. Whatever
// happens, the indicator is closed, and nothing is changed unless all of it is.
import { openIndicator } from './indicator.js';
import { checkSummary } from './summary.js';

/** @import { CompactionFailure, CompactedEvent } from './types.js' */
/** @import { IndicatorListener } from './indicator.js' */

/**
 * Who is told of a compaction.
 * @typedef {object} Listeners
 * @property {IndicatorListener} [onIndicator]
 * @property {string} indicatorId
 * @property {() => Promise<void>} [save] awaited after the commit
 * @property {(event: CompactedEvent) => void | Promise<void>} [onCompacted]
 * @property {(error: unknown) => void} report errors of those who only listen
 */

/**
 * What was committed, or why nothing was.
 * @template T
 * @typedef {{ built: T } | { failure: CompactionFailure }} Outcome
 */

/**
 * @template T
 * @typedef {object} Work
 * @property {number} totalTokens
 * @property {AbortSignal} signal
 * @property {() => unknown} summarize gives the summary or a promise of it
 * @property {(summary: string) => Promise<Outcome<T>>} build what will be committed; changes nothing yet
 * @property {(built: T) => CompactionFailure | null} commit at once, or why not
 * @property {(built: T) => CompactedEvent} describe
 */

/** @param {AbortSignal} signal */
function abortError(signal) {
  const { reason } = signal;
  if (reason instanceof Error && reason.name === 'AbortError') return reason;
  return new DOMException('the compaction was aborted', 'AbortError');
}

/**
 * The value of `promise`, or an AbortError as soon as `signal` aborts.
 * @template V @param {V | Promise<V>} promise @param {AbortSignal} signal @returns {Promise<V>}
 */
export function untilAborted(promise, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => reject(abortError(signal));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve(promise).then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * Rejects with what a callback threw, or with an AbortError.
 * @template T @param {Work<T> & Listeners} attempt
 * @returns {Promise<Outcome<T>>}
 */
export async function runAttempt(attempt) {
  const { signal, report } = attempt;
  const indicator = openIndicator(attempt.onIndicator, attempt.indicatorId, attempt.totalTokens, report);
  /** @type {'complete' | 'failed' | 'aborted'} */
  let status = 'failed';
  try {
    if (signal.aborted) throw abortError(signal);
    const summary = await untilAborted(attempt.summarize(), signal);
    const failure = checkSummary(summary);
    if (failure !== null) return { failure };
    const outcome = await untilAborted(attempt.build(/** @type {string} */ (summary)), signal);
    if ('failure' in outcome) return outcome;
    const stale = attempt.commit(outcome.built);
    if (stale !== null) {
      status = 'aborted';
      return { failure: stale };
    }
    status = 'complete';
    await attempt.save?.();
    try {
      await untilAborted(attempt.onCompacted?.(attempt.describe(outcome.built)), signal);
    } catch (error) {
      if (!signal.aborted) report(error);
    }
    return outcome;
  } catch (error) {
    if (signal.aborted && status !== 'complete') status = 'aborted';
    throw error;
  } finally {
    indicator.close(status);
  }
}

/**
 * A signal that aborts with any of these, and a function that lets go of them.
 * @param {readonly (AbortSignal | undefined)[]} signals
 */
export function linkSignals(signals) {
  const controller = new AbortController();
  const given = signals.filter((signal) => signal !== undefined);
  /** @param {Event} event */
  const abort = (event) => controller.abort(/** @type {AbortSignal} */ (event.target).reason);
  for (const signal of given) {
    if (signal.aborted) controller.abort(signal.reason);
    signal.addEventListener('abort', abort);
  }
  return {
    controller,
    signal: controller.signal,
    release: () => given.forEach((signal) => signal.removeEventListener('abort', abort)),
  };
}
