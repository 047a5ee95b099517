/**
 * Random histories, policies and options for fast-check.
 *
 * A history is an array of whole numbers, each of which spells one block (a question, an answer, a
 * batch of calls with its results, …): generating is cheap, and since 0 spells the plainest block and
 * the plainest detail, shrinking numbers and dropping them shrinks what a failure is about.
 *
 * Three kinds of lists. *valid*: what a provider accepts, possibly with pending calls at the end.
 * *broken*: a valid list after damage that keeps the types AG-UI gives its fields. *hostile*: anything
 * that is a list of objects.
 */
import fc from 'fast-check';

/** @typedef {Record<string, any>} Message */
/** @typedef {Record<string, any>} Strategy */

/** Reads small choices off one number; an exhausted number goes on choosing 0, the plainest. */
export class Choices {
  #rest;

  /** @param {number} code a whole number ≥ 0 */
  constructor(code) {
    this.#rest = code;
  }

  /** One of 0 … n - 1. @param {number} n */
  take(n) {
    const choice = this.#rest % n;
    this.#rest = Math.floor(this.#rest / n);
    return choice;
  }

  /** True once in n times. @param {number} n */
  once(n) {
    return this.take(n) === n - 1;
  }

  /** @template T @param {readonly T[]} values @returns {T} */
  of(values) {
    return values[this.take(values.length)];
  }
}

/** A number that spells choices. Uniform: fast-check's bias to small numbers would bias every choice. */
export const code = fc.noBias(fc.maxSafeNat());

const GRAPHEMES = ['e\u0301', '\u{1F469}\u200D\u{1F469}\u200D\u{1F466}', '\u{1F1E9}\u{1F1EA}',
  '\u2764\uFE0F', '\u{1F389}', 'n\u0303\u0323'];
const TRAPS = ['$& and $\' and {messages}', '</summary>', '[Tool results: search: text; read_file: x]',
  '[tool result cleared]', '[no result was recorded]', '"}\\u0000{"role":"system"}',
  '[Conversation summary]\n\nearlier', 'x\n[10 of 20 characters removed]\ny', '<|endoftext|>',
  'a\u2028b\u2029c\u0085d', 'data:image/png;base64,AAAA', '\u0000\u0001\u001f'];

/**
 * @param {Choices} choices
 * @param {boolean} hostile
 * @returns {string} a text that is not blank
 */
function text(choices, hostile) {
  const words = (/** @type {number} */ n) =>
    Array.from({ length: n }, (_, index) => `word${index + 1}`).join(' ');
  switch (choices.take(12)) {
    case 7: return words(20 + choices.take(60));
    case 8: return '中文字符測試한국어'.slice(0, 1 + choices.take(9)).repeat(1 + choices.take(8));
    case 9: return choices.of(GRAPHEMES).repeat(1 + choices.take(30));
    case 10: return choices.of(TRAPS);
    case 11: return hostile ? `lone \ud83d${'x'.repeat(choices.take(40))}\udc00` : words(150);
    default: return words(1 + choices.take(12));
  }
}

const TOOLS = ['search', 'read_file', 'write_file', 'constructor'];

/** @param {Choices} choices @param {boolean} hostile */
function argumentsOf(choices, hostile) {
  switch (choices.take(6)) {
    case 4: return JSON.stringify({ path: 'a.txt', text: 'b'.repeat(choices.take(400)) });
    case 5: return hostile ? choices.of(['', 'not json', '[]', '"text"', '{"path":', '{}']) : '{}';
    default: return JSON.stringify({ path: choices.of(['a.txt', 'b.txt', '中.txt']) });
  }
}

const BASE64 = (/** @type {number} */ n) => 'A'.repeat(n * 4);

/** @param {Choices} choices */
function media(choices) {
  const value = BASE64(1 + choices.take(200));
  return choices.of([
    { type: 'image', source: { type: 'data', value, mimeType: 'image/png' } },
    { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } },
    { type: 'binary', mimeType: 'application/pdf', data: value },
    { type: 'audio', source: { type: 'data', value, mimeType: 'audio/wav' } },
    { type: 'image', source: { type: 'url', value: `data:image/gif;base64,${value}` } },
  ]);
}

/**
 * Builds a valid list out of blocks.
 */
class Builder {
  /** @type {Message[]} */
  messages = [];
  #id = 0;

