/**
 * strategies.md §5 as checks on one compaction of an AG-UI list, with tests/lib/reading.js as the
 * judge of what a list means. Each check throws an AssertionError that quotes the rule it holds.
 */
import assert from 'node:assert/strict';
import { isConversation, isPinned, problems, read, resultThatCounts } from './reading.js';
import { checkAccounts } from './vectors.js';
import { bytesOf, weighAll } from './weigh.js';

/** @typedef {Record<string, any>} Message */

/**
 * The repair that closes a policy: its own if that is its last step, else the default; null where
 * the page does not say which of several it is.
 *
 * @param {any} policy
 * @returns {Record<string, any> | null}
 */
export function closingRepair(policy) {
  if (Array.isArray(policy)) return closingRepair(policy.at(-1));
  if (policy.strategy === 'repair') return policy;
  if (policy.strategy === 'budget' && closingRepair(policy.steps)?.strategy === 'repair') return null;
  return {};
}

/**
 * What holds for lists of objects of any kind: the report adds up, and what was kept is the same
 * object in the same order.
 *
 * @param {readonly Message[]} messages
 * @param {any} compaction
 */
export function checkShape(messages, compaction) {
  const { messages: result, changed, report } = compaction;
  const sent = (/** @type {readonly Message[]} */ list) =>
    list.filter(({ role }) => role !== 'activity').length;
  assert.equal(compaction.before, sent(messages), 'before counts what would be sent');
  assert.equal(compaction.after, sent(result), 'after counts what would be sent');
  assert.equal(compaction.removed, compaction.before - compaction.after, 'removed');
  assert.ok(Number.isInteger(report.tokensBefore) && report.tokensBefore >= 0, 'tokensBefore');
  assert.ok(Number.isInteger(report.tokensAfter) && report.tokensAfter >= 0, 'tokensAfter');
  assert.equal(typeof report.fits, 'boolean');
  if (!report.fits) assert.ok(report.reason, 'a list that does not fit says why');
  assert.ok(!/internal error/u.test(report.reason ?? ''), `no rule is broken: ${report.reason}`);
  assert.ok(messages.length === 0 || result.length > 0, 'never an empty list from a non-empty one');
  if (!changed) {
    assert.equal(result, messages, 'nothing changed means the same array back');
    assert.equal(report.tokensAfter, report.tokensBefore);
    assert.deepEqual([report.dropped, report.rewritten, report.added], [[], [], []]);
    return;
  }
  checkAccounts(messages, compaction);
  // Every object of the result is one of the input, or one of as many as were rewritten or added.
  const input = new Set(messages);
  const fresh = result.filter((/** @type {Message} */ message) => !input.has(message)).length;
  assert.equal(fresh, report.rewritten.length + report.added.length, 'only what is reported is new');
}

/**
 * "order kept, but for results that repair moves and the activity behind them".
 *
 * @param {readonly Message[]} messages
 * @param {readonly Message[]} result
 */
function checkOrder(messages, result) {
  const place = new Map(messages.map((message, index) => [message, index]));
  const still = result.filter(({ role }) => role !== 'tool' && role !== 'activity')
    .map((message) => place.get(message))
    .filter((index) => index !== undefined);
  for (let at = 1; at < still.length; at += 1) {
    assert.ok(still[at - 1] < still[at], `message ${still[at - 1]} stays before ${still[at]}`);
  }
}

/**
 * "activity goes and moves with the nearest message before it that is not activity, unless it is
 * pinned (none before it: it stays)".
 *
 * @param {readonly Message[]} messages
 * @param {any} compaction
 * @param {readonly string[]} pins
 */
function checkActivity(messages, { messages: result, report }, pins) {
  const dropped = new Set(report.dropped.map((/** @type {any} */ { index }) => index));
  messages.forEach((message, index) => {
    if (message.role !== 'activity') return;
    const before = messages.findLastIndex((each, at) => at < index && each.role !== 'activity');
    const stays = isPinned(message, pins) || before < 0 || !dropped.has(before);
    assert.equal(!dropped.has(index), stays, `activity ${index} goes with message ${before}`);
    if (!stays || before < 0 || dropped.has(before) || !result.includes(messages[before])) return;
    if (isPinned(message, pins)) return;
    const at = result.indexOf(message);
    const owner = result.findLastIndex((/** @type {Message} */ each, /** @type {number} */ other) =>
      other < at && each.role !== 'activity');
    assert.equal(result[owner], messages[before], `activity ${index} stands behind its message`);
  });
}

/**
 * "no result without its call before it; no call unanswered but pending ones; a batch and its results
 * whole, results directly after their call (a policy's own last `repair` may keep orphans or stale
 * calls)".
 *
 * @param {readonly Message[]} result
 * @param {any} policy
 * @param {readonly string[]} pins
 */
