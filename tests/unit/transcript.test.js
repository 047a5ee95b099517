/** tamp/transcript: every container and source, every strategy, damaged files, and links between records. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { MessageError, PolicyError, TampError, loadTamp } from 'tamp';
import { identifyTranscript, trimTranscript } from 'tamp/transcript';
import { missing, transcripts } from '../lib/shared-data.js';
import { ClaudeCode, claudeCodeSession, codexRollout, jsonLines, policies, policyName } from '../lib/transcripts.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

/** @param {Uint8Array | string} source @param {any} policy @param {any} [options] */
const trim = (source, policy, options) => trimTranscript(source, policy, { tamp, ...options });

/** Lines without their ends. @param {string} text */
const linesOf = (text) => text.split('\n').filter((line) => line.trim() !== '');

/** Each of `some` is in `all`, in order. @param {string[]} some @param {string[]} all */
function inOrder(some, all) {
  let at = 0;
  for (const line of some) {
    const found = all.indexOf(line, at);
    assert.ok(found >= 0, `not in the original, or not in its place: ${line.slice(0, 200)}`);
    at = found + 1;
  }
}

const last = { strategy: 'sliding-window', keepMessages: 1, keepFirstUser: false };
const plain = (/** @type {number} */ n, role = 'user') => ({ id: `m${n}`, role, content: `text ${n}` });
const chat = [plain(1), plain(2, 'assistant'), plain(3), plain(4, 'assistant'), plain(5), plain(6, 'assistant')];

/** Pieces of a stream. @param {Uint8Array} bytes @param {number} size */
const streamOf = (bytes, size) => new ReadableStream({
  start(controller) {
    for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
    controller.close();
  },
});

describe('containers', () => {
  for (const [name, text, kept, container] of [
    ['an array keeps its layout', `[\n  ${chat.map((m) => JSON.stringify(m)).join(',\n  ')}\n]\n`, `[\n  ${[chat[4], chat[5]].map((m) => JSON.stringify(m)).join(',\n  ')}\n]\n`, 'json-array'],
    ['lines keep their ends', jsonLines(chat, '\r\n'), jsonLines(chat.slice(4), '\r\n'), 'jsonl'],
    ['a byte order mark stays', `\ufeff${jsonLines(chat)}`, `\ufeff${jsonLines(chat.slice(4))}`, 'jsonl'],
    ['blank lines stay', `\n\n${jsonLines(chat, '\n\n')}`, `\n\n\n\n\n\n${jsonLines(chat.slice(4), '\n\n')}`, 'jsonl'],
    ['a last line without an end has none afterwards', jsonLines(chat).trimEnd(), jsonLines(chat.slice(4)).trimEnd(), 'jsonl'],
    ['members beside the list stay byte for byte', `{"title" : "a\\u0041",\n"messages":[${chat.map((m) => JSON.stringify(m))}] ,"n":2512292042121000001}\n`,
      `{"title" : "a\\u0041",\n"messages":[${[chat[4], chat[5]].map((m) => JSON.stringify(m))}] ,"n":2512292042121000001}\n`, 'json-object'],
  ]) {
    test(name, async () => {
      const made = await trim(text, last);
      assert.equal(await made.text(), kept);
      assert.deepEqual([made.container, made.format, made.before, made.after, made.changed], [container, 'ag-ui', 6, 2, true]);
      assert.equal(tamp.compactText(text, last).text(), kept, 'compactText is the same path');
    });
  }

  test('what nothing was done to comes back byte for byte', async () => {
    for (const text of [` [ ${JSON.stringify(plain(1))} ] \n`, `\ufeff\r\n${JSON.stringify(plain(1))}`, '{"messages": [ ] , "x":1}']) {
      const made = await trim(text, last, { format: 'ag-ui' });
      assert.deepEqual([made.changed, await made.text()], [false, text]);
    }
  });
});

