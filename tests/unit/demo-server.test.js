import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createDemoServer, DEFAULT_PORT, fileFor, readPort } from '../../demo/server.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A small site of its own: demo/index.html, demo/server.js, dist/tamp.wasm, and a secret beside them. */
async function site(t, options = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'tamp-demo-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'demo', 'server'), { recursive: true });
  await mkdir(join(folder, 'dist'));
  await writeFile(join(folder, 'demo', 'index.html'), '<!doctype html><title>page</title>');
  await writeFile(join(folder, 'demo', 'server.js'), 'server');
  await writeFile(join(folder, 'demo', 'server', 'agent.js'), 'agent');
  await writeFile(join(folder, 'demo', '.hidden.json'), '{}');
  await writeFile(join(folder, 'dist', 'tamp.wasm'), new Uint8Array([0, 97, 115, 109]));
  await writeFile(join(folder, 'secret.json'), '{"secret":true}');
  const server = createDemoServer({ root: folder, ...options });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { folder, server, port: server.address().port };
}

/** One request whose path goes over the wire as it is written. */
async function get(port, path, { method = 'GET', headers = {} } = {}) {
  const sending = request({ port, host: '127.0.0.1', path, method, headers });
  sending.end();
  const [response] = await once(sending, 'response');
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

test('the demo server serves the page under a policy that allows its own files only', async (t) => {
  const { port } = await site(t);
  const { status, headers, body } = await get(port, '/');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.match(headers['content-security-policy'], /default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.match(body.toString(), /<title>page/);
});

test('the demo server sends Wasm with the type that streaming compilation asks for', async (t) => {
  const { port } = await site(t);
  const { status, headers, body } = await get(port, '/dist/tamp.wasm');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/wasm');
  assert.deepEqual([...body], [0, 97, 115, 109]);
});

test('the demo server gives no file outside the folders it serves, however the path is written', async (t) => {
  const { port } = await site(t);
  const paths = [
    '/../secret.json', '/dist/../../secret.json', '/%2e%2e/secret.json', '/..%2fsecret.json', '/dist/..%2f..%2fsecret.json',
    '/%2e%2e%2fsecret.json', '/..\\secret.json', '/..%5csecret.json', '/.hidden.json', '/%00', '/%', '//etc/passwd', '/server.js', '/server/agent.js',
  ];
  for (const path of paths) {
    const { status, body } = await get(port, path);
    assert.equal(status, 404, path);
    assert.doesNotMatch(body.toString(), /secret":true/, path);
  }
});

test('the demo server answers methods other than GET and HEAD with 405 and does not read their bodies', async (t) => {
  const { port } = await site(t);
  const { status, headers } = await get(port, '/', { method: 'PUT' });
  assert.equal(status, 405);
  assert.equal(headers.allow, 'GET, HEAD');
});

/** Everything that comes back over a connection until the server ends it. */
async function talk(port, act) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk) => { text += chunk; });
  socket.on('error', () => {}); // an end by a reset is an end
  const ended = once(socket, 'close');
  act(socket);
  await ended;
  return text;
}

test('a client that does not finish its headers is cut off, and keeps nobody else from the page', async (t) => {
  const { port, server } = await site(t, { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50 });
  const slow = Array.from({ length: 50 }, () => talk(port, (socket) => socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')));
  const silent = talk(port, () => {});
  assert.equal((await get(port, '/')).status, 200);
  for (const text of await Promise.all(slow)) assert.match(text, /^HTTP\/1\.1 408 /);
  assert.match(await silent, /^(HTTP\/1\.1 408 |$)/);
  assert.equal((await get(port, '/')).status, 200);
  assert.equal(server.headersTimeout, 200);
});

test('a client that does not finish its body is cut off', async (t) => {
  const { port } = await site(t, { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50, agent: async (request_, response) => {
    try {
      for await (const _chunk of request_);
      response.end('read');
    } catch {
      response.destroy();
    }
  } });
  const text = await talk(port, (socket) => socket.write('POST /agui HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{'));
  assert.doesNotMatch(text, /read/);
});

test('the demo server waits for headers no longer than ten seconds and for a request no longer than thirty', () => {
  const server = createDemoServer();
  assert.ok(server.headersTimeout > 0 && server.headersTimeout <= 10_000);
  assert.ok(server.requestTimeout > 0 && server.requestTimeout <= 30_000);
});

test('the demo server refuses headers that are too large and goes on', async (t) => {
  const { port } = await site(t);
  const text = await talk(port, (socket) => socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(100_000)}\r\n\r\n`));
  assert.match(text, /^(HTTP\/1\.1 431 |$)/);
  assert.equal((await get(port, '/')).status, 200);
});

test('the demo server answers 304 to a file the browser has already', async (t) => {
  const { port } = await site(t);
  const first = await get(port, '/index.html');
  const second = await get(port, '/index.html', { headers: { 'if-none-match': first.headers.etag } });
  assert.equal(second.status, 304);
  assert.equal(second.body.length, 0);
});

test('the demo server compresses for who accepts it', async (t) => {
  const { port } = await site(t);
  const { headers } = await get(port, '/', { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(headers['content-encoding'], 'gzip');
});

test('a path that leaves its folder names no file', () => {
  const mounts = [{ prefix: '/', folder: '/site' }];
  assert.equal(fileFor('/a/b.js', mounts), '/site/a/b.js');
  assert.equal(fileFor('/', mounts), '/site/index.html');
  for (const path of ['/..', '/a/../../b', '/%2e%2e/b', '/.git/config', '/a%00b', '/%zz']) assert.equal(fileFor(path, mounts), null, path);
});

test('PORT is a whole number, or the sentence says what to write', () => {
  assert.deepEqual(readPort(undefined), { port: DEFAULT_PORT });
  assert.deepEqual(readPort('9000'), { port: 9000 });
  for (const text of ['x', '-1', '65536', '80.5']) assert.match(readPort(text).problem, /PORT must be a whole number/, text);
});

/** Run demo/server.js as a program; gives what it printed until `pattern` came, or until its end. */
async function program(t, port, pattern) {
  const child = spawn(process.execPath, ['demo/server.js'], { cwd: root, env: { ...process.env, PORT: String(port) } });
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  const exit = once(child, 'exit');
  const printed = new Promise((resolve) => {
    const add = (chunk) => {
      text += chunk;
      if (pattern.test(text)) resolve();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
  });
  await Promise.race([printed, exit]);
  return { child, exit, text: () => text };
}

test('a taken port is said plainly, with what to do', async (t) => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  const { port } = other.address();
  const { exit, text } = await program(t, port, /make demo\n/);
  const [code] = await exit;
  assert.equal(code, 1);
  assert.match(text(), new RegExp(`Port ${port} is taken`));
  assert.match(text(), /PORT=\d+ make demo/);
});

test('the server prints its address and ends well on Ctrl-C, also with a connection open', async (t) => {
  const { child, exit, text } = await program(t, 0, /localhost:\d+/);
  const port = Number(/localhost:(\d+)/.exec(text())[1]);
  const response = await fetch(`http://127.0.0.1:${port}/`);
  assert.equal(response.status, 200);
  await response.text();
  child.kill('SIGINT');
  const [code] = await exit;
  assert.equal(code, 0);
});
