/**
 * Random histories × random policies. What is random is seeded and printed: `SEED=1234 CASES=1000000`
 * repeats or lengthens a run, and a failure is shrunk and printed with the path that replays it.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { loadTamp } from 'tamp';
import { SEED } from '../lib/seed.js';
import { counters } from '../lib/counters.js';
import { deepFreeze } from '../lib/freeze.js';
import {
  STRATEGIES, brokenHistory, code, hostileHistory, options, policy, validHistory,
} from '../lib/generators.js';
import { checkCompacted, checkReasoning, checkShape, closingRepair } from '../lib/invariants.js';
import { MODELLED, model } from '../lib/model.js';
import { problems, read } from '../lib/reading.js';
import { refusals, refusalsOfOpenAI, toOpenAI } from '../lib/validators.js';
import { weighAll } from '../lib/weigh.js';

/** @typedef {Record<string, any>} Message */

const CASES = Number(process.env.CASES ?? 60_000);

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

let ran = 0;

/**
 * A property that runs a share of CASES, in percent.
 *
 * @template {unknown[]} Values
 * @param {string} requirement
 * @param {number} percent
 * @param {{ [K in keyof Values]: fc.Arbitrary<Values[K]> }} arbitraries
 * @param {(...values: Values) => void | Promise<void>} hold throws or rejects when it does not
 */
function property(requirement, percent, arbitraries, hold) {
  test(requirement, async (context) => {
    const numRuns = Math.ceil(CASES * percent / 100);
    context.diagnostic(`${numRuns} cases, SEED=${SEED}`);
    const cases = fc.asyncProperty(
      .../** @type {any} */ (arbitraries),
      async (/** @type {any} */ ...values) => { await hold(...values); },
    );
    await fc.assert(cases, { numRuns, seed: SEED, includeErrorInReport: true });
    ran += numRuns;
  });
}

/**
 * The options of a case as the API takes them.
 *
 * @param {import('../lib/generators.js').Options} spelled
 * @param {readonly Message[]} messages
 */
function optionsFor({ counter, pins, reservedTokens }, messages) {
  const count = counter === undefined ? undefined : counters[counter];
  const pin = pins.map((position) => messages[position % messages.length]?.id)
    .filter((id) => typeof id === 'string');
  return {
    count,
    pin,
    reserved: reservedTokens,
    given: {
      ...(count === undefined ? {} : { countTokens: count }),
      ...(pin.length === 0 ? {} : { pin }),
      ...(reservedTokens === 0 ? {} : { reservedTokens }),
    },
  };
}

/**
 * What a compaction decided, without the objects.
 *
 * @param {any} compaction
 */
const decisions = ({ changed, before: was, after, report }) => ({
  changed,
  before: was,
  after,
  fits: report.fits,
  dropped: report.dropped.map((/** @type {any} */ { index }) => index),
  rewritten: report.rewritten.map((/** @type {any} */ { index }) => index),
  added: report.added.length,
  tokens: [report.tokensBefore, report.tokensAfter],
});

/** @param {readonly Message[]} messages @param {any} tree @param {any} given */
function compactTwice(messages, tree, given) {
  const compaction = tamp.compact(messages, tree, given);
  const again = tamp.compact(compaction.messages, tree, given);
  assert.equal(again.changed, false,
    `compacting the result again changes nothing: ${JSON.stringify(again.report.steps)}`);
  return compaction;
}

property('a valid list stays valid for every provider and every policy holds its promises', 30,
  [validHistory(), policy(), options], (messages, tree, spelled) => {
    deepFreeze(messages);
    const { given, pin, count, reserved } = optionsFor(spelled, messages);
    assert.deepEqual(tamp.checkPolicy(tree), []);
    const compaction = compactTwice(messages, tree, given);
    checkCompacted({ messages, policy: tree, compaction, pins: pin, count, reserved });
    checkReasoning(messages, compaction, pin);
    if (refusals(messages, { head: false }).length > 0) return;
    const head = compaction.changed && closingRepair(tree)?.head === 'user';
    assert.deepEqual(refusals(compaction.messages, { head }), []);
  });

