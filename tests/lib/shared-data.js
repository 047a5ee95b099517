/**
 * Real sessions used by tests and benches. They lie beside the repository and are never part of it:
 * where they are missing, `transcripts` is empty and `missing` says so in a sentence.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../shared/data/', import.meta.url);
const folder = new URL('transcripts/', root);

/** Null, or why there is no real data here. @type {string | null} */
export const missing = existsSync(folder)
  ? null
  : `no real transcripts here: ${fileURLToPath(folder)} is not there`;

/** @type {{ name: string, bytes: Buffer }[]} */
export const transcripts = missing === null
  ? readdirSync(folder).sort().map((name) => ({ name, bytes: readFileSync(new URL(name, folder)) }))
  : [];

/** The transcripts that are one JSON array of OpenAI chat messages. */
export const openaiTranscripts = transcripts
  .filter(({ name }) => name.startsWith('openai-') && name.endsWith('.json'))
  .map(({ name, bytes }) => ({ name, bytes, messages: JSON.parse(bytes.toString('utf8')) }));

/** The transcripts that are Claude Code records, one a line. */
export const claudeCodeTranscripts = transcripts
  .filter(({ name }) => name.startsWith('claude-code-') && name.endsWith('.jsonl'));