describe('sources', () => {
  const bytes = encoder.encode(jsonLines(chat));
  const wanted = jsonLines(chat.slice(4));
  for (const [name, source] of /** @type {[string, () => any][]} */ ([
    ['a string', () => jsonLines(chat)], ['a Uint8Array', () => bytes], ['an ArrayBuffer', () => bytes.slice().buffer], ['a Blob', () => new Blob([bytes])],
    ['a File', () => new File([bytes], 'chat.jsonl')], ['a stream', () => streamOf(bytes, 5)], ['a Response', () => new Response(bytes)],
  ])) {
    test(`${name} is a source, and the result is given as blob, bytes, text and stream`, async () => {
      const made = await trim(source(), last);
      assert.equal(await made.text(), wanted);
      assert.equal(await made.blob().text(), wanted);
      assert.equal(decoder.decode(await made.bytes()), wanted);
      assert.equal(await new Response(made.stream()).text(), wanted);
    });
  }

  test('anything else, and a Response that failed, is a typed error', async () => {
    for (const source of [null, undefined, 7, {}, [], new Response('no', { status: 404 })]) {
      await assert.rejects(trimTranscript(/** @type {any} */ (source), last), (/** @type {any} */ error) => error instanceof TampError && error.code === 'bad-source');
    }
  });
});

describe('errors', () => {
  test('a bad policy, an unknown format and a text that is none are told apart', async () => {
    await assert.rejects(trim('[]', { strategy: 'x' }), PolicyError);
    await assert.rejects(trim('[{"x":1}]', last), (/** @type {any} */ error) => error.code === 'unknown-format');
    await assert.rejects(trim('[]', last, { format: 'x' }), (/** @type {any} */ error) => error.code === 'unknown-format');
    for (const text of ['', ' \n', 'hello', 'a\nb\n', `${JSON.stringify(chat)} x`, '[{"id":1},]']) {
      await assert.rejects(trim(text, last), MessageError, text);
      assert.equal(await identifyTranscript(text), null);
    }
    assert.equal(await identifyTranscript('[{"conversations":[]}]'), null);
  });

  test('an abort rejects with an AbortError, before and while it is read', async () => {
    const early = AbortSignal.abort();
    await assert.rejects(trim(jsonLines(chat), last, { signal: early }), { name: 'AbortError' });
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    await assert.rejects(trim(jsonLines(chat), last, { signal: controller.signal, onProgress }), { name: 'AbortError' });
    let cancelled = false;
    const endless = new ReadableStream({ pull: (stream) => stream.enqueue(encoder.encode('{"a":1}\n')), cancel: () => { cancelled = true; } });
    const late = new AbortController();
    await assert.rejects(trimTranscript(endless, last, { tamp, signal: late.signal, onProgress: ({ bytes }) => bytes > 1e4 && late.abort() }), { name: 'AbortError' });
    assert.equal(cancelled, true);
  });

  test('progress tells the phases in order, with bytes and messages', async () => {
    /** @type {any[]} */
    const seen = [];
    const text = jsonLines(chat);
    await trim(text, last, { onProgress: (/** @type {any} */ p) => seen.push(p) });
    assert.deepEqual(seen.map(({ phase }) => phase), ['reading', 'planning', 'writing']);
    assert.deepEqual(seen.at(-1), { phase: 'writing', bytes: text.length, totalBytes: text.length, messages: 6 });
  });
});

describe('damaged lines', () => {
  test('a bad line stays where it is and is named with its line and offset', async () => {
    const bad = ['{"id":"x"', '{"a":1}{"b":2}', '\u0000\u0000', '"text"'];
    const lines = chat.flatMap((message, i) => [JSON.stringify(message), ...(bad[i] ? [bad[i]] : [])]);
    const text = `${lines.join('\n')}\n{"id":"torn`;
    const made = await trim(text, last);
    assert.equal(await made.text(), `${[...bad, ...lines.slice(-2)].join('\n')}\n{"id":"torn`);
    assert.deepEqual(made.report.unreadable.map(({ line }) => line), [2, 4, 6, 8, 11]);
    for (const { offset, message } of made.report.unreadable) assert.ok(offset >= 0 && offset <= encoder.encode(text).length && message.length > 5);
    assert.equal(made.before, 6);
  });

  test('a file that is cut anywhere is trimmed, or refused with a typed error', async () => {
    const session = encoder.encode(claudeCodeSession().text());
    for (let end = 0; end <= session.length; end += 7) {
      const part = session.subarray(0, end);
      const text = decoder.decode(part);
      let made;
      try {
        made = tamp.compactText(part, policies[0]);
      } catch (error) {
        assert.ok(error instanceof TampError, String(error));
        assert.ok(!text.includes('\n') || !linesOf(text).some((line) => line.includes('"role"') && line.endsWith('}')), `refused at ${end}`);
        continue;
      }
      const torn = text.endsWith('\n') ? null : text.slice(text.lastIndexOf('\n') + 1);
      if (torn && made.report.unreadable.length > 0) assert.ok(made.text().endsWith(torn), 'the torn line is the last, as it was');
    }
  });
});