  /** @param {{ hostile: boolean, activity: boolean }} options */
  constructor({ hostile, activity }) {
    this.hostile = hostile;
    this.activity = activity;
  }

  /** @param {Message} message @param {Choices} choices */
  add(message, choices) {
    this.#id += 1;
    /** @type {Message} */
    const whole = { id: `m${String(this.#id).padStart(3, '0')}`, ...message };
    if (choices.once(24)) whole.metadata = { tamp: { pin: true } };
    this.messages.push(whole);
  }

  /** @param {Choices} choices @param {boolean} [opaque] */
  reasoning(choices, opaque = choices.once(3)) {
    this.add({
      role: 'reasoning',
      content: text(choices, this.hostile),
      ...(opaque ? { encryptedValue: 'b3BhcXVl' } : {}),
    }, choices);
  }

  /** @param {Choices} choices @param {number} [answered] how many calls get their result; all */
  batch(choices, answered = Infinity) {
    if (choices.once(4)) this.reasoning(choices);
    const count = choices.of([1, 1, 2, 1, 3, 1, 5, 2]);
    const first = this.#id;
    const calls = Array.from({ length: count }, (_, index) => ({
      id: `c${String(first).padStart(3, '0')}${'abcdefgh'[index]}`,
      type: 'function',
      function: { name: choices.of(TOOLS), arguments: argumentsOf(choices, this.hostile) },
    }));
    this.add({
      role: 'assistant',
      ...(choices.once(3) ? { content: text(choices, this.hostile) } : {}),
      toolCalls: calls,
    }, choices);
    for (const { id } of calls.slice(0, answered)) {
      const error = choices.once(5) ? { error: 'it broke' } : {};
      const content = choices.once(12)
        ? [{ type: 'text', text: text(choices, this.hostile) }, media(choices)]
        : text(choices, this.hostile);
      this.add({ role: 'tool', toolCallId: id, content, ...error }, choices);
      if (this.activity && choices.once(12)) this.act(choices);
    }
  }

  /** @param {Choices} choices */
  act(choices) {
    this.add({ role: 'activity', activityType: 'PLAN', content: { step: choices.take(9) } }, choices);
  }

  /** @param {number} spelled */
  block(spelled) {
    const choices = new Choices(spelled);
    const content = () => text(choices, this.hostile);
    switch (choices.take(16)) {
      case 0: case 1: case 2: this.add({ role: 'user', content: content() }, choices); break;
      case 3: case 4: case 5: this.add({ role: 'assistant', content: content() }, choices); break;
      case 6: case 7: case 8: case 9: case 10: this.batch(choices); break;
      case 11:
        this.reasoning(choices);
        this.add({ role: 'assistant', content: content() }, choices);
        break;
      case 12:
        this.add({ role: choices.of(['system', 'developer']), content: content() }, choices);
        break;
      case 13:
        if (this.activity) this.act(choices);
        break;
      case 14:
        this.add({
          role: 'user', content: [{ type: 'text', text: content() }, media(choices)],
        }, choices);
        break;
      case 15:
        this.add({
          role: 'user',
          content: `[Conversation summary]\n\n${content()}`,
          metadata: { tamp: { summary: { throughId: 'gone', covered: 1 + choices.take(9) } } },
        }, choices);
        break;
    }
  }
}

/**
 * @param {readonly number[]} blocks
 * @param {{ hostile?: boolean, activity?: boolean, pending?: number }} [options] `pending`: spells a
 *   last batch of which some calls have no result yet; 0 for none
 * @returns {Message[]}
 */
export function build(blocks, { hostile = false, activity = true, pending = 0 } = {}) {
  const builder = new Builder({ hostile, activity });
  for (const block of blocks) builder.block(block);
  if (pending > 0) {
    const choices = new Choices(pending);
    builder.batch(choices, choices.take(2));
  }
  // A summary stands once, and where nothing is still waited for.
  let summaries = 0;
  return builder.messages.filter((message) =>
    hostile || message.metadata?.tamp?.summary === undefined || (summaries += 1) === 1);
}

/**
 * One damage that keeps the types of fields.
 *
 * @param {Message[]} messages
 * @param {number} spelled
 */