property('a broken list that a policy changed is one a provider accepts', 22,
  [brokenHistory(), policy(), options], (messages, tree, spelled) => {
    deepFreeze(messages);
    const { given, pin, count, reserved } = optionsFor(spelled, messages);
    const compaction = compactTwice(messages, tree, given);
    checkCompacted({ messages, policy: tree, compaction, pins: pin, count, reserved });
    const closing = closingRepair(tree);
    if (!compaction.changed || closing === null) return;
    if (closing.orphanResults === 'keep' || closing.staleCalls === 'keep') return;
    // Ids are never rewritten and what a person wrote is never thrown away for being blank.
    const before = refusals(messages, { head: false }).map(({ rule }) => rule);
    const told = before.includes('anthropic/use-twice') ? /blank|twice|empty/u : /blank|empty/u;
    if (messages.some((message) => message.role === 'critic') || hasLooseSummary(messages)) return;
    assert.deepEqual(refusals(compaction.messages, { head: false })
      .filter(({ rule }) => !told.test(rule) || (!before.includes(rule) && !/empty/u.test(rule)
        && !/twice/u.test(rule))), []);
  });

/**
 * A summary of ours that damage put behind a call: for Tamp it does not make the call stale, for a
 * provider it does.
 *
 * @param {readonly Message[]} messages
 */
function hasLooseSummary(messages) {
  const call = messages.findIndex(({ toolCalls }) => toolCalls?.length > 0);
  return call >= 0
    && messages.some((message, index) => index > call && message.metadata?.tamp?.summary);
}

property('a hostile list is compacted or left alone, and reported truly', 14,
  [hostileHistory(), policy(), options], (messages, tree, spelled) => {
    deepFreeze(messages);
    const { given } = optionsFor(spelled, messages);
    const compaction = compactTwice(messages, tree, given);
    checkShape(messages, compaction);
    assert.ok(compaction.messages.every((message) => message !== undefined));
    assert.ok(Number.isInteger(tamp.countTokens(messages)));
    tamp.inspect(messages, given);
    assert.deepEqual(Object.keys(Object.prototype), [], 'no prototype was touched');
  });

property('inspect reads groups, turns, pending calls, protection and problems as the rules say', 8,
  [fc.oneof(validHistory(), brokenHistory()), options], (messages, spelled) => {
    deepFreeze(messages);
    const { given, pin, count } = optionsFor(spelled, messages);
    const expected = read(messages, pin);
    if (expected.ambiguous) return;
    const inspection = tamp.inspect(messages, given);
    assert.deepEqual(
      inspection.groups.map(({ kind, indices, pending, protected: kept }) =>
        ({ kind, indices: [...indices], pending, ...(kind === 'orphan' ? {} : { kept }) })),
      expected.groups.map(({ kind, indices, pending, protected: kept }) =>
        ({ kind, indices, pending, ...(kind === 'orphan' ? {} : { kept }) })),
    );
    assert.equal(inspection.turns, expected.runs.length);
    assert.equal(inspection.messages, messages.filter(({ role }) => role !== 'activity').length);
    const named = (/** @type {readonly { kind: string, index: number }[]} */ list) => list
      .filter(({ kind }) => kind !== 'duplicate-id')
      .map(({ kind, index }) => `${kind} ${index}`).sort();
    assert.deepEqual(named(inspection.problems), named(problems(messages, expected)));
    if (count !== undefined) assert.equal(inspection.tokens, weighAll(messages, count));
  });

/**
 * The same list with every message id and call id replaced by another of the same length.
 *
 * @param {readonly Message[]} messages
 */
function renamed(messages) {
  /** @type {Map<string, string>} */
  const names = new Map();
  const name = (/** @type {any} */ id) => {
    if (typeof id !== 'string') return id;
    const known = names.get(id) ?? `${names.size.toString(36)}`.padStart(id.length, 'z');
    names.set(id, known);
    return known;
  };
  const copy = messages.map((message) => ({
    ...message,
    id: name(message.id),
    ...(message.toolCallId === undefined ? {} : { toolCallId: name(message.toolCallId) }),
    ...(message.toolCalls === undefined ? {} : {
      toolCalls: message.toolCalls.map((/** @type {any} */ call) => ({ ...call, id: name(call.id) })),
    }),
  }));
  return { copy, name };
}

