// usage: node tests/fuzz/seeds.js DIR
// Writes seeds for the fuzzers to DIR/NAME/, from the vectors and, where it is there, the JSON parsing suite of the
// shared data. The first bytes are what the fuzzer takes for itself.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [dir] = process.argv.slice(2);
if (!dir) throw new Error('usage: node tests/fuzz/seeds.js DIR');

const vectors = fileURLToPath(new URL('../vectors/', import.meta.url));
const suite = fileURLToPath(new URL('../../../shared/data/json-parsing/', import.meta.url));
const transcripts = fileURLToPath(new URL('../../../shared/data/transcripts/', import.meta.url));

/** The numbers of src/formats/formats.c. @type {readonly string[]} */
const FORMATS = ['ag-ui', 'openai', 'anthropic', 'ai-sdk-ui', 'ai-sdk-model'];

let count = 0;
/** @param {string} fuzzer @param {readonly (string | Uint8Array)[]} parts */
function seed(fuzzer, ...parts) {
  count += 1;
  writeFileSync(join(dir, fuzzer, `seed-${count}`), Buffer.concat(parts.map((part) => Buffer.from(part))));
}

for (const fuzzer of ['cursor', 'splitter', 'policy', 'format', 'transcript']) {
  rmSync(join(dir, fuzzer), { recursive: true, force: true });
  mkdirSync(join(dir, fuzzer), { recursive: true });
}

for (const file of readdirSync(vectors).filter((name) => name.endsWith('.json'))) {
  for (const { policy, messages, options } of JSON.parse(readFileSync(join(vectors, file), 'utf8')).cases) {
    if (policy !== undefined) seed('policy', JSON.stringify(policy));
    if (!Array.isArray(messages)) continue;
    seed('cursor', '\0', JSON.stringify(messages));
    seed('splitter', '\x07', messages.map((message) => JSON.stringify(message)).join('\n'));
    seed('splitter', '\x03', JSON.stringify({ messages }, null, 1));
    const format = Math.max(0, FORMATS.indexOf(options?.format ?? 'ag-ui'));
    /* format_fuzz.c: the format, from where the messages are bytes; which parts to edit; a line; the message. */
    for (const message of messages.slice(0, 4)) seed('format', [1 + 2 * format, 0xff], '1234\n', JSON.stringify(message));
  }
}

let files = /** @type {string[]} */ ([]);
try {
  files = readdirSync(suite).filter((name) => name.endsWith('.json'));
} catch {
  console.log(`fuzz: no seeds from the JSON parsing suite, which is not at ${suite}`);
}
for (const file of files) {
  const text = readFileSync(join(suite, file));
  if (text.length > 4096) continue;
  seed('cursor', '\0', text);
  seed('splitter', '\x05', text);
}

/** The first lines of a file, of those that are short. @param {string} path */
function shortLines(path) {
  const lines = readFileSync(path, 'utf8').slice(0, 200_000).split('\n');
  return lines.slice(0, -1).filter((line) => line.length < 1500).slice(0, 12).join('\n');
}

let real = /** @type {string[]} */ ([]);
try {
  real = /** @type {string[]} */ (readdirSync(transcripts, { recursive: true })).filter((name) => name.endsWith('.jsonl'));
} catch {
  console.log(`fuzz: no seeds from real transcripts, which are not at ${transcripts}`);
}
for (const file of real.slice(0, 60)) {
  const text = shortLines(join(transcripts, file));
  /* transcript_fuzz.c: the size of the chunks, what is bytes in which format, a policy; the file. */
  for (const kind of [11, 13, 15, 17, 19]) if (text !== '') seed('transcript', [17, kind, count % 8], text);
}
