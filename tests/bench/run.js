// usage: node tests/bench/run.js FILE.bench.js...
// Runs benchmarks one after the other, prints their tables and which targets were missed, and writes build/bench.json.
// Fails when one does not finish; a missed target is a finding, not a failure.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { format, measure } from './harness.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const self = fileURLToPath(import.meta.url);

/** In a process of its own: one benchmark, its result as JSON on file descriptor 3. */
async function runOne(file) {
  const bench = await import(pathToFileURL(resolve(file)).href);
  writeFileSync(3, JSON.stringify(await measure(bench)));
}

function runAll(files) {
  const results = [];
  const missed = [];
  for (const file of files) {
    const child = spawnSync(process.execPath, ['--expose-gc', self, '--one', file], {
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
      maxBuffer: 1 << 26,
    });
    if (child.status !== 0) {
      console.error(`${file} did not finish`);
      process.exitCode = 1;
      continue;
    }
    const result = JSON.parse(String(child.output[3]));
    results.push({ file, ...result });
    console.log(`\n${format(result)}`);
    for (const { name, met } of [...result.rows, ...result.figures]) {
      if (!met) missed.push(`${result.name}: ${name}`);
    }
  }
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(join(root, 'build/bench.json'), `${JSON.stringify({
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    node: process.version,
    results,
  }, null, 2)}\n`);
  console.log(`\n${results.length} benchmarks, written to build/bench.json`);
  for (const line of missed) console.log(`missed: ${line}`);
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--one') {
  await runOne(rest[0]);
} else {
  runAll(first === undefined ? [] : [first, ...rest]);
}