function damage(messages, spelled) {
  const choices = new Choices(spelled);
  const kind = choices.take(12);
  const at = choices.take(messages.length);
  const to = choices.take(messages.length + 1);
  const message = messages[at];
  const results = messages.filter(({ role }) => role === 'tool');
  const insert = (/** @type {Message} */ extra) => messages.splice(to, 0, extra);
  switch (kind) {
    case 0: messages.splice(at, 1); break;
    case 1: case 2: messages.splice(at, 1); messages.splice(Math.min(to, messages.length), 0, message); break;
    case 3: insert({ ...structuredClone(message), id: `${message.id}-again` }); break;
    case 4: insert({ id: `lost${to}`, role: 'tool', toolCallId: 'nobody', content: 'late' }); break;
    case 5: {
      // A result moves, most often behind what was said since.
      const result = choices.of(results);
      if (result === undefined) break;
      messages.splice(messages.indexOf(result), 1);
      messages.splice(Math.min(to, messages.length), 0, result);
      break;
    }
    case 6: {
      const result = choices.of(results);
      if (result === undefined) break;
      const content = choices.of(['another result', '', ' \n']);
      insert({ ...structuredClone(result), id: `${result.id}-twin`, content });
      break;
    }
    case 7: {
      // An id is used again by a later batch.
      const calls = messages.flatMap(({ toolCalls }) => toolCalls ?? []);
      if (calls.length < 2) break;
      const [from, over] = [choices.of(calls), choices.of(calls)];
      for (const result of results) {
        if (result.toolCallId === over.id) result.toolCallId = from.id;
      }
      over.id = from.id;
      break;
    }
    case 8: {
      const result = choices.of(results);
      if (result !== undefined) messages.splice(messages.indexOf(result), 1);
      break;
    }
    case 9: if (message.role !== 'activity') message.content = choices.of(['', ' ', '\u200b']); break;
    case 10: insert({ id: `critic${to}`, role: 'critic', content: 'not good' }); break;
    case 11: insert({ id: `r${to}`, role: 'reasoning', content: 'hm' }); break;
  }
}

const VALUES = [null, 7, true, 'text', [], {}, [null], [{ type: 'text' }], { text: 'x' }, -0, 1e308,
  [[]], ['text'], [{ type: 'image' }], '\ud83d', { tamp: { pin: 'yes', summary: 7 } }];
const KEYS = ['id', 'role', 'content', 'toolCalls', 'toolCallId', 'metadata', 'error', 'name',
  '__proto__', 'constructor', 'toString', 'encryptedValue', 'tool_calls', 'parts', 'type'];

/**
 * One damage that keeps nothing but that a message is an object.
 *
 * @param {Message[]} messages
 * @param {number} spelled
 */
