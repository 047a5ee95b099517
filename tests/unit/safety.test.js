/** Nothing in the modules runs text as code or as markup, no expression backtracks, and no prototype is touched. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { loadTamp, mark, project, slidingWindow, summarize, toolResults, unmark } from 'tamp';
import { compactionEvent, readCompaction, restoreCompactions } from 'tamp/ag-ui';
import { createSession } from 'tamp/session';
import { memoryStore } from 'tamp/store';

const web = fileURLToPath(new URL('../../web/', import.meta.url));

/** @type {import('tamp').Tamp} */
let tamp;
before(async () => { tamp = await loadTamp(); });

const sources = /** @type {string[]} */ (readdirSync(web, { recursive: true }))
  .filter((name) => name.endsWith('.js'))
  .map((name) => ts.createSourceFile(name, readFileSync(web + name, 'utf8'), ts.ScriptTarget.Latest, true));

/** @param {(node: ts.Node, place: string) => void} look */
function everyNode(look) {
  for (const source of sources) {
    const visit = (/** @type {ts.Node} */ node) => {
      look(node, `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
      node.forEachChild(visit);
    };
    visit(source);
  }
}

test('no module evaluates text, parses markup from it or loads code by a name', () => {
  const forbidden = new Set(['eval', 'Function', 'innerHTML', 'outerHTML', 'insertAdjacentHTML', 'write', 'writeln', 'srcdoc',
    'DOMParser', 'createContextualFragment', 'setHTMLUnsafe', 'importScripts', 'execScript', 'setHTML', '__proto__', 'setPrototypeOf']);
  /** @type {string[]} */
  const found = [];
  everyNode((node, place) => {
    if (ts.isIdentifier(node) && forbidden.has(node.text)) {
      /* `write` is the elements' own; only that of document is markup. */
      const { parent } = node;
      const ofDocument = ts.isPropertyAccessExpression(parent) && parent.expression.getText() === 'document';
      if (!node.text.startsWith('write') || ofDocument) found.push(`${place} ${node.text}`);
    }
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && /^set(Timeout|Interval)$/u.test(node.expression.text)
      && ts.isStringLiteralLike(node.arguments[0])) found.push(`${place} a timer of text`);
    if (ts.isStringLiteralLike(node) && /^javascript:/iu.test(node.text)) found.push(`${place} ${node.text}`);
  });
  assert.ok(sources.length > 40);
  assert.deepEqual(found, []);
});

test('no regular expression can backtrack: at most one unbounded repeat, and none of a group', () => {
  let count = 0;
  everyNode((node, place) => {
    if (!ts.isRegularExpressionLiteral(node)) return;
    count += 1;
    const pattern = node.text.slice(1, node.text.lastIndexOf('/'))
      .replace(/\[(?:\\.|[^\]\\])*\]/gu, 'c').replace(/\\[pP]\{[^}]*\}/gu, 'c').replace(/\\./gu, (escape) => (/\d/u.test(escape) ? escape : 'c'));
    assert.doesNotMatch(pattern, /\\\d/u, `${place}: a back-reference`);
    assert.doesNotMatch(pattern, /\)(?:[*+]|\{\d*,\})/u, `${place}: a repeated group`);
    assert.ok((pattern.match(/[*+]|\{\d*,\}/gu) ?? []).length <= 1, `${place}: ${node.text}`);
  });
  assert.ok(count > 0);
});

/** Messages with keys that mean something to a prototype, in every place that is read. */
const hostile = () => {
  const poison = '"__proto__":{"evil":1,"tamp":{"pin":true}},"constructor":{"prototype":{"evil":1}},"prototype":{"evil":1}';
  return JSON.parse(`[
    {${poison},"id":"u1","role":"user","content":"one","metadata":{${poison},"tamp":{${poison}}}},
    {${poison},"id":"k","role":"assistant","content":"reading","toolCalls":[{${poison},"id":"__proto__","type":"function",
      "function":{${poison},"name":"constructor","arguments":"{\\"__proto__\\":{\\"evil\\":1}}"}}]},
    {${poison},"id":"__proto__","role":"tool","toolCallId":"__proto__","content":"${'a long result '.repeat(20)}"},
    {${poison},"id":"hasOwnProperty","role":"activity","activityType":"compaction","content":{${poison},"before":3,"after":1}},
    {${poison},"id":"u2","role":"user","content":[{${poison},"type":"text","text":"two"}]},
    {${poison},"id":"toString","role":"assistant","content":"three"}]`);
};

/** Everything that takes messages, on these. @param {any[]} messages */
async function everything(messages) {
  const text = JSON.stringify(messages);
  const compaction = tamp.compact(messages, toolResults({ keepLastToolCallGroups: 0, maxChars: 60 }));
  const history = tamp.open(messages);
  history.sync(JSON.parse(text));
  history.sync(messages);
  const window = history.compact(slidingWindow({ keepMessages: 1 }));
  const marked = mark(messages, window);
  const session = await createSession({
    chatId: '__proto__', tamp, store: memoryStore(),
    compaction: { shouldCompact: () => true, summarize: () => 'SUM' },
  });
  const turn = await session.send({ ...messages[0], id: 'q' });
  await turn.addResponse({ ...messages[5], id: 'a' });
  await turn.complete({ usage: { totalTokens: 160 } });
  const summarised = await tamp.compactAsync(messages, summarize({ keepMessages: 1 }), { summarize: () => '__proto__' });
  const result = {
    messages: compaction.messages,
    dropped: compaction.report.dropped,
    rewritten: compaction.report.rewritten,
    window: window.messages,
    projected: project(marked),
    unmarked: unmark(marked),
    text: tamp.compactText(text, slidingWindow({ keepMessages: 1 }), { format: 'ag-ui' }).text(),
    inspection: tamp.inspect(messages),
    session: session.modelMessages,
    summarised: summarised.messages,
    notices: [readCompaction(messages[3]), restoreCompactions(messages), compactionEvent({ removed: 1, before: 2, after: 1 }).content],
  };
  await session.close();
  history.dispose();
  return JSON.stringify(result, (key, value) => (key === 'at' ? 0 : value));
}

describe('prototypes', () => {
  test('messages with __proto__, constructor and prototype in them change no prototype and keep their members', async () => {
    const messages = hostile();
    const before = JSON.stringify(messages);
    await everything(messages);
    assert.equal(JSON.stringify(messages), before);
    assert.equal(/** @type {any} */ ({}).evil, undefined);
    assert.deepEqual(Object.keys(Object.prototype), []);
    assert.equal(Object.getPrototypeOf(Object.prototype), null);
    const { messages: kept } = tamp.compact(messages, toolResults({ keepLastToolCallGroups: 0, maxChars: 60 }));
    const rewritten = kept.find(({ id }) => id === 'k');
    assert.ok(rewritten && rewritten !== messages[1]);
    assert.ok(Object.hasOwn(rewritten, '__proto__') && Object.hasOwn(rewritten, 'constructor'));
    assert.equal(Object.getPrototypeOf(rewritten), Object.prototype);
  });

  test('a page whose prototypes were extended by others gets the same results', async () => {
    const expected = await everything(hostile());
    const names = ['evil', 'extend', 'each', 'first', '0'];
    for (const prototype of [Object.prototype, Array.prototype, String.prototype]) {
      try {
        for (const name of names) {
          if (name === '0' && prototype !== Object.prototype) continue;
          Object.defineProperty(prototype, name, { value: 'polluted', enumerable: true, configurable: true, writable: true });
        }
        const result = await everything(hostile());
        for (const name of names) delete (/** @type {any} */ (prototype))[name];
        assert.equal(result, expected);
      } finally {
        for (const name of names) delete (/** @type {any} */ (prototype))[name];
      }
    }
  });

  test('a message without a prototype and one of a class are what JSON makes of them', () => {
    class Message {
      id = 'c';

      role = 'user';

      content = 'of a class';

      hidden() { return this.id; }
    }
    const bare = Object.assign(Object.create(null), { id: 'b', role: 'user', content: 'bare' });
    const messages = [bare, new Message(), { id: 'a', role: 'assistant', content: 'x' }];
    assert.deepEqual(tamp.inspect(messages), tamp.inspect(JSON.parse(JSON.stringify(messages))));
  });
});
