/** One compaction of 2,000 real messages by tokens, against LangChain's trimMessages. */
import assert from 'node:assert/strict';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } from '@langchain/core/messages';
import { loadTamp } from 'tamp';
import { estimateTokenCount } from 'tokenx';
import { longSession } from '../lib/sessions.js';
import { refusals } from '../lib/validators.js';
import { scansOf } from './scan.js';

/** @typedef {Record<string, any>} Message */

export const name = 'compact 2,000 real messages by tokens, one shot';

const tamp = await loadTamp();
const messages = longSession(2_000);
const json = Buffer.from(JSON.stringify(messages));
const bytes = json.length;

/** LangChain's messages, made outside what is timed. @param {Message[]} list */
const toLangChain = (list) => list.map(({ role, content, toolCalls = [], toolCallId, id }) => {
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

/** @param {(text: string) => number} count @param {ReturnType<typeof toLangChain>} list */
function langchain(count, list) {
  const half = Math.floor(countedOnce(count)(list) / 2);
  return () => trimMessages(list, { maxTokens: half, strategy: 'last', tokenCounter: countedOnce(count) });
}

/** @param {Message[]} list */
function tampOn(list) {
  const half = Math.floor(tamp.countTokens(list) / 2);
  const policy = /** @type {const} */ ({ strategy: 'truncation', maxTokens: half, toTokens: half });
  return () => tamp.compact(list, policy);
}

const theirs = toLangChain(messages);
const quarter = (/** @type {string} */ text) => text.length / 4;

// What is timed is right: half of the tokens are left, the newest, and ours is a list a provider accepts.
const ours = tampOn(messages)();
assert.ok(ours.report.fits && ours.changed);
assert.equal(ours.messages.at(-1), messages.at(-1));
assert.deepEqual(refusals(ours.messages, { head: false }), []);
assert.ok(ours.report.tokensAfter > ours.report.tokensBefore * 0.45);
for (const count of [estimateTokenCount, quarter]) {
  const half = countedOnce(count)(theirs) / 2;
  const left = await langchain(count, theirs)();
  assert.ok(countedOnce(count)(left) <= half && countedOnce(count)(left) > half * 0.95);
  assert.equal(left.at(-1)?.id, messages.at(-1)?.id);
}

export const rows = [
  { name: 'Tamp', bytes, run: tampOn(messages) },
  { name: 'LangChain trimMessages, tokenx once per message', bytes, run: langchain(estimateTokenCount, theirs), target: 8 },
  { name: 'LangChain trimMessages, length / 4', bytes, run: langchain(quarter, theirs), target: 1 },
  scansOf(json).bare,
];

/** Milliseconds of the fastest of some runs. @param {() => unknown} run @param {number} times */
async function fastest(run, times) {
  let best = Infinity;
  for (let turn = 0; turn < times; turn += 1) {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/** Other lengths of list. LangChain is not asked for 100,000: at 20,000 it shows where that goes. */
export async function figures() {
  const small = await fastest(tampOn(longSession(1_000)), 20) / 1_000;
  let large = 0;
  const found = [];
  for (const { count, times, peer } of [
    { count: 200, times: 40, peer: 20 }, { count: 20_000, times: 5, peer: 1 }, { count: 100_000, times: 3, peer: 0 },
  ]) {
    const list = longSession(count);
    const ours = await fastest(tampOn(list), times);
    large = ours / count;
    found.push({ name: `${count.toLocaleString('en')} messages`, value: ours, unit: 'ms' });
    if (peer === 0) continue;
    const other = await fastest(langchain(quarter, toLangChain(list)), peer);
    found.push({ name: `${count.toLocaleString('en')} messages, LangChain with length / 4, against it`, value: other / ours, unit: 'x' });
  }
  return [...found, {
    name: 'a message of 100,000 costs, of what one of 1,000 costs', value: large / small, unit: 'x', atMost: 2,
  }];
}
