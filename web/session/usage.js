// The one basis of the trigger: what the provider reported for the last model call, else an estimate.
import { isObject } from './shapes.js';

/** @import { Usage } from './types.js' */

/** A number a provider may report. @param {unknown} value @returns {number | undefined} */
const tokens = (value) => (typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined);

/**
 * The numbers of `usage` that make sense. A missing total is the sum of its sides when one of them is known.
 * @param {Usage | null | undefined} usage
 */
export function readUsage(usage) {
  const own = isObject(usage) ? usage : {};
  const inputTokens = tokens(own.inputTokens);
  const outputTokens = tokens(own.outputTokens);
  const summed = inputTokens === undefined && outputTokens === undefined ? undefined : (inputTokens ?? 0) + (outputTokens ?? 0);
  return { inputTokens, outputTokens, totalTokens: tokens(own.totalTokens) ?? summed };
}

/**
 * @typedef {{ inputTokens?: number, outputTokens?: number, totalTokens: number, estimated: boolean }} Basis
 */

/**
 * @param {Usage | null | undefined} usage of the last model call
 * @param {() => number} estimate tokens of the list that would be sent; asked only when it is needed
 * @returns {Basis}
 */
export function triggerBasis(usage, estimate) {
  const reported = readUsage(usage);
  return reported.totalTokens === undefined
    ? { ...reported, totalTokens: estimate(), estimated: true }
    : { ...reported, totalTokens: reported.totalTokens, estimated: false };
}

/** @param {readonly (Usage | null | undefined)[]} usages @returns {Usage | undefined} undefined when none is known */
export function sumUsage(usages) {
  /** @type {Usage | undefined} */
  let sum;
  for (const usage of usages) {
    if (!isObject(usage)) continue;
    sum ??= {};
    for (const [key, value] of Object.entries(readUsage(usage))) {
      if (value !== undefined) sum[key] = (tokens(sum[key]) ?? 0) + value;
    }
  }
  return sum;
}
