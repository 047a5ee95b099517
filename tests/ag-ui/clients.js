// Both versions of the client, and runs that are looked at from all sides.
import assert from 'node:assert/strict';
import * as v0 from 'ag-ui-client-0059';
import * as v1 from '@ag-ui/client';

/** @type {[name: string, client: any][]} */
export const clients = [['@ag-ui/client 1.x', v1], ['@ag-ui/client 0.0.59', v0]];

/**
 * Runs an agent and hands back every event that left the middleware chain, after the client's own verifier took it.
 * @param {any} agent
 * @param {any} [parameters]
 * @returns {Promise<{ events: any[], error: any, newMessages: any[] }>} `error`: what the run failed with
 */
export async function run(agent, parameters = {}) {
  /** @type {any[]} */
  const events = [];
  let error = null;
  let newMessages = [];
  try {
    ({ newMessages } = await agent.runAgent(parameters, { onEvent: (/** @type {any} */ { event }) => void events.push(event) }));
  } catch (thrown) {
    error = thrown;
  }
  return { events, error, newMessages };
}

/** The notices among events. @param {any[]} events */
export const noticesIn = (events) => events.filter(({ type, activityType }) =>
  type === 'ACTIVITY_SNAPSHOT' && activityType === 'compaction');

/**
 * Silences the console for a test and says what was warned of.
 * @param {import('node:test').TestContext} t
 * @returns {{ warnings: any[][], errors: any[][] }}
 */
export function quiet(t) {
  /** @type {any[][]} */
  const warnings = [];
  /** @type {any[][]} */
  const errors = [];
  t.mock.method(console, 'warn', (/** @type {any[]} */ ...words) => void warnings.push(words));
  t.mock.method(console, 'error', (/** @type {any[]} */ ...words) => void errors.push(words));
  return { warnings, errors };
}

/** Waits for what a promise chain of unknown length brings about. @param {() => boolean} holds @param {string} what */
export async function until(holds, what) {
  for (let tick = 0; tick < 10_000 && !holds(); tick++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(holds(), what);
}
