/**
 * `tamp/transcript`: trims saved transcripts of any size, off the main thread where it can.
 */
import { TampError } from './errors.js';
import { readPolicy, throwIfAborted, unlessAborted } from './history.js';
import { loadTamp } from './load.js';
import { policyText } from './policies.js';
import { bridgeOptions } from './options.js';
import { joined, piecesOf, reportOf, reportOfBytes } from './reading.js';
import { unpack } from './transcript/errors.js';
import * as here from './transcript/run.js';
import { sourceOf } from './transcript/source.js';

/** @typedef {import('./tamp.js').Tamp} Tamp */
/** @typedef {import('./policy.js').Policy} Policy */
/** @typedef {import('./options.js').Format} Format */
/** @typedef {import('./transcript/run.js').Progress} Progress */
/** @typedef {import('./transcript/run.js').Source} Source */
/** @typedef {Blob | ArrayBuffer | Uint8Array | string | ReadableStream<Uint8Array> | Response} TranscriptSource */

/**
 * @typedef {object} TrimExtras
 * @property {Format | 'auto'} [format] default "auto": told from the first messages
 * @property {Tamp | Promise<Tamp>} [tamp] default: the one that `loadTamp()` gives
 * @property {AbortSignal} [signal] rejects with an AbortError, at any moment
 * @property {(progress: Progress) => void} [onProgress]
 * @property {boolean} [dropDead] also remove records that the file's owner no longer reads; default false
 * @property {boolean} [worker] do the work in a web worker; default: true in a page for sources over 1 MiB. Never with
 *   `countTokens`, which cannot cross.
 * @property {(request: import('./options.js').SummarizeRequest<any>) => string | Promise<string>} [summarize] for policies with a `summarize` step
 */
/** @typedef {Omit<import('./options.js').CompactOptions, 'format'> & TrimExtras} TrimOptions */

/** From how many bytes on a page leaves the work to a worker. */
const WORTH_A_WORKER = 1 << 20;

/** A transcript that was trimmed: pieces of the original, which must stay readable, and the few texts that are new. */
export class TrimmedTranscript {
  #source;
  #slices;

  /** @internal @param {import('./reading.js').Trim} trim @param {Source} source @param {import('./compaction.js').Report} report */
  constructor({ slices, format, container, changed, removed, before, after }, source, report) {
    this.#source = source;
    this.#slices = slices;
    this.format = format;
    this.container = container;
    this.changed = changed;
    this.removed = removed;
    this.before = before;
    this.after = after;
    this.report = report;
  }

