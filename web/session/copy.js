// Copies and comparisons of messages. structuredClone would not do: messages of the AI SDK may hold a URL, which
// it refuses.
import { isObject } from './shapes.js';

/** A plain object: what JSON or an object literal gives. @param {object} value */
function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/**
 * A copy that shares no array and no plain object with `value`. Other objects (bytes, URL, Date) are shared.
 * @template T @param {T} value @returns {T}
 */
export function copy(value) {
  if (Array.isArray(value)) return /** @type {T} */ (value.map(copy));
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  /** @type {Record<string, unknown>} */
  const result = {};
  for (const [key, member] of Object.entries(value)) {
    // A member called __proto__ is data like any other.
    if (key === '__proto__') Object.defineProperty(result, key, { value: copy(member), enumerable: true, configurable: true, writable: true });
    else result[key] = copy(member);
  }
  return /** @type {T} */ (result);
}

/** Equal as JSON would be: members that are undefined do not count. @param {unknown} a @param {unknown} b @returns {boolean} */
export function same(a, b) {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item, b[index]));
  }
  if (!isObject(a) || !isObject(b) || isPlain(a) !== isPlain(b)) return false;
  if (!isPlain(a)) return String(a) === String(b) && JSON.stringify(a) === JSON.stringify(b);
  const members = Object.entries(a).filter(([, value]) => value !== undefined);
  return members.length === Object.values(b).filter((value) => value !== undefined).length
    && members.every(([key, value]) => Object.hasOwn(b, key) && same(value, b[key]));
}

/**
 * Adds a member that is computed when it is first read and then kept: a callback that never looks at a long list
 * does not pay for its copy.
 * @template {object} T @param {T} target @param {string} key @param {() => unknown} compute
 */
export function lazy(target, key, compute) {
  Object.defineProperty(target, key, {
    enumerable: true,
    configurable: true,
    get() {
      const value = compute();
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
      return value;
    },
  });
}
