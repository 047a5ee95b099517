/** What memory a process holds, once the garbage is gone. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** Collects all garbage, with turns of the loop in between for what that triggers (FinalizationRegistry). */
export async function collectGarbage() {
  for (let i = 0; i < 4; i += 1) {
    collect();
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

/** Bytes of live JavaScript objects. */
export async function liveHeap() {
  await collectGarbage();
  return process.memoryUsage().heapUsed;
}
