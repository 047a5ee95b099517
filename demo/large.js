/** Files too long to show message by message: they are trimmed in a worker, piece by piece, and never held as a whole. */
import { core } from './core.js';

/** Stretches that the messages of such a file are drawn in. */
const STRETCHES = 240;

/** Lines of a report that are shown: the report of a million messages is not for reading. */
const MOST_CHANGES = 1_000;

/**
 * What became of the messages of a long file, by stretches of equal length.
 * @param {{ before: number, report: { dropped: { index: number }[], rewritten: { index: number }[] } }} trimmed
 * @returns {{ messages: number, dropped: number, rewritten: number }[]}
 */
export function stretches({ before, report }) {
  const last = [...report.dropped, ...report.rewritten].reduce((most, { index }) => Math.max(most, index + 1), before);
  const each = Math.max(1, Math.ceil(last / STRETCHES));
  const all = Array.from({ length: Math.ceil(last / each) }, (_, n) => ({ messages: Math.min(each, last - n * each), dropped: 0, rewritten: 0 }));
  for (const { index } of report.dropped) all[Math.floor(index / each)].dropped += 1;
  for (const { index } of report.rewritten) all[Math.floor(index / each)].rewritten += 1;
  return all;
}

/** The report of a long file with the beginnings of its lists. @template {{ dropped: object[], rewritten: object[], added: object[], unreadable: object[] }} R @param {R} report @returns {R} */
export function readable(report) {
  const first = (list) => list.slice(0, MOST_CHANGES);
  return { ...report, dropped: first(report.dropped), rewritten: first(report.rewritten), added: first(report.added), unreadable: first(report.unreadable) };
}

/**
 * Trims a file as a policy says.
 * @param {File} file
 * @param {any} policy
 * @param {{ signal: AbortSignal, onProgress: (share: number, messages: number) => void, summarize?: (request: any) => string }} options
 */
export async function trimFile(file, policy, { signal, onProgress, summarize }) {
  const [{ trimTranscript }, tamp] = await Promise.all([import('./vendor/transcript.js'), core()]);
  return trimTranscript(file, policy, {
    tamp,
    signal,
    summarize,
    onProgress: ({ bytes, totalBytes, messages }) => onProgress(totalBytes ? bytes / totalBytes : 0, messages),
  });
}
