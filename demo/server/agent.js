import { validate } from '../validator.js';
import { modelProblem, runModel } from './model.js';
import { runScript } from './scripted.js';

/** Bytes of a request's body. A chat longer than that is what compaction is for. */
export const MOST_BYTES = 4 * 1024 * 1024;

const WORD_MS = 14;

class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function readInput(request) {
  if (Number(request.headers['content-length']) > MOST_BYTES) throw new Refusal(413, `The chat is larger than ${MOST_BYTES / 2 ** 20} MiB. Compact it, or start a new one.`);
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new Refusal(413, `The chat is larger than ${MOST_BYTES / 2 ** 20} MiB. Compact it, or start a new one.`);
    chunks.push(chunk);
  }
  let input;
  try {
    input = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new Refusal(400, 'The body is not JSON. This address takes an AG-UI RunAgentInput.');
  }
  const whole = typeof input?.threadId === 'string' && typeof input.runId === 'string' && Array.isArray(input.messages);
  if (!whole || !input.messages.every((message) => typeof message?.id === 'string' && typeof message.role === 'string')) {
    throw new Refusal(400, 'The body is not an AG-UI RunAgentInput: it needs threadId, runId and messages with id and role.');
  }
  return input;
}

function json(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  response.end(JSON.stringify(value));
}

const NOT_HERE = { error: 'The chat answers its own page only. Open it at http://localhost.' };

/** Another site's page must not be able to spend the visitor's key, by any name for this address. */
function ownPage({ headers: { host = '', origin } }) {
  return /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host) && (origin === undefined || origin === `http://${host}`);
}

/**
 * The AG-UI agent of the chat, as a handler of node:http: GET says what answers, POST runs it.
 *
 * Before it answers, the built-in agent does what a provider does: it refuses a list whose calls and results do not match, and
 * one that is longer than its window (`forwardedProps.window`, in tokens).
 * @param {object} options
 * @param {import('@ag-ui/encoder').EventEncoder} options.encoder
 * @param {(messages: object[]) => number} options.countTokens
 * @param {{client: import('openai').OpenAI, model: string, baseURL?: string} | null} [options.model]  null: the built-in agent
 * @param {number} [options.wordMs]  how long the built-in agent takes for a word
 */
export function createAgent({ encoder, countTokens, model = null, wordMs = WORD_MS }) {
  return async function agent(request, response) {
    if (!ownPage(request)) return json(response, 403, NOT_HERE);
    if (request.method === 'GET') return json(response, 200, model ? { agent: 'model', model: model.model } : { agent: 'built-in' });
    if (request.method !== 'POST') {
      response.setHeader('allow', 'GET, POST');
      return json(response, 405, { error: 'Only GET and POST work here.' });
    }
    let input;
    try {
      input = await readInput(request);
    } catch (error) {
      if (!response.writable) return undefined;
      response.setHeader('connection', 'close');
      return json(response, error.status ?? 400, { error: error.message });
    }

    const gone = new AbortController();
    response.on('close', () => gone.abort());
    response.writeHead(200, { 'content-type': encoder.getContentType(), 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    const send = (event) => {
      if (!gone.signal.aborted) response.write(encoder.encodeSSE(event));
    };
    const emit = async (event) => {
      if (gone.signal.aborted) throw new Error('the visitor left');
      send(event);
      if (wordMs > 0 && !model && event.type === 'TEXT_MESSAGE_CONTENT') await new Promise((resolve) => { setTimeout(resolve, wordMs); });
    };
    const ids = { threadId: input.threadId, runId: input.runId };
    send({ type: 'RUN_STARTED', ...ids });
    try {
      if (model) {
        await runModel(model.client, model.model, input, emit, gone.signal);
      } else {
        const verdict = validate(input.messages);
        if (!verdict.ok) return send({ type: 'RUN_ERROR', message: `invalid_request: ${verdict.problem}`, code: 'invalid_request' });
        const window = Number(input.forwardedProps?.window);
        const tokens = countTokens(input.messages);
        if (window > 0 && tokens > window) {
          return send({ type: 'RUN_ERROR', message: `context_length_exceeded: the window of this model is ${window} tokens, and the messages have ${tokens}.`, code: 'context_length_exceeded' });
        }
        await runScript(input, emit);
      }
      send({ type: 'RUN_FINISHED', ...ids });
    } catch (error) {
      if (!gone.signal.aborted) send({ type: 'RUN_ERROR', message: model ? modelProblem(error, model) : error.message, code: error?.code ?? 'agent_error' });
    } finally {
      response.end();
    }
    return undefined;
  };
}

/**
 * Hands a run on to an AG-UI server of the visitor's own: the page itself may talk to no other address.
 * @param {string} address  of its endpoint
 */
export function createRelay(address) {
  return async function relay(request, response) {
    if (!ownPage(request)) return json(response, 403, NOT_HERE);
    if (request.method === 'GET') return json(response, 200, { agent: 'other', address });
    if (request.method !== 'POST') {
      response.setHeader('allow', 'GET, POST');
      return json(response, 405, { error: 'Only GET and POST work here.' });
    }
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      const body = JSON.stringify(await readInput(request));
      const answer = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'text/event-stream' }, body, signal: gone.signal });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/event-stream', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      for await (const chunk of answer.body ?? []) {
        if (!response.write(chunk)) await new Promise((resolve) => { response.once('drain', resolve).once('close', resolve); });
      }
      response.end();
    } catch (error) {
      if (response.headersSent || gone.signal.aborted) response.destroy();
      else json(response, error instanceof Refusal ? error.status : 502, { error: error instanceof Refusal ? error.message : `No AG-UI server answers at ${address} (${error.cause?.code ?? error.message}). Is it running?` });
    }
    return undefined;
  };
}

