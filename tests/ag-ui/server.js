// An AG-UI server for tests, on 127.0.0.1 and a port of the system's choice. The path says what kind of server it plays:
//
//   /stateless      answers; knows what it was sent, nothing else
//   /snapshotting   answers, then a MESSAGES_SNAPSHOT of what it was sent and its answer; ?rekey gives every message a new id,
//                   ?bare leaves out metadata and reasoning, ?activity adds an activity of its own
//   /stateful       keeps threads: takes new messages in by id, snapshots the whole thread
//   /echoing        RUN_STARTED carries the input it got
//   /too-large      413 over ?limit bytes
//   /too-long       RUN_ERROR context_length_exceeded over ?limit messages; ?step within a step, ?late after some text
//   /failing        ?status: that answer; ?broken: ends within a message; else a RUN_ERROR
//   /tool           calls the frontend tool `pick` unless its result is the last message
//   /interrupting   calls a tool and ends with an interrupt, unless the run resumes
//   /django         what django-ag-ui sends when it compacts at every run
//   /busy           answers in ?deltas pieces
//   /provider       RUN_ERROR when a provider would refuse the list: results without their call, calls without results
import { createServer } from 'node:http';
import { EventEncoder } from '@ag-ui/encoder';

/** @typedef {{ threadId: string, runId: string, messages: any[], resume?: any[] }} Input */
/** @typedef {{ path: string, body: string, input: Input }} Seen */

/** The bytes that django-ag-ui 0.25 sends for a compaction, but for the id. */
export const djangoFrame = (/** @type {string} */ id) =>
  `data: {"type":"ACTIVITY_SNAPSHOT","messageId":"${id}","activityType":"compaction","content":{"removed":8,"before":10,"after":2},"replace":true}\n\n`;

/** @param {string} messageId @param {string[]} deltas */
const text = (messageId, deltas) => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  ...deltas.map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
  { type: 'TEXT_MESSAGE_END', messageId },
];

/** @param {string} toolCallId @param {string} parentMessageId @param {string} args */
const call = (toolCallId, parentMessageId, args = '{}') => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'pick', parentMessageId },
  { type: 'TOOL_CALL_ARGS', toolCallId, delta: args },
  { type: 'TOOL_CALL_END', toolCallId },
];

/** What a provider says against a list; null when nothing. @param {any[]} messages */
export function refusal(messages) {
  /** @type {Set<string>} */
  let open = new Set();
  for (const { role, toolCalls, toolCallId } of messages) {
    if (role === 'tool') {
      if (!open.delete(toolCallId)) return `result ${toolCallId} has no call before it`;
    } else if (role !== 'reasoning') {
      if (open.size > 0) return `call ${[...open][0]} has no result`;
      open = new Set((toolCalls ?? []).map(({ id }) => id));
    }
  }
  return open.size > 0 ? `call ${[...open][0]} has no result` : null;
}

/**
 * @returns {Promise<{ url: string, seen: Seen[], close(): Promise<void> }>} `seen` holds every request, in order
 */
export async function startServer() {
  /** @type {Seen[]} */
  const seen = [];
  /** @type {Map<string, any[]>} */
  const threads = new Map();
  let answers = 0;

  const server = createServer(async (request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Headers', '*');
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    /** @type {Input} */
    const input = JSON.parse(body);
    seen.push({ path: pathname, body, input });
    const limit = Number(searchParams.get('limit'));
    if (pathname === '/too-large' && Buffer.byteLength(body) > limit) {
      response.writeHead(413, { 'Content-Type': 'application/json' }).end('{"error":"Payload Too Large"}');
      return;
    }
    if (pathname === '/failing' && searchParams.has('status')) {
      response.writeHead(Number(searchParams.get('status')), { 'Content-Type': 'application/json' })
        .end(searchParams.get('body') ?? '{"error":"no"}');
      return;
    }
    const { threadId, runId, messages } = input;
    const started = { type: 'RUN_STARTED', threadId, runId };
    const finished = { type: 'RUN_FINISHED', threadId, runId };
    const id = `answer${answers += 1}`;
    const answer = { id, role: 'assistant', content: `answer to ${messages.length}` };
    const reply = text(id, [answer.content]);
    const last = messages.at(-1);
    const encoder = new EventEncoder({ accept: 'text/event-stream' });
    response.writeHead(200, { 'Content-Type': encoder.getContentType() });
    /** @param {any[]} events */
    const send = (...events) => {
      for (const event of events) response.write(typeof event === 'string' ? event : encoder.encodeSSE(event));
    };

    switch (pathname) {
      case '/snapshotting': {
        const said = searchParams.has('bare') ? messages.filter(({ role }) => role !== 'reasoning') : messages;
        const snapshot = [...said, answer].map((message, index) => {
          const { metadata: _, ...bare } = message;
          return {
            ...searchParams.has('bare') ? bare : message,
            ...searchParams.has('rekey') ? { id: `k${answers}-${index}` } : {},
          };
        });
        if (searchParams.has('activity')) {
          snapshot.push({ id: `plan${answers}`, role: 'activity', activityType: 'PLAN', content: { steps: [] } });
        }
        send(started, ...reply, { type: 'MESSAGES_SNAPSHOT', messages: snapshot }, finished);
        break;
      }
      case '/stateful': {
        const thread = threads.get(threadId) ?? [];
        const known = new Set(thread.map((message) => message.id));
        thread.push(...messages.filter((message) => !known.has(message.id)), answer);
        threads.set(threadId, thread);
        send(started, ...reply, { type: 'MESSAGES_SNAPSHOT', messages: thread }, finished);
        break;
      }
      case '/echoing':
        send({ ...started, input: { tools: [], context: [], ...input } }, ...reply, finished);
        break;
      case '/too-long': {
        const error = {
          type: 'RUN_ERROR', code: 'context_length_exceeded', message: 'This model has a maximum context length of 8192 tokens.',
        };
        if (messages.length <= limit) send(started, ...reply, finished);
        else if (searchParams.has('step')) send(started, { type: 'STEP_STARTED', stepName: 'model' }, error);
        else if (searchParams.has('late')) send(started, ...reply, error);
        else send(started, error);
        break;
      }
      case '/failing':
        if (searchParams.has('broken')) {
          send(started, ...reply.slice(0, 2));
          break;
        }
        send(started, { type: 'RUN_ERROR', message: 'the model is down' });
        break;
      case '/tool':
        if (last?.role === 'tool') send(started, ...reply, finished);
        else send(started, ...call(`call${answers}`, id), finished);
        break;
      case '/interrupting':
        if (input.resume !== undefined) {
          send(started, ...reply, finished);
        } else {
          const interrupts = [{ id: `interrupt${answers}`, reason: 'approval', toolCallId: `call${answers}` }];
          send(started, ...call(`call${answers}`, id), { ...finished, outcome: { type: 'interrupt', interrupts } });
        }
        break;
      case '/django':
        send(started, djangoFrame(`compaction-${'0'.repeat(8)}-${answers}`), ...reply, finished);
        break;
      case '/busy':
        send(started, ...text(id, Array.from({ length: Number(searchParams.get('deltas')) }, () => 'word ')), finished);
        break;
      case '/provider': {
        const why = refusal(messages);
        if (why === null) send(started, ...reply, finished);
        else send(started, { type: 'RUN_ERROR', message: why });
        break;
      }
      default:
        send(started, ...reply, finished);
    }
    response.end();
  });

  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve(undefined)));
    },
  };
}
