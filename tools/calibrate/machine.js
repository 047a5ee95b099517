/**
 * The finite-state machine of the token estimator, as it is before costs are fitted to it.
 *
 * A byte has a column, a state has a row of cells, and the cell a byte falls into says what the byte costs
 * and which state comes next. States stand for what decides how o200k cuts and merges: the kind of the byte
 * before (which letter, which mark, which script), how far a run of digits, blanks or line breaks has gone,
 * and where in a character of several bytes we are. Columns group bytes that behave alike.
 *
 * A row is one to three units of sixteen cells, and its number is the unit it starts at, so that row and
 * cost fit into 16 bits. Within a character the only bytes expected are 0x80 to 0xBF: those rows are short
 * and use the columns again. A byte that is not expected there lands in a cell of the row that follows,
 * which is a cell like any other: malformed text costs something and goes on.
 */

export const UNIT = 16;

/** @param {string} text */
const bytesOf = (text) => Array.from(text, (character) => character.charCodeAt(0));
/** @param {number} first @param {number} last */
const span = (first, last) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Small letters that share a column. */
const LETTER_COLUMNS = ['a', 'e', 'i', 'o', 'uy', 'bp', 'c', 'd', 'fvgw', 'h', 'jqxzk', 'lr', 'm', 'n', 's', 't'];
/** Small letters that share a row, which says what they do to the byte after them. */
const LETTER_ROWS = ['a', 'e', 'i', 'o', 'uy', 's', 'n', 'rl', 'tcd', 'hw', 'mpb', 'fvg', 'jkqzx'];
/** Punctuation that shares a column. */
const MARKS = ['_', '.', ',;:', '-', '/', '"', "'`", '([{<', ')]}>', '=*#', '\\', '+&|^%!?~@$'];

/** First bytes of characters that share a column. Bytes that UTF-8 never uses are with a rare kind. */
const LEADS = {
  C2: [0xc2],
  C3: [0xc3],
  C4: [...span(0xc4, 0xcd), 0xc0, 0xc1, ...span(0xf5, 0xff)],
  Greek: [0xce, 0xcf],
  Cyrillic: span(0xd0, 0xd5),
  Arabic: span(0xd6, 0xdf),
  E0: [0xe0],
  E1: [0xe1],
  E2: [0xe2],
  E3: [0xe3],
  E4: [0xe4, 0xe5],
  E6: span(0xe6, 0xe9),
  Hangul: span(0xea, 0xed),
  EE: [0xee, 0xef],
  F0: span(0xf0, 0xf4),
};

/**
 * @typedef {object} Machine
 * @property {Uint8Array} column of each byte
 * @property {string[]} columns names
 * @property {string[]} states names, the first is where a text starts
 * @property {number[]} row unit a state's row starts at
 * @property {number[]} width cells of a state's row
 * @property {number[][]} next state by state and column
 * @property {number} cells of all rows, and what a byte may reach past the last of them
 */

