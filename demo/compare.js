import { core } from './core.js';
import { Code, literal } from './code.js';
import { $, breaths, h, settle, svg } from './dom.js';
import { count, milliseconds, percent, plural } from './format.js';
import { describe } from './describe.js';
import { opened } from './opened.js';
import { validate } from './validator.js';

/** Budgets at which each way is tried for the last column: every 2.5 % of the transcript, from 5 % to 95 %. */
const SWEEP = Array.from({ length: 37 }, (_, n) => 0.05 + n * 0.025);

/** Each way is timed that often, and the best time shown: the first run of anything is slow. */
const RUNS = 3;

/**
 * Each way gets `{messages, tamp, weigh, budget, peers}` and gives the list it would send. `tamp` ones are
 * policies, so that their code can be shown.
 */
const WAYS = [
  { name: 'Tamp: truncation', policy: (budget) => ({ strategy: 'truncation', maxTokens: budget, toTokens: budget, keepFirstUser: true }) },
  { name: 'Tamp: sliding window', policy: (budget, fixed) => ({ strategy: 'sliding-window', keepTokens: Math.max(0, budget - fixed), keepFirstUser: false }) },
  { name: 'Tamp: collapse, then cut', policy: (budget) => ({ strategy: 'budget', maxTokens: budget, steps: [{ strategy: 'tool-results', keepLastToolCallGroups: 3, maxChars: 300 }, { strategy: 'truncation', maxTokens: budget, toTokens: budget, keepFirstUser: true }] }) },
  { name: 'Tamp: clear old results, then cut', policy: (budget) => ({ strategy: 'budget', maxTokens: budget, steps: [{ strategy: 'clear-tool-results', keepLast: 6 }, { strategy: 'truncation', maxTokens: budget, toTokens: budget, keepFirstUser: true }] }) },
  { name: 'A plain slice', about: 'messages.slice(-n), the largest n that fits', run: ({ messages, weigh, budget }) => plainSlice(messages, weigh, budget) },
  { name: 'LangChain trimMessages', about: 'strategy: "last", includeSystem', run: ({ messages, weigh, budget, peers }) => peers.langchain(messages, { maxTokens: budget, count: weigh }) },
  { name: 'LangChain, startOn: "human"', about: 'the same, starting with a question', run: ({ messages, weigh, budget, peers }) => peers.langchain(messages, { maxTokens: budget, count: weigh, startOn: 'human' }) },
  { name: 'AI SDK pruneMessages', about: 'tool calls before the last 20 messages; it knows no budget', fixed: true, run: ({ messages, peers }) => peers.aiSdk(messages, { keepMessages: 20 }) },
];

/** The newest messages that fit, cut wherever that is: what one writes first. */
function plainSlice(messages, weigh, budget) {
  let sum = 0;
  let from = messages.length;
  while (from > 0 && sum + weigh(messages[from - 1]) <= budget) sum += weigh(messages[--from]);
  return messages.slice(from);
}

/** The same history in AG-UI form, every message with an id of its own: what all ways here can read. */
function asAgUi(messages) {
  return messages.flatMap((message, n) => {
    const { role, texts, calls, results } = describe(message);
    const content = texts.map(({ text }) => text).join('\n');
    const answers = results.map(({ id, text }, k) => ({ id: `m${n}-${k}`, role: 'tool', toolCallId: id, content: text }));
    const said = texts.length > 0 || calls.length > 0 || answers.length === 0;
    const own = said ? [{
      id: `m${n}`,
      role: ['system', 'assistant', 'reasoning'].includes(role) ? role : 'user',
      content,
      ...(calls.length ? { toolCalls: calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } })) } : {}),
    }] : [];
    // Results come after their calls, and before what the person says in the same message.
    return calls.length ? [...own, ...answers] : [...answers, ...own];
  });
}

/** A cell that says what it is when the table becomes cards on a narrow screen. Roles hold when CSS takes the table apart. */
const cell = (name, label) => h('td', { role: 'cell', class: name, 'data-label': label });

