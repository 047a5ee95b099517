// Prints what a Wasm module imports and exports, and fails on an import that web/wasm.js does not provide.
// usage: node tools/imports.js FILE.wasm
import { readFileSync } from 'node:fs';

const ALLOWED = new Set([
  'tamp.count', // the caller's token counter
  'tamp.read', // bytes of a transcript that are needed again
]);

const file = process.argv[2];
const module = new WebAssembly.Module(readFileSync(file));
const imports = WebAssembly.Module.imports(module).map((entry) => `${entry.module}.${entry.name}`);
console.log(`${file} imports ${imports.join(' and ') || 'nothing'}`);

const unknown = imports.filter((name) => !ALLOWED.has(name));
if (unknown.length > 0) {
  console.error(`${file}: nothing provides ${unknown.join(', ')}. Is a C function not defined?`);
  process.exit(1);
}
