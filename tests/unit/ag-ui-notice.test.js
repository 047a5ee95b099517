// The notice on the wire, its readers, and CopilotKit's filter. tests/vectors/events.json says what is well-formed.
import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { clearToolResults, digest, loadTamp, slidingWindow, toolResults } from 'tamp';
import * as agUi from 'tamp/ag-ui';
import { calls, idsOf, result, says, toolChat, user } from '../ag-ui/chats.js';
import { overflowOfError, overflowOfEvent } from '../../dist/ag-ui/overflow.js';
import { reconcile } from '../../dist/ag-ui/reconcile.js';
import '../lib/seed.js';
import { deepFreeze } from '../lib/freeze.js';

const {
  COMPACTION_ACTIVITY_TYPE, CompactionObserver, compactionContentSchema, compactionEvent, compactionSubscriber, createMessageFilter,
  onCompaction, readCompaction, restoreCompactions,
} = agUi;

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const content = { removed: 8, before: 10, after: 2 };
const event = (messageId = 'compaction-1', more = {}) => ({ type: 'ACTIVITY_SNAPSHOT', messageId, activityType: 'compaction', content, ...more });
const stored = (id = 'compaction-1', more = {}) => ({ id, role: 'activity', activityType: 'compaction', content, ...more });

describe('the event', () => {
  test('has a fresh id and exactly the three numbers', () => {
    const made = compactionEvent(/** @type {any} */ ({ ...content, messages: [], report: {}, changed: true }));
    assert.deepEqual(made, { type: 'ACTIVITY_SNAPSHOT', messageId: made.messageId, activityType: COMPACTION_ACTIVITY_TYPE, content });
    assert.match(made.messageId, /^compaction-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.notEqual(compactionEvent(content).messageId, made.messageId);
    assert.deepEqual(readCompaction(made), { ...content, messageId: made.messageId });
  });

  test('has a well-formed id where randomUUID is missing, as on pages without TLS', (t) => {
    t.mock.getter(globalThis, 'crypto', () => ({ getRandomValues: webcrypto.getRandomValues.bind(webcrypto) }));
    assert.match(compactionEvent(content).messageId, /^compaction-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('the observer holds a policy and nothing else', () => {
    const policy = slidingWindow({ keepMessages: 2 });
    assert.deepEqual({ ...new CompactionObserver(policy) }, { policy });
  });
});

describe('reading', () => {
  test('never throws and never returns half a notice, whatever it is given', () => {
    fc.assert(fc.property(fc.anything(), (value) => {
      for (const given of [value, { ...event(), content: value }, { ...stored(), content: value }]) {
        const read = readCompaction(given);
        if (read === null) continue;
        for (const count of [read.removed, read.before, read.after]) assert.ok(Number.isInteger(count) && count >= 0);
        assert.equal(typeof read.messageId, 'string');
      }
    }));
    const hostile = { get type() { throw new Error('no'); }, get activityType() { throw new Error('no'); } };
    assert.equal(readCompaction(hostile), null);
    assert.equal(readCompaction(new Proxy({}, { get() { throw new Error('no'); } })), null);
  });

  test('the schema says the same as the reader, synchronously', () => {
    const { validate, version, vendor } = compactionContentSchema['~standard'];
    assert.deepEqual([version, vendor], [1, 'tamp']);
    fc.assert(fc.property(fc.oneof(fc.anything(), fc.record({
      removed: fc.oneof(fc.nat(), fc.constant(undefined), fc.double()), before: fc.oneof(fc.nat(), fc.integer()), after: fc.nat(),
    })), (value) => {
      const outcome = validate(value);
      const read = readCompaction({ ...event(), content: value });
      if (read === null) {
        assert.ok('issues' in outcome && outcome.issues.length > 0);
        for (const { message } of outcome.issues) assert.ok(message.length > 0);
      } else {
        const { messageId: _, ...rest } = read;
        assert.ok('value' in outcome);
        assert.deepEqual({ ...outcome.value, messageId: undefined }, { ...rest, messageId: undefined });
      }
    }));
  });

  test('notices are restored from a list in order, once for each id, the newest content winning', () => {
    const list = deepFreeze([
      user('u'), stored('a'), stored('b', { metadata: { tamp: { origin: 'client', threadId: 't', runId: 'r', at: 5 } } }),
      stored('a', { content: { ...content, removed: 7 } }), stored('c', { content: {} }), { id: 'd', role: 'activity', activityType: 'PLAN', content: {} },
    ]);
    assert.deepEqual(restoreCompactions(list), [
      { ...content, removed: 7, messageId: 'a', threadId: null, runId: null, at: 0, origin: 'server' },
      { ...content, messageId: 'b', threadId: 't', runId: 'r', at: 5, origin: 'client' },
    ]);
    assert.deepEqual(restoreCompactions([]), []);
  });
});

describe('listening', () => {
  /** A listener and the hooks of its subscriber. */
  const listening = (options = {}) => {
    /** @type {any[]} */
    const heard = [];
    const subscriber = /** @type {any} */ (compactionSubscriber((notice) => heard.push(notice), options));
    /** @type {any[]} */
    const messages = [];
    const hook = { messages, input: { threadId: 't', runId: 'r', messages: [] }, agent: { threadId: 't' } };
    return {
      heard,
      messages,
      snapshot: (/** @type {any} */ snapshot, more = {}) => subscriber.onActivitySnapshotEvent({ ...hook, event: snapshot, ...more }),
      delta: (/** @type {any} */ delta) => subscriber.onActivityDeltaEvent({ ...hook, event: delta }),
      changed: (/** @type {any[]} */ now) => subscriber.onMessagesChanged({ ...hook, messages: now }),
    };
  };

  test('a notice is heard once, with its thread, run, time and origin', () => {
    const { heard, snapshot } = listening();
    snapshot(event('a', { timestamp: 17 }));
    snapshot(event('a', { timestamp: 18 }));
    assert.deepEqual(heard, [{ ...content, messageId: 'a', threadId: 't', runId: 'r', at: 17, origin: 'server' }]);
  });

  test('django-ag-ui\'s event, byte for byte, is one', () => {
    const { heard, snapshot } = listening();
    snapshot(JSON.parse('{"type":"ACTIVITY_SNAPSHOT","messageId":"compaction-6f1f0d3e-3c5c-4a52-8d4b-1d2f5a1f1c11","activityType":"compaction","content":{"removed":8,"before":10,"after":2},"replace":true}'));
    assert.equal(heard[0].removed, 8);
    assert.ok(Math.abs(heard[0].at - Date.now()) < 60_000);
  });

  test('a replacement is heard again, one that the client ignores is not', () => {
    const { heard, snapshot } = listening();
    snapshot(event('a'));
    snapshot(event('a', { content: { ...content, removed: 9 } }), { existingMessage: stored('a') });
    snapshot(event('a', { content: { ...content, removed: 10 }, replace: false }), { existingMessage: stored('a', { content: { ...content, removed: 9 } }) });
    assert.deepEqual(heard.map(({ removed }) => removed), [8, 9]);
  });

  test('a delta is heard with the content it makes, when the list has it', () => {
    const { heard, snapshot, delta, changed } = listening();
    snapshot(event('a'));
    changed([stored('a')]);
    delta({ type: 'ACTIVITY_DELTA', messageId: 'a', activityType: 'compaction', patch: [{ op: 'replace', path: '/removed', value: 9 }] });
    changed([user('u'), stored('a', { content: { ...content, removed: 9 } })]);
    changed([user('u'), stored('a', { content: { ...content, removed: 11 } })]);
    assert.deepEqual(heard.map(({ removed }) => removed), [8, 9]);
  });

  test('what stands in the list already is no news', () => {
    const { heard, snapshot } = listening();
    snapshot(event('a'), { existingMessage: stored('a') });
    assert.deepEqual(heard, []);
    /** @type {any} */
    let subscriber;
    const agent = { threadId: 't', messages: [stored('a')], subscribe: (/** @type {any} */ given) => { subscriber = given; return { unsubscribe() {} }; } };
    onCompaction(agent, (notice) => heard.push(notice));
    subscriber.onActivitySnapshotEvent({ event: event('a'), messages: [], input: { threadId: 't', runId: 'r' } });
    subscriber.onActivitySnapshotEvent({ event: event('b'), messages: [], input: { threadId: 't', runId: 'r' } });
    assert.deepEqual(idsOf(heard.map(({ messageId: id }) => ({ id }))), ['b']);
  });

  test('malformed and other activity is passed over, and so is a provider\'s own compaction', () => {
    const { heard, snapshot, delta } = listening();
    for (const bad of [
      event('a', { content: { removed: '8' } }), event('a', { activityType: 'Compaction' }), event(/** @type {any} */ (7)), event(''),
      event('a', { activityType: 'pydantic_ai_compaction', content: { provider: 'p', id: 'c' } }),
    ]) snapshot(bad);
    delta({ type: 'ACTIVITY_DELTA', messageId: 'a', activityType: 'PLAN', patch: [] });
    assert.deepEqual(heard, []);
  });

  test('other activity types can be asked for', () => {
    const { heard, snapshot } = listening({ activityTypes: ['pydantic_ai_compaction'] });
    snapshot(event('a', { activityType: 'pydantic_ai_compaction' }));
    snapshot(event('b'));
    assert.deepEqual(heard.map(({ messageId }) => messageId), ['a']);
  });

  test('the same id in two threads is two notices', () => {
    const { heard, snapshot } = listening();
    snapshot(event('a'));
    snapshot(event('a'), { input: { threadId: 'other', runId: 'r' } });
    assert.equal(heard.length, 2);
  });

  test('a listener that throws is logged, and hurts nobody', (t) => {
    const error = t.mock.method(console, 'error', () => {});
    const subscriber = /** @type {any} */ (compactionSubscriber(() => { throw new Error('no'); }));
    subscriber.onActivitySnapshotEvent({ event: event(), messages: [], input: {} });
    assert.equal(error.mock.callCount(), 1);
  });
});

describe('CopilotKit\'s filter', () => {
  /** What CopilotKit 1.74 does with a filter's result, in other words: tests/ag-ui/copilotkit.test.js runs the real one. */
  const repaired = (/** @type {any[]} */ kept, /** @type {any[]} */ all) => {
    /** @type {any[]} */
    const list = [];
    const put = (/** @type {any} */ message) => { if (message && !list.some(({ id }) => id === message.id)) list.push(message); };
    for (const message of kept) {
      const caller = message.role === 'tool' && all.findLast(({ toolCalls }) => toolCalls?.some((/** @type {any} */ { id }) => id === message.toolCallId));
      put(caller || message);
      for (const { id } of (caller || message).toolCalls ?? []) put(all.findLast(({ role, toolCallId }) => role === 'tool' && toolCallId === id));
    }
    return list;
  };

  for (const [name, policy] of /** @type {[string, any][]} */ ([
    ['sliding-window', slidingWindow({ maxMessages: 7, keepMessages: 5 })],
    ['tool-results', toolResults({ keepLastToolCallGroups: 0 })],
    ['clear-tool-results', clearToolResults({ keepLast: 0 })],
    ['digest', digest({ keepMessages: 3, keepFirstUser: false })],
    ['a pipeline', [toolResults({ keepLastToolCallGroups: 1 }), slidingWindow({ maxMessages: 9, keepMessages: 6 })]],
  ])) {
    test(`${name}: whole groups go, the rest are the same objects, and the repair changes nothing`, () => {
      const list = deepFreeze(toolChat(4));
      const filter = createMessageFilter(tamp, policy);
      const kept = filter(list);
      for (const message of kept) assert.ok(list.includes(message));
      assert.deepEqual(repaired(kept, list), kept);
      assert.deepEqual(filter(kept), repaired(filter(kept), kept));
      if (name === 'sliding-window') assert.ok(kept.length < list.length);
      if (name.endsWith('tool-results')) assert.deepEqual(kept, list);
    });
  }

  test('results that came late or twice are left as the repair would have them', () => {
    const list = [user('u0'), calls('a0', 'c', 'd'), says('b0'), result('t1', 'd'), result('t0', 'c'), result('t2', 'c', ''), user('u1')];
    const kept = createMessageFilter(tamp, slidingWindow({ maxMessages: 100 }))(list);
    assert.deepEqual(repaired(kept, list), kept);
  });

  test('a bad policy is refused at once, and one that asks a model too', () => {
    assert.throws(() => createMessageFilter(tamp, slidingWindow({ maxMessages: -1 })), { name: 'PolicyError' });
    assert.throws(() => createMessageFilter(tamp, { strategy: 'summarize' }));
  });
});

describe('reading a server\'s list back', () => {
  const original = deepFreeze(toolChat(3));
  const nothing = new Set();

  test('a list that says what was sent, sent untouched, is the same array', () => {
    const theirs = [...original, says('new')];
    assert.equal(reconcile(theirs, { original, sent: original, gone: /** @type {any} */ (nothing) }), theirs);
  });

  test('whatever the policy made of a list, an echo of it reads as the list', () => {
    const policies = [
      slidingWindow({ keepMessages: 3, keepFirstUser: false }), toolResults({ keepLastToolCallGroups: 0 }), clearToolResults({ keepLast: 0 }),
      digest({ keepMessages: 2, keepFirstUser: false, maxSummaryTokens: 40 }),
    ];
    fc.assert(fc.property(fc.subarray(policies, { minLength: 1 }), fc.integer({ min: 1, max: 5 }), fc.boolean(), (policy, turns, bare) => {
      const list = deepFreeze(toolChat(turns));
      const { messages: sent } = tamp.compact(list, policy);
      const theirs = [...sent.map((message) => (bare ? { ...message, metadata: undefined } : structuredClone(message))), says('new')];
      const read = /** @type {any[]} */ (reconcile(theirs, { original: list, sent, gone: /** @type {any} */ (nothing) }));
      const plain = JSON.parse(JSON.stringify(read));
      assert.deepEqual(plain, [...list, says('new')]);
    }), { numRuns: 100 });
  });

  test('what is no message is passed on, and hostile ids are only ids', () => {
    const theirs = [null, 7, 'x', [], {}, { id: '__proto__', role: 'user', content: 'a' }, { id: 'constructor', role: 'user', content: 'b' }];
    const sent = original.slice(-1);
    const read = reconcile(theirs, { original, sent, gone: /** @type {any} */ (nothing) });
    for (const each of theirs) assert.ok(read.includes(each));
  });

  test('it is linear in the messages', () => {
    const many = Array.from({ length: 20_000 }, (_, n) => user(`m${n}`));
    const started = performance.now();
    reconcile([...many.slice(-10)], { original: many, sent: many.slice(-10), gone: /** @type {any} */ (nothing) });
    assert.ok(performance.now() - started < 2000);
  });
});

describe('over-long', () => {
  test('the ways servers say it are known', () => {
    for (const [said, unit] of /** @type {[any, string][]} */ ([
      [{ status: 413, payload: '' }, 'bytes'],
      [{ status: 400, payload: { error: { code: 'context_length_exceeded', message: 'x' } } }, 'tokens'],
      [{ status: 400, payload: { error: { message: "This model's maximum context length is 8192 tokens. However, you requested 9000" } } }, 'tokens'],
      [{ status: 400, payload: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' } } }, 'tokens'],
      [{ status: 400, payload: { error: { message: 'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).' } } }, 'tokens'],
      [{ status: 422, payload: 'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000' }, 'tokens'],
    ])) assert.equal(overflowOfError(said), unit, JSON.stringify(said));
    for (const [said, unit] of /** @type {[any, string][]} */ ([
      [{ code: 'context_length_exceeded', message: 'x' }, 'tokens'],
      [{ code: 413, message: 'x' }, 'bytes'],
      [{ message: 'Too many input tokens' }, 'tokens'],
      [{ message: "Error code: 400 - {'error': {'code': 'context_length_exceeded'}}" }, 'tokens'],
      [{ message: 'Input is too long for requested model.' }, 'tokens'],
    ])) assert.equal(overflowOfEvent(said), unit, JSON.stringify(said));
  });

  test('other failures are not taken for it', () => {
    for (const said of [null, 'x', {}, new Error('maximum context length'), { status: 500, payload: 'Internal Server Error' },
      { status: 401, payload: { error: { message: 'Incorrect API key provided' } } }, { status: 429, payload: { error: { message: 'Rate limit reached: too many requests' } } },
      { status: 400, payload: { error: { message: 'messages.1: tool_use ids were found without tool_result blocks' } } }]) {
      assert.equal(overflowOfError(said), null, JSON.stringify(said));
    }
    for (const said of [{}, { message: 'the model is down' }, { code: 'abort', message: 'signal is aborted' }, { message: 'Connection lost in context of run' }]) {
      assert.equal(overflowOfEvent(said), null, JSON.stringify(said));
    }
  });
});
