// The fuzzers in their short form: what they found in the past, then some looking, always from the same seed and as far, so
// that a run says something about the change it is made for, and the same on every machine. FUZZ_TRIES says how far.
// `make fuzz SECONDS=600` is the long form, with new seeds.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tries = Number(process.env.FUZZ_TRIES ?? 5_000);

/** Far more time than that takes under sanitizers on a busy machine, in seconds. */
const most = 60 + tries / 50;
const names = readdirSync(join(root, 'tests/fuzz'))
  .filter((name) => name.endsWith('_fuzz.c')).map((name) => name.slice(0, -'_fuzz.c'.length));

for (const name of names) {
  test(`the ${name} fuzzer finds nothing in ${tries} tries, and none of its past findings fails again`, (t) => {
    assert.ok(existsSync(join(root, 'build/fuzz/bin', name)), `${name} is not built: run \`make fuzzers\``);
    const run = spawnSync('tools/fuzz.sh', [String(most), name], {
      cwd: root, encoding: 'utf8', timeout: (most + 60) * 1000, env: { FUZZ_FLAGS: `-seed=1 -runs=${tries}`, ...process.env },
    });
    assert.equal(run.status, 0, `${run.error?.message ?? ''}${run.stdout}${run.stderr}`);
    for (const line of run.stdout.trim().split('\n')) t.diagnostic(line);
  });
}