/** In a request of the chat: the AG-UI server that the visitor wants an answer from. */
export const ADDRESS_HEADER = 'x-agent-url';

const isAddress = (address) => /^https?:\/\//.test(address) && URL.canParse(address);

/**
 * The usual agent, or the server that a request names: the page may talk to its own server only, so what the visitor types
 * there goes this way. No other site's page can send such a header here (ownPage).
 * @param {Function} usual
 */
export function createChoice(usual) {
  return function choose(request, response) {
    const address = request.headers[ADDRESS_HEADER];
    if (address === undefined) return usual(request, response);
    if (!isAddress(address)) return json(response, 400, { error: `This is no address of an AG-UI server: "${address}". It begins with http:// or https://.` });
    return createRelay(address)(request, response);
  };
}

/**
 * The agent the environment asks for: AGUI_URL an AG-UI server of one's own; OPENAI_API_KEY or OPENAI_BASE_URL (with MODEL) a
 * model; else the built-in one.
 * @returns {Promise<{handler: Function, name: string}>}  `name` for a sentence: "In the live chat answers …"
 */
export async function agentFromEnvironment(env, tamp) {
  if (env.AGUI_URL) {
    if (!isAddress(env.AGUI_URL)) throw new Error(`AGUI_URL must be an http address, and is "${env.AGUI_URL}"`);
    return { handler: createChoice(createRelay(env.AGUI_URL)), name: `the AG-UI server at ${env.AGUI_URL}` };
  }
  const { EventEncoder } = await import('@ag-ui/encoder');
  let model = null;
  if (env.OPENAI_API_KEY || env.OPENAI_BASE_URL) {
    const { OpenAI } = await import('openai');
    const baseURL = env.OPENAI_BASE_URL || undefined;
    model = { client: new OpenAI({ apiKey: env.OPENAI_API_KEY || 'none', baseURL, maxRetries: 1 }), model: env.MODEL || 'gpt-4o-mini', baseURL };
  }
  const usual = createAgent({ encoder: new EventEncoder(), countTokens: (messages) => tamp.countTokens(messages), model });
  return { handler: createChoice(usual), name: model ? `${model.model}${model.baseURL ? ` at ${model.baseURL}` : ''}` : 'its built-in agent' };
}