describe('chunks', () => {
  test('chunks of any size give the same bytes', async () => {
    const files = [claudeCodeSession().text(), jsonLines(codexRollout()), JSON.stringify(chat, null, 1), `{"a":[1],"messages":${JSON.stringify(chat)}}`];
    const { Reading, joined, reportOf } = await import('../../dist/reading.js');
    for (const text of files) {
      const bytes = encoder.encode(text);
      const whole = tamp.compactText(bytes, policies[0]);
      for (const size of [1, 2, 3, 7, 4096]) {
        const reading = new Reading(tamp.bridge, 'auto', (/** @type {number} */ at, /** @type {number} */ length) => bytes.subarray(at, at + length));
        const policy = tamp.bridge.policy(JSON.stringify(policies[0]));
        for (let at = 0; at < bytes.length; at += size) reading.feed(bytes.subarray(at, at + size));
        reading.finish();
        const made = /** @type {import('../../dist/reading.js').Trim} */ (reading.plan(policy.handle, {}, [], false).trim);
        assert.equal(decoder.decode(joined(made.slices, bytes)), whole.text(), `chunks of ${size}`);
        assert.deepEqual(reportOf(tamp.bridge, made.told, () => made.told), whole.report);
        reading.dispose();
        tamp.bridge.dispose(policy.handle);
      }
    }
  });
});

/** What a reader of Claude Code needs: every parent is there, or was not there before either. @param {string} text @param {string} original */
function checkLinks(text, original) {
  const records = linesOf(text).map((line) => JSON.parse(line));
  const ids = new Set(records.map(({ uuid }) => uuid).filter(Boolean));
  const before = new Set(linesOf(original).map((line) => JSON.parse(line).uuid).filter(Boolean));
  const was = new Map(linesOf(original).map((line) => JSON.parse(line)).map((record) => [record.uuid, record]));
  for (const record of records) {
    for (const link of ['parentUuid', 'logicalParentUuid', 'leafUuid']) {
      const id = record[link];
      if (id && before.has(id)) assert.ok(ids.has(id), `${link} ${id} dangles`);
    }
    const origin = record.uuid && was.get(record.uuid);
    if (!origin) continue;
    let parent = origin.parentUuid;
    while (parent && !ids.has(parent)) parent = was.get(parent)?.parentUuid ?? null;
    const added = records.find(({ uuid }) => uuid === record.parentUuid && !before.has(uuid));
    if (!added && origin.parentUuid && before.has(origin.parentUuid)) assert.equal(record.parentUuid, parent, 'the nearest that stayed');
    assert.deepEqual([record.sessionId, record.timestamp], [origin.sessionId, origin.timestamp]);
  }
}

