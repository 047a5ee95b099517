/** Every vector of tests/vectors through the JS API. tests/c/vectors_test.c runs the same in C. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { PolicyError, loadTamp } from 'tamp';
import { deepFreeze } from '../lib/freeze.js';
import {
  checkCompaction, checkError, checkProblems, checkReading, needsModel, optionsOf, readVectors,
} from '../lib/vectors.js';

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

/**
 * Compact as the policy needs it: with a model when it has a summarize step.
 *
 * @param {any} messages
 * @param {any} policy
 * @param {any} options
 */
const compact = async (messages, policy, options) => (needsModel(policy)
  ? tamp.compactAsync(messages, policy, options)
  : tamp.compact(messages, policy, options));

/** @param {any} vector */
async function runCompaction(vector) {
  const used = optionsOf(vector);
  const messages = deepFreeze(structuredClone(vector.messages));
  const policy = deepFreeze(structuredClone(vector.policy));
  if (vector.expect.error !== undefined) {
    const error = await compact(messages, policy, used.options).then(
      () => assert.fail('an error is thrown'),
      (/** @type {unknown} */ thrown) => thrown,
    );
    checkError(vector, error);
    return;
  }
  const compaction = await compact(messages, policy, used.options);
  checkCompaction(vector, messages, compaction, used);
  assert.deepEqual(messages, vector.messages, 'the input is as it was');
  if (vector.options?.usage !== undefined) return;
  const again = await compact(compaction.messages, policy, optionsOf(vector).options);
  assert.equal(again.changed, false,
    `compacting the result again changes nothing: ${JSON.stringify(again.report.steps)}`);
}

/** @param {any} vector */
function runReading(vector) {
  const { options } = optionsOf(vector);
  const messages = deepFreeze(structuredClone(vector.messages));
  checkReading(vector, messages, {
    inspection: tamp.inspect(messages, options),
    tokens: tamp.countTokens(messages, options),
  });
}

/** @param {any} vector */
function runPolicy(vector) {
  const problems = tamp.checkPolicy(vector.policy);
  checkProblems(vector, problems);
  if (problems.length === 0) return;
  assert.throws(() => tamp.compact([], vector.policy), (/** @type {any} */ error) => {
    assert.ok(error instanceof PolicyError);
    assert.deepEqual(error.problems, problems);
    return true;
  });
}

/** @param {any} vector */
async function runEvent(vector) {
  const { readCompaction } = await import('tamp/ag-ui');
  const event = deepFreeze(structuredClone(vector.event));
  assert.deepEqual(readCompaction(event), vector.expect.result);
}

for (const { file, about, cases } of readVectors()) {
  describe(`${file}: ${about}`, () => {
    for (const vector of cases) {
      test(vector.name, async () => {
        if ('event' in vector) await runEvent(vector);
        else if (!('messages' in vector)) runPolicy(vector);
        else if ('policy' in vector) await runCompaction(vector);
        else runReading(vector);
      });
    }
  });
}
