/** Numbers and texts for people. */

const integer = new Intl.NumberFormat('en-US');

export const count = (n) => integer.format(n);

/** "1 message", "2,000 messages" */
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export function bytes(n) {
  if (n < 1000) return `${n} B`;
  const units = ['KB', 'MB', 'GB'];
  let value = n;
  let unit = -1;
  do {
    value /= 1000;
    unit += 1;
  } while (value >= 999.5 && unit < units.length - 1);
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function milliseconds(ms) {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** A share in whole percent; a little more precisely where rounding would say all or nothing. */
export function percent(part, whole) {
  if (!(whole > 0)) return '0 %';
  const share = (part / whole) * 100;
  const rounded = Math.round(share);
  if ((rounded === 100 && part < whole) || (rounded === 0 && part > 0)) return `${Math.min(99.9, Math.max(0.1, share)).toFixed(1)} %`;
  return `${rounded} %`;
}

/** One line of a text: white space runs become a space; at most `length` code points are looked at. */
export function oneLine(text, length = 200) {
  const head = text.slice(0, length * 2).replace(/\s+/g, ' ').trim();
  return head.length > length ? `${head.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…` : head;
}

/**
 * Make what would act on the page visible instead: control characters (a terminal's colours) and
 * the ones that turn the direction of text around.
 */
export function visible(text) {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, (c) => (c === '\u007f' ? '␡' : String.fromCodePoint(0x2400 + c.charCodeAt(0))))
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