describe('Claude Code', () => {
  for (const policy of policies) {
    test(`${policyName(policy)} leaves links whole, other records as they are, and a file that reads the same`, async () => {
      const text = claudeCodeSession().text();
      const made = await trim(text, policy);
      const result = await made.text();
      checkLinks(result, text);
      const again = await identifyTranscript(result);
      assert.deepEqual([again?.format, again?.messages, again?.tokens], ['claude-code', made.after, made.report.tokensAfter]);
      assert.equal((await trim(result, policy)).changed, false, 'nothing is left to do');
      for (const mark of ['"custom-title"', '"queue-operation"', '"last-prompt"']) assert.ok(result.includes(mark));
      const calls = new Set([...result.matchAll(/"type":"tool_use","id":"(\w+)"/gu)].map((match) => match[1]));
      const results = new Set([...result.matchAll(/"tool_use_id":"(\w+)"/gu)].map((match) => match[1]));
      assert.deepEqual([...results].sort(), [...calls].sort(), 'no call without its result');
      for (const [, call] of result.matchAll(/"parentToolUseID":"(\w+)"/gu)) assert.ok(calls.has(call), 'progress goes with its call');
    });
  }

  test('the lines of one message count once, and go together', async () => {
    const made = await trim(claudeCodeSession().text(), { strategy: 'drop-tool-calls', keepLastToolCallGroups: 1 });
    /* u, m1, r, r, m2, u, m3, r, u, m4, r, m5 */
    assert.equal(made.before, 12);
    assert.equal((await made.text()).includes('"m1"'), false, 'thinking, text and calls of m1 are gone');
  });

  test('parallel calls whose results come later are moved nowhere', async () => {
    const text = claudeCodeSession().text();
    const made = await trim(text, [{ strategy: 'repair' }]);
    assert.deepEqual([made.changed, await made.text()], [false, text]);
  });

  test('a cleared result loses its copy for display', async () => {
    const result = await (await trim(claudeCodeSession().text(), { strategy: 'clear-tool-results', keepLast: 0 })).text();
    assert.equal(result.includes('toolUseResult'), false);
    assert.equal(result.match(/\[tool result cleared\]/gu)?.length, 4);
  });

  test('a summary is a record like its neighbours, between them in the tree', async () => {
    const text = claudeCodeSession().text();
    const made = await trim(text, { strategy: 'digest', keepMessages: 2 });
    const records = linesOf(await made.text()).map((line) => JSON.parse(line));
    const summary = records.find((record) => record.tamp);
    const at = records.indexOf(summary);
    assert.equal(summary.type, 'user');
    assert.equal(summary.sessionId, 's1');
    assert.match(summary.uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u);
    assert.equal(summary.parentUuid, records.find((record) => record.type === 'user').uuid);
    const next = records.slice(at + 1).find((record) => record.uuid);
    assert.equal(next.parentUuid, summary.uuid);
    checkLinks(await made.text(), text);
  });

  test('a call that never got its result is answered behind it', async () => {
    const session = new ClaudeCode();
    session.user('one');
    const call = session.block('m1', { type: 'tool_use', id: 't1', name: 'Bash', input: {} });
    session.user('never mind');
    session.say('m2', 'fine');
    const result = await (await trim(session.text(), { strategy: 'repair' })).text();
    const records = linesOf(result).map((line) => JSON.parse(line));
    assert.equal(records.length, 5);
    assert.equal(records[2].message.content[0].tool_use_id, 't1');
    assert.equal(records[2].parentUuid, call);
    assert.equal(records[3].parentUuid, records[2].uuid);
  });

  test('what stands before a compact boundary is in no count, is kept, and goes with dropDead', async () => {
    const session = claudeCodeSession();
    session.add({ type: 'system', subtype: 'compact_boundary', logicalParentUuid: session.last, compactMetadata: { trigger: 'auto' } }, null);
    session.user('Summary of the session so far.', { isCompactSummary: true });
    session.user('What next?');
    session.say('n1', 'Nothing.');
    const text = session.text();
    const kept = await trim(text, { strategy: 'sliding-window', keepMessages: 40 });
    assert.deepEqual([kept.changed, kept.before, await kept.text()], [false, 3, text]);
    const dropped = await trim(text, { strategy: 'sliding-window', keepMessages: 40 }, { dropDead: true });
    const result = await dropped.text();
    assert.equal(dropped.changed, true);
    assert.equal(result.includes('"t1"'), false);
    assert.ok(result.includes('"custom-title"') && result.includes('compact_boundary'));
    checkLinks(result, text);
    assert.equal((await identifyTranscript(result))?.messages, 3);
  });

  test('records that a boundary preserves stay alive and are not touched', async () => {
    const session = claudeCodeSession();
    const [head, tail] = [session.user('keep this'), session.say('k1', 'kept as it was')];
    session.add({ type: 'system', subtype: 'compact_boundary', compactMetadata: { preservedSegment: { headUuid: head, anchorUuid: head, tailUuid: tail } } }, null);
    session.user('What next?');
    session.say('n1', 'Nothing.');
    const made = await trim(session.text(), last, { dropDead: true });
    assert.equal(made.before, 4);
    assert.ok((await made.text()).includes('kept as it was') && (await made.text()).includes('keep this'));
  });

  test('records that name each other in a circle, or nobody, are read', async () => {
    const session = claudeCodeSession();
    session.records[3].parentUuid = session.records[4].uuid;
    session.records[5].parentUuid = 'nobody';
    const made = await trim(session.text(), last);
    assert.equal(made.changed, true);
    for (const line of linesOf(await made.text())) JSON.parse(line);
  });
});

