// What the middleware costs a run, and what removing old messages does for streaming.
import { AbstractAgent } from '@ag-ui/client';
import { of } from 'rxjs';
import { loadTamp, slidingWindow } from 'tamp';
import { CompactionObserver, compactionMiddleware, useCompaction } from 'tamp/ag-ui';
import { missing, openaiTranscripts } from '../lib/shared-data.js';

export const name = 'tamp/ag-ui: a run more on a chat of 2,000 real messages';
export const runs = 15;

/** Real messages in AG-UI's form, with ids of their own. @param {number} count @returns {any[]} */
function chatOf(count) {
  const real = openaiTranscripts.flatMap(({ messages }) => messages).filter(({ role }) => role !== 'system');
  return Array.from({ length: count }, (_, n) => {
    const { role, content, tool_calls: toolCalls, tool_call_id: toolCallId } = real[n % real.length];
    const round = Math.floor(n / real.length);
    return {
      id: `m${n}`,
      role,
      content: content ?? '',
      ...toolCalls && { toolCalls: toolCalls.map((/** @type {any} */ call) => ({ ...call, id: `${round}.${call.id}` })) },
      ...toolCallId && { toolCallId: `${round}.${toolCallId}` },
    };
  });
}

const ended = [{ type: 'RUN_STARTED', threadId: 't', runId: 'r' }, { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }];

export async function rows() {
  if (missing !== null) return missing;
  const tamp = await loadTamp();
  const policy = slidingWindow({ maxMessages: 80, keepMessages: 40 });
  const all = chatOf(2000 + 2 * (runs + 3));
  // As the client hands them over: a clone each time, two messages more than the last.
  const inputs = Array.from({ length: runs + 3 }, (_, turn) => ({ threadId: 't', runId: `r${turn}`, messages: structuredClone(all.slice(0, 2000 + 2 * turn)) }));
  const middleware = compactionMiddleware({ before: new CompactionObserver(policy), tamp });
  const next = { run: () => of(...ended) };
  let turn = 0;
  const runOnce = () => {
    /** @type {any[]} */
    const events = [];
    /** @type {any} */ (middleware(inputs[turn++], next)).subscribe((/** @type {any} */ event) => events.push(event));
    if (events.length !== 3) throw new Error('the middleware did not compact');
    return events;
  };
  runOnce(); // the first one reads the whole list
  return [
    { name: 'the middleware, after the first run', run: runOnce, limit: 5 },
    { name: 'the client\'s own clone of the list', run: () => structuredClone(inputs[0].messages) },
  ];
}

/** An agent whose runs answer in 100 pieces. */
class Talking extends AbstractAgent {
  /** @param {any} input @returns {any} */
  run({ threadId, runId }) {
    const messageId = `answer ${runId}`;
    return of(
      { type: 'RUN_STARTED', threadId, runId },
      { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
      ...Array.from({ length: 100 }, () => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'word ' })),
      { type: 'TEXT_MESSAGE_END', messageId },
      { type: 'RUN_FINISHED', threadId, runId },
    );
  }
}

/** Milliseconds a piece of an answer takes. @param {Talking} agent */
async function perPiece(agent) {
  const start = performance.now();
  await agent.runAgent();
  return (performance.now() - start) / 100;
}

export async function figures() {
  if (missing !== null) return [];
  const long = new Talking({ threadId: 'long', initialMessages: chatOf(2000) });
  const short = new Talking({ threadId: 'short', initialMessages: chatOf(2000) });
  useCompaction(short, { after: slidingWindow({ maxMessages: 80, keepMessages: 40 }), afterMode: 'remove' });
  await short.runAgent();
  const slow = await perPiece(long);
  const fast = await perPiece(short);
  return [
    { name: 'a streamed piece, 2,000 messages stored', value: slow, unit: 'ms' },
    { name: 'a streamed piece, after afterMode "remove"', value: fast, unit: 'ms' },
    { name: 'streaming is faster by', value: slow / fast, unit: 'times', atLeast: 5 },
  ];
}
