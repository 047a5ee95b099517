// Equality of JSON values.
import { isObject } from './notice.js';

/** Nothing, in any of the spellings that servers exchange for each other. @param {unknown} value */
const isNothing = (value) => value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/**
 * Whether two JSON values say the same: absent, null and an empty list do.
 * @param {unknown} a @param {unknown} b @returns {boolean}
 */
export function equal(a, b) {
  if (a === b || (isNothing(a) && isNothing(b))) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) =>
    equal(Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined));
}