/** @returns {Machine} */
export function machine() {
  const column = new Uint8Array(256);
  /** @type {string[]} */
  const columns = [];
  /** @param {string} name @param {readonly number[]} bytes */
  const add = (name, bytes) => {
    for (const byte of bytes) column[byte] = columns.length;
    columns.push(name);
  };
  for (const letters of LETTER_COLUMNS) add(`letter ${letters}`, bytesOf(letters));
  add('capital', span(0x41, 0x5a));
  add('digit', span(0x30, 0x39));
  add('space', [0x20]);
  add('tab', [0x09]);
  add('line', [0x0a, 0x0d]);
  for (const marks of MARKS) add(`mark ${marks}`, bytesOf(marks));
  for (const byte of [...span(0, 8), 0x0b, 0x0c, ...span(0x0e, 0x1f), 0x7f]) column[byte] = columns.length - 1;
  for (const [name, bytes] of Object.entries(LEADS)) add(`lead ${name}`, bytes);

  // 64 continuation bytes in 32 columns, named by the low six bits the column starts at: alone those that tell
  // scripts apart, close together the letters of alphabets and the blocks of emoji
  const starts = [
    0x00, 0x01, 0x02, 0x03, 0x04, 0x06, 0x08, 0x0a, 0x0c, 0x0e, 0x10, 0x12, 0x14, 0x16, 0x18, 0x1b, 0x1e, 0x20, 0x22,
    0x24, 0x25, 0x26, 0x28, 0x2a, 0x2d, 0x30, 0x32, 0x34, 0x36, 0x38, 0x39, 0x3a,
  ];
  /** @param {number} value low six bits of a continuation byte */
  const continuation = (value) => starts.findLastIndex((start) => start <= value);
  for (const value of span(0, 63)) column[0x80 + value] = continuation(value);

  /** @type {Map<string, string>} */
  const letterRow = new Map();
  for (const letters of LETTER_ROWS) for (const letter of letters) letterRow.set(letter, `letter ${letters}`);

  /**
   * Rows within a character: how wide, and the state after a byte.
   * @type {Record<string, [number, (column: number) => string]>}
   */
  const inside = {
    C2: [2, () => 'symbol'],
    C3: [2, () => 'accented'],
    C4: [2, () => 'accented'],
    Greek: [2, () => 'after Greek'],
    'Cyrillic 1': [2, () => 'after Cyrillic'],
    'Cyrillic 2': [2, () => 'after Cyrillic'],
    'Arabic 1': [2, () => 'after Arabic'],
    'Arabic 2': [2, () => 'after Arabic'],
    E0: [
      2,
      (c) =>
        c === continuation(0x24)
          ? 'E0A4'
          : c === continuation(0x25)
            ? 'E0A5'
            : c === continuation(0x38)
              ? 'E0B8'
              : c === continuation(0x39)
                ? 'E0B9'
                : 'E0xx',
    ],
    E0A4: [2, (c) => (c < continuation(0x3a) ? 'after Indic' : 'after Indic sign')],
    E0A5: [2, (c) => (c < continuation(0x10) ? 'after Indic sign' : 'after Indic')],
    E0xx: [2, () => 'after Indic'],
    E0B8: [2, () => 'after Thai'],
    E0B9: [2, () => 'after Thai'],
    E1: [2, (c) => (c === continuation(0x3a) ? 'E1BA' : 'last')],
    E1BA: [2, () => 'accented'],
    last: [1, () => 'after other'],
    E2: [2, (c) => (c === continuation(0) ? 'E280' : 'E2xx')],
    E280: [2, () => 'symbol'],
    E2xx: [1, () => 'symbol'],
    E3: [2, (c) => ['E380', 'E381', 'E382', 'E383'][c] ?? 'last'],
    E380: [2, () => 'after wide mark'],
    E381: [2, () => 'after Hiragana'],
    E382: [2, (c) => (c < continuation(0x20) ? 'after Hiragana' : 'after Katakana')],
    E383: [2, () => 'after Katakana'],
    E4: [2, () => 'E4xx'],
    E6: [2, () => 'E4xx'],
    E4xx: [1, () => 'after Han'],
    Hangul: [2, () => 'EAxx'],
    EAxx: [1, () => 'after Hangul'],
    EE: [2, (c) => (c === continuation(0x3c) ? 'E380' : 'E2xx')],
    F0: [2, (c) => (c === continuation(0x1f) ? 'F09F' : 'last')],
    F09F: [2, () => 'F09Fxx'],
    F09Fxx: [1, () => 'after emoji'],
  };

  /** The state after a byte that starts a character. @param {string} state @param {number} index */
  const outside = (state, index) => {
    const [kind, name = ''] = /** @type {[string, string?]} */ (columns[index].split(' '));
    const blank = state.startsWith('space');
    switch (kind) {
      case 'letter':
        return /^(letter|capital|first|accented)/.test(state) ? (letterRow.get(name[0]) ?? '') : 'first letter';
      case 'capital':
        return state.startsWith('capital') ? 'capitals' : 'capital';
      case 'digit':
        return state === 'digit 1' ? 'digit 2' : state === 'digit 2' ? 'digit 3' : 'digit 1';
      case 'space':
        return state.startsWith('line') || state === 'tab'
          ? 'space at line'
          : blank
            ? state === 'spaces 2' || state === 'spaces 3'
              ? 'spaces 3'
              : 'spaces 2'
            : 'space';
      case 'tab':
        return 'tab';
      case 'line':
        return state.startsWith('line') ? 'lines' : 'line';
      case 'mark':
        return state.startsWith('mark') ? 'marks' : blank ? 'mark after space' : `mark ${name}`;
      default:
        if (name === 'Cyrillic') return state === 'after Cyrillic' ? 'Cyrillic 2' : 'Cyrillic 1';
        if (name === 'Arabic') return state === 'after Arabic' ? 'Arabic 2' : 'Arabic 1';
        return name;
    }
  };

  const states = ['line'];
  /** @type {number[][]} */
  const next = [];
  for (let state = 0; state < states.length; state++) {
    const name = states[state];
    const step = inside[name];
    next.push(
      span(0, columns.length - 1).map((index) => {
        const target = step ? step[1](index) : outside(name, index);
        if (!states.includes(target)) states.push(target);
        return states.indexOf(target);
      }),
    );
  }
  const width = states.map((name) => (inside[name]?.[0] ?? Math.ceil(columns.length / UNIT)) * UNIT);
  let unit = 0;
  const row = width.map((cells) => {
    const start = unit;
    unit += cells / UNIT;
    return start;
  });
  const last = row.length - 1;
  const cells = Math.max(unit * UNIT, row[last] * UNIT + columns.length);
  return { column, columns, states, row, width, next, cells };
}
