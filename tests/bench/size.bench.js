/** What a page has to load, minified and gzipped, beside what it would load otherwise. */
import { gzippedBundle, gzippedSize } from '../../tools/size.js';

export const name = 'size, minified and gzipped';
export const rows = [];

/** @param {string} source */
const kilobytes = async (source) => await gzippedBundle(source) / 1024;

export async function figures() {
  const wasm = gzippedSize('dist/tamp.wasm') / 1024;
  const core = await kilobytes("export * from './dist/index.js'");
  return [
    { name: 'Tamp: Wasm and core JS', value: wasm + core, unit: 'KB', atMost: 40 },
    { name: 'gpt-tokenizer, o200k: an exact count alone', value: await kilobytes("export { countTokens } from 'gpt-tokenizer/encoding/o200k_base'"), unit: 'KB' },
    { name: '@langchain/core/messages: trimMessages alone', value: await kilobytes("export { trimMessages } from '@langchain/core/messages'"), unit: 'KB' },
    { name: 'ai: pruneMessages alone', value: await kilobytes("export { pruneMessages } from 'ai'"), unit: 'KB' },
    { name: 'tokenx: an estimate alone', value: await kilobytes("export { estimateTokenCount } from 'tokenx'"), unit: 'KB' },
  ];
}
