/**
 * What a transcript may come from, made into what can be read anywhere: a Blob, or bytes in memory.
 */
import { TampError } from '../errors.js';
import { throwIfAborted, unlessAborted } from '../history.js';

/** Pieces of a stream up to this length are put into a Blob, which a browser keeps outside of the page's memory. */
const SPOOL = 1 << 23;

/** @param {unknown} value */
function refuse(value) {
  const given = value === null ? 'null' : `a value of type ${typeof value}`;
  return new TampError('bad-source', `A transcript is a Blob, a File, an ArrayBuffer, a Uint8Array, a string, a ReadableStream or a Response; this is ${given}.`);
}

/**
 * @param {ReadableStream<Uint8Array>} stream
 * @param {number | null} totalBytes
 * @param {AbortSignal} signal
 * @param {((progress: import('./run.js').Progress) => void) | undefined} onProgress
 */
async function spooled(stream, totalBytes, signal, onProgress) {
  const reader = stream.getReader();
  /** @type {BlobPart[]} */
  const blobs = [];
  /** @type {BlobPart[]} */
  let pieces = [];
  let held = 0;
  let bytes = 0;
  const spool = () => {
    if (pieces.length > 0) blobs.push(new Blob(pieces));
    pieces = [];
    held = 0;
  };
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal);
      /* What is there already wins every race against an abort. */
      throwIfAborted(signal);
      if (done) break;
      if (!(value instanceof Uint8Array)) throw new TampError('bad-source', 'The stream of a transcript must give Uint8Arrays.');
      pieces.push(/** @type {Uint8Array<ArrayBuffer>} */ (value));
      held += value.length;
      bytes += value.length;
      if (held >= SPOOL) spool();
      onProgress?.({ phase: 'reading', bytes, totalBytes, messages: 0 });
    }
  } catch (error) {
    await reader.cancel(error).catch(() => {});
    throw error;
  }
  spool();
  return new Blob(blobs);
}

/**
 * @param {Blob | ArrayBuffer | Uint8Array | string | ReadableStream<Uint8Array> | Response} given
 * @param {AbortSignal} signal
 * @param {(progress: import('./run.js').Progress) => void} [onProgress]
 * @returns {Promise<import('./run.js').Source>}
 */
export async function sourceOf(given, signal, onProgress) {
  throwIfAborted(signal);
  if (typeof given === 'string') return new TextEncoder().encode(given);
  if (given instanceof Uint8Array || given instanceof Blob) return given;
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  if (typeof ReadableStream !== 'undefined' && given instanceof ReadableStream) return spooled(given, null, signal, onProgress);
  if (typeof Response === 'undefined' || !(given instanceof Response)) throw refuse(given);
  if (!given.ok) throw new TampError('bad-source', `The transcript could not be fetched: the server answered ${given.status} for ${given.url}.`);
  if (given.bodyUsed) throw new TampError('bad-source', 'The body of this Response was read before.');
  if (!given.body) return new Uint8Array(0);
  /* A compressed body is longer than what the header says. */
  const length = given.headers.has('content-encoding') ? NaN : Number(given.headers.get('content-length') ?? NaN);
  return spooled(given.body, Number.isSafeInteger(length) ? length : null, signal, onProgress);
}
