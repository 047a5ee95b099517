// The C tests, built with AddressSanitizer and UndefinedBehaviorSanitizer by `make c-tests`: one subtest each.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const sources = readdirSync(join(root, 'tests/c')).filter((name) => name.endsWith('_test.c'));

test('the C core holds its contracts under AddressSanitizer and UndefinedBehaviorSanitizer', async (t) => {
  assert.ok(sources.length > 0, 'tests/c has no *_test.c');
  for (const source of sources.sort()) {
    const name = source.slice(0, -'.c'.length);
    await t.test(name, () => {
      const program = join(root, 'build/c-tests', name);
      assert.ok(existsSync(program), `${name} is not built: run \`make c-tests\``);
      const run = spawnSync(program, {
        cwd: root,
        encoding: 'utf8',
        timeout: 300_000,
        env: { ...process.env, ASAN_OPTIONS: 'allocator_may_return_null=1' },
      });
      const outcome = run.error?.message ?? run.signal ?? `exit code ${run.status}`;
      assert.equal(run.status, 0, `${name}: ${outcome}\n${run.stdout}${run.stderr}`);
    });
  }
});