describe('Codex', () => {
  for (const policy of policies) {
    test(`${policyName(policy)} takes the copies for display along and reads the same afterwards`, async () => {
      const text = jsonLines(codexRollout());
      const made = await trim(text, policy);
      const result = await made.text();
      assert.equal(linesOf(result)[0], linesOf(text)[0], 'the first line stays');
      const again = await identifyTranscript(result);
      assert.deepEqual([again?.format, again?.messages, again?.tokens], ['codex', made.after, made.report.tokensAfter]);
      assert.equal((await trim(result, policy)).changed, false, 'nothing is left to do');
      const records = linesOf(result).map((line) => JSON.parse(line));
      const texts = records.filter(({ type }) => type === 'response_item').map(({ payload }) => payload.content?.[0]?.text);
      for (const { payload } of records.filter(({ type }) => type === 'event_msg')) {
        if (payload.type === 'user_message' || payload.type === 'agent_message') assert.ok(texts.includes(payload.message) || policy.strategy === 'clamp', payload.message);
        if (payload.item) assert.ok(records.some((record) => record.payload.call_id === payload.item.id));
      }
      const calls = records.filter(({ payload }) => payload.type === 'function_call').map(({ payload }) => payload.call_id);
      const outputs = records.filter(({ payload }) => payload.type === 'function_call_output').map(({ payload }) => payload.call_id);
      assert.deepEqual(outputs, calls);
      inOrder(records.filter(({ type }) => type === 'turn_context').map((record) => JSON.stringify(record)), linesOf(text));
    });
  }

  test('instructions and what the program says in the user\'s name are never removed', async () => {
    const result = await (await trim(jsonLines(codexRollout()), last)).text();
    assert.ok(result.includes('Be careful.') && result.includes('environment_context'));
  });

  test('what a compacted line replaced, and turns that were rolled back, are in no count', async () => {
    const rollout = codexRollout();
    const compacted = [...rollout, { timestamp: 'x', type: 'compacted', payload: { message: 'm', replacement_history: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'all of it' }] }] } },
      ...rollout.slice(-3)];
    assert.equal((await trim(jsonLines(compacted), last)).before, 3);
    const back = [...rollout, { timestamp: 'x', type: 'event_msg', payload: { type: 'thread_rolled_back', num_turns: 1 } }, ...rollout.slice(-3)];
    const all = await identifyTranscript(jsonLines(rollout));
    assert.equal((await trim(jsonLines(back), last)).before, all?.messages);
    assert.ok((await (await trim(jsonLines(back), last, { dropDead: true })).text()).includes('"u3"'), 'the turns it undoes stay');
  });

  test('calls that wait together at the end are left to wait', async () => {
    const calls = ['x', 'y'].map((id) => ({ timestamp: 't', type: 'response_item', payload: { type: 'function_call', name: 'f', arguments: '{}', call_id: id } }));
    const made = await trim(jsonLines([...codexRollout(), ...calls]), { strategy: 'repair' });
    assert.equal(made.changed, false);
  });
});

describe('identifyTranscript', () => {
  for (const [format, container, text] of /** @type {[string, string, string][]} */ ([
    ['claude-code', 'jsonl', claudeCodeSession().text()],
    ['codex', 'jsonl', jsonLines(codexRollout())],
    ['ag-ui', 'json-array', JSON.stringify(chat)],
    ['openai', 'json-object', JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })],
    ['anthropic', 'json-object', JSON.stringify({ system: 'Be brief.', messages: [{ role: 'user', content: 'hi' }] })],
  ])) {
    test(`tells ${format} in ${container}`, async () => {
      const found = await identifyTranscript(text);
      assert.deepEqual([found?.format, found?.container], [format, container]);
      assert.ok(found && found.messages > 0 && found.tokens > 0);
    });
  }

  test('a Claude Code file of nothing but metadata has no messages', async () => {
    const found = await identifyTranscript(jsonLines([{ type: 'file-history-snapshot', messageId: 'x', snapshot: { messageId: 'x' } }]));
    assert.deepEqual([found?.format, found?.messages], ['claude-code', 0]);
  });
});

