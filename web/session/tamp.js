// The core a session works with: the one it is given, else the default one.
import { loadTamp } from '../index.js';

/** @import { Tamp } from '../index.js' */

/** @param {Tamp | Promise<Tamp> | undefined} tamp @returns {Promise<Tamp>} */
export const tampOf = (tamp) => Promise.resolve(tamp ?? loadTamp());
