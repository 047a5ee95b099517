/** The bare scans of scan.c on some bytes, as rows of a benchmark. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const PAGE = 65_536;
const module = new WebAssembly.Module(readFileSync(new URL('../../build/bench/scan.wasm', import.meta.url)));

/**
 * @param {Uint8Array} bytes
 * @returns {{ bare: import('./harness.js').Row, brackets: import('./harness.js').Row }}
 */
export function scansOf(bytes) {
  const { memory, at, bare, brackets } = /** @type {any} */ (new WebAssembly.Instance(module, {}).exports);
  const base = at();
  memory.grow(Math.max(0, Math.ceil((base + bytes.length - memory.buffer.byteLength) / PAGE)));
  new Uint8Array(memory.buffer, base).set(bytes);
  const marks = Buffer.from(bytes.subarray(0, bytes.length & ~15)).toString('latin1').match(/[[\]{}"\\]/g) ?? [];
  assert.equal(brackets(bytes.length), marks.length);
  return {
    bare: { name: 'a bare scan of the same bytes in Wasm', bytes: bytes.length, run: () => bare(bytes.length), repeat: 10 },
    brackets: { name: 'a bare search for brackets and quotes in Wasm', bytes: bytes.length, run: () => brackets(bytes.length), repeat: 10 },
  };
}
