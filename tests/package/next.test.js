// The packed tarball in a Next.js application: rendered on the server and run in Chromium. Next is installed into
// build/next the first time.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launch } from '../browser/chromium.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fixture = join(root, 'tests/package/next');
const folder = join(root, 'build/next');
const next = join(folder, 'node_modules/next/dist/bin/next');
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };

/** @param {...string} words */
const npm = (...words) => spawnSync('npm', [...words, '--ignore-scripts', '--no-package-lock', '--loglevel=error'], {
  cwd: folder, encoding: 'utf8', timeout: 300_000,
});

/** Null, or why Next cannot be had here. */
function install() {
  const wanted = JSON.parse(readFileSync(join(fixture, 'package.json'), 'utf8')).dependencies;
  const there = Object.entries(wanted).every(([name, version]) => {
    const manifest = join(folder, 'node_modules', name, 'package.json');
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
  mkdirSync(folder, { recursive: true });
  cpSync(fixture, folder, { recursive: true });
  if (there) return null;
  cpSync(join(root, '.npmrc'), join(folder, '.npmrc'));
  const { status, stderr, error } = npm('install');
  return status === 0 ? null : `Next.js could not be installed: ${error ?? stderr}`;
}

const missing = install();

/** Serves what was built, on a port of the system's choice, and gives where. @param {import('node:test').TestContext} t */
async function start(t) {
  /* In a group of its own: what serves is a child of what is started. */
  const server = spawn(process.execPath, [next, 'start', '--hostname', '127.0.0.1', '--port', '0'], {
    cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(server, 'exit');
  t.after(async () => {
    if (server.exitCode === null && server.pid) process.kill(-server.pid, 'SIGKILL');
    await ended;
  });
  let text = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => { text += chunk; });
  const printed = new Promise((resolve) => {
    server.stdout.on('data', () => {
      const url = /http:\/\/127\.0\.0\.1:\d+/u.exec(text);
      if (url && text.includes('Ready')) resolve(url[0]);
    });
  });
  const url = await Promise.race([printed, ended.then(() => null)]);
  assert.ok(url, text);
  return { url, log: () => text };
}

test('a Next.js application compacts on the server and in the page', { skip: missing ?? false, timeout: 300_000 }, async (t) => {
  /* Packed by itself: npm takes a folder as a link, which is not what people install. */
  const [packed] = Object.values(JSON.parse(execFileSync('npm', ['pack', root, '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'],
  })));
  const target = join(folder, 'node_modules/tamp');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '--strip-components=1', '-C', target]);

  rmSync(join(folder, '.next'), { recursive: true, force: true });
  const built = spawnSync(process.execPath, [next, 'build'], { cwd: folder, env, encoding: 'utf8', timeout: 200_000 });
  assert.equal(built.status, 0, built.stdout + built.stderr);
  assert.doesNotMatch(built.stdout + built.stderr, /warn/iu);

  const { url, log } = await start(t);
  const html = await (await fetch(url)).text();
  assert.match(html, /<p id="server">u1,u2,a2<\/p>/u, log());
  assert.match(html, /<p id="both">1<\/p>/u);
  assert.match(html, /<compaction-badge><\/compaction-badge>/u);

  const browser = await launch();
  try {
    const page = await browser.newPage();
    /** @type {string[]} */
    const complaints = [];
    /** @type {string[]} */
    const wasm = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => request.url().endsWith('.wasm') && wasm.push(request.url()));
    await page.goto(url);
    assert.equal(await page.locator('#page:not(:empty)').textContent({ timeout: 20_000 }), 'u1,u2,a2 1');
    assert.deepEqual(complaints, []);
    assert.equal(wasm.length, 1);
    assert.match(wasm[0], /\/tamp\.[^/]*wasm$/u);
    assert.ok(await page.evaluate(() => document.querySelector('compaction-badge')?.matches(':defined')));
  } finally {
    await browser.close();
  }
  assert.doesNotMatch(log(), /error/iu);
});