describe('summaries', () => {
  test('a policy that asks gets its summary, and without a summarizer says so at once', async () => {
    const policy = { strategy: 'summarize', keepMessages: 2, keepFirstUser: false };
    const text = jsonLines(chat.map((message) => ({ ...message, content: `${message.content} ${'word '.repeat(50)}` })));
    await assert.rejects(trim(text, policy), (/** @type {any} */ error) => error.code === 'no-summarizer');
    /** @type {any[]} */
    const asked = [];
    const made = await trim(text, policy, { summarize: (/** @type {any} */ request) => { asked.push(request); return 'short'; } });
    assert.equal(asked.length, 1);
    assert.deepEqual(asked[0].messages.map(({ id }) => id), ['m1', 'm2', 'm3', 'm4']);
    assert.ok((await made.text()).includes('[Conversation summary]\\n\\nshort'));
  });
});

describe('a transcript that changes while it is trimmed', () => {
  const tool = (/** @type {number} */ n) => [
    { id: `c${n}`, role: 'assistant', toolCalls: [{ id: `x${n}`, type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { id: `t${n}`, role: 'tool', toolCallId: `x${n}`, content: `result ${n} `.repeat(200) },
  ];
  const lines = () => encoder.encode([plain(0), ...Array.from({ length: 12 }, (_, n) => tool(n)).flat(), plain(1)].map((message) => `${JSON.stringify(message)}\n`).join(''));
  const policy = [{ strategy: 'clear-tool-results', keepLast: 6 }, { strategy: 'tool-results', keepLastToolCallGroups: 2 }, { strategy: 'summarize', keepMessages: 2 }];

  for (const [how, change] of /** @type {[string, (bytes: Uint8Array) => void][]} */ ([
    ['is no JSON any more', (bytes) => { bytes.fill(0x20); }],
    ['holds other messages', (bytes) => { bytes.set(encoder.encode('"'), bytes.indexOf('r'.charCodeAt(0), 400)); }],
    ['is longer where it is escaped', (bytes) => { for (let at = bytes.indexOf(0x20); at >= 0; at = bytes.indexOf(0x20, at + 1)) bytes[at] = 0x01; }],
  ])) {
    test(`is a typed error that says so: it ${how}`, async () => {
      const bytes = lines();
      const trimmed = trim(bytes, policy, { format: 'ag-ui', summarize: () => { change(bytes); return 'A short summary.'; } });
      await assert.rejects(trimmed, (error) => error instanceof TampError && error.code === 'source-changed' && /read it again/.test(error.message));
    });
  }
});

describe('real transcripts', { skip: missing ?? false }, () => {
  for (const { name, bytes } of transcripts) {
    for (const policy of policies) {
      test(`${name} under ${policyName(policy)}: what was not touched is the same bytes in the same order`, async () => {
        const before = decoder.decode(bytes);
        const made = await trim(new Uint8Array(bytes), policy);
        const text = await made.text();
        const again = await identifyTranscript(text);
        assert.deepEqual([again?.format, again?.messages, again?.tokens], [made.format, made.after, made.report.tokensAfter]);
        assert.equal((await trim(text, policy)).changed, false, 'nothing is left to do');
        if (made.container !== 'jsonl') {
          const old = JSON.parse(before);
          const texts = (/** @type {any} */ value) => (Array.isArray(value) ? value : value.messages ?? value.history).map((/** @type {any} */ m) => JSON.stringify(m));
          const touched = made.report.rewritten.length + made.report.added.length;
          const kept = texts(JSON.parse(text)).filter((/** @type {string} */ line) => texts(old).includes(line));
          assert.ok(kept.length >= made.after - touched);
          inOrder(kept, texts(old));
          return;
        }
        checkLinks(text, before);
        /* Lines whose parent went differ in that link alone. */
        const bare = (/** @type {string} */ line) => line.replaceAll(/"(?:parentUuid|leafUuid|logicalParentUuid)":(?:null|"[^"]*")/gu, '"link":0');
        const lines = linesOf(before).map(bare);
        const same = linesOf(text).map(bare).filter((line) => lines.includes(line));
        inOrder(same, lines);
        assert.ok(linesOf(text).length - same.length <= made.report.rewritten.length + made.report.added.length);
      });
    }
  }
});