property('renaming all ids consistently changes no decision', 5,
  [fc.oneof(validHistory(), brokenHistory()), policy(), options], (messages, tree, spelled) => {
    const { given, pin } = optionsFor(spelled, messages);
    const { copy, name } = renamed(messages);
    const one = tamp.compact(messages, tree, given);
    const other = tamp.compact(copy, tree, { ...given, pin: pin.map(name) });
    assert.deepEqual(decisions(other), decisions(one));
  });

property('shuffling results after their calls changes no decision', 5,
  [validHistory({ activity: false }), policy(), options, fc.array(code, { minLength: 1, maxLength: 6 })],
  (messages, tree, spelled, moves) => {
    const { given } = optionsFor(spelled, messages);
    const shuffled = [...messages];
    for (const move of moves) {
      const results = shuffled.filter(({ role }) => role === 'tool');
      if (results.length === 0) break;
      const result = results[move % results.length];
      const from = shuffled.indexOf(result);
      // Later, and not across reasoning, whose place says what it belongs to.
      const wall = shuffled.findIndex(({ role }, at) => at > from && role === 'reasoning');
      const room = (wall < 0 ? shuffled.length : wall) - from;
      shuffled.splice(from, 1);
      shuffled.splice(from + (Math.floor(move / 1000) % room), 0, result);
    }
    const one = tamp.compact(messages, tree, given);
    const other = tamp.compact(shuffled, tree, given);
    if (!one.changed && !other.changed) return;
    // A policy with a repair of its own puts the results back though nothing else changed.
    assert.deepEqual(ids(other.messages), ids(one.messages));
    assert.deepEqual(named(other.report.rewritten), named(one.report.rewritten));
  });

const ids = (/** @type {readonly any[]} */ messages) => messages.map(({ id }) => id);
const named = (/** @type {readonly any[]} */ entries) => ids(entries).sort();

property('a larger budget keeps a superset with truncation', 5,
  [validHistory(), fc.constantFrom('Tokens', 'Messages', 'Bytes'), fc.nat(1200), fc.nat(300),
    fc.nat(300), fc.nat(300), fc.boolean(), options],
  (messages, unit, first, more, gap, moreGap, keepFirstUser, spelled) => {
    const scale = unit === 'Messages' ? 0.02 : unit === 'Tokens' ? 0.3 : 2;
    const at = (/** @type {number} */ to, /** @type {number} */ max) => tamp.compact(messages, /** @type {any} */ ({
      strategy: 'truncation', [`max${unit}`]: max, [`to${unit}`]: to, keepFirstUser,
    }), optionsFor(spelled, messages).given);
    const low = Math.floor(first * scale);
    const high = low + Math.floor(more * scale);
    const lowMax = low + Math.floor(gap * scale);
    const highMax = Math.max(high, lowMax) + Math.floor(moreGap * scale);
    const small = at(low, lowMax);
    const large = at(high, highMax);
    const kept = new Set(large.messages);
    for (const message of small.messages) assert.ok(kept.has(message), `${message.id} is kept too`);
  });

property('activity anywhere changes nothing about the rest', 4,
  [validHistory({ activity: false }), policy(), options, fc.array(code, { minLength: 1, maxLength: 4 })],
  (messages, tree, spelled, places) => {
    const { given } = optionsFor(spelled, messages);
    const more = [...messages];
    places.forEach((place, index) => more.splice(place % (more.length + 1), 0, {
      id: `act${index}`, role: 'activity', activityType: 'PLAN', content: { step: index },
    }));
    const one = tamp.compact(messages, tree, given);
    const other = tamp.compact(more, tree, given);
    assert.equal(other.changed, one.changed);
    assert.deepEqual(ids(other.messages.filter(({ role }) => role !== 'activity')), ids(one.messages));
    assert.deepEqual(other.report.tokensAfter, one.report.tokensAfter);
  });

