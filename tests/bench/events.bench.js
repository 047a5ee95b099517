/**
 * The events of a long run on their way through the middleware, beside what folding them with @ag-ui/client's
 * compactEvents takes. The two are not the same thing: Tamp compacts messages and passes events on as they are;
 * this says what a page pays for it on every event.
 */
import assert from 'node:assert/strict';
import { compactEvents } from '@ag-ui/client';
import { from } from 'rxjs';
import { loadTamp, slidingWindow } from 'tamp';
import { CompactionObserver, compactionMiddleware } from 'tamp/ag-ui';
import { longSession } from '../lib/sessions.js';

const ANSWERS = 200;
const PIECES = 500;

export const runs = 15;

const tamp = await loadTamp();
const middleware = compactionMiddleware({ before: new CompactionObserver(slidingWindow({ maxMessages: 80, keepMessages: 40 })), tamp });
const input = { threadId: 't', runId: 'r', messages: longSession(200) };

const events = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
  ...Array.from({ length: ANSWERS }, (_, n) => [
    { type: 'TEXT_MESSAGE_START', messageId: `answer-${n}`, role: 'assistant' },
    ...Array.from({ length: PIECES }, () => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: `answer-${n}`, delta: 'word ' })),
    { type: 'TEXT_MESSAGE_END', messageId: `answer-${n}` },
  ]).flat(),
  { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
];

export const name = `${events.length.toLocaleString('en')} events of one run`;

/** @param {any} observable */
function count(observable) {
  let seen = 0;
  observable.subscribe(() => { seen += 1; });
  return seen;
}

const throughTamp = () => count(/** @type {any} */ (middleware)(input, { run: () => from(events) }));

// What is timed is right: everything comes through, and the notice of the compaction besides.
assert.equal(throughTamp(), events.length + 1);
assert.equal(compactEvents(/** @type {any} */ (events)).length, 2 + 3 * ANSWERS);

export const rows = [
  { name: 'Tamp’s middleware, the compaction of 200 messages included', run: throughTamp, repeat: 3 },
  { name: 'compactEvents of @ag-ui/client', run: () => compactEvents(/** @type {any} */ (events)), repeat: 3 },
  { name: 'rxjs alone', run: () => count(from(events)), repeat: 3 },
];
