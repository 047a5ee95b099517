/**
 * The demo's web server: static files, and the AG-UI agent behind the live chat.
 *
 *   node demo/server.js          http://localhost:8471, or PORT=…
 *
 * In the chat answers a scripted agent; OPENAI_BASE_URL, OPENAI_API_KEY and MODEL put a model in its place, AGUI_URL or
 * the field on the page an AG-UI server of your own.
 *
 * The page needs no server of its own kind: everything but the chat also works from any static host.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';

export const DEFAULT_PORT = 8471;

const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.json', 'application/json; charset=utf-8'],
  ['.map', 'application/json; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.wasm', 'application/wasm'],
]);

/** The same as the meta tag of index.html, plus what a meta tag cannot say. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

/** What belongs to things that run on their own: documents and workers. */
const RUNNING_HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** How long a client may take, in milliseconds: for its headers, for all of a request; and how often that is looked at. */
const LIMITS = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 };

/** Answer with one sentence. `detail` becomes the JSON body's `error`. */
function refuse(response, status, detail) {
  response.writeHead(status, { ...HEADERS, 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ error: detail }));
}

/**
 * The file a URL path means, or null when it means none: not decodable, a hidden file, a server
 * file, outside its folder.
 * @param {string} pathname  as it stands in the request, still percent-encoded
 * @param {{prefix: string, folder: string}[]} mounts  tried in order; the longest prefix comes first
 */
export function fileFor(pathname, mounts) {
  let path;
  try {
    path = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  if (path.includes('\0') || path.includes('\\')) return null;
  if (path.split('/').some((part) => part.startsWith('.'))) return null;
  const mount = mounts.find(({ prefix }) => path.startsWith(prefix));
  if (!mount) return null;
  const rest = path.slice(mount.prefix.length);
  if (mount.hidden?.some((name) => rest === name || rest.startsWith(name + '/'))) return null;
  const folder = resolve(mount.folder);
  const file = join(folder, rest.endsWith('/') || rest === '' ? rest + 'index.html' : rest);
  return file.startsWith(folder + sep) ? file : null;
}

async function serveFile(request, response, file) {
  let info;
  try {
    info = await stat(file);
  } catch {
    info = null;
  }
  const type = TYPES.get(extname(file));
  if (!info?.isFile() || !type) return refuse(response, 404, 'There is no such file.');
  const etag = `W/"${info.size.toString(36)}-${Math.trunc(info.mtimeMs).toString(36)}"`;
  const headers = { ...HEADERS, 'content-type': type, etag, vary: 'accept-encoding' };
  if (type.startsWith('text/html') || file.endsWith(`${sep}sw.js`)) Object.assign(headers, RUNNING_HEADERS);
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, headers);
    return response.end();
  }
  const zip = type !== 'image/png' && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  if (zip) headers['content-encoding'] = 'gzip';
  else headers['content-length'] = info.size;
  response.writeHead(200, headers);
  if (request.method === 'HEAD') return response.end();
  const stream = createReadStream(file);
  stream.on('error', () => response.destroy());
  response.on('close', () => stream.destroy());
  (zip ? stream.pipe(createGzip({ level: 9 })) : stream).pipe(response);
}

/**
 * The server, not yet listening.
 * @param {object} [options]
 * @param {string} [options.root]  the repository; its demo/, dist/ and build/demo/ are served
 * @param {string} [options.dist]  the built package, default `<root>/dist`
 * @param {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void} [options.agent]
 *   answers POST /agui; without it there is no chat
 * @param {number} [options.headersTimeout]  and what else of Node's limits there is, in milliseconds
 */
export function createDemoServer({ root = fileURLToPath(new URL('..', import.meta.url)), dist = join(root, 'dist'), agent, ...limits } = {}) {
  const mounts = [
    { prefix: '/dist/', folder: dist },
    { prefix: '/vendor/', folder: join(root, 'build', 'demo') },
    { prefix: '/', folder: join(root, 'demo'), hidden: ['server.js', 'server', 'vendor'] },
  ];
  return createServer({ ...LIMITS, ...limits }, (request, response) => {
    const [pathname] = (request.url ?? '/').split('?');
    if (pathname === '/agui' && agent) return agent(request, response);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return refuse(response, 405, 'Only GET and HEAD work here.');
    }
    const file = fileFor(pathname, mounts);
    if (!file) return refuse(response, 404, 'There is no such file.');
    return serveFile(request, response, file);
  });
}

/** The port of the environment, or a sentence about what is wrong with it. */
export function readPort(text) {
  if (text === undefined || text === '') return { port: DEFAULT_PORT };
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return { port };
  return { problem: `PORT must be a whole number from 0 to 65535, and is "${text}". Try: PORT=8472 make demo` };
}

async function main() {
  const { port, problem } = readPort(process.env.PORT);
  if (problem) {
    console.error(problem);
    process.exit(1);
  }
  const root = fileURLToPath(new URL('..', import.meta.url));
  try {
    await stat(join(root, 'dist', 'index.js'));
  } catch {
    console.error('The package is not built yet (there is no dist/index.js). Run: make demo');
    process.exit(1);
  }
  let agent;
  let answers = 'off';
  try {
    const { loadTamp } = await import('../dist/index.js');
    const { agentFromEnvironment } = await import('./server/agent.js');
    ({ handler: agent, name: answers } = await agentFromEnvironment(process.env, await loadTamp()));
  } catch (error) {
    const advice = error.code === 'ERR_MODULE_NOT_FOUND' ? ' To have it: npm install, and start again.' : '';
    console.error(`The live chat is off: ${error.message.split('\n')[0]}. The rest of the page works.${advice}`);
  }
  const server = createDemoServer({ root, agent });
  server.on('error', (error) => {
    if (error.code === 'EADDRINUSE') {
      console.error(`Port ${port} is taken: another program, perhaps another demo, listens there.\nStop it, or choose another port: PORT=${port === 65535 ? DEFAULT_PORT : port + 1} make demo`);
    } else if (error.code === 'EACCES') {
      console.error(`This user may not open port ${port}. Choose one above 1023: PORT=${DEFAULT_PORT} make demo`);
    } else {
      console.error(`The server cannot start: ${error.message}`);
    }
    process.exit(1);
  });
  server.listen(port, '127.0.0.1', () => {
    console.log(`The demo is at http://localhost:${server.address().port}  (Ctrl-C stops it)`);
    if (agent) console.log(`In the live chat answers ${answers}.`);
  });
  const stop = () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
