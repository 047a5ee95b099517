/** What a history takes while it is open, and what is left when it was closed. */
import assert from 'node:assert/strict';
import { loadTamp } from 'tamp';
import { longSession } from '../lib/sessions.js';

export const name = 'memory of a history of 10,000 messages';
export const rows = [];

export async function figures() {
  const messages = longSession(10_000);
  const bytes = Buffer.byteLength(JSON.stringify(messages));
  const tamp = await loadTamp();
  const policy = /** @type {const} */ ({ strategy: 'context-window', maxContextWindowTokens: 128_000, maxOutputTokens: 8_000 });
  const size = () => tamp.bridge.memorySize;

  const before = size();
  const history = tamp.open(messages);
  const open = size() - before;
  const compaction = history.compact(policy);
  assert.ok(compaction.changed && compaction.report.fits);
  for (let i = 0; i < 3; i++) history.compact(policy);
  const planned = size() - before;
  for (let i = 0; i < 200; i++) history.compact(policy);
  const after = size() - before;
  history.dispose();
  for (let i = 0; i < 5; i++) tamp.open(messages).dispose();
  return [
    { name: 'JSON of the messages', value: bytes / 1e6, unit: 'MB' },
    { name: 'the history, against the JSON', value: open / bytes, unit: 'x', atMost: 2 },
    { name: 'while it is compacted, against the JSON', value: planned / bytes, unit: 'x' },
    { name: 'growth over 200 compactions more', value: (after - planned) / 1e6, unit: 'MB', atMost: 0 },
    { name: 'growth over five histories more, one after the other', value: (size() - before - after) / 1e6, unit: 'MB', atMost: 0 },
  ];
}