function checkPairs(result, policy, pins) {
  const reading = read(result, pins);
  const closing = closingRepair(policy);
  const found = problems(result, reading).map(({ kind, index }) => `${kind} at ${index}`);
  const allowed = (/** @type {string} */ problem) => problem.startsWith('no-user-message')
    || (closing === null || closing.orphanResults === 'keep'
      ? /^(orphan-result|result-before-call)/u.test(problem) : false)
    || (closing === null || closing.staleCalls === 'keep'
      ? problem.startsWith('unanswered-call') : false);
  assert.deepEqual(found.filter((problem) => !allowed(problem)), [], 'a provider accepts the result');
  for (const { message, id } of reading.calls) {
    // In the order of the calls.
    const group = reading.calls.filter((call) => call.message === message);
    const firsts = group.flatMap(({ results }) => results.slice(0, 1));
    assert.deepEqual(firsts, [...firsts].sort((a, b) => a - b), `results of ${id} in call order`);
  }
}

/**
 * "instructions, pinned (orphans apart), question, pending and newest group present".
 *
 * @param {readonly Message[]} messages
 * @param {readonly Message[]} result
 * @param {readonly string[]} pins
 */
function checkProtected(messages, result, pins) {
  const reading = read(messages, pins);
  if (reading.ambiguous) return;
  const objects = new Set(result);
  // Of several results of one call only the one that counts must stay.
  const spare = new Set(reading.calls.flatMap((call) => call.results
    .filter((index) => index !== resultThatCounts(messages, call, pins))));
  for (const group of reading.groups) {
    if (!group.protected || group.kind === 'orphan') continue;
    for (const index of group.indices) {
      if (!spare.has(index)) {
        assert.ok(objects.has(messages[index]), `${group.kind} message ${index} is protected`);
      }
    }
  }
}

/**
 * "`tokensAfter <= tokensBefore`, but for what repair adds", and both are what the messages weigh.
 *
 * @param {readonly Message[]} messages
 * @param {any} policy
 * @param {any} compaction
 * @param {((text: string) => number) | undefined} count
 */
