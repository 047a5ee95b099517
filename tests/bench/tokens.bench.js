/** Estimating the tokens of a text, and how close the estimates are to exact counts. */
import assert from 'node:assert/strict';
import { countTokens as exactTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { loadTamp } from 'tamp';
import { estimateTokenCount } from 'tokenx';
import { tokenTexts } from '../lib/token-texts.js';
import { scansOf } from './scan.js';

const tamp = await loadTamp();
const texts = tokenTexts.filter(({ reason }) => !reason);
const mixed = texts.map(({ text }) => text);
const bytes = mixed.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** @param {string} text */
const exact = (text) => exactTokens(text, { disallowedSpecial: new Set() });
/** @param {(text: string) => number} count */
const total = (count) => mixed.reduce((sum, text) => sum + count(text), 0);

export const name = `estimate the tokens of ${(bytes / 1e6).toFixed(1)} MB of mixed text`;
export const runs = 7;

// What is timed is right: every contestant counts about the same.
const tokens = total(exact);
assert.ok(Math.abs(total((text) => tamp.countTokens(text)) / tokens - 1) < 0.03);
assert.ok(Math.abs(total(estimateTokenCount) / tokens - 1) < 0.3);

export const rows = [
  { name: 'Tamp', run: () => total((text) => tamp.countTokens(text)), bytes, repeat: 5 },
  { name: 'tokenx', run: () => total(estimateTokenCount), bytes, target: 20 },
  { name: 'gpt-tokenizer, exact o200k', run: () => total(exact), bytes },
  scansOf(Buffer.from(mixed.join(''))).bare,
];

/** Errors over kinds of text, each kind counted whole. */
export function figures() {
  /** @param {(text: string) => number} count */
  const errors = (count) => mixed.map((text) => Math.abs(count(text) / exact(text) - 1) * 100);
  /** @param {number[]} list */
  const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const own = errors((text) => tamp.countTokens(text));
  const peer = errors(estimateTokenCount);
  return [
    { name: `mean error over ${own.length} kinds of text`, value: mean(own), unit: '%', atMost: 3 },
    { name: 'worst kind', value: Math.max(...own), unit: '%', atMost: 8 },
    { name: 'mean error of tokenx', value: mean(peer), unit: '%' },
    { name: 'worst kind of tokenx', value: Math.max(...peer), unit: '%' },
  ];
}