export async function start() {
  const [tamp, peers] = await Promise.all([core(), import('./vendor/peers.js')]);
  const slider = $('#compare-budget');
  const number = $('#compare-tokens');
  const table = $('#compare-rows');
  const code = new Code($('#compare-code'), 'The JavaScript behind a row');
  let history = [];
  /** The same, read and counted: the other ways get their counts beforehand too. */
  let ready = tamp.open(history);
  let weights = new Map();
  let total = 0;
  /** Tokens of what a window keeps besides its newest part: instructions and the question. */
  let fixed = 0;
  let turn = 0;
  const weigh = (message) => weights.get(message) ?? tamp.countTokens([message]);

  const rows = WAYS.map((way, n) => {
    const cells = {
      bars: cell('mini', ''), tokens: cell('num', 'Tokens'), messages: cell('num', 'Messages'), valid: cell('verdicts', 'Would a provider take it?'), sweep: cell('num', `Refused at ${SWEEP.length} budgets`), time: cell('num', `Best time of ${RUNS}`),
    };
    const choice = h('input', { type: 'radio', name: 'compare-way', id: `way-${n}`, checked: n === 0, onchange: () => showCode(way) });
    const row = h('tr', { role: 'row', class: way.policy ? 'ours' : 'theirs' },
      h('th', { role: 'rowheader', scope: 'row' }, h('label', { for: `way-${n}` }, choice, h('span', null, way.name)), way.about ? h('small', null, way.about) : null),
      cells.bars, cells.tokens, cells.messages, cells.valid, cells.sweep, cells.time);
    return { way, row, cells };
  });
  table.replaceChildren(...rows.map(({ row }) => row));

  async function runWay(way, budget) {
    if (!way.policy) return way.run({ messages: history, tamp, weigh, budget, peers });
    return ready.compact(way.policy(budget, fixed)).messages;
  }

  function load() {
    const { story } = opened;
    history = story.format === 'ag-ui' && new Set(story.messages.map(({ id }) => id)).size === story.messages.length ? story.messages : asAgUi(story.messages);
    ready.dispose();
    ready = tamp.open(history);
    weights = new Map(history.map((message) => [message, tamp.countTokens([message])]));
    total = tamp.countTokens(history);
    const question = history.findLast(({ role }) => role === 'user');
    fixed = history.filter((message) => message === question || message.role === 'system' || message.role === 'developer').reduce((sum, message) => sum + weigh(message), 0);
    slider.max = String(Math.max(1000, Math.ceil(total / 100) * 100));
    number.max = slider.max;
    if (!Number(number.value) || Number(number.value) > total) number.value = String(Math.round(total * 0.38 / 100) * 100);
    slider.value = number.value;
    $('#compare-source').textContent = `${opened.file.title}: ${plural(history.length, 'message')}, ${plural(total, 'token')}.`;
    $('#compare-cut').textContent = `${count(SWEEP.length)} budgets`;
    for (const { cells } of rows) cells.sweep.textContent = '…';
    show();
    sweep();
  }

  async function show() {
    const mine = ++turn;
    const budget = Number(number.value) || 1;
    const breath = breaths(8);
    for (const { way, cells, row } of rows) {
      let messages;
      let took = Infinity;
      try {
        for (let n = 0; n < RUNS; n += 1) {
          const started = performance.now();
          messages = await runWay(way, budget);
          took = Math.min(took, performance.now() - started);
          await breath();
        }
      } catch (error) {
        if (mine !== turn) return;
        cells.bars.replaceChildren();
        cells.tokens.textContent = cells.messages.textContent = cells.time.textContent = '–';
        cells.valid.textContent = `It failed: ${error.message}`;
        row.dataset.verdict = 'bad';
        continue;
      }
      if (mine !== turn) return;
      const tokens = messages.reduce((sum, message) => sum + weigh(message), 0);
      const verdict = validate(messages);
      const over = tokens > budget;
      row.dataset.verdict = !verdict.ok ? 'bad' : over ? 'mixed' : 'good';
      cells.bars.replaceChildren(bars(history, messages, weigh));
      cells.tokens.replaceChildren(h('strong', null, count(tokens)), h('small', null, percent(tokens, total)));
      cells.messages.textContent = count(messages.filter(({ role }) => role !== 'activity').length);
      cells.valid.replaceChildren(
        h('strong', { class: 'verdict' }, !verdict.ok ? 'No' : over ? 'Yes, but too big' : 'Yes'),
        ...(verdict.ok ? [] : [h('small', null, verdict.problem)]));
      cells.time.textContent = milliseconds(took);
    }
    showCode(rows.find(({ row }) => $('input', row).checked).way);
    say();
  }

  /** At how many budgets would the provider refuse what each way sends? */
  async function sweep() {
    const list = history;
    const breath = breaths(8);
    for (const { way, cells } of rows) {
      if (way.fixed) {
        cells.sweep.textContent = 'no budget';
        continue;
      }
      let refused = 0;
      for (const share of SWEEP) {
        let ok = false;
        try {
          ok = validate(await runWay(way, Math.round(total * share))).ok;
        } catch {
          // An exception sends nothing: that counts as refused.
        }
        if (!ok) refused += 1;
        await breath();
        if (list !== history) return;
      }
      cells.sweep.replaceChildren(h('strong', { class: refused ? 'some' : 'none' }, `${refused} of ${SWEEP.length}`));
    }
  }

  function showCode(way) {
    const budget = Number(number.value) || 1;
    if (way.policy) {
      return code.show([
        "import { loadTamp } from 'tamp';",
        '',
        'const tamp = await loadTamp();',
        'const history = tamp.open(messages); // read and counted once',
        `const sent = history.compact(${literal(way.policy(budget, fixed))}).messages;`,
      ].join('\n'));
    }
    if (way.name.startsWith('LangChain')) {
      return code.show([
        "import { trimMessages } from '@langchain/core/messages';",
        '',
        `const sent = await trimMessages(messages, { maxTokens: ${budget}, strategy: 'last', includeSystem: true,${way.name.includes('human') ? " startOn: 'human'," : ''} tokenCounter });`,
        '// tokenCounter here: the same estimate as in the other rows, counted once a message',
      ].join('\n'));
    }
    if (way.fixed) {
      return code.show(["import { pruneMessages } from 'ai';", '', "const sent = pruneMessages({ messages, toolCalls: 'before-last-20-messages', emptyMessages: 'remove' });"].join('\n'));
    }
    return code.show(`const sent = messages.slice(-${plainSlice(history, weigh, budget).length});`);
  }

  const say = settle(() => {
    const refused = rows.filter(({ row }) => row.dataset.verdict === 'bad').map(({ way }) => way.name);
    $('#compare-status').textContent = `At ${plural(Number(number.value) || 0, 'token')}: ${refused.length ? `a provider would refuse what these send: ${refused.join(', ')}.` : 'a provider would accept what each of them sends.'}`;
  }, 700);

  slider.addEventListener('input', () => {
    number.value = slider.value;
    show();
  });
  number.addEventListener('input', () => {
    slider.value = number.value;
    show();
  });
  opened.addEventListener('open', load);
  if (opened.story) load();
}

/** What is kept, as a strip: one bar a message, faint where it is gone. */
function bars(history, kept, weigh) {
  const width = 240;
  const height = 36;
  const pitch = width / history.length;
  const wide = Math.max(0.4, pitch * 0.82);
  const most = Math.sqrt(Math.max(1, ...history.map(weigh)));
  const byId = new Map(kept.map((message) => [message.id, message]));
  const paths = new Map();
  history.forEach((message, n) => {
    const { role } = describe(message);
    const there = byId.get(message.id);
    const tokens = weigh(there ?? message);
    const tall = Math.max(1.5, (Math.sqrt(tokens) / most) * (height - 2));
    const name = `${role} ${there ? 'kept' : 'dropped'}`;
    paths.set(name, `${paths.get(name) ?? ''}M${(n * pitch).toFixed(2)} ${(height - tall).toFixed(1)}h${wide.toFixed(2)}v${tall.toFixed(1)}h${(-wide).toFixed(2)}z`);
  });
  return svg('svg', { class: 'bars', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' }, [...paths].map(([name, d]) => svg('path', { class: name, d })));
}