function checkTokens(messages, policy, { messages: result, report }, count) {
  // Answers and heads may have been collapsed or summarised since, so all that may have been added count.
  const unanswered = read(messages).calls.filter(({ results }) => results.length === 0).length;
  const placeholders = ['[no result was recorded]', '[Earlier messages were removed.]',
    ...[...JSON.stringify(policy).matchAll(/"placeholder":"([^"]*)"/gu)].map(([, text]) => text)];
  const more = count === undefined
    ? Infinity
    : (unanswered + 1) * (4 + Math.max(...placeholders.map(count)));
  const repaired = unanswered > 0 || JSON.stringify(policy).includes('"head":"user"');
  assert.ok(report.tokensAfter <= report.tokensBefore + (repaired ? more : 0),
    `${report.tokensAfter} tokens after ${report.tokensBefore}`);
  if (count !== undefined) {
    assert.equal(report.tokensBefore, weighAll(messages, count), 'tokensBefore');
    assert.equal(report.tokensAfter, weighAll(result, count), 'tokensAfter');
  }
}

/** Whether a text parses, and to an object. @param {unknown} text */
function isJsonObject(text) {
  try {
    const value = JSON.parse(/** @type {string} */ (text));
    return value !== null && typeof value === 'object' && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Blank for every provider: nothing but white space and characters without width. @param {unknown} text */
const isInvisible = (text) => typeof text === 'string' && text.replace(/[\s\u200b\ufeff]/gu, '') === '';

/**
 * What Tamp writes itself: never blank, well-formed, arguments that stay an object, results that keep
 * their call and their error, and nothing opaque that was changed.
 *
 * @param {readonly Message[]} messages
 * @param {any} compaction
 */
function checkWritten(messages, { messages: result, report }) {
  const input = new Set(messages);
  for (const message of result) {
    if (input.has(message)) continue;
    const rewritten = report.rewritten.find((/** @type {any} */ { id, index }) =>
      id === message.id && index in messages);
    const original = rewritten === undefined ? undefined : messages[rewritten.index];
    const texts = Array.isArray(message.content)
      ? message.content.filter(({ type }) => type === 'text').map(({ text }) => text)
      : [message.content];
    const before = JSON.stringify(original?.content) ?? '';
    for (const text of texts) {
      if (text === undefined || before.includes(JSON.stringify(text))) continue;
      assert.ok(!isInvisible(text), `what is written in ${message.id} is not blank`);
      assert.ok(text.isWellFormed(), `what is written in ${message.id} is well-formed`);
    }
    if (original === undefined) continue;
    assert.equal(message.role, original.role, 'a rewritten message keeps its role');
    if (original.role === 'tool') {
      assert.equal(message.toolCallId, original.toolCallId, 'a result keeps its call');
      assert.equal(message.error, original.error, 'a result keeps its error');
    }
    assert.equal(message.encryptedValue, original.encryptedValue, 'an opaque value is not touched');
    if (original.encryptedValue !== undefined) {
      assert.equal(message.content, original.content, 'nor is what it belongs to');
    }
    for (const call of message.toolCalls ?? []) {
      const same = original.toolCalls.filter((/** @type {any} */ { id }) => id === call.id);
      assert.ok(same.length > 0, 'no call is invented');
      if (same.every((/** @type {any} */ each) => isJsonObject(each.function.arguments))) {
        assert.ok(isJsonObject(call.function.arguments), `arguments of ${call.id} stay an object`);
      }
    }
  }
}

/**
 * Reasoning lives with its group: none is left without the message it led to, and none with an opaque
 * value leaves a tool group that keeps its calls. For lists whose groups no repair changes.
 *
 * @param {readonly Message[]} messages
 * @param {any} compaction
 * @param {readonly string[]} pins
 */
export function checkReasoning(messages, { messages: result }, pins) {
  const objects = new Set(result);
  const ids = new Map(result.map((/** @type {Message} */ message) => [message.id, message]));
  for (const { kind, indices, anchor } of read(messages, pins).groups) {
    if (kind !== 'tool' && kind !== 'assistant') continue;
    const left = ids.get(messages[anchor].id);
    for (const index of indices) {
      const message = messages[index];
      if (message.role !== 'reasoning' || index === anchor) continue;
      const stays = objects.has(message) || ids.has(message.id);
      if (left === undefined) assert.ok(!stays, `reasoning ${index} goes with message ${anchor}`);
      if (message.encryptedValue !== undefined && left?.toolCalls?.length > 0) {
        assert.ok(objects.has(message), `opaque reasoning ${index} stays with its calls`);
      }
    }
  }
}

/**
 * "`fits` is false when the final list exceeds a budget the policy names", for policies of one
 * strategy without a condition.
 *
 * @param {any} policy
 * @param {any} compaction
 * @param {((text: string) => number) | undefined} count
 * @param {number} reserved
 */
function checkFits(policy, { messages: result, report }, count, reserved) {
  if (Array.isArray(policy) || policy.when !== undefined || count === undefined) return;
  const over = (/** @type {number | undefined} */ max, /** @type {number} */ total) =>
    max !== undefined && total > max;
  const tokens = weighAll(result, count) + reserved;
  const sent = result.filter(({ role }) => role !== 'activity');
  const { maxTokens, maxMessages, maxBytes } = policy;
  /** @type {Record<string, () => boolean>} */
  const exceeds = {
    'sliding-window': () => over(maxTokens, tokens) || over(maxMessages, result.filter(isConversation).length)
      || over(maxBytes, sent.reduce((sum, message) => sum + bytesOf(message), 0)),
    'context-window': () =>
      over(policy.maxContextWindowTokens - policy.maxOutputTokens, tokens),
    budget: () => over(maxTokens, tokens),
  };
  exceeds.truncation = exceeds['sliding-window'];
  if (policy.strategy in exceeds) {
    assert.equal(report.fits, !exceeds[policy.strategy](), `fits; ${report.reason}`);
  }
}

/**
 * Everything of §5 on one compaction of a list whose fields have the right types.
 *
 * @param {object} given
 * @param {readonly Message[]} given.messages
 * @param {any} given.policy
 * @param {any} given.compaction
 * @param {readonly string[]} [given.pins]
 * @param {(text: string) => number} [given.count]
 * @param {number} [given.reserved]
 * @param {boolean} [given.fits] whether `fits` can be told from the result: not where usage is given
 */
export function checkCompacted({
  messages, policy, compaction, pins = [], count, reserved = 0, fits = true,
}) {
  checkShape(messages, compaction);
  checkTokens(messages, policy, compaction, count);
  if (fits && new Set(messages.filter(({ id }) => typeof id === 'string')
    .map(({ id }) => id)).size === messages.length) {
    checkFits(policy, compaction, count, reserved);
  }
  if (!compaction.changed) return;
  checkOrder(messages, compaction.messages);
  checkWritten(messages, compaction);
  checkPairs(compaction.messages, policy, pins);
  checkProtected(messages, compaction.messages, pins);
  checkActivity(messages, compaction, pins);
}