property('the same talk as OpenAI messages is decided on alike', 2,
  [validHistory({ activity: false }), policy(), options], (messages, tree, spelled) => {
    // Ids and spellings differ, and a text that begins like a summary is one where no mark can say so.
    if (/bytes/iu.test(JSON.stringify(tree))) return;
    if (/"\[Conversation summary\]/u.test(JSON.stringify(messages))) return;
    const { given } = optionsFor({ ...spelled, pins: [] }, messages);
    // What both can say: no marks, no error texts, no media, no reasoning.
    const plain = messages.filter((message) => message.role !== 'reasoning' && !message.metadata?.tamp?.summary)
      .map(({ metadata: _, error: __, ...message }) => (Array.isArray(message.content)
        ? { ...message, content: message.content.filter((/** @type {any} */ { type }) => type === 'text') }
        : message));
    const one = tamp.compact(plain, tree, given);
    const other = tamp.compact(toOpenAI(plain), tree, { ...given, format: 'openai' });
    assert.deepEqual(decisions(other), decisions(one));
    assert.deepEqual(refusalsOfOpenAI(other.messages.length > 0 ? other.messages : [{ role: 'user' }]), []);
  });

property('usage that a provider reported moves the limits, and nothing else', 2,
  [validHistory(), policy(), options, fc.nat(), fc.nat(600), fc.nat(100)],
  (messages, tree, spelled, at, inputTokens, outputTokens) => {
    deepFreeze(messages);
    const { given, pin, count } = optionsFor(spelled, messages);
    const usage = { messageId: messages[at % messages.length]?.id ?? 'nobody', inputTokens, outputTokens };
    const compaction = tamp.compact(messages, tree, { ...given, usage });
    checkCompacted({ messages, policy: tree, compaction, pins: pin, count, fits: false });
    const position = messages.findLastIndex(({ id }) => id === usage.messageId);
    const total = tamp.countTokens(messages, { ...given, usage });
    const after = tamp.countTokens(messages.slice(position + 1), given);
    assert.equal(total, position < 0 || inputTokens === 0
      ? tamp.countTokens(messages, given) : inputTokens + outputTokens + after);
  });

property('every budget from nothing to everything holds or says that it does not', 1,
  [validHistory({ maxLength: 5 }), fc.boolean()], (messages, keepFirstUser) => {
    const count = counters.words;
    const total = weighAll(messages, count);
    /** @type {Set<Message>} */
    let kept = new Set();
    const step = Math.max(1, Math.floor(total / 60));
    for (let budget = 0; budget <= total + step; budget += step) {
      const tree = { strategy: 'truncation', maxTokens: budget, toTokens: budget, keepFirstUser };
      const compaction = tamp.compact(messages, /** @type {any} */ (tree), { countTokens: count });
      checkCompacted({ messages, policy: tree, compaction, count });
      if (budget >= total) assert.equal(compaction.changed, false, 'it fits: nothing to do');
      const now = new Set(compaction.messages);
      for (const message of kept) assert.ok(now.has(message), `${message.id} stays with a budget of ${budget}`);
      kept = now;
    }
  });

property('what goes is what a second implementation of the rules says', 8,
  [validHistory({ activity: false }), policy(MODELLED, { budgets: false }), options],
  (messages, tree, spelled) => {
    const { given, pin, count = counters.words, reserved } = optionsFor(spelled, messages);
    const compaction = tamp.compact(messages, tree, { ...given, countTokens: count });
    assert.deepEqual(ids(compaction.messages), ids(model(tree, messages, { count, pins: pin, reserved })));
  });

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A text of clusters whose borders every platform draws alike, one of which in a row of its own kind. */
const clusters = fc.array(fc.constantFrom('a', 'b ', '.', '中', 'e\u0301', 'n\u0303\u0323', '\u{1F389}',
  '\u2764\uFE0F', '\u{1F1E9}\u{1F1EA}', '\u{1F469}\u200D\u{1F469}\u200D\u{1F466}'), { maxLength: 120, size: 'max' })
  .map((units) => units.join(''));

/** How many clusters from the front are at most `room` characters. @param {string[]} units @param {number} room */
function fitting(units, room) {
  let left = room;
  const over = units.findIndex((unit) => (left -= counters.chars(unit)) < 0);
  return over < 0 ? units.length : over;
}

const segments = (/** @type {string} */ text) => [...segmenter.segment(text)].map(({ segment }) => segment);

property('a clamp takes whole clusters, as many as fit, and says how many characters went', 2,
  [clusters, fc.nat(80), fc.nat(40), fc.nat(40)], (text, maxChars, headChars, tailChars) => {
    const messages = [{ id: 'u1', role: 'user', content: 'q' }, { id: 'a1', role: 'assistant', content: text },
      { id: 'u2', role: 'user', content: 'q' }];
    const step = /** @type {const} */ ({ strategy: 'clamp', maxChars, headChars, tailChars });
    const { messages: [, left] } = tamp.compact(messages, step, { countTokens: counters.chars });
    const units = segments(text);
    const all = counters.chars(text);
    const head = units.slice(0, fitting(units, headChars)).join('');
    const end = units.slice(units.length - fitting(units.toReversed(), tailChars)).join('');
    const gone = all - counters.chars(head) - counters.chars(end);
    const clamped = `${head}\n[${gone} of ${all} characters removed]\n${end}`;
    const shorter = all > maxChars && gone > 0 && counters.chars(clamped) < all;
    assert.equal(left.content, shorter ? clamped : text);
  });

property('collapsed results are cut between clusters and are as long as they may be', 1,
  [clusters, fc.integer({ min: 31, max: 150 })], (text, maxChars) => {
    const call = { id: 'x', type: 'function', function: { name: 'search', arguments: JSON.stringify({ q: text }) } };
    const messages = [{ id: 'u1', role: 'user', content: 'q' }, { id: 'k1', role: 'assistant', toolCalls: [call] },
      { id: 't1', role: 'tool', toolCallId: 'x', content: text }, { id: 'a1', role: 'assistant', content: 'a' }];
    const step = /** @type {const} */ ({ strategy: 'tool-results', keepLastToolCallGroups: 0, maxChars });
    const { changed, messages: [, left] } = tamp.compact(messages, step, { countTokens: counters.chars });
    if (!changed) return;
    const said = text.trim();
    const whole = said === '' ? '[Tool results: search:]' : `[Tool results: search: ${said}]`;
    const cut = '... [truncated]]';
    const units = segments(whole.slice(0, -1));
    const expected = counters.chars(whole) <= maxChars
      ? whole
      : `${units.slice(0, fitting(units, maxChars - cut.length)).join('')}${cut}`;
    assert.equal(/** @type {any} */ (left).content, expected);
  });

property('more text never weighs less, and every text weighs something whole', 2,
  [fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 60 })],
  (one, more) => {
    const [small, large] = [tamp.countTokens(one), tamp.countTokens(one + more)];
    assert.ok(Number.isInteger(small) && small >= 0);
    assert.ok(large >= small, `${large} < ${small}`);
    assert.ok(one === '' || small > 0);
  });

