/**
 * Writes JavaScript values as the JSON that `JSON.stringify` would give, except that strings are written raw:
 * 0x01, their length in UTF-8 as four bytes little-endian, their UTF-8. The C cursor reads that (src/json/value.h),
 * and it is what makes crossing cheap: `encodeInto` copies a string in one native call, while escaping it first
 * costs ten times that. A string that is not well-formed is escaped all the same, so that a lone surrogate lives on.
 */

/**
 * Where bytes go. `bytes` may be another array after `grow`.
 * @typedef {object} Sink
 * @property {Uint8Array} bytes
 * @property {number} at where the next byte goes
 * @property {number} end where the room ends
 * @property {(sink: Sink, needed: number) => void} grow makes room for `needed` bytes behind `at`, keeping what is
 *   written; throws when it cannot
 */

/** What a value cannot be, with the path to it: the encoder knows no indices and no error classes. */
export class NotEncodable extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = 'NotEncodable';
  }
}

/** Levels of nesting that the core reads. */
const MOST_LEVELS = 1000;
/** Up to here a loop over characters is faster than a call of `encodeInto`. */
const SHORT = 40;

const encoder = new TextEncoder();
const hasOwn = Object.prototype.hasOwnProperty;

/**
 * `String.prototype.isWellFormed` where it is there; free for strings of one byte a character.
 * @type {(text: string) => boolean}
 */
export const isWellFormed = 'isWellFormed' in String.prototype
  ? (text) => /** @type {any} */ (text).isWellFormed()
  : (text) => !/\p{Surrogate}/u.test(text);

/** @param {Sink} sink @param {number} size */
function reserve(sink, size) {
  if (sink.end - sink.at < size) sink.grow(sink, size);
}

/** @param {Sink} sink @param {string} ascii */
function writeAscii(sink, ascii) {
  reserve(sink, ascii.length);
  const { bytes } = sink;
  let { at } = sink;
  for (let i = 0; i < ascii.length; i++) bytes[at++] = ascii.charCodeAt(i);
  sink.at = at;
}

/** @param {Sink} sink @param {string} text @param {number} header bytes left free before it */
function writeNative(sink, text, header) {
  reserve(sink, header + text.length);
  for (;;) {
    const start = sink.at + header;
    const { read, written } = encoder.encodeInto(text, sink.bytes.subarray(start, sink.end));
    if (read === text.length) return written;
    sink.grow(sink, header + 3 * text.length);
  }
}

/** @param {Sink} sink @param {number} length */
function writeHeader(sink, length) {
  const { bytes, at } = sink;
  bytes[at] = 1;
  bytes[at + 1] = length;
  bytes[at + 2] = length >>> 8;
  bytes[at + 3] = length >>> 16;
  bytes[at + 4] = length >>> 24;
  sink.at = at + 5 + length;
}

/** @param {Sink} sink @param {string} text */
function writeString(sink, text) {
  const { length } = text;
  if (length < SHORT) {
    reserve(sink, 5 + length);
    const { bytes } = sink;
    const start = sink.at + 5;
    let i = 0;
    for (; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 127) break;
      bytes[start + i] = unit;
    }
    if (i === length) {
      writeHeader(sink, length);
      return;
    }
  }
  if (isWellFormed(text)) {
    writeHeader(sink, writeNative(sink, text, 5));
  } else {
    sink.at += writeNative(sink, JSON.stringify(text), 0);
  }
}

/** How the name of bytes begins; src/strategies/strip_binary.c reads the number behind it. */
export const BYTES = 'data:tamp/bytes;';
/** @type {WeakMap<object, string>} */
const names = new WeakMap();
let named = 0;

/** @param {unknown} value @returns {value is ArrayBuffer | ArrayBufferView} */
export const isBytes = (value) => ArrayBuffer.isView(value) || value instanceof ArrayBuffer;

/**
 * What bytes cross as, which JSON does not have: a name that says how many there are. The messages that hold them are not
 * written anew from JSON without getting them back (compaction.js).
 * @param {ArrayBuffer | ArrayBufferView} bytes
 */
export function bytesName(bytes) {
  let name = names.get(bytes);
  if (name === undefined) names.set(bytes, name = `${BYTES}${bytes.byteLength};${++named},`);
  return name;
}

/** What JSON.stringify leaves out of an object. @param {unknown} value */
function isNothing(value) {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

/** @param {Sink} sink @param {readonly unknown[]} list @param {number} depth */
function writeArray(sink, list, depth) {
  writeAscii(sink, '[');
  for (let i = 0; i < list.length; i++) {
    if (i > 0) writeAscii(sink, ',');
    writeValue(sink, isNothing(list[i]) ? null : list[i], String(i), depth + 1);
  }
  writeAscii(sink, ']');
}

/** @param {Sink} sink @param {Record<string, unknown>} object @param {number} depth */
function writeObject(sink, object, depth) {
  let first = true;
  writeAscii(sink, '{');
  for (const key in object) {
    if (!hasOwn.call(object, key)) continue;
    const value = object[key];
    if (isNothing(value)) continue;
    if (!first) writeAscii(sink, ',');
    first = false;
    writeString(sink, key);
    writeAscii(sink, ':');
    writeValue(sink, value, key, depth + 1);
  }
  writeAscii(sink, '}');
}

/**
 * @param {Sink} sink
 * @param {unknown} value
 * @param {string} key what `toJSON` is given
 * @param {number} depth of containers around the value
 * @returns {void}
 */
function writeValue(sink, value, key, depth) {
  switch (typeof value) {
    case 'string':
      return writeString(sink, value);
    case 'number':
      return writeAscii(sink, Number.isFinite(value) ? String(value) : 'null');
    case 'boolean':
      return writeAscii(sink, value ? 'true' : 'false');
    case 'object':
      break;
    case 'bigint':
      throw new NotEncodable('it holds a BigInt, which JSON does not have');
    default:
      return writeAscii(sink, 'null');
  }
  if (value === null) return writeAscii(sink, 'null');
  if (depth >= MOST_LEVELS) {
    throw new NotEncodable(`it is nested more than ${MOST_LEVELS} levels deep, or holds itself`);
  }
  if (isBytes(value)) return writeString(sink, bytesName(value));
  const { toJSON } = /** @type {{ toJSON?: unknown }} */ (value);
  if (typeof toJSON === 'function') return writeValue(sink, toJSON.call(value, key), key, depth + 1);
  if (Array.isArray(value)) return writeArray(sink, value, depth);
  return writeObject(sink, /** @type {Record<string, unknown>} */ (value), depth);
}

/**
 * Writes one value at `sink.at` and moves it behind.
 * @param {Sink} sink
 * @param {unknown} value anything; what JSON.stringify would leave out is null
 * @throws {NotEncodable} for BigInts, cycles and nesting over 1,000 levels
 */
export function encodeValue(sink, value) {
  writeValue(sink, value, '', 0);
}
