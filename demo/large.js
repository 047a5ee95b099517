/** Files too long to show: they are trimmed in a worker, piece by piece, and never held as a whole. */
import { core } from './core.js';

/** From how many bytes on a file is trimmed without being shown. */
export const LARGE_FILE = 48_000_000;

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
