/**
 * A transcript trimmed from bytes to bytes, against what everybody else does: decode, parse, trim, stringify, encode.
 * TRANSCRIPT_MB says how large it is (default 24; the targets are meant for 100).
 */
import assert from 'node:assert/strict';
import { loadTamp } from 'tamp';
import { estimateTokenCount } from 'tokenx';
import { longSession } from '../lib/sessions.js';

const MEGABYTES = Number(process.env.TRANSCRIPT_MB ?? 24);

export const name = `trim a transcript of ${MEGABYTES} MB, bytes to bytes`;
export const runs = 3;

const tamp = await loadTamp();

/** JSON Lines of real messages, again and again under new ids. */
function transcript() {
  const session = longSession(2_000);
  const encoder = new TextEncoder();
  /** @type {Uint8Array[]} */
  const parts = [];
  for (let size = 0, round = 0; size < MEGABYTES * 1e6; round++) {
    const text = session.map((message) => `${JSON.stringify(message)}\n`).join('').replaceAll('"id":"', `"id":"${round}-`).replaceAll('"toolCallId":"', `"toolCallId":"${round}-`);
    const bytes = encoder.encode(text);
    parts.push(bytes);
    size += bytes.length;
  }
  return new Uint8Array(Buffer.concat(parts));
}

const bytes = transcript();
const KEEP = 400;
const policy = { strategy: 'sliding-window', keepMessages: KEEP, keepFirstUser: false };
/* The same cut, but every token has to be counted before it is known that there are too many. */
const byTokens = { ...policy, maxTokens: 1 };

/** The same trim in JavaScript: the newest messages, back to where no call loses its result. @param {any[]} messages */
function newest(messages) {
  let at = messages.length - KEEP;
  while (at > 0 && messages[at].role === 'tool') at--;
  return [...messages.filter((message, i) => i < at && message.role === 'system'), ...messages.slice(at)];
}

/** @param {((text: string) => number) | null} count */
function inJavaScript(count) {
  const messages = new TextDecoder().decode(bytes).split('\n').filter(Boolean).map((line) => JSON.parse(line));
  let tokens = 0;
  if (count) {
    for (const { content, toolCalls = [] } of messages) {
      tokens += count(typeof content === 'string' ? content : '');
      for (const call of toolCalls) tokens += count(call.function.name) + count(call.function.arguments);
    }
  }
  return { bytes: new TextEncoder().encode(newest(messages).map((message) => JSON.stringify(message)).join('\n')), tokens };
}

const ours = () => tamp.compactText(bytes, byTokens, { format: 'ag-ui' });
const uncounted = () => tamp.compactText(bytes, policy, { format: 'ag-ui' });

/** Milliseconds. @param {() => unknown} run */
function timed(run) {
  const start = performance.now();
  run();
  return performance.now() - start;
}

/** How many times faster a cut by messages is, for which nothing is counted, than the same in JavaScript. */
function timesFaster() {
  /** @type {number[]} */
  const ratios = [];
  for (let round = 0; round < 5; round++) {
    const own = timed(uncounted);
    ratios.push(timed(() => inJavaScript(null)) / own);
  }
  return ratios.sort((a, b) => a - b)[2];
}

export const rows = () => {
  const made = ours();
  assert.ok(made.changed && made.after >= KEEP && made.bytes.length > 0);
  assert.deepEqual(uncounted().bytes, made.bytes);
  return [
    { name: 'Tamp, every token counted', run: ours, bytes: bytes.length },
    { name: 'TextDecoder, JSON.parse, trim, stringify, encode', run: () => inJavaScript(null), bytes: bytes.length },
    { name: 'the same, counted with tokenx', run: () => inJavaScript(estimateTokenCount), bytes: bytes.length, target: 20 },
  ];
};

/** What is held at once: the core's memory, and the heap of the other way. */
export const figures = () => {
  ours();
  globalThis.gc?.();
  const before = process.memoryUsage();
  const made = inJavaScript(null);
  const after = process.memoryUsage();
  assert.ok(made.bytes.length > 0);
  const megabytes = (/** @type {number} */ size) => Math.round(size / 1e6);
  return [
    { name: 'by messages, nothing counted: faster than JavaScript', value: timesFaster(), unit: 'x', atLeast: 10 },
    { name: 'memory of the core', value: megabytes(tamp.bridge.memorySize), unit: 'MB' },
    { name: 'heap and buffers of the other way', value: megabytes(after.heapUsed + after.external - before.heapUsed - before.external), unit: 'MB' },
  ];
};
