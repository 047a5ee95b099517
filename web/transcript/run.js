/**
 * One transcript from its first byte to what it becomes, in this thread: the page's, Node's or a worker's.
 */
import { readPolicy, throwIfAborted, unlessAborted } from '../history.js';
import { SUMMARY_PROMPT } from '../prompt.js';
import { Reading } from '../reading.js';

/** @typedef {import('../reading.js').Trim} Trim */
/** @typedef {import('../reading.js').Format} Format */

/**
 * @typedef {object} Progress
 * @property {'reading' | 'planning' | 'writing'} phase
 * @property {number} bytes read so far
 * @property {number | null} totalBytes null as long as a stream has not ended
 * @property {number} messages read so far
 */

/**
 * What can be read anywhere, at once.
 * @typedef {Blob | Uint8Array} Source
 */

/**
 * @typedef {object} Job
 * @property {Source} source
 * @property {Format | 'auto'} format
 * @property {(progress: Progress) => void | Promise<void>} [onProgress]
 * @property {AbortSignal} [signal]
 */

/**
 * @typedef {object} Wish what the transcript is read for
 * @property {import('../policy.js').Policy} policy
 * @property {import('../wasm.js').BridgeOptions} options
 * @property {boolean} dropDead
 * @property {(request: any) => unknown} [summarize]
 */

/** How many bytes are read at once, and how many are looked through before others get their turn. */
const CHUNK = 1 << 22;
/** How many bytes are read again at once: messages are mostly asked for in their order. */
const AHEAD = 1 << 20;

/** @param {Source} source */
const sizeOf = (source) => (source instanceof Uint8Array ? source.length : source.size);

/**
 * Gives memory back at once: a gigabyte of pieces can come before the garbage collector does.
 * @param {ArrayBuffer} buffer
 */
const free = (buffer) => /** @type {any} */ (buffer).transfer?.(0);

const breath = () => new Promise((resolve) => { setTimeout(resolve); });

/**
 * Reads bytes again at once. A worker can with a Blob; elsewhere all of the Blob has to be in memory.
 * @param {Source} source
 * @returns {Promise<{ source: Source, read: (offset: number, length: number) => Uint8Array }>}
 */
async function readable(source) {
  const Reader = /** @type {any} */ (globalThis).FileReaderSync;
  if (source instanceof Uint8Array || !Reader) {
    const bytes = source instanceof Uint8Array ? source : new Uint8Array(await source.arrayBuffer());
    return { source: bytes, read: (offset, length) => bytes.subarray(offset, offset + length) };
  }
  const reader = new Reader();
  let from = 0;
  let block = new Uint8Array(0);
  return {
    source,
    read(offset, length) {
      if (offset < from || offset + length > from + block.length) {
        free(block.buffer);
        block = new Uint8Array(reader.readAsArrayBuffer(source.slice(offset, offset + Math.max(length, AHEAD))));
        from = offset;
      }
      return block.subarray(offset - from, offset - from + length);
    },
  };
}

/**
 * Reads all of a transcript and gives it to `use`; nothing of it is left in the core afterwards.
 * @template T
 * @param {import('../wasm.js').Bridge} bridge
 * @param {Job} job
 * @param {boolean} counted whether tokens are estimated
 * @param {(reading: Reading) => T | Promise<T>} use
 * @returns {Promise<T>}
 */
async function withReading(bridge, job, counted, use) {
  const { signal, onProgress } = job;
  throwIfAborted(signal);
  const { source, read } = await readable(job.source);
  const totalBytes = sizeOf(source);
  const reading = new Reading(bridge, job.format, read, counted);
  try {
    for (let at = 0; at < totalBytes; at += CHUNK) {
      throwIfAborted(signal);
      const end = Math.min(at + CHUNK, totalBytes);
      if (source instanceof Uint8Array) {
        reading.feed(source.subarray(at, end));
        if (end < totalBytes) await breath();
      } else {
        const buffer = await source.slice(at, end).arrayBuffer();
        reading.feed(new Uint8Array(buffer));
        free(buffer);
      }
      onProgress?.({ phase: 'reading', bytes: end, totalBytes, messages: reading.messages });
    }
    throwIfAborted(signal);
    reading.finish();
    return await use(reading);
  } finally {
    reading.dispose();
  }
}

/**
 * What a transcript becomes under a policy.
 * @param {import('../wasm.js').Bridge} bridge
 * @param {Job & Wish} job
 * @returns {Promise<Trim>}
 */
export async function trim(bridge, job) {
  const { policy, options, dropDead, summarize, onProgress, signal = new AbortController().signal } = job;
  const { handle, asks, weighs } = readPolicy(bridge, policy);
  /* What stays in memory can be counted when somebody reads it in the report. */
  const counted = (weighs || !(job.source instanceof Uint8Array)) && !options.countTokens;
  if (asks && typeof summarize !== 'function') {
    bridge.dispose(handle);
    throw bridge.noSummarizer();
  }
  return withReading(bridge, job, counted, async (reading) => {
    reading.mustBeKnown();
    const bytes = sizeOf(job.source);
    const say = (/** @type {Progress['phase']} */ phase) => onProgress?.({ phase, bytes, totalBytes: bytes, messages: reading.messages });
    say('planning');
    /** @type {(string | null)[]} */
    const answers = [];
    for (;;) {
      const { trim: made, question } = reading.plan(handle, options, answers, dropDead);
      throwIfAborted(signal);
      if (made) {
        say('writing');
        return made;
      }
      const decoder = new TextDecoder();
      const messages = question.messages.map((message) => ('index' in message ? reading.message(message.index) : JSON.parse(decoder.decode(message.json))));
      const request = { messages, text: question.text, previousSummary: question.previous, prompt: SUMMARY_PROMPT, tokens: question.tokens, ...(job.signal && { signal }) };
      const answer = await unlessAborted(/** @type {NonNullable<typeof summarize>} */ (summarize)(request), signal);
      answers.push(typeof answer === 'string' ? answer : null);
    }
  }).finally(() => bridge.dispose(handle));
}

/**
 * What a file is.
 * @param {import('../wasm.js').Bridge} bridge
 * @param {Job} job
 */
export function identify(bridge, job) {
  return withReading(bridge, job, true, (reading) => (
    reading.format && reading.container
      ? { format: reading.format, container: reading.container, messages: reading.messages, tokens: reading.tokens({}) }
      : null
  ));
}
