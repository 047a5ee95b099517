// Prints what a page that uses Tamp has to load, gzipped, and fails when it is over the gate. Modules are bundled and
// minified first, as users' bundlers do it.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// Wasm + what `import … from 'tamp'` loads. The design's budget was set before all formats and transcripts were in one
// module, and is missed by far: it is printed, so that nobody forgets it. The gate is just above what was reached, so that
// growth is seen: whoever makes the module smaller lowers it, and whoever raises it says what for.
const BUDGET = 40 * 1024;
const GATE = 94.8 * 1024;

const root = fileURLToPath(new URL('../', import.meta.url));
const gzipped = (bytes) => gzipSync(bytes, { level: 9 }).length;
const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1).padStart(6)} KB`;

/** Bytes of a file, gzipped. @param {string} file from the repository's root @returns {number} */
export const gzippedSize = (file) => gzipped(readFileSync(`${root}${file}`));

/**
 * Bytes of a module with all that it imports, minified and gzipped.
 * @param {string} contents the module's text; its imports count from the repository's root
 * @param {'bundle' | 'external'} [packages] whether packages are part of it
 * @returns {Promise<number>}
 */
export async function gzippedBundle(contents, packages = 'bundle') {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    external: ['node:*'],
    packages,
    logLevel: 'error',
  });
  return gzipped(outputFiles[0].contents);
}

async function printAll() {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const entry = (key) => gzippedBundle(`export * from '${exports[key].default}'`, 'external');
  const wasm = gzippedSize('dist/tamp.wasm');
  const core = await entry('.');

  console.log(`${kilobytes(wasm)}  dist/tamp.wasm`);
  console.log(`${kilobytes(gzippedSize('dist/tamp-scalar.wasm'))}  dist/tamp-scalar.wasm, which a page loads in its place where there are no vectors`);
  console.log(`${kilobytes(core)}  tamp`);
  console.log(`${kilobytes(wasm + core)}  together; the gate is ${kilobytes(GATE).trim()}, the design's budget ${kilobytes(BUDGET).trim()}`);
  for (const [key, target] of Object.entries(exports)) {
    if (key !== '.' && typeof target !== 'string') console.log(`${kilobytes(await entry(key))}  tamp${key.slice(1)}, with what it imports`);
  }
  if (wasm + core > GATE) {
    console.error('Wasm and core JS are over the gate');
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await printAll();
