// Who wants the client told when a policy fires.

/** @import { Policy } from '../index.js' */

/**
 * Wrap a policy to tell the client each time it fires and messages went (removed > 0; a mere rewrite says nothing).
 * Unwrapped policies compact in silence. Holds no state: one may serve many agents.
 */
export class CompactionObserver {
  /** @readonly @type {Policy} */
  policy;

  /** @param {Policy} policy */
  constructor(policy) {
    this.policy = policy;
  }
}

/**
 * @param {Policy | CompactionObserver | undefined} given
 * @returns {{ policy: Policy, observed: boolean } | null}
 */
export function unwrap(given) {
  if (given === undefined || given === null) return null;
  return given instanceof CompactionObserver
    ? { policy: given.policy, observed: true }
    : { policy: given, observed: false };
}
