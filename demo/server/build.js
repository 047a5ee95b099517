/**
 * Bundles what the page takes from npm, each into one file under build/demo (served as vendor/):
 *
 *   node demo/server/build.js                the bundles
 *   node demo/server/build.js --site FOLDER  the whole page, with those bundles, as a folder for any static host (`make site`)
 */
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'build', 'demo');

/** One bundle holds the core; every other that needs it imports it from there. */
const oneCore = {
  name: 'one core',
  setup(builder) {
    builder.onResolve({ filter: /(^|\/)index\.js$/ }, ({ path, resolveDir, importer }) => {
      const isCore = resolve(resolveDir, path) === join(root, 'dist', 'index.js');
      return isCore && importer !== join(root, 'demo', 'vendor', 'core.js') ? { path: './core.js', external: true } : undefined;
    });
  },
};

async function bundle() {
  const folder = join(root, 'demo', 'vendor');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  await rm(out, { recursive: true, force: true });
  await build({
    entryPoints: names.map((name) => join(folder, name)),
    outdir: out,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    minify: true,
    sourcemap: 'linked',
    legalComments: 'eof',
    // zod, which the AG-UI client brings, tries whether it may make code of text. The page's policy forbids that.
    banner: { js: 'globalThis.__zod_globalConfig ??= { jitless: true };' },
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
    plugins: [oneCore],
    logLevel: 'warning',
  });
  // The core looks for its Wasm beside itself.
  for (const name of ['tamp.wasm', 'tamp-scalar.wasm']) await cp(join(root, 'dist', name), join(out, name));
}

async function site(folder) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const serverOnly = new Set(['server.js', 'server', 'vendor']);
  await cp(join(root, 'demo'), folder, { recursive: true, filter: (from) => !serverOnly.has(basename(from)) });
  await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true, filter: (from) => !/\.(d\.ts|stamp)$/.test(from) });
  await cp(out, join(folder, 'vendor'), { recursive: true, filter: (from) => !from.endsWith('.map') });
}

const at = process.argv.indexOf('--site');
if (at < 0) {
  await bundle();
} else {
  const folder = process.argv[at + 1];
  if (!folder) {
    console.error('Say where the page should go: node demo/server/build.js --site FOLDER');
    process.exit(2);
  }
  await site(resolve(folder));
  console.log(`The page is in ${folder}. Any static host serves it, under any path.`);
}
