/**
 * Texts that no package ships: dense encodings of random bytes, and the log files of servers. The same on
 * every machine and in every run.
 */

/** A generator of numbers in [0, 1) that depends on its seed alone (xorshift32). @param {number} seed */
function random(seed) {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

/** @param {() => number} next @param {number} length */
const bytes = (next, length) => Buffer.from(Array.from({ length }, () => Math.floor(next() * 256)));

/** @template T @param {() => number} next @param {readonly T[]} items @returns {T} */
const pick = (next, items) => items[Math.floor(next() * items.length)];

/** @param {() => number} next */
const uuid = (next) =>
  bytes(next, 16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

export const dense = {
  random,

  /** Base64 as it comes: one line, lines of 76, data: URLs, and base64url of signed tokens. */
  *base64() {
    const next = random(1);
    for (let index = 0; index < 40; index++) {
      const body = bytes(next, 600 + Math.floor(next() * 3000));
      const text = body.toString('base64');
      yield (
        [
          text,
          (text.match(/.{1,76}/g) ?? []).join('\n'),
          `data:image/png;base64,${text}`,
          `${Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')}.${body.toString('base64url')}`,
        ][index % 4] ?? ''
      );
    }
  },

  /** Digests, identifiers and dumps. */
  *hexadecimal() {
    const next = random(2);
    for (let index = 0; index < 60; index++) {
      const lines = Array.from({ length: 24 }, () => {
        switch (index % 4) {
          case 0:
            return bytes(next, 20).toString('hex');
          case 1:
            return uuid(next);
          case 2:
            return `${bytes(next, 32).toString('hex')}  build/${pick(next, ['core', 'web', 'demo'])}/file${Math.floor(next() * 99)}.o`;
          default:
            return `${bytes(next, 4).toString('hex')}: ${(bytes(next, 16).toString('hex').match(/.{4}/g) ?? []).join(' ')}`;
        }
      });
      yield lines.join('\n');
    }
  },
};

const PATHS = [
  '/api/v1/users',
  '/api/v1/messages',
  '/static/main.js',
  '/health',
  '/login',
  '/api/v2/threads/search',
  '/favicon.ico',
  '/docs/getting-started',
];
const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  'curl/7.88.1',
  'kube-probe/1.29',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)',
];
const LEVELS = ['INFO', 'INFO', 'INFO', 'DEBUG', 'WARN', 'ERROR'];
const EVENTS = [
  'request completed',
  'cache miss',
  'connection established',
  'retrying after failure',
  'user authenticated',
  'job scheduled',
  'timeout waiting for response',
  'configuration reloaded',
];
const UNITS = ['systemd[1]', 'sshd', 'kernel', 'CRON', 'dockerd', 'nginx', 'postgres'];
const SENTENCES = [
  'Started Daily apt download activities.',
  'Accepted publickey for deploy from',
  'Out of memory: Killed process',
  'pam_unix(sshd:session): session opened for user root(uid=0)',
  'Reached target Multi-User System.',
  'connection reset by peer',
  'link becomes ready',
];

/** Web-server, service, system, container and build logs. */
export function* logs() {
  const next = random(3);
  const whole = (/** @type {number} */ below) => Math.floor(next() * below);
  const address = () => `${10 + whole(180)}.${whole(256)}.${whole(256)}.${whole(256)}`;
  const two = (/** @type {number} */ value) => String(value).padStart(2, '0');
  let clock = Date.UTC(2026, 2, 14, 6, 1, 7);
  for (let index = 0; index < 60; index++) {
    const lines = [];
    for (let line = 0; line < 25; line++) {
      clock += whole(4000);
      const time = new Date(clock);
      const iso = time.toISOString();
      const syslog = `Mar ${time.getUTCDate()} ${two(time.getUTCHours())}:${two(time.getUTCMinutes())}:${two(time.getUTCSeconds())}`;
      switch (index % 6) {
        case 0:
          lines.push(
            `${address()} - - [${two(time.getUTCDate())}/Mar/2026:${iso.slice(11, 19)} +0000] "${pick(next, ['GET', 'POST', 'GET', 'DELETE'])} ${pick(next, PATHS)}/${whole(90000)} HTTP/1.1" ${pick(next, [200, 200, 304, 404, 500])} ${whole(60000)} "-" "${pick(next, AGENTS)}"`,
          );
          break;
        case 1:
          lines.push(
            JSON.stringify({
              level: pick(next, LEVELS).toLowerCase(),
              time: iso,
              pid: whole(32768),
              requestId: uuid(next),
              msg: pick(next, EVENTS),
              durationMs: whole(9000) / 10,
              path: pick(next, PATHS),
            }),
          );
          break;
        case 2:
          lines.push(
            `${syslog} host-${whole(9)} ${pick(next, UNITS)}[${whole(30000)}]: ${pick(next, SENTENCES)} ${address()} port ${1024 + whole(60000)}`,
          );
          break;
        case 3:
          lines.push(
            `${iso.replace('T', ' ').slice(0, 23)} [${pick(next, ['main', 'worker-1', 'worker-2', 'http-nio-8080-exec-7'])}] ${pick(next, LEVELS)} com.example.${pick(next, ['service.OrderService', 'web.SessionController', 'store.MessageRepository'])} - ${pick(next, EVENTS)} id=${whole(1e6)} took ${whole(5000)}ms`,
          );
          if (next() < 0.1)
            lines.push(
              'java.lang.IllegalStateException: stream has already been operated upon or closed',
              '\tat java.base/java.util.stream.AbstractPipeline.<init>(AbstractPipeline.java:203)',
              `\tat com.example.service.OrderService.load(OrderService.java:${whole(400)})`,
            );
          break;
        case 4:
          lines.push(
            `${iso} ${pick(next, LEVELS)[0]} ${pick(next, ['controller.go', 'reconciler.go', 'server.go'])}:${whole(900)}] "${pick(next, EVENTS)}" pod="default/web-${bytes(next, 5).toString('hex')}-${bytes(next, 3).toString('hex')}" node="10.0.${whole(9)}.${whole(99)}" attempt=${whole(5)}`,
          );
          break;
        default:
          lines.push(
            `[${whole(100)}%] ${pick(next, ['Building C object', 'Linking CXX shared library', 'Generating', 'Compiling'])} src/${pick(next, ['core', 'net', 'util'])}/${pick(next, ['buffer', 'socket', 'parser', 'table'])}.${pick(next, ['c', 'cpp', 'o'])} (${whole(900)} ms)`,
          );
      }
    }
    yield lines.join('\n');
  }
}
