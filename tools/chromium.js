// Where the browser of the tests is. As a program: prints the path, or fails when there is none.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** Playwright's own build, where `playwright-core install chromium` puts it. */
async function playwrights() {
  try {
    const { chromium } = await import('playwright-core');
    const path = chromium.executablePath();
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return null; // not there, or npm packages are not installed yet
  }
}

/** Its path: CHROMIUM of the environment, else the first on the PATH, else Playwright's; null when there is none. */
export async function findChromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of NAMES) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // not in this folder
      }
    }
  }
  return playwrights();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = await findChromium();
  if (path === null) process.exit(1);
  console.log(path);
}
