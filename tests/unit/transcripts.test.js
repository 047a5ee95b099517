/**
 * Real sessions × strategies × cut points, judged by our own provider validators. The data lies beside
 * the repository and is never part of it.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { loadTamp } from 'tamp';
import { trimTranscript } from 'tamp/transcript';
import { deepFreeze } from '../lib/freeze.js';
import { checkShape } from '../lib/invariants.js';
import { claudeCodeTranscripts, missing, openaiTranscripts } from '../lib/shared-data.js';
import { toAgui } from '../lib/sessions.js';
import { refusals, refusalsOfAnthropic, refusalsOfOpenAI, toAnthropic } from '../lib/validators.js';

const skip = missing ?? false;

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

/**
 * Policies at many cut points of a list that weighs `tokens` and has `count` messages.
 *
 * @param {number} tokens
 * @param {number} count
 * @returns {any[]}
 */
function policiesFor(tokens, count) {
  const parts = [0, 0.1, 0.25, 0.5, 0.75, 0.9];
  const of = (/** @type {number} */ part, /** @type {number} */ whole) => Math.floor(part * whole);
  return [
    ...parts.flatMap((part) => [
      { strategy: 'sliding-window', keepMessages: of(part, count) },
      { strategy: 'sliding-window', keepMessages: of(part, count), keepFirstUser: false },
      { strategy: 'sliding-window', keepTokens: of(part, tokens), keepFirstUser: false },
      { strategy: 'sliding-window', keepGroups: of(part, count / 2) },
      { strategy: 'truncation', maxTokens: of(part, tokens), toTokens: of(part, tokens) },
      { strategy: 'truncation', maxMessages: of(part, count), toMessages: of(part, count), keepFirstUser: true },
      { strategy: 'context-window', maxContextWindowTokens: 1 + of(part, tokens), maxOutputTokens: of(part, tokens / 8) },
      {
        strategy: 'budget',
        maxTokens: of(part, tokens),
        steps: [{ strategy: 'clear-tool-results', keepLast: 1 }, { strategy: 'tool-results', keepLastToolCallGroups: 1 },
          { strategy: 'truncation', maxTokens: of(part, tokens), toTokens: of(part, tokens) }],
      },
      [{ strategy: 'tool-results', maxChars: 31 + of(part, 400) },
        { strategy: 'sliding-window', keepMessages: of(part, count), keepFirstUser: false },
        { strategy: 'repair', head: 'user' }],
      { strategy: 'digest', keepMessages: of(part, count) },
    ]),
    { strategy: 'tool-results', keepLastToolCallGroups: 0 },
    { strategy: 'drop-tool-calls' },
    { strategy: 'drop-tool-calls', keepLastToolCallGroups: 0 },
    { strategy: 'clear-tool-results', keepLast: 0, clearInputs: true },
    { strategy: 'clamp', maxChars: 200, headChars: 50, tailChars: 50, roles: ['assistant', 'tool', 'user'] },
    { strategy: 'drop-reasoning' },
    { strategy: 'strip-binary', keepLastTurns: 0 },
    { strategy: 'repair', head: 'user' },
  ];
}

