/** The judges of the other tests judge: each rule is broken once, and the judge says so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { counters, words } from '../lib/counters.js';
import { checkCompacted, checkReasoning } from '../lib/invariants.js';
import { problems, read } from '../lib/reading.js';
import { refusals, refusalsOfAnthropic, refusalsOfGemini, refusalsOfOpenAI, toAnthropic, toGemini, toOpenAI } from '../lib/validators.js';
import { checkReading, readVectors } from '../lib/vectors.js';
import { weighAll } from '../lib/weigh.js';

/** @typedef {Record<string, any>} Message */

const U = (/** @type {string} */ id) => ({ id, role: 'user', content: `question ${id}` });
const A = (/** @type {string} */ id) => ({ id, role: 'assistant', content: `answer ${id}` });
const K = (/** @type {string} */ id, /** @type {string[]} */ ...calls) => ({
  id,
  role: 'assistant',
  toolCalls: calls.map((call) => ({ id: call, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const T = (/** @type {string} */ call, id = `t-${call}`) => ({ id, role: 'tool', toolCallId: call, content: 'found' });
const R = (/** @type {string} */ id) => ({ id, role: 'reasoning', content: 'hm', encryptedValue: 'eA==' });
const rules = (/** @type {readonly { rule: string }[]} */ found) => [...new Set(found.map(({ rule }) => rule))].sort();

describe('the provider validators', () => {
  test('accept what a provider accepts', () => {
    for (const list of [
      [U('u'), K('k', 'x', 'y'), T('x'), T('y'), A('a'), U('u2')],
      [U('u'), K('k', 'x'), T('x'), K('k2', 'x'), T('x', 't2')],
      [U('u'), K('k', 'x', 'y'), T('x')],
      [{ id: 's', role: 'system', content: 's' }, U('u'), R('r'), A('a'), K('k', 'x')],
    ]) assert.deepEqual(refusals(list), [], JSON.stringify(list));
  });

  for (const [name, list, openai, anthropic, gemini] of /** @type {[string, Message[], string[], string[], string[]][]} */ ([
    ['nothing at all', [], ['openai/empty'], ['anthropic/empty'], ['gemini/empty']],
    ['a result first', [T('x'), U('u')], ['openai/orphan'], ['anthropic/orphan'], ['gemini/response-turn']],
    ['a call without its result', [U('u'), K('k', 'x'), U('u2')],
      ['openai/unanswered'], ['anthropic/unanswered'], ['gemini/count']],
    ['half a batch', [U('u'), K('k', 'x', 'y'), T('x'), U('u2')],
      ['openai/unanswered'], ['anthropic/unanswered'], ['gemini/count']],
    ['two results of one call', [U('u'), K('k', 'x'), T('x'), T('x', 't2'), A('a')],
      ['openai/answered-twice'], ['anthropic/answered-twice'], ['gemini/count']],
    ['a person between call and result', [U('u'), K('k', 'x'), U('u2'), T('x'), A('a')],
      ['openai/orphan', 'openai/unanswered'], ['anthropic/text-before-result'], ['gemini/count', 'gemini/response-turn']],
    ['the model first', [A('a'), U('u')], [], [], ['gemini/head']],
    ['a call first', [K('k', 'x'), T('x'), U('u')], [], [], ['gemini/call-turn', 'gemini/head']],
    ['a blank answer', [U('u'), { ...A('a'), content: ' ' }], [], ['anthropic/blank'], []],
    ['one id called twice at once', [U('u'), K('k', 'x', 'x'), T('x'), T('x', 't2')],
      [], ['anthropic/answered-twice', 'anthropic/use-twice'], []],
  ])) {
    test(`refuse ${name}`, () => {
      assert.deepEqual(rules(refusalsOfOpenAI(toOpenAI(list))), openai);
      assert.deepEqual(rules(refusalsOfAnthropic(toAnthropic(list))), anthropic);
      assert.deepEqual(rules(refusalsOfGemini(toGemini(list))), gemini);
    });
  }

  test('refuse an empty list of calls', () => {
    assert.deepEqual(rules(refusalsOfOpenAI([{ role: 'assistant', content: 'x', tool_calls: [] }])), ['openai/empty-calls']);
  });
});

describe('the second reading of a list', () => {
  for (const { file, cases } of readVectors()) {
    for (const vector of cases.filter((each) => 'messages' in each && !('policy' in each))) {
      test(`${file}: ${vector.name}`, () => {
        const reading = read(vector.messages, vector.options?.pin ?? []);
        const count = counters[vector.options?.countTokens] ?? words;
        const { tokens, ...expect } = vector.expect;
        checkReading({ expect: vector.options?.usage ? expect : { ...expect, ...(tokens === undefined ? {} : { tokens }) } },
          vector.messages, {
            inspection: {
              groups: reading.groups,
              problems: problems(vector.messages, reading),
              turns: reading.runs.length,
              messages: vector.messages.filter((/** @type {Message} */ { role }) => role !== 'activity').length,
            },
            tokens: weighAll(vector.messages, count),
          });
      });
    }
  }
});

describe('the invariants', () => {
  const messages = [{ id: 's', role: 'system', content: 's' }, U('u1'), R('r1'), K('k1', 'x'), T('x'), A('a1'), U('u2'),
    K('k2', 'y'), T('y'), A('a2')];
  const policy = { strategy: 'truncation', maxMessages: 8, toMessages: 6 };

  /**
   * A compaction that leaves these messages, reported truly.
   *
   * @param {Message[]} left
   * @param {Message[]} [input]
   */
  function compaction(left, input = messages) {
    const sent = (/** @type {readonly Message[]} */ list) => list.filter(({ role }) => role !== 'activity').length;
    const entry = (/** @type {Message} */ message) =>
      ({ id: message.id, index: input.findIndex(({ id }) => id === message.id), reason: 'because' });
    const kept = new Set(left.map(({ id }) => id));
    return {
      messages: left,
      changed: true,
      before: sent(input),
      after: sent(left),
      removed: sent(input) - sent(left),
      report: {
        tokensBefore: weighAll(input, words),
        tokensAfter: weighAll(left, words),
        fits: true,
        reason: null,
        steps: [],
        dropped: input.filter(({ id }) => !kept.has(id)).map(entry),
        rewritten: left.filter((message) => !input.includes(message) && input.some(({ id }) => id === message.id)).map(entry),
        added: left.filter((message) => !input.some(({ id }) => id === message.id))
          .map((message) => ({ id: message.id, index: left.indexOf(message), reason: 'because' })),
      },
    };
  }
  const check = (/** @type {any} */ made, input = messages) =>
    checkCompacted({ messages: input, policy, compaction: made, count: words });
  const left = () => messages.filter(({ id }) => !['r1', 'k1', 't-x', 'u1'].includes(id));

  test('hold for what is right', () => check(compaction(left())));

  for (const [name, edit] of /** @type {[string, (made: any) => void][]} */ ([
    ['an instruction is gone', (made) => Object.assign(made, compaction(left().filter(({ id }) => id !== 's')))],
    ['the question is gone', (made) => Object.assign(made, compaction(left().filter(({ id }) => id !== 'u2')))],
    ['the newest group is gone', (made) => Object.assign(made, compaction(left().filter(({ id }) => id !== 'a2')))],
    ['nothing is left', (made) => Object.assign(made, compaction([]))],
    ['a result lost its call', (made) => Object.assign(made, compaction(left().filter(({ id }) => id !== 'k2')))],
    ['a call lost its result', (made) => Object.assign(made, compaction(left().filter(({ id }) => id !== 't-y')))],
    ['a copy stands for a kept message', (made) => { made.messages[1] = { ...made.messages[1] }; }],
    ['the order changed', (made) => made.messages.reverse()],
    ['a drop is not reported', (made) => made.report.dropped.pop()],
    ['a drop has no reason', (made) => { made.report.dropped[0].reason = ''; }],
    ['a kept message is reported as dropped', (made) => made.report.dropped.push({ id: 'a2', index: 9, reason: 'x' })],
    ['a count is wrong', (made) => { made.after += 1; }],
    ['tokens are wrong', (made) => { made.report.tokensAfter += 1; }],
    ['fits is wrong', (made) => { made.report.fits = false; made.report.reason = 'x'; }],
    ['a core error is passed on as a reason', (made) => { made.report.reason = 'internal error: x'; }],
  ])) {
    test(`fail when ${name}`, () => {
      const made = compaction(left());
      edit(made);
      assert.throws(() => check(made), assert.AssertionError);
    });
  }

  test('fail when reasoning is left without its call', () => {
    const made = compaction(messages.filter(({ id }) => !['k1', 't-x'].includes(id)));
    assert.throws(() => checkReasoning(messages, made, []), assert.AssertionError);
    const bare = compaction(messages.filter(({ id }) => id !== 'r1'));
    assert.throws(() => checkReasoning(messages, bare, []), assert.AssertionError);
  });

  test('fail when what is written is blank, or a result lost its error', () => {
    const blank = compaction(messages.map((message) => (message.id === 'a1' ? { ...message, content: '\u200b' } : message)));
    assert.throws(() => check(blank), assert.AssertionError);
    const failed = messages.map((message) => (message.id === 't-x' ? { ...message, error: 'it broke' } : message));
    const cleared = compaction(failed.map((message) => (message.id === 't-x' ? T('x') : message)), failed);
    assert.throws(() => check(cleared, failed), assert.AssertionError);
  });
});
