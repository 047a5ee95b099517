/**
 * Finding and compiling the module, once.
 */
import { TampError } from './errors.js';
import { Tamp } from './tamp.js';
import { Bridge } from './wasm.js';

/**
 * @typedef {object} LoadOptions
 * @property {string | URL | Response | Promise<Response> | BufferSource | WebAssembly.Module} [wasm] where the Wasm is; by
 *   default `tamp.wasm` beside this file, or `tamp-scalar.wasm` where the engine has no vectors (SIMD)
 */

/**
 * A module of one function, which makes a vector and counts its bits: the last of the instructions that were agreed on.
 * An engine that takes it has them all.
 */
const VECTORS = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic and version
  0x01, 0x04, 0x01, 0x60, 0x00, 0x00, // a type: nothing in, nothing out
  0x03, 0x02, 0x01, 0x00, // a function of that type
  0x0a, 0x0b, 0x01, 0x09, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0xfd, 0x62, 0x1a, 0x0b, // i32.const 0, i8x16.splat, i8x16.popcnt, drop
]);

/** The file for this engine. A page loads one of the two. */
const fileName = () => (globalThis.WebAssembly?.validate(VECTORS) ? 'tamp.wasm' : 'tamp-scalar.wasm');

/** Instances by where they came from: URLs as text, everything else by identity. */
const byUrl = /** @type {Map<string, Promise<Tamp>>} */ (new Map());
const byObject = /** @type {WeakMap<object, Promise<Tamp>>} */ (new WeakMap());

/** @param {Response} response @returns {Promise<WebAssembly.Module>} */
async function compileResponse(response) {
  if (!response.ok) throw new Error(`the server answered ${response.status} for ${response.url}`);
  /* A server that does not say application/wasm, or a browser without streaming, costs a copy, not the page. */
  if ('compileStreaming' in WebAssembly && response.headers.get('content-type')?.startsWith('application/wasm')) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/** @param {URL} url */
async function compileUrl(url) {
  if (url.protocol === 'file:' && 'process' in globalThis) {
    /* Node cannot fetch files. The name is no literal, so that bundlers for browsers do not look for it. */
    const fs = 'node:fs/promises';
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ fs);
    return WebAssembly.compile(await readFile(url));
  }
  return compileResponse(await fetch(url));
}

/** @param {NonNullable<LoadOptions['wasm']>} source @returns {Promise<WebAssembly.Module>} */
async function compile(source) {
  const given = await source;
  if (given instanceof WebAssembly.Module) return given;
  if (typeof given === 'string') return compileUrl(new URL(given, globalThis.document?.baseURI ?? globalThis.location?.href ?? import.meta.url));
  if (given instanceof URL) return compileUrl(given);
  if (typeof Response !== 'undefined' && given instanceof Response) return compileResponse(given);
  return WebAssembly.compile(/** @type {BufferSource} */ (given));
}

/** @param {LoadOptions['wasm']} wasm */
async function load(wasm) {
  try {
    return new Tamp(new Bridge(await compile(wasm ?? (
      /* Written out, so that bundlers find both. */
      fileName() === 'tamp.wasm' ? new URL('./tamp.wasm', import.meta.url) : new URL('./tamp-scalar.wasm', import.meta.url)
    ))));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TampError(
      'wasm-load',
      `Tamp could not load its WebAssembly: ${why}. Serve tamp.wasm and tamp-scalar.wasm from the package beside its modules, or pass loadTamp({ wasm: url }) (this engine needs ${fileName()}), or import from tamp/inline; `
      + "a Content-Security-Policy must allow 'wasm-unsafe-eval' in script-src, and the file in connect-src.",
      { cause: error },
    );
  }
}

/**
 * Compiles and instantiates the module once: the same options give the same promise. One that failed is forgotten, so
 * that the next call tries again.
 * @param {LoadOptions} [options]
 * @returns {Promise<Tamp>}
 * @throws {TampError} (as a rejection) `wasm-load`; its message says what to do
 */
export function loadTamp({ wasm } = {}) {
  const key = wasm === undefined ? '' : typeof wasm === 'string' || wasm instanceof URL ? String(wasm) : null;
  const known = key === null ? byObject.get(/** @type {object} */ (wasm)) : byUrl.get(key);
  if (known) return known;
  const loading = load(wasm);
  if (key === null) byObject.set(/** @type {object} */ (wasm), loading);
  else byUrl.set(key, loading);
  loading.catch(() => {
    if (key === null) byObject.delete(/** @type {object} */ (wasm));
    else byUrl.delete(key);
  });
  return loading;
}
