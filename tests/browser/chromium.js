// A Chromium and a web server for the browser tests.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { chromium } from 'playwright-core';

import { findChromium } from '../../tools/chromium.js';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/**
 * Starts the installed Chromium with an empty profile. It makes no connection of its own.
 * @param {string[]} [more] arguments of its command line
 * @param {string[]} [without] those of Playwright's that are left out
 * @returns {Promise<import('playwright-core').Browser>} to be closed by the caller
 */
export async function launch(more = [], without = []) {
  const executablePath = await findChromium();
  if (executablePath === null) {
    throw new Error('Chromium is not installed: run `make test`, or name one in CHROMIUM=');
  }
  return chromium.launch({
    executablePath,
    ignoreDefaultArgs: without,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      ...more,
    ],
  });
}

/**
 * Serves the files under `dir` on 127.0.0.1, on a port of the system's choice.
 * @param {string} dir
 * @param {Record<string, string>} [headers] sent with every answer, e.g. Content-Security-Policy
 * @param {Record<string, string | Uint8Array>} [files] by path ("/page.html"), served before those of `dir`
 * @returns {Promise<{ url: string, close(): Promise<void> }>} `url` without a slash at its end
 */
export async function serve(dir, headers = {}, files = {}) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const path = decodeURIComponent(pathname);
    const head = { ...headers, 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' };
    if (Object.hasOwn(files, path)) {
      response.writeHead(200, head).end(files[path]);
      return;
    }
    const file = normalize(join(dir, path));
    const found = file.startsWith(normalize(dir + sep)) && (await stat(file).catch(() => null));
    if (!found || !found.isFile()) {
      response.writeHead(404, { ...headers, 'Content-Type': 'text/plain' }).end('not found');
      return;
    }
    response.writeHead(200, { ...head, 'Content-Length': found.size });
    // A file may go while it is being sent: that ends the answer, not the server.
    createReadStream(file).on('error', () => response.destroy()).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve(undefined)));
    },
  };
}
