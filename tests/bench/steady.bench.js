/** A long chat goes on: one new message, then compaction before the next run. */
import assert from 'node:assert/strict';
import { loadTamp } from 'tamp';
import { longSession } from '../lib/sessions.js';

export const name = 'one new message on a history of 10,000';

const tamp = await loadTamp();
const start = longSession(10_000);
const budget = Math.floor(tamp.countTokens(start) / 2);
const policy = /** @type {const} */ ({ strategy: 'truncation', maxTokens: budget, toTokens: budget });

let turn = 0;
/** @param {Record<string, any>[]} list the list with one message more, as a client makes it */
const oneMore = (list) => {
  turn += 1;
  const role = turn % 2 === 1 ? 'user' : 'assistant';
  return [...list, { id: `new-${turn}`, role, content: `And what about number ${turn}?` }];
};

const history = tamp.open(start);
let list = start;

/** The turn of a client that keeps its messages. */
function steady() {
  list = oneMore(list);
  history.sync(list);
  return history.compact(policy);
}

// What is timed is right: a history says what a fresh compaction of its list says.
const kept = steady();
const fresh = tamp.compact(list, policy);
assert.ok(kept.changed);
assert.deepEqual(kept.messages, fresh.messages);
assert.deepEqual(kept.report, fresh.report);
assert.equal(history.sync(list), 0);

export const rows = [
  { name: 'History.sync + compact', run: steady, repeat: 10, limit: 1 },
  { name: 'compact of the whole list', run: () => tamp.compact(list, policy), target: 50 },
];

/** The same where the client clones its list before every run, as @ag-ui/client does. */
export function figures() {
  const times = Array.from({ length: 9 }, () => {
    list = structuredClone(oneMore(list));
    const begun = performance.now();
    assert.equal(history.sync(list), 1);
    history.compact(policy);
    return performance.now() - begun;
  }).sort((a, b) => a - b);
  return [{ name: 'the same when the client clones its list', value: times[4], unit: 'ms' }];
}
