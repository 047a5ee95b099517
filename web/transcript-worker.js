/**
 * The worker that `tamp/transcript` does its work in. It is told which compiled module to use, so it loads nothing
 * itself, and does one job.
 */
import { expose, transfer } from 'comlink';
import { pack } from './transcript/errors.js';
import { identify, trim } from './transcript/run.js';
import { Bridge } from './wasm.js';

/**
 * An outcome as it crosses: comlink would keep an error's message only.
 * @param {() => Promise<unknown>} act
 */
async function outcome(act) {
  try {
    return { value: await act() };
  } catch (error) {
    return { error: pack(error) };
  }
}

expose({
  /**
   * Answers when the worker is up: whether it holds the lock of that name, as it then does for as long as it lives.
   * @param {string | undefined} life
   */
  ready: (life) => new Promise((resolve) => {
    if (!life) resolve(false);
    else navigator.locks.request(life, () => new Promise(() => { resolve(true); })).catch(() => resolve(false));
  }),

  /** @param {WebAssembly.Module} module @param {any} job @param {any} onProgress @param {any} summarize */
  trim: async (module, job, onProgress, summarize) => {
    const made = await outcome(() => trim(new Bridge(module), { ...job, onProgress, summarize }));
    if (!made.value) return made;
    const { slices, told: { plan, ids } } = /** @type {import('./reading.js').Trim} */ (made.value);
    const large = [slices.spans, slices.bytes, ids.lengths, plan.order, plan.reasons, ...ids.blocks.map(({ bytes }) => bytes)];
    return transfer(made, [...new Set(large.map(({ buffer }) => /** @type {ArrayBuffer} */ (buffer)))]);
  },

  /** @param {WebAssembly.Module} module @param {any} job */
  identify: (module, job) => outcome(() => identify(new Bridge(module), job)),
});
