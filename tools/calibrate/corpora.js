/**
 * The texts the token estimator is calibrated on: nothing is downloaded and nothing is kept in the repository.
 * Every corpus names the files it is read from; files that are not installed are skipped and reported.
 * `PACKAGES` is what to install for all of them.
 */
import { createHash } from 'node:crypto';
import { globSync as nodeGlobSync, readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dense, logs } from './synthetic.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Debian packages that hold the natural-language and C sources, for `apt-get install --no-install-recommends`. */
export const PACKAGES = [
  'debian-handbook', 'gnome-user-docs', 'installation-guide-amd64', 'iso-codes', 'jargon-text', 'emscripten',
  'fortunes', ...['de', 'es', 'fr', 'it', 'pl', 'ru', 'zh'].map((code) => `fortunes-${code}`),
  ...['cs', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt-br', 'ru', 'tr', 'uk', 'zh'].map((code) => `manpages-${code}`),
  ...['cs', 'de', 'el', 'en-us', 'es', 'fr', 'he', 'hi', 'it', 'ja', 'ko', 'nl', 'pl', 'pt-br', 'ru', 'tr', 'uk', 'vi', 'zh-cn', 'zh-tw']
    .map((code) => `libreoffice-help-${code}`),
  'libreoffice-l10n-ar', 'libreoffice-l10n-th',
];

/**
 * @typedef {object} Corpus
 * @property {string} name
 * @property {boolean} required whether the accuracy target names it
 * @property {string[]} fit texts to fit on
 * @property {string[]} held texts to judge by, of other files or other parts of the same file
 * @property {string[]} sources what it was read from, with sizes
 */

const BLOCK = 6000; // bytes a text is cut into, at a line break where there is one

/** @param {string} text */
const digest = (text) => createHash('sha256').update(text).digest().readUInt32BE(0);

/**
 * Files below `root` whose path matches, in an order that depends on their paths alone.
 * @param {string} root @param {RegExp} pattern @param {number} [depth]
 */
function files(root, pattern, depth = 8) {
  /** @type {string[]} */
  const found = [];
  /** @param {string} folder @param {number} level */
  const walk = (folder, level) => {
    let entries;
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      return;
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (level < depth) walk(path, level + 1);
      } else if (entry.isFile() && pattern.test(path)) found.push(path);
    }
  };
  walk(root, 0);
  return found.sort((a, b) => digest(a.slice(root.length)) - digest(b.slice(root.length)) || (a < b ? -1 : 1));
}

/** @param {string} path */
function read(path) {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.includes('\uFFFD') || text.includes('\0') ? '' : text;
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0' };

/** The text of an HTML or XML page, its markup taken out. @param {string} html */
function plain(html) {
  return html
    .replace(/<(script|style|head|code|pre)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<\/(p|div|li|h\d|tr|title|dd|dt|note|item)>/gi, '\n')
    .replace(/<[^>]+>/g, '')
    .replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
      decimal ? String.fromCodePoint(Number(decimal)) : hex ? String.fromCodePoint(parseInt(hex, 16))
        : ENTITIES[/** @type {keyof typeof ENTITIES} */ (name)] ?? whole)
    .replace(/[ \t]*\n\s*/g, '\n')
    .replace(/[ \t]+/g, ' ')
    .trim();
}

/** The running text of a manual page, its requests and font changes taken out. @param {string} roff */
function manual(roff) {
  return roff
    .split('\n')
    .filter((line) => line.length > 40 && !/^['.]/.test(line))
    .join('\n')
    .replace(/\\f(\[\w*\]|\(..|.)|\\&|\\\||\\,/g, '')
    .replace(/\\-/g, '-')
    .replace(/\\\((?:aq|oq|cq)/g, "'")
    .replace(/\\[ ~]/g, ' ');
}

/** The translations in a gettext .mo file, one a line. @param {string} path */
function catalogue(path) {
  const bytes = readFileSync(path);
  if (bytes.length < 28 || bytes.readUInt32LE(0) !== 0x950412de) return '';
  const count = bytes.readUInt32LE(8);
  const table = bytes.readUInt32LE(16);
  const lines = [];
  for (let index = 1; index < count; index++) {
    const length = bytes.readUInt32LE(table + index * 8);
    const start = bytes.readUInt32LE(table + index * 8 + 4);
    const text = bytes.toString('utf8', start, start + length).split('\0')[0] ?? '';
    if (text.length > 24) lines.push(text);
  }
  return lines.join('\n');
}

/** The sentences of the TypeScript compiler in one language. @param {string} path */
const diagnostics = (path) =>
  Object.values(/** @type {Record<string, string>} */ (JSON.parse(readFileSync(path, 'utf8')))).join('\n');

/** @param {string} text */
const fortunes = (text) => text.replace(/^%$/gm, '').replace(/\x1b\[[\d;]*m/g, '');

/** Lines of the English originals: translations that are not translated yet do not count as the language. */
/** @type {Set<string> | undefined} */
let english;
function englishLines() {
  if (!english) {
    english = new Set();
    for (const text of [
      ...files('/usr/share/doc/debian-handbook/html/en-US', /\.html$/).map((path) => plain(read(path))),
      ...files('/usr/share/help/C', /\.page$/).map((path) => plain(read(path))),
    ]) for (const line of text.split('\n')) english.add(line.trim());
  }
  return english;
}

/** @param {RegExp} [script] lines of prose must have some of it */
const translated = (script) => (/** @type {string} */ text) =>
  text.split('\n').filter((line) => line.length > 20 && !englishLines().has(line.trim()) && (!script || script.test(line))).join('\n');

/**
 * One place a corpus is read from.
 * @typedef {object} Source
 * @property {string} from the folder or file, for the report
 * @property {() => Iterable<string>} texts
 * @property {number} limit bytes to take at most
 */

/** @param {string} root @param {RegExp} pattern @param {number} limit @param {(text: string) => string} [as] @returns {Source} */
const tree = (root, pattern, limit, as = (text) => text) => ({
  from: `${root.replace(repository, '')} ${pattern.source}`,
  limit,
  *texts() {
    for (const path of files(root, pattern)) {
      let text = '';
      try {
        text = as(read(path));
      } catch {
        continue; // not what its name says: the next one will do
      }
      if (text.length > 200) yield text.slice(0, limit / 4);
    }
  },
});

/** @param {string} language @param {string} [script] @returns {Source} */
const catalogues = (language, limit = 100_000, script) => ({
  from: `/usr/share/locale/${language}/LC_MESSAGES/*.mo`,
  limit,
  *texts() {
    const keep = translated(script ? new RegExp(script, 'u') : undefined);
    for (const path of files(`/usr/share/locale/${language}/LC_MESSAGES`, /\.mo$/)) yield keep(catalogue(path)).slice(0, 20_000);
  },
});

const LANGUAGES = {
  french: { doc: 'fr', help: 'fr', man: 'fr', ts: 'fr', fortune: 'fr', udhr: 'fra' },
};