/** What a model answers, of every kind. */
const answers = fc.constantFrom(.../** @type {unknown[]} */ (['In short.', '', ' \n', 'long '.repeat(400),
  null, undefined, 7, {}, ['text'], '$& {messages} </summary>', 'x\ud83d', new Error('no model')]));

property('a summary stands once, or nothing changes and the report says so', 4,
  [fc.oneof(validHistory(), brokenHistory()), answers, options, code,
    policy([...STRATEGIES.filter((name) => name !== 'digest')])],
  async (messages, answer, spelled, spelledKeep, rest) => {
    deepFreeze(messages);
    const { given, pin, count } = optionsFor(spelled, messages);
    const step = {
      strategy: 'summarize',
      keepMessages: spelledKeep % 6,
      ...(spelledKeep % 7 === 0 ? { maxInputTokens: 200 } : {}),
      ...(spelledKeep % 5 === 0 ? { maxSummaryTokens: 50 } : {}),
      keepFirstUser: spelledKeep % 2 === 0,
    };
    const tree = spelledKeep % 3 === 0 ? [rest, step] : step;
    let asked = 0;
    const all = {
      ...given,
      summarize: (/** @type {any} */ request) => {
        asked += 1;
        assert.ok(asked < 200, 'a model is not asked for ever');
        assert.ok(request.messages.length > 0 && typeof request.text === 'string');
        if (answer instanceof Error) throw answer;
        return /** @type {any} */ (answer);
      },
    };
    /** @type {any} */
    let compaction;
    try {
      compaction = await tamp.compactAsync(messages, /** @type {any} */ (tree), all);
    } catch (error) {
      assert.equal(error, answer, 'only what the model threw is thrown');
      return;
    }
    checkCompacted({ messages, policy: tree, compaction, pins: pin, count });
    const summaries = compaction.messages.filter((/** @type {Message} */ { metadata }) => metadata?.tamp?.summary);
    const made = summaries.filter((/** @type {Message} */ message) => !messages.includes(message));
    assert.ok(made.length <= 1, 'never two of ours');
    if (made.length === 1) {
      assert.equal(summaries.length, 1, 'the earlier one is replaced');
      assert.ok(made[0].content.startsWith('[Conversation summary]\n\n'));
      assert.ok(made[0].content.endsWith(/** @type {string} */ (answer).toWellFormed()));
    } else if (asked > 0 && tree === step) {
      // In a pipeline another step may have removed it again.
      assert.equal(compaction.report.fits, false, 'a refused summary does not fit');
      assert.ok(compaction.report.reason);
    }
    const again = await tamp.compactAsync(compaction.messages, /** @type {any} */ (tree), all);
    if (made.length === 1 || asked === 0) assert.equal(again.changed, false, JSON.stringify(again.report.steps));
  });

