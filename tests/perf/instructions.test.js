/**
 * The hot paths of the core do not get slower unnoticed: callgrind counts their instructions, which are the same on a
 * busy machine and an idle one, and the counts are compared with those of tests/perf/instructions.json.
 *
 * `make test ONLY=tests/perf/instructions.test.js UPDATE=1` writes the counts anew: after a change that made a path
 * faster, or one that is worth what it costs. Another compiler counts otherwise, so with one nothing is compared.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { longSession, sampleSession } from '../lib/sessions.js';

const TOLERANCE = 0.05;

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'build/perf');
const committed = new URL('instructions.json', import.meta.url);
const renew = Boolean(process.env.UPDATE);

/** @param {string} command @param {...string} args */
const firstLine = (command, ...args) => {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n')[0].trim() : null;
};

/** The messages every path runs on, from the repository alone: the same bytes on every machine. */
function writeInputs() {
  mkdirSync(folder, { recursive: true });
  /** @param {string} name @param {string} text */
  const put = (name, text) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const some = longSession(2_000, [sampleSession()]);
  const list = put('2000.json', JSON.stringify(some));
  return {
    scan: list,
    estimate: put('texts.txt', some.map(({ content }) => content ?? '').join('\n')),
    append: list,
    plan: list,
    turn: put('10000.json', JSON.stringify(longSession(10_000, [sampleSession()]))),
    digest: list,
    transcript: put('2000.jsonl', some.map((message) => `${JSON.stringify(message)}\n`).join('')),
  };
}

/** @param {string} path @param {string} input */
function instructions(path, input) {
  const run = spawnSync('valgrind', [
    '--tool=callgrind', `--callgrind-out-file=${join(folder, `${path}.callgrind`)}`, '--toggle-collect=measured',
    join(folder, 'paths'), path, input,
  ], { encoding: 'utf8' });
  assert.equal(run.status, 0, `${path}: ${run.error ?? run.stderr}`);
  const [, count] = /Collected : (\d+)/.exec(run.stderr) ?? [];
  assert.ok(Number(count) > 0, `${path}: callgrind counted nothing\n${run.stderr}`);
  return Number(count);
}

const compiler = firstLine(process.env.CC ?? 'cc', '--version');
const valgrind = firstLine('valgrind', '--version');
const known = JSON.parse(readFileSync(committed, 'utf8'));
const why = valgrind === null ? 'valgrind is not there'
  : compiler !== known.compiler && !renew ? `the committed counts are those of ${known.compiler}, this is ${compiler}`
    : false;

test('the hot paths take no more instructions than the committed counts and 5 %', { skip: why }, (t) => {
  const inputs = writeInputs();
  const counts = Object.fromEntries(Object.entries(inputs).map(([path, input]) => [path, instructions(path, input)]));
  if (renew) {
    writeFileSync(committed, `${JSON.stringify({ compiler, instructions: counts }, null, 2)}\n`);
    t.diagnostic(`written: ${JSON.stringify(counts)}`);
    return;
  }
  assert.deepEqual(Object.keys(counts), Object.keys(known.instructions));
  const grown = [];
  for (const [path, count] of Object.entries(counts)) {
    const before = known.instructions[path];
    const change = `${path}: ${count.toLocaleString('en')}, ${((count / before - 1) * 100).toFixed(1)} % against the committed count`;
    t.diagnostic(change);
    if (count > before * (1 + TOLERANCE)) grown.push(change);
    else if (count < before * (1 - TOLERANCE)) t.diagnostic(`${path} got faster: write the counts anew, so that it stays so`);
  }
  assert.deepEqual(grown, []);
});
