/**
 * The one place where the page meets the package. Paths are relative, so the page works under any
 * sub-path of any static host.
 */
import { loadTamp, PolicyError, MessageError, TampError } from './vendor/core.js';

export { PolicyError, MessageError, TampError };

/** The core, loaded once. Rejects with a sentence that says what to do. */
export function core() {
  return loadTamp();
}
