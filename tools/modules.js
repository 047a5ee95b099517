// Installs the npm packages of the lock file when node_modules does not hold exactly these, and says why.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Versions by folder, as a lock file lists them. */
function packages(file) {
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(lock.packages).filter(([folder]) => folder !== '');
}

/** The first package that is missing or of another version; null when there is none. */
function firstDifference() {
  let installed;
  try {
    installed = new Map(packages('node_modules/.package-lock.json'));
  } catch {
    return 'node_modules is not there';
  }
  for (const [folder, wanted] of packages('package-lock.json')) {
    const found = installed.get(folder);
    if (found === undefined && (wanted.optional || wanted.peer)) continue;
    if (found?.version !== wanted.version) return `${folder} ${wanted.version} is not installed`;
  }
  return null;
}

const reason = firstDifference();
if (reason !== null) {
  console.error(`tamp: installing npm packages (type checker, linter, test peers): ${reason}`);
  const npm = spawnSync('npm', ['ci', '--no-progress', '--no-update-notifier', '--loglevel=error'], { stdio: 'inherit' });
  if (npm.error) console.error(`tamp: npm cannot be run: ${npm.error.message}. Install Node 20 with npm.`);
  process.exit(npm.status ?? 1);
}
