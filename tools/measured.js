// Writes the table of README.md's section "Measured" from build/bench.json, so that no figure there is typed by hand:
// `make bench && node tools/measured.js`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const { cpu, cores, node, results } = JSON.parse(readFileSync(`${root}build/bench.json`, 'utf8'));

/** What a benchmark gave, by the beginnings of its rows' and figures' names. @param {string} file */
function bench(file) {
  const result = results.find((each) => each.file.endsWith(`/${file}.bench.js`));
  if (!result || result.skipped !== null) throw new Error(`build/bench.json has no ${file}: ${result?.skipped ?? 'run `make bench`'}`);
  /** @param {any[]} list @param {string} beginning */
  const find = (list, beginning) => {
    const found = list.find(({ name }) => name.startsWith(beginning));
    if (!found) throw new Error(`${file} has nothing called ${beginning}…`);
    return found;
  };
  const own = result.rows[0];
  return {
    name: result.name,
    /** Tamp's own median. */
    time: own && `${short(own.median)} ms`,
    rate: own?.megabytesPerSecond && `${short(own.megabytesPerSecond)} MB/s`,
    /** A peer's median, and how much faster Tamp is. @param {string} name */
    peer: (name) => {
      const { median } = find(result.rows, name);
      return `${short(median)} ms, **${short(median / own.median)}×**`;
    },
    /** @param {string} name */
    times: (name) => `**${short(find(result.rows, name).median / own.median)}×**`,
    /** @param {string} name */
    figure: (name) => {
      const { value, unit } = find(result.figures, name);
      return unit === 'x' || unit === 'times' ? `${short(value)}×` : `${short(value)} ${unit}`.trim();
    },
  };
}

/** Two digits that count. @param {number} value */
function short(value) {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(2)));
}

const compact = bench('compact');
const steady = bench('steady');
const tokens = bench('tokens');
const agui = bench('ag-ui');
const events = bench('events');
const session = bench('session');
const transcript = bench('transcript');
const load = bench('load');
const size = bench('size');
const memory = bench('memory');

const rows = [
  ['compact 2,000 real messages (2.5 MB) by tokens, one shot', compact.time,
    `LangChain \`trimMessages\` with \`tokenx\`, counted once per message: ${compact.peer('LangChain trimMessages, tokenx')}; with length / 4: ${compact.peer('LangChain trimMessages, length')}, though Tamp counts every character`],
  ['the same with 20,000 and 100,000', `${compact.figure('20,000 messages')}, ${compact.figure('100,000 messages')}`,
    `LangChain is quadratic: **${compact.figure('20,000 messages, LangChain')}** at 20,000. A message of 100,000 costs ${compact.figure('a message of 100,000')} one of 1,000`],
  ['one new message on a history of 10,000: `sync` + `compact`', steady.time, `compacting the whole list anew: ${steady.peer('compact of the whole list')}`],
  ['estimate tokens, crossing included', tokens.rate, `\`tokenx\`: ${tokens.times('tokenx')} slower; \`gpt-tokenizer\`, exact: ${tokens.times('gpt-tokenizer')} slower`],
  ['its error against exact o200k, 35 kinds of text', `mean ${tokens.figure('mean error over')}, worst ${tokens.figure('worst kind')}`, `\`tokenx\`: mean ${tokens.figure('mean error of tokenx')}, worst ${tokens.figure('worst kind of tokenx')}`],
  [`${transcript.name}, every token counted`, transcript.rate,
    `the same in JS takes ${transcript.times('TextDecoder')} the time without counting, ${transcript.times('the same, counted')} with \`tokenx\`. By messages, nothing counted, Tamp is **${transcript.figure('by messages')}** as fast`],
  ['the middleware, a run more on 2,000 messages', agui.time, `the client's own clone of the list: ${agui.times('the client')}`],
  ['100,000 events of a run through the middleware', events.time, `\`compactEvents\`, which folds them: ${events.peer('compactEvents')}`],
  ['a streamed piece on a long chat after `afterMode: "remove"`', agui.figure('a streamed piece, after'), `before: ${agui.figure('a streamed piece, 2,000')}, **${agui.figure('streaming is faster')}**`],
  ['digest of a session of 10,000 messages', session.time, `sorted JSON and SHA-256: ${session.peer('sorted JSON')}`],
  ['load and first compact of 200 messages in Chromium', load.figure('loadTamp'), ''],
  ['memory of an open history of 10,000', `${memory.figure('the history')} of its JSON`, 'flat over 200 compactions more'],
  ['Wasm and core JS, minified and gzipped', size.figure('Tamp'),
    `\`trimMessages\` of LangChain ${size.figure('@langchain')}, o200k alone ${size.figure('gpt-tokenizer')}, \`pruneMessages\` of the AI SDK ${size.figure('ai:')}`],
];

const table = [
  '| what | Tamp | beside it |',
  '|---|---|---|',
  ...rows.map((row) => `| ${row.join(' | ')} |`),
  '',
  `Medians of interleaved runs on ${cores} cores of ${cpu.replace(/\s+/g, ' ').trim()}, Node ${node.slice(1)}. \`make bench\` prints every figure of this table with its spread and its target, beside its`,
  'peer in the same run, and writes `build/bench.json`, from which `node tools/measured.js` makes this table. For the transcript, `TRANSCRIPT_MB=100 make bench`.',
].join('\n');

const readme = readFileSync(`${root}README.md`, 'utf8');
const section = /(<!-- measured -->\n)[\s\S]*?(\n<!-- \/measured -->)/;
if (!section.test(readme)) throw new Error('README.md has no section between <!-- measured --> and <!-- /measured -->');
writeFileSync(`${root}README.md`, readme.replace(section, (_all, start, end) => start + table + end));