test('every list of up to four messages of a small alphabet is left valid', (context) => {
  /** @type {((index: number) => Message)[]} */
  const alphabet = [
    (index) => ({ id: `${index}`, role: 'user', content: 'a question' }),
    (index) => ({ id: `${index}`, role: 'assistant', content: 'an answer' }),
    (index) => ({ id: `${index}`, role: 'assistant', toolCalls: [call('x')] }),
    (index) => ({ id: `${index}`, role: 'assistant', toolCalls: [call('x'), call('y')] }),
    (index) => ({ id: `${index}`, role: 'tool', toolCallId: 'x', content: 'found' }),
    (index) => ({ id: `${index}`, role: 'tool', toolCallId: 'y', content: 'found' }),
    (index) => ({ id: `${index}`, role: 'reasoning', content: 'hm' }),
    (index) => ({ id: `${index}`, role: 'system', content: 'be good' }),
    (index) => ({ id: `${index}`, role: 'activity', activityType: 'PLAN', content: {} }),
  ];
  const call = (/** @type {string} */ id) =>
    ({ id, type: 'function', function: { name: 'search', arguments: '{}' } });
  /** @type {any[]} */
  const policies = [
    { strategy: 'repair' },
    { strategy: 'sliding-window', keepMessages: 1, keepFirstUser: false },
    { strategy: 'truncation', maxMessages: 2, toMessages: 1 },
    [{ strategy: 'drop-tool-calls', keepLastToolCallGroups: 0 }, { strategy: 'repair', staleCalls: 'drop' }],
  ];
  let lists = 0;
  const visit = (/** @type {Message[]} */ messages) => {
    if (messages.length > 0) {
      lists += 1;
      for (const tree of policies) {
        try {
          const compaction = compactTwice(messages, tree, { countTokens: counters.words });
          checkCompacted({ messages, policy: tree, compaction, count: counters.words });
        } catch (error) {
          /** @type {Error} */ (error).message += ` with ${JSON.stringify([tree, messages])}`;
          throw error;
        }
      }
    }
    if (messages.length === 4) return;
    for (const letter of alphabet) visit([...messages, letter(messages.length)]);
  };
  visit([]);
  context.diagnostic(`${lists} lists, ${policies.length} policies`);
  assert.equal(lists, 9 + 9 ** 2 + 9 ** 3 + 9 ** 4);
});

test('at least fifty thousand random cases ran', { skip: process.env.CASES && 'CASES= is given' }, () => {
  assert.ok(ran >= 50_000, `${ran} ran`);
});
