/**
 * Whether two JSON values say the same in the same order of keys: then their JSON text is the same, and what the
 * core read of one is true of the other. Two equal strings cost a comparison of memory.
 * @param {unknown} a a value that was read before, so nested at most 1,000 levels deep
 * @param {unknown} b
 * @returns {boolean}
 */
export function isEqualJson(a, b) {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!isEqualJson(a[i], b[i])) return false;
    return true;
  }
  if (typeof (/** @type {any} */ (a).toJSON) === 'function') return false;
  const keys = Object.keys(a);
  const others = Object.keys(b);
  if (keys.length !== others.length) return false;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key !== others[i]) return false;
    if (!isEqualJson(/** @type {any} */ (a)[key], /** @type {any} */ (b)[key])) return false;
  }
  return true;
}