describe('real OpenAI sessions', { skip }, () => {
  for (const { name, messages, bytes } of openaiTranscripts) {
    test(`${name}: no cut of any strategy at any point is one OpenAI refuses`, (context) => {
      deepFreeze(messages);
      let cuts = 0;
      for (let end = 1; end <= messages.length; end += 1) {
        const list = deepFreeze(messages.slice(0, end));
        assert.deepEqual(refusalsOfOpenAI(list), [], 'the session itself is valid');
        const tokens = tamp.countTokens(list, { format: 'openai' });
        for (const policy of policiesFor(tokens, end)) {
          const compaction = tamp.compact(list, policy, { format: 'openai' });
          checkShape(list, compaction);
          assert.deepEqual(refusalsOfOpenAI(compaction.messages), [], JSON.stringify({ end, policy }));
          cuts += 1;
        }
      }
      context.diagnostic(`${cuts} cuts`);
    });

    test(`${name}: as AG-UI messages no cut is one OpenAI, Anthropic or Gemini refuses`, () => {
      const all = deepFreeze(toAgui(messages));
      for (let end = 1; end <= all.length; end += 1) {
        const list = all.slice(0, end);
        const tokens = tamp.countTokens(list);
        const before = refusals(list, { head: false }).map(({ rule }) => rule);
        for (const policy of policiesFor(tokens, end)) {
          const compaction = tamp.compact(list, policy);
          checkShape(list, compaction);
          const head = compaction.changed && JSON.stringify(policy).includes('"head":"user"');
          assert.deepEqual(refusals(compaction.messages, { head }).filter(({ rule }) => !before.includes(rule)), [],
            JSON.stringify({ end, policy }));
        }
      }
    });

    test(`${name}: as Anthropic messages no cut is one Anthropic refuses`, () => {
      const all = deepFreeze(toAnthropic(toAgui(messages)));
      for (let end = 1; end <= all.length; end += 1) {
        const list = all.slice(0, end);
        const tokens = tamp.countTokens(list, { format: 'anthropic' });
        for (const policy of policiesFor(tokens, end)) {
          const compaction = tamp.compact(list, policy, { format: 'anthropic' });
          checkShape(list, compaction);
          assert.deepEqual(refusalsOfAnthropic(compaction.messages), [], JSON.stringify({ end, policy }));
        }
      }
    });

    test(`${name}: as text every kept message is byte for byte what it was`, () => {
      const spans = spansOf(bytes.toString('utf8'));
      assert.equal(spans.length, messages.length);
      const tokens = tamp.countTokens(messages, { format: 'openai' });
      for (const policy of policiesFor(tokens, messages.length)) {
        const made = tamp.compactText(bytes, policy, { format: 'openai' });
        const whole = tamp.compact(messages, policy, { format: 'openai' });
        assert.deepEqual(JSON.parse(made.text()), whole.messages);
        if (!made.changed) {
          assert.ok(Buffer.from(made.bytes).equals(bytes), 'nothing changed: the same bytes');
          continue;
        }
        const touched = new Set([...made.report.dropped, ...made.report.rewritten].map(({ index }) => index));
        const written = made.text();
        spans.forEach((span, index) => {
          if (!touched.has(index)) assert.ok(written.includes(span), `message ${index}`);
        });
      }
    });

    test(`${name}: compacted to a quarter of its tokens it fits, and stays in step when compacted again`, () => {
      const tokens = tamp.countTokens(messages, { format: 'openai' });
      const quarter = Math.floor(tokens / 4);
      const policy = { strategy: 'truncation', maxTokens: quarter, toTokens: quarter };
      const compaction = tamp.compact(messages, /** @type {any} */ (policy), { format: 'openai' });
      const left = tamp.countTokens(compaction.messages, { format: 'openai' });
      assert.equal(left, compaction.report.tokensAfter);
      assert.equal(compaction.report.fits, left <= quarter);
      assert.deepEqual(refusalsOfOpenAI(compaction.messages), []);
      assert.equal(tamp.compact(compaction.messages, /** @type {any} */ (policy), { format: 'openai' }).changed, false);
    });
  }

  test('there are sessions to try', () => {
    assert.ok(openaiTranscripts.length >= 3, `${openaiTranscripts.length} sessions`);
  });
});

/**
 * The JSON texts of the elements of a list, found by counting brackets: nothing of the core's.
 *
 * @param {string} text
 */
function spansOf(text) {
  /** @type {string[]} */
  const spans = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') {
      for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
    } else if (sign === '[' || sign === '{') {
      depth += 1;
      if (depth === 2) start = at;
    } else if (sign === ']' || sign === '}') {
      depth -= 1;
      if (depth === 1) spans.push(text.slice(start, at + 1));
    }
  }
  return spans;
}

describe('real Claude Code sessions', { skip }, () => {
  /**
   * What Claude Code sends of its records: a message is as many records as it has blocks.
   *
   * @param {string} text
   */
  function messagesOf(text) {
    const records = text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line))
      .filter(({ type, message }) => (type === 'user' || type === 'assistant') && message !== undefined);
    const whole = records.every(({ isSidechain }) => isSidechain === true);
    /** @type {{ role: string, content: any[] }[]} */
    const messages = [];
    for (const { message: { role, content } } of records.filter(({ isSidechain }) => whole || isSidechain !== true)) {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      const said = blocks.filter((/** @type {any} */ { type }) => type !== 'thinking');
      const last = messages.at(-1);
      if (last?.role === role) last.content.push(...said);
      else messages.push({ role, content: said });
    }
    return messages;
  }

  for (const { name, bytes } of claudeCodeTranscripts) {
    test(`${name}: no cut is one Anthropic refuses, and every kept record is the same line but for its links`, async (context) => {
      const text = bytes.toString('utf8');
      // A record whose parent went hangs on the nearest one that stayed.
      const unlinked = (/** @type {string} */ line) =>
        line.replace(/"(parentUuid|logicalParentUuid|leafUuid)":("[^"]*"|null)/gu, '"$1":…');
      const lines = new Set(text.split('\n').map(unlinked));
      const known = new Set(refusalsOfAnthropic(messagesOf(text)).map(({ rule }) => rule));
      const everything = await trimTranscript(text, { strategy: 'sliding-window', keepMessages: 1_000_000 },
        { format: 'claude-code', worker: false });
      assert.equal(everything.changed, false);
      assert.ok(everything.before > 0);
      let cuts = 0;
      for (const policy of policiesFor(everything.report.tokensBefore, everything.before)) {
        const trimmed = await trimTranscript(text, policy, { format: 'claude-code', worker: false });
        const left = await trimmed.text();
        if (!trimmed.changed) assert.equal(left, text);
        const written = left.split('\n').filter((line) => !lines.has(unlinked(line))).length;
        assert.ok(written <= trimmed.report.rewritten.length + trimmed.report.added.length,
          `${written} lines are new, ${JSON.stringify(policy)}`);
        assert.equal(trimmed.removed, trimmed.before - trimmed.after);
        assert.deepEqual(refusalsOfAnthropic(messagesOf(left)).filter(({ rule }) => !known.has(rule)), [],
          JSON.stringify(policy));
        cuts += 1;
      }
      context.diagnostic(`${cuts} cuts`);
    });
  }
});
