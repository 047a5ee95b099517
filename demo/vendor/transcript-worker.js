/** The worker that vendor/transcript.js starts. */
import '../../dist/transcript-worker.js';