  /** The trimmed file. Of a Blob nothing that was kept is copied. */
  blob() {
    const source = this.#source;
    const type = (source instanceof Blob && source.type) || (this.container === 'jsonl' ? 'application/jsonl' : 'application/json');
    return new Blob(/** @type {BlobPart[]} */ (piecesOf(this.#slices, source)), { type });
  }

  /** @returns {Promise<Uint8Array>} */
  async bytes() {
    if (this.#source instanceof Uint8Array) return joined(this.#slices, this.#source);
    return new Uint8Array(await this.blob().arrayBuffer());
  }

  /** As a string, a byte order mark included. Over 512 MiB no JavaScript string can hold it: use `blob()`. */
  async text() {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.bytes());
  }

  /** @returns {ReadableStream<Uint8Array>} */
  stream() {
    return this.blob().stream();
  }
}

/** How long a worker may take to come up, in milliseconds: one whose file never comes says nothing. */
const START = 10_000;

/**
 * A worker that is up, and how to end it.
 * @param {AbortSignal} signal
 * @throws {TampError} (as a rejection) `no-worker`. `failed` of what is given rejects with the same, or with
 *   `worker-ended` when something else ends the worker.
 */
async function startWorker(signal) {
  const { wrap, proxy } = await import('comlink').catch((error) => {
    throw new TampError('no-worker', 'Trimming in a worker needs the package "comlink": npm install comlink. Without it say { worker: false }.', { cause: error });
  });
  const noWorker = (/** @type {string} */ why, /** @type {unknown} */ cause = undefined) => new TampError(
    'no-worker',
    `The worker of tamp/transcript did not start${why ? `: ${why}` : ''}. Serve transcript-worker.js from the package beside its modules, or say { worker: false }.`,
    { cause },
  );
  /** @type {Worker} */
  let worker;
  try {
    worker = new Worker(new URL('./transcript-worker.js', import.meta.url), { type: 'module' });
  } catch (error) {
    throw noWorker(error instanceof Error ? error.message : '', error);
  }
  const remote = /** @type {any} */ (wrap(worker));
  /** @type {(error: TampError) => void} */
  let fail;
  const failed = new Promise((_resolve, reject) => { fail = reject; });
  worker.addEventListener('error', ({ message }) => fail(noWorker(message)), { once: true });
  const timer = setTimeout(() => fail(noWorker('it did not answer')), START);
  /* Nobody is told that a worker was ended, but the lock that it holds is free then. */
  const life = globalThis.navigator?.locks && `tamp-transcript-${crypto.randomUUID()}`;
  let held;
  try {
    held = await unlessAborted(Promise.race([remote.ready(life), failed]), signal);
  } catch (error) {
    worker.terminate();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  if (held) {
    navigator.locks.request(life, () => fail(new TampError('worker-ended', 'The worker of tamp/transcript was ended before it was done, perhaps for want of memory. Try again, or say { worker: false }.')));
  }
  return { remote, proxy, failed, end: () => worker.terminate() };
}

/**
 * Does a job in a worker, or here.
 * @template T
 * @param {Source} source
 * @param {{ worker?: boolean, signal: AbortSignal, stays: boolean }} where
 * @param {(remote: any, proxy: (value: any) => any) => Promise<any>} there
 * @param {() => Promise<T>} inThread
 * @returns {Promise<T>}
 */
async function perform(source, { worker, signal, stays }, there, inThread) {
  const size = source instanceof Uint8Array ? source.length : source.size;
  const wanted = worker ?? (typeof document !== 'undefined' && size > WORTH_A_WORKER);
  if (!wanted || stays || typeof Worker === 'undefined') return inThread();
  let started;
  try {
    started = await startWorker(signal);
  } catch (error) {
    throwIfAborted(signal);
    if (worker === true) throw error;
    return inThread();
  }
  const { remote, proxy, failed, end } = started;
  try {
    const { value, error } = await unlessAborted(Promise.race([there(remote, proxy), failed]), signal);
    if (error) throw unpack(error);
    return value;
  } finally {
    end();
  }
}

/** What crosses to a worker is a Blob, from which it reads as much as it needs. @param {Source} source */
const crossing = (source) => (source instanceof Blob ? source : new Blob([/** @type {BlobPart} */ (source)]));

/**
 * Trims a transcript. Memory grows with the number of its messages, not with its bytes, when the work is done in a
 * worker: the worker reads the Blob piece by piece. In this thread (Node, `worker: false`, `countTokens`) a Blob is read
 * into memory first, since it can be read again at once only there.
 *
 * A stream, and a Response, is read to its end into a Blob before.
 * @param {TranscriptSource} source
 * @param {Policy} policy
 * @param {TrimOptions} [options]
 * @returns {Promise<TrimmedTranscript>}
 * @throws {import('./errors.js').PolicyError} (all errors as rejections) a bad policy
 * @throws {import('./errors.js').MessageError} not JSON, or a message that is not one. In JSON Lines such a line is kept
 *   as it is and named in `report.unreadable`.
 * @throws {TampError} `unknown-format` when the messages do not tell: say it; `bad-source`; `no-worker` when one was asked
 *   for and did not start; `worker-ended` when it was ended from outside
 */
export async function trimTranscript(source, policy, options = {}) {
  const { format = 'auto', signal = new AbortController().signal, onProgress, summarize, dropDead = false, worker } = options;
  throwIfAborted(signal);
  const checked = bridgeOptions({ ...options, format: undefined });
  const tamp = await unlessAborted(Promise.resolve(options.tamp ?? loadTamp()), signal);
  const { bridge } = tamp;
  /* What is wrong with these is said before a gigabyte is read. */
  if (format !== 'auto') bridge.format(format);
  const read = readPolicy(bridge, policy);
  bridge.dispose(read.handle);
  if (read.asks && typeof summarize !== 'function') throw bridge.noSummarizer();
  const from = await sourceOf(source, signal, onProgress);
  const job = { format, policy, options: checked, dropDead };
  const again = { ...job, policy: policyText(policy) ?? '' };
  /** @type {{ error: unknown } | null} */
  let thrown = null;
  const made = await perform(
    from,
    { worker, signal, stays: checked.countTokens !== undefined },
    async (remote, proxy) => {
      /* What these throw is the caller's, and does not survive the crossing. */
      const guarded = (/** @type {((value: any) => any) | undefined} */ act) => act && proxy(async (/** @type {any} */ value) => {
        try {
          return await act(value);
        } catch (error) {
          thrown ??= { error };
          throw error;
        }
      });
      const outcome = await remote.trim(
        bridge.module,
        { ...job, source: crossing(from) },
        guarded(onProgress),
        guarded(summarize && ((request) => summarize({ ...request, signal }))),
      );
      if (thrown) throw /** @type {{ error: unknown }} */ (thrown).error;
      return outcome;
    },
    () => here.trim(bridge, { ...job, source: from, onProgress, summarize, signal }),
  );
  const report = from instanceof Uint8Array
    ? reportOfBytes(bridge, from, again, made)
    : reportOf(bridge, made.told, () => made.told);
  return new TrimmedTranscript(made, from, report);
}

/**
 * What a file is, without trimming it: null when it is no transcript, or its format cannot be told.
 * @param {Blob | Uint8Array | string} source
 * @returns {Promise<{ format: Format, container: import('./reading.js').Container, messages: number, tokens: number } | null>}
 */
export async function identifyTranscript(source) {
  const { signal } = new AbortController();
  const from = await sourceOf(source, signal);
  const { bridge } = await loadTamp();
  const job = { format: /** @type {const} */ ('auto') };
  try {
    return await perform(
      from,
      { signal, stays: false },
      (remote) => remote.identify(bridge.module, { ...job, source: crossing(from) }),
      () => here.identify(bridge, { ...job, source: from }),
    );
  } catch (error) {
    if (error instanceof TampError && 'index' in error) return null;
    throw error;
  }
}
