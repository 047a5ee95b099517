import { describe } from './describe.js';

/**
 * @typedef {object} Entry  one bar of the drawing, one row of the list
 * @property {number | null} index    place in the transcript, from 0; null for a message that was added
 * @property {object} message         as it stands in the transcript; the added message for one that was added
 * @property {import('./describe.js').Description} description
 * @property {number} tokens          in the transcript; 0 for an added one
 * @property {'kept' | 'rewritten' | 'dropped' | 'added'} state
 * @property {string | null} reason   why, unless kept
 * @property {object | null} sent     what is sent in its place; null when nothing is
 * @property {number} sentTokens
 */

/** How long the page may be busy before it lets the visitor in, in ms. */
const BREATH = 24;

/**
 * What a transcript holds, before any policy: read once a file. Long ones are read in parts, so that the page stays alive.
 * @param {object} history  an open History of `messages`
 * @param {{signal?: AbortSignal, onProgress?: (share: number) => void}} [options]  rejects with the signal's reason
 */
export async function readStory(tamp, history, messages, format, { signal, onProgress } = {}) {
  const inspection = history.inspect();
  const options = { format };
  const entries = [];
  let since = performance.now();
  for (const [index, message] of messages.entries()) {
    const tokens = tamp.countTokens([message], options);
    entries.push({ index, message, description: describe(message), tokens, state: 'kept', reason: null, sent: message, sentTokens: tokens });
    if (index % 64 === 63 && performance.now() - since > BREATH) {
      onProgress?.(index / messages.length);
      await new Promise((resolve) => { setTimeout(resolve); });
      signal?.throwIfAborted();
      since = performance.now();
    }
  }
  return { messages, format, inspection, entries };
}

/**
 * The same entries after a compaction, with what it added put where it stands in the result.
 * @returns {Entry[]}
 */
export function applyStory(tamp, story, compaction) {
  const { report } = compaction;
  const options = { format: story.format };
  const dropped = new Map(report.dropped.map((each) => [each.index, each.reason]));
  const rewritten = new Map(report.rewritten.map((each) => [each.index, each.reason]));
  const addedIds = new Map(report.added.map((each) => [each.id, each.reason]));
  const originals = new Map(story.messages.map((message, index) => [message, index]));
  const waiting = [...rewritten.keys()].sort((a, b) => a - b);
  const byId = new Map(waiting.map((index) => [story.entries[index].description.id, index]));
  const replacements = new Map();
  const additions = new Map();
  let after = -1;
  for (const message of compaction.messages) {
    const index = originals.get(message);
    if (index !== undefined) {
      after = index;
      continue;
    }
    const id = describe(message).id;
    const target = id !== null && byId.has(id) ? byId.get(id) : addedIds.has(id) ? undefined : waiting.find((each) => !replacements.has(each));
    if (target !== undefined && !replacements.has(target)) {
      replacements.set(target, message);
      after = target;
    } else {
      if (!additions.has(after)) additions.set(after, []);
      additions.get(after).push({ message, reason: addedIds.get(id) ?? 'added' });
    }
  }
  const out = [];
  const addAfter = (index) => {
    for (const { message, reason } of additions.get(index) ?? []) {
      out.push({ index: null, message, description: describe(message), tokens: 0, state: 'added', reason, sent: message, sentTokens: tamp.countTokens([message], options) });
    }
  };
  addAfter(-1);
  for (const entry of story.entries) {
    const { index } = entry;
    if (dropped.has(index)) {
      out.push({ ...entry, state: 'dropped', reason: dropped.get(index), sent: null, sentTokens: 0 });
    } else if (rewritten.has(index)) {
      const sent = replacements.get(index) ?? entry.message;
      out.push({ ...entry, state: 'rewritten', reason: rewritten.get(index), sent, sentTokens: tamp.countTokens([sent], options) });
    } else {
      out.push(entry);
    }
    addAfter(index);
  }
  return out;
}
