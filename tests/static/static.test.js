import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

function run(...command) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
  return { status, output: `${error ?? ''}${stdout}${stderr}` };
}

test('the JS passes the linter', () => {
  const { status, output } = run('node_modules/eslint/bin/eslint.js', '--max-warnings=0', '.');
  assert.equal(status, 0, output);
});

test('the JS passes the type checker in strict mode', () => {
  const { status, output } = run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--noEmit',
    '--emitDeclarationOnly', 'false');
  assert.equal(status, 0, output);
});

test('Wasm and core JS stay under the gate of tools/size.js, so that growth is seen', (t) => {
  const { status, output } = run('tools/size.js');
  for (const line of output.trimEnd().split('\n')) t.diagnostic(line);
  assert.equal(status, 0, output);
});
