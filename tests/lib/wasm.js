/** The module as bytes, for tests that change it. */
import { readFileSync } from 'node:fs';

/** A LEB128 number and where it ends. @param {Uint8Array} bytes @param {number} at */
function readNumber(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at];
    at += 1;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, at };
  }
}

/**
 * dist/tamp.wasm with another maximum of its memory, in pages of 64 KiB. No more is patched than the number.
 * @param {number} pages
 */
export function wasmWithMemoryOf(pages) {
  const bytes = new Uint8Array(readFileSync(new URL('../../dist/tamp.wasm', import.meta.url)));
  for (let at = 8; at < bytes.length;) {
    const section = bytes[at];
    const size = readNumber(bytes, at + 1);
    if (section === 5) {
      const count = readNumber(bytes, size.at);
      const flags = bytes[count.at];
      const initial = readNumber(bytes, count.at + 1);
      const maximum = readNumber(bytes, initial.at);
      if (count.value !== 1 || flags !== 1 || pages < initial.value) throw new Error('not the memory that was expected');
      /* As many bytes as it had: LEB128 may be padded. */
      let rest = pages;
      for (let i = initial.at; i < maximum.at; i += 1) {
        bytes[i] = (rest & 0x7f) | (i + 1 < maximum.at ? 0x80 : 0);
        rest >>>= 7;
      }
      if (rest > 0) throw new Error('the number is too long');
      return bytes;
    }
    at = size.at + size.value;
  }
  throw new Error('dist/tamp.wasm has no memory');
}
