/**
 * The rules as data: reading the vector files and saying what a case expects, as
 * tests/vectors/README.md describes it. Every check throws an AssertionError that names what differs.
 */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { counters } from './counters.js';

/** @typedef {Record<string, any>} Case */

const folder = new URL('../vectors/', import.meta.url);

/** @type {() => { file: string, about: string, cases: Case[] }[]} */
export const readVectors = () => readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .sort()
  .map((file) => ({ file, ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')) }));

/** Whether a policy asks a model for a summary somewhere. @param {any} policy @returns {boolean} */
export const needsModel = (policy) => (Array.isArray(policy)
  ? policy.some(needsModel)
  : policy?.strategy === 'summarize'
    || (Array.isArray(policy?.steps) && policy.steps.some(needsModel)));

/**
 * The options of a case with its stand-ins replaced, and what they recorded.
 *
 * @param {Case} vector
 */
export function optionsOf(vector) {
  const { countTokens, summary, summaryThrows, ...rest } = vector.options ?? {};
  /** @type {any[]} */
  const requests = [];
  /** @type {Map<string, number>} */
  const counted = new Map();
  /** @type {Record<string, any>} */
  const options = { ...rest };
  if (countTokens !== undefined) {
    const count = counters[countTokens];
    options.countTokens = (/** @type {string} */ text) => {
      counted.set(text, (counted.get(text) ?? 0) + 1);
      return count(text);
    };
  }
  if (vector.policy !== undefined && needsModel(vector.policy)) {
    options.summarize = (/** @type {any} */ request) => {
      requests.push(request);
      if (summaryThrows !== undefined) throw new Error(summaryThrows);
      return summary;
    };
  }
  return { options, requests, counted };
}

/**
 * @param {Record<string, any>} message
 * @param {Record<string, any>} expected fields it must have; null: the field is absent
 */
function checkFields(message, expected) {
  const argumentsAsJson = (/** @type {any} */ calls) => (Array.isArray(calls)
    ? calls.map((call) => ({
      ...call,
      function: { ...call.function, arguments: JSON.parse(call.function.arguments) },
    }))
    : calls);
  for (const [field, value] of Object.entries(expected)) {
    if (value === null) {
      assert.ok(!(field in message), `${message.id} has no ${field}`);
    } else if (field === 'toolCalls') {
      assert.deepEqual(argumentsAsJson(message[field]), argumentsAsJson(value), message.id);
    } else {
      assert.deepEqual(message[field], value, `${field} of ${message.id}`);
    }
  }
}

/**
 * What a compaction made of a case.
 *
 * @param {Case} vector
 * @param {readonly any[]} messages the input that was given
 * @param {any} compaction
 * @param {ReturnType<typeof optionsOf>} used
 */
export function checkCompaction({ expect }, messages, compaction, { requests, counted }) {
  const { report } = compaction;
  const why = () => JSON.stringify({ reason: report.reason, steps: report.steps });
  assert.deepEqual(compaction.messages.map((/** @type {any} */ { id }) => id), expect.ids, why());
  assert.equal(compaction.changed, expect.changed, 'changed');
  if (!compaction.changed) assert.equal(compaction.messages, messages, 'the same array back');
  for (const field of ['before', 'after', 'removed']) {
    if (field in expect) assert.equal(compaction[field], expect[field], field);
  }
  if ('fits' in expect) assert.equal(report.fits, expect.fits, `fits; ${why()}`);

  const rewritten = expect.rewritten ?? {};
  const added = expect.added ?? {};
  for (const message of compaction.messages) {
    const original = messages.find(({ id }) => id === message.id);
    if (message.id in rewritten) {
      assert.notEqual(message, original, `${message.id} is a new object`);
      checkFields(message, rewritten[message.id]);
    } else if (original !== undefined) {
      assert.equal(message, original, `${message.id} is the same object`);
    } else {
      assert.ok(expect.added === undefined || message.id in added, `${message.id} is expected`);
      checkFields(message, added[message.id] ?? {});
    }
  }
  const present = new Set(compaction.messages.map((/** @type {any} */ { id }) => id));
  for (const id of [...Object.keys(rewritten), ...Object.keys(added)]) {
    assert.ok(present.has(id), `${id} is there`);
  }
  checkAccounts(messages, compaction);

  if (typeof expect.summarizeCalls === 'number') {
    assert.equal(requests.length, expect.summarizeCalls, 'calls of summarize');
  } else if (expect.summarizeCalls !== undefined) {
    assert.ok(requests.length >= expect.summarizeCalls.atLeast, 'calls of summarize');
  }
  if ('previousSummary' in expect) {
    assert.equal(requests[0].previousSummary, expect.previousSummary, 'previousSummary');
  }
  if ('requestIds' in expect) {
    assert.deepEqual(requests[0].messages.map((/** @type {any} */ { id }) => id), expect.requestIds);
  }
  for (const part of expect.textIncludes ?? []) {
    assert.ok(requests[0].text.includes(part), `the request's text holds ${part}`);
  }
  if (expect.countedOnce) {
    assert.ok(counted.size > 0, 'the counter was asked');
    for (const [text, times] of counted) assert.equal(times, 1, `asked about ${text}`);
  }
}

/**
 * Kept, dropped and rewritten add up to the input, and what was added to the result.
 *
 * @param {readonly any[]} messages
 * @param {any} compaction
 */
export function checkAccounts(messages, { messages: result, report }) {
  const dropped = new Set(report.dropped.map((/** @type {any} */ { index }) => index));
  const rewritten = new Set(report.rewritten.map((/** @type {any} */ { index }) => index));
  assert.equal(dropped.size, report.dropped.length, 'no message is dropped twice');
  assert.equal(rewritten.size, report.rewritten.length, 'no message is rewritten twice');
  for (const { index, id, reason } of [...report.dropped, ...report.rewritten]) {
    assert.ok(index in messages, `index ${index} is one of the input`);
    assert.ok(typeof reason === 'string' && reason !== '', `a reason for ${id}`);
    if (typeof messages[index]?.id === 'string') assert.equal(id, messages[index].id);
  }
  for (const index of rewritten) assert.ok(!dropped.has(index), `${index} is dropped or rewritten`);
  const objects = new Set(result);
  messages.forEach((message, index) => {
    const kept = !dropped.has(index) && !rewritten.has(index);
    if (kept) assert.ok(objects.has(message), `message ${index} is kept or accounted for`);
  });
  assert.equal(messages.length - dropped.size + report.added.length, result.length,
    'what is kept and what was added is the result');
}

/**
 * What inspect and countTokens say about a case.
 *
 * @param {Case} vector
 * @param {readonly any[]} messages
 * @param {{ inspection: any, tokens: number }} said
 */
export function checkReading({ expect }, messages, { inspection, tokens }) {
  const ids = (/** @type {number[]} */ indices) => indices.map((index) => messages[index].id);
  const sorted = (/** @type {any[]} */ values) => values.map((value) => JSON.stringify(value)).sort();
  const marked = (/** @type {string} */ mark) => inspection.groups
    .filter((/** @type {any} */ group) => group[mark] && group.kind !== 'activity')
    .flatMap((/** @type {any} */ group) => ids(group.indices)).sort();
  if ('groups' in expect) {
    assert.deepEqual(
      inspection.groups.map((/** @type {any} */ { kind, indices }) => ({ kind, ids: ids(indices) })),
      expect.groups,
    );
  }
  if ('problems' in expect) {
    const problems = inspection.problems.map((/** @type {any} */ { kind, index }) => (
      index === -1 ? { kind } : { kind, id: messages[index].id }));
    assert.deepEqual(sorted(problems), sorted(expect.problems));
  }
  if ('pending' in expect) assert.deepEqual(marked('pending'), [...expect.pending].sort(), 'pending');
  if ('protected' in expect) {
    assert.deepEqual(marked('protected'), [...expect.protected].sort(), 'protected');
  }
  if ('turns' in expect) assert.equal(inspection.turns, expect.turns, 'turns');
  if ('count' in expect) assert.equal(inspection.messages, expect.count, 'count');
  if ('tokens' in expect) assert.equal(tokens, expect.tokens, 'tokens');
}

/**
 * The problems of a policy, in any order, each with a sentence.
 *
 * @param {Case} vector
 * @param {readonly { path: string, code: string, message: string }[]} problems
 */
export function checkProblems({ expect }, problems) {
  const sorted = (/** @type {readonly any[]} */ list) =>
    list.map(({ path, code }) => `${path} ${code}`).sort();
  assert.deepEqual(sorted(problems), sorted(expect.problems));
  for (const { message, path } of problems) {
    assert.ok(typeof message === 'string' && message !== '', `a sentence about ${path}`);
  }
}

/**
 * @param {Case} vector
 * @param {any} error
 */
export function checkError({ expect }, error) {
  const { name, message, index } = expect.error;
  if (name !== undefined) assert.equal(error.name, name);
  if (index !== undefined) assert.equal(error.index, index);
  if (message !== undefined) assert.ok(error.message.includes(message), error.message);
}
