/** Trimming of files in a worker, with comlink inside. Bundled into vendor/transcript.js by demo/server/build.js. */
export { trimTranscript } from '../../dist/transcript.js';
