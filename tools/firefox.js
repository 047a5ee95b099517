// Where the Firefox of the tests is. As a program: prints the path, or fails when there is none.
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAMES = ['firefox-esr', 'firefox'];

/** Its path: FIREFOX of the environment, else the first on the PATH that is no snap, which sees no profile of ours; or null. */
export function findFirefox() {
  if (process.env.FIREFOX) return process.env.FIREFOX;
  for (const name of NAMES) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      try {
        const path = join(folder, name);
        accessSync(path, constants.X_OK);
        // On Ubuntu, without the snap, /usr/bin/firefox is a script that asks for it.
        if (!realpathSync(path).includes('snap') && !realpathSync(path).endsWith('/bin/firefox')) return path;
      } catch {
        // not in this folder
      }
    }
  }
  return null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = findFirefox();
  if (path === null) process.exit(1);
  console.log(path);
}
