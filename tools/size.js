// Prints what a page that uses Tamp has to load, gzipped, and fails when it is over the budget. Modules are
// bundled and minified first, as users' bundlers do it.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const BUDGET = 40 * 1024; // Wasm + what `import … from 'tamp'` loads

const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;
const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1).padStart(6)} KB`;

async function bundled(file) {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    packages: 'external',
  });
  return gzipped(outputFiles[0].contents);
}

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const wasm = gzipped(readFileSync('dist/tamp.wasm'));
const core = await bundled(exports['.'].default);

console.log(`${kilobytes(wasm)}  dist/tamp.wasm`);
console.log(`${kilobytes(core)}  tamp`);
console.log(`${kilobytes(wasm + core)}  together, of ${kilobytes(BUDGET).trim()}`);
for (const [key, target] of Object.entries(exports)) {
  if (key === '.' || typeof target === 'string') continue;
  console.log(`${kilobytes(await bundled(target.default))}  tamp${key.slice(1)}, with what it imports`);
}

if (wasm + core > BUDGET) {
  console.error('Wasm and core JS are over the budget');
  process.exit(1);
}
