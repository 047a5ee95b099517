/**
 * Freeze a value and everything it holds, so that a write to an input throws where it happens
 * (modules are strict code). Returns the value. Iterative: inputs may be nested very deeply.
 *
 * @template T
 * @param {T} value
 * @returns {T}
 */
export function deepFreeze(value) {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (next === null || typeof next !== 'object' || Object.isFrozen(next)) continue;
    Object.freeze(next);
    for (const key of Reflect.ownKeys(next)) open.push(/** @type {any} */ (next)[key]);
  }
  return value;
}
