/**
 * The worker that `tamp/transcript` does its work in. It is told which compiled module to use, so it loads nothing
 * itself, and does one job.
 */
import { expose } from 'comlink';
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
  /** Whether the worker came up. */
  ready: () => true,

  /** @param {WebAssembly.Module} module @param {any} job @param {any} onProgress @param {any} summarize */
  trim: (module, job, onProgress, summarize) => outcome(async () => {
    const made = await trim(new Bridge(module), { ...job, onProgress, summarize });
    /* The lists of the report are made when they are read; here nobody reads them any more. */
    return { ...made, report: { ...made.report } };
  }),

  /** @param {WebAssembly.Module} module @param {any} job */
  identify: (module, job) => outcome(() => identify(new Bridge(module), job)),
});
