/** One compaction of 2,000 real messages by tokens, against LangChain's trimMessages. */
import assert from 'node:assert/strict';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } from '@langchain/core/messages';
import { loadTamp } from 'tamp';
import { estimateTokenCount } from 'tokenx';
import { longSession } from '../lib/sessions.js';
import { refusals } from '../lib/validators.js';

/** @typedef {Record<string, any>} Message */

export const name = 'compact 2,000 real messages by tokens, one shot';

const tamp = await loadTamp();
const messages = longSession(2_000);
const bytes = Buffer.byteLength(JSON.stringify(messages));

/** Made once, outside what is timed. @type {import('@langchain/core/messages').BaseMessage[]} */
const theirs = messages.map(({ role, content, toolCalls = [], toolCallId, id }) => {
  switch (role) {
    case 'system': return new SystemMessage({ id, content });
    case 'user': return new HumanMessage({ id, content });
    case 'tool': return new ToolMessage({ id, content, tool_call_id: toolCallId });
    default: return new AIMessage({
      id,
      content: content ?? '',
      tool_calls: toolCalls.map((/** @type {any} */ call) => ({
        id: call.id, name: call.function.name, args: argumentsOf(call), type: 'tool_call',
      })),
    });
  }
});

/** @param {any} call */
function argumentsOf(call) {
  try {
    return JSON.parse(call.function.arguments);
  } catch {
    return { text: call.function.arguments };
  }
}

/** The texts of a LangChain message, which is what both counters count. @param {any} message */
const textsOf = (message) => message.content
  + (message.tool_calls?.length > 0 ? JSON.stringify(message.tool_calls) : '');

/**
 * A counter for trimMessages that looks at every message once a run, whatever trimMessages asks.
 *
 * @param {(text: string) => number} count
 */
function countedOnce(count) {
  /** @type {Map<object, number>} */
  const known = new Map();
  return (/** @type {object[]} */ list) => {
    let sum = 0;
    for (const message of list) {
      let tokens = known.get(message);
      if (tokens === undefined) known.set(message, tokens = 4 + count(textsOf(message)));
      sum += tokens;
    }
    return sum;
  };
}

/** @param {(text: string) => number} count */
function langchain(count) {
  const half = Math.floor(countedOnce(count)(theirs) / 2);
  return () => trimMessages(theirs, { maxTokens: half, strategy: 'last', tokenCounter: countedOnce(count) });
}

/** @param {Message[]} list */
function tampOn(list) {
  const half = Math.floor(tamp.countTokens(list) / 2);
  const policy = /** @type {const} */ ({ strategy: 'truncation', maxTokens: half, toTokens: half });
  return () => tamp.compact(list, policy);
}

const quarter = (/** @type {string} */ text) => text.length / 4;

// What is timed is right: half of the tokens are left, the newest, and ours is a list a provider accepts.
const ours = tampOn(messages)();
assert.ok(ours.report.fits && ours.changed);
assert.equal(ours.messages.at(-1), messages.at(-1));
assert.deepEqual(refusals(ours.messages, { head: false }), []);
assert.ok(ours.report.tokensAfter > ours.report.tokensBefore * 0.45);
for (const count of [estimateTokenCount, quarter]) {
  const half = countedOnce(count)(theirs) / 2;
  const left = await langchain(count)();
  assert.ok(countedOnce(count)(left) <= half && countedOnce(count)(left) > half * 0.95);
  assert.equal(left.at(-1)?.id, messages.at(-1)?.id);
}

export const rows = [
  { name: 'Tamp', bytes, run: tampOn(messages) },
  { name: 'LangChain trimMessages, tokenx once per message', bytes, run: langchain(estimateTokenCount), target: 8 },
  { name: 'LangChain trimMessages, length / 4', bytes, run: langchain(quarter), target: 1 },
];

/** Milliseconds of the fastest of some runs. @param {() => unknown} run @param {number} times */
function fastest(run, times) {
  let best = Infinity;
  for (let turn = 0; turn < times; turn += 1) {
    const start = performance.now();
    run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/** The same for 100,000 messages as for 1,000, per message. */
export function figures() {
  const small = fastest(tampOn(longSession(1_000)), 20) / 1_000;
  const large = fastest(tampOn(longSession(100_000)), 3) / 100_000;
  return [{
    name: 'a message of 100,000 costs, of what one of 1,000 costs', value: large / small, unit: 'x', atMost: 2,
  }];
}