function spoil(messages, spelled) {
  const choices = new Choices(spelled);
  const kind = choices.take(7);
  const at = choices.take(messages.length);
  const message = messages[at];
  const set = (/** @type {object} */ target, /** @type {string} */ key, /** @type {unknown} */ value) =>
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  switch (kind) {
    case 0: case 1: set(message, choices.of(KEYS), structuredClone(choices.of(VALUES))); break;
    case 2: delete message[choices.of(KEYS)]; break;
    case 3: {
      const call = message.toolCalls?.[0];
      if (call === null || typeof call !== 'object') break;
      if (choices.once(2)) set(call, choices.of(['id', 'function', 'type']), structuredClone(choices.of(VALUES)));
      else if (typeof call.function === 'object' && call.function !== null) {
        set(call.function, choices.of(['name', 'arguments']), structuredClone(choices.of(VALUES)));
      }
      break;
    }
    case 4: message.id = choices.of(['', '__proto__', 'constructor', 'm001', '#0', '\ud83d', '"\\']); break;
    case 5: messages.splice(choices.take(messages.length + 1), 0, choices.of([{}, { role: 'user' },
      { role: 'assistant', toolCalls: [{}] }, { role: 'tool' }, { id: 'x', content: null }])); break;
    case 6: {
      const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`);
      set(message, choices.of(KEYS), deep);
      break;
    }
  }
}

/**
 * @param {{ activity?: boolean, maxLength?: number }} [options]
 * @returns {fc.Arbitrary<Message[]>} lists a provider accepts
 */
export const validHistory = ({ activity = true, maxLength = 14 } = {}) => fc.tuple(
  fc.array(code, { maxLength, size: 'max' }),
  fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: code }),
).map(([blocks, pending]) => build(blocks, { activity, pending }));

/** @returns {fc.Arbitrary<Message[]>} lists whose fields have the right types, and nothing more */
export const brokenHistory = ({ activity = true, maxLength = 12 } = {}) => fc.tuple(
  fc.array(code, { maxLength, size: 'max' }),
  fc.array(code, { minLength: 1, maxLength: 5, size: 'max' }),
).map(([blocks, damages]) => {
  const messages = build(blocks, { activity, pending: damages[0] % 3 === 0 ? damages[0] : 0 });
  for (const each of damages) if (messages.length > 0) damage(messages, each);
  return messages;
});

/** @returns {fc.Arbitrary<Message[]>} lists of objects */
export const hostileHistory = ({ maxLength = 10 } = {}) => fc.tuple(
  fc.array(code, { maxLength, size: 'max' }),
  fc.array(code, { maxLength: 3, size: 'max' }),
  fc.array(code, { minLength: 1, maxLength: 6, size: 'max' }),
).map(([blocks, damages, spoils]) => {
  const messages = build(blocks, { hostile: true });
  for (const each of damages) if (messages.length > 0) damage(messages, each);
  for (const each of spoils) if (messages.length > 0) spoil(messages, each);
  return messages;
});

// ── Policies ─────────────────────────────────────────────────────────────────────────────────────

/** @param {Choices} choices @param {number} [depth] @returns {Strategy} */
function trigger(choices, depth = 0) {
  const kind = choices.take(depth < 2 ? 8 : 6);
  switch (kind) {
    case 0: return { messagesOver: choices.take(12) };
    case 1: return { tokensOver: choices.take(200) };
    case 2: return { turnsOver: choices.take(4) };
    case 3: return { groupsOver: choices.take(8) };
    case 4: return { bytesOver: choices.take(2000) };
    case 5: return { hasToolCalls: true };
    default: return {
      [kind === 6 ? 'all' : 'any']:
        Array.from({ length: 1 + choices.take(2) }, () => trigger(choices, depth + 1)),
    };
  }
}

/** Some of these keys. @param {Choices} choices @param {Record<string, () => unknown>} fields */
const some = (choices, fields) => Object.fromEntries(Object.entries(fields)
  .filter(() => choices.once(2))
  .map(([key, value]) => [key, value()]));

/** @type {Record<string, (choices: Choices) => Strategy>} */
const leaves = {
  'sliding-window': (choices) => {
    const keeps = [
      () => ({ keepMessages: choices.take(8) }),
      () => ({ keepGroups: choices.take(6) }),
      () => ({ keepTurns: choices.take(4) }),
      () => ({ keepTokens: choices.take(160) }),
    ];
    /** @type {Strategy} */
    const keep = choices.of(keeps)();
    const limits = some(choices, {
      maxMessages: () => (keep.keepMessages ?? 0) + 1 + choices.take(6),
      maxTokens: () => (keep.keepTokens ?? 0) + 1 + choices.take(200),
      maxBytes: () => 1 + choices.take(3000),
    });
    return { ...limits, ...keep, ...some(choices, { keepFirstUser: () => choices.once(2) }) };
  },
  truncation: (choices) => {
    const [max, to, range] = choices.of([
      ['maxTokens', 'toTokens', 200], ['maxMessages', 'toMessages', 10], ['maxBytes', 'toBytes', 2500],
    ]);
    const least = choices.take(Number(range));
    return {
      [max]: least + choices.take(Number(range)),
      [to]: least,
      ...some(choices, { keepFirstUser: () => choices.once(2) }),
    };
  },
  'tool-results': (choices) => some(choices, {
    keepLastToolCallGroups: () => choices.take(4),
    maxChars: () => 31 + choices.take(200),
  }),
  'context-window': (choices) => {
    const maxOutputTokens = choices.take(50);
    return {
      maxContextWindowTokens: maxOutputTokens + 1 + choices.take(300),
      maxOutputTokens,
      ...choices.of([{}, { toolEvictionThreshold: 0.25, truncationThreshold: 0.5 },
        { toolEvictionThreshold: 1, truncationThreshold: 1 }]),
      ...some(choices, {
        keepLastToolCallGroups: () => choices.take(4),
        keepFirstUser: () => choices.once(2),
      }),
    };
  },
  'drop-tool-calls': (choices) => some(choices, {
    keepLastToolCallGroups: () => choices.take(4),
    tools: () => choices.of([['search'], ['search', 'read_file'], [], ['constructor', '__proto__']]),
  }),
  'clear-tool-results': (choices) => some(choices, {
    maxMessages: () => choices.take(10),
    maxTokens: () => choices.take(200),
    keepLast: () => choices.take(4),
    placeholder: () => choices.of(['[cleared]', '[tool result cleared because it was very old]']),
    excludeTools: () => choices.of([[], ['search'], ['constructor']]),
    clearInputs: () => choices.once(2),
    minTokens: () => choices.take(100),
  }),
  'dedupe-tool-results': (choices) => ({
    tools: choices.of([{ read_file: 'path' }, { read_file: '/path', search: 'path' },
      { constructor: 'path' }, { search: '__proto__' }]),
    ...some(choices, { placeholder: () => '[superseded]' }),
  }),
  clamp: (choices) => ({
    ...choices.of([
      { maxChars: choices.take(200) },
      { maxTokens: choices.take(60) },
      { maxChars: choices.take(200), maxTokens: choices.take(60) },
    ]),
    headChars: choices.take(40),
    tailChars: choices.take(40),
    ...some(choices, {
      roles: () => choices.of([['assistant', 'tool'], ['user'], ['reasoning', 'tool'],
        ['assistant', 'tool', 'user', 'reasoning']]),
      toolInputs: () => choices.once(2),
    }),
  }),
  'strip-binary': (choices) => some(choices, {
    keepLastTurns: () => choices.take(3),
    minBytes: () => choices.take(300),
  }),
  'drop-reasoning': (choices) => some(choices, { keepLastTurns: () => choices.take(3) }),
  digest: (choices) => {
    const keep = choices.of([
      { keepMessages: choices.take(6) }, { keepTokens: choices.take(160) },
    ]);
    return {
      ...keep,
      ...some(choices, {
        maxMessages: () => (keep.keepMessages ?? 0) + 1 + choices.take(6),
        maxTokens: () => (keep.keepTokens ?? 0) + 1 + choices.take(200),
        keepFirstUser: () => choices.once(2),
        role: () => choices.of(['user', 'assistant', 'system']),
        maxSummaryTokens: () => 16 + choices.take(200),
      }),
    };
  },
  repair: (choices) => some(choices, {
    orphanResults: () => choices.of(['drop', 'keep']),
    staleCalls: () => choices.of(['answer', 'drop', 'keep']),
    head: () => choices.of(['any', 'user']),
    placeholder: () => '[gone]',
  }),
};

/** Names of the strategies that need no model, `budget` apart. */
export const STRATEGIES = Object.freeze(Object.keys(leaves));

/**
 * @param {Choices} choices
 * @param {readonly string[]} names
 * @param {boolean} [when] with a condition now and then; a repair has none, so that it is known
 *   whether it ran
 * @returns {Strategy}
 */
export function leaf(choices, names = STRATEGIES, when = true) {
  const strategy = choices.of(names);
  const condition = when && strategy !== 'repair' && choices.once(4) ? { when: trigger(choices) } : {};
  return { strategy, ...leaves[strategy](choices), ...condition };
}

/**
 * Any policy: a strategy, a pipeline, a budget, and these in each other.
 *
 * @param {readonly string[]} [names]
 * @param {{ budgets?: boolean }} [kinds]
 */
export const policy = (names = STRATEGIES, { budgets = true } = {}) => {
  const one = code.map((spelled) => leaf(new Choices(spelled), names));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 2, withCrossShrink: true },
      { weight: 5, arbitrary: one },
      { weight: 1, arbitrary: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) },
      {
        weight: budgets ? 1 : 0,
        arbitrary: fc.tuple(fc.nat(300), fc.array(tie('tree'), { minLength: 1, maxLength: 3 }))
          .map(([maxTokens, steps]) => ({ strategy: 'budget', maxTokens, steps })),
      }),
  }));
  return /** @type {fc.Arbitrary<any>} */ (tree);
};

// ── Options ──────────────────────────────────────────────────────────────────────────────────────

/**
 * @typedef {object} Options
 * @property {'words'|'chars'|'ten'|undefined} counter
 * @property {number[]} pins positions, modulo the length of the list
 * @property {number} reservedTokens
 */

/** @type {fc.Arbitrary<Options>} */
export const options = code.map((spelled) => {
  const choices = new Choices(spelled);
  return {
    counter: choices.of(/** @type {const} */ (['words', undefined, 'chars', 'ten', 'words'])),
    pins: choices.once(5) ? [choices.take(20)] : [],
    reservedTokens: choices.once(6) ? choices.take(100) : 0,
  };
});
