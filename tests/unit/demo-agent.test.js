import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { EventEncoder } from '@ag-ui/encoder';
import { HttpAgent } from '@ag-ui/client';

import { agentFromEnvironment, createAgent, createRelay, MOST_BYTES } from '../../demo/server/agent.js';
import { modelProblem, runModel } from '../../demo/server/model.js';
import { validate } from '../../demo/validator.js';

const countTokens = (messages) => messages.reduce((sum, message) => sum + Math.ceil(JSON.stringify(message).length / 4), 0);
const askPerson = { name: 'ask_person', description: 'Ask.', parameters: { type: 'object', properties: {} } };

async function serve(t, handler = createAgent({ encoder: new EventEncoder(), countTokens, wordMs: 0 })) {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/agui`;
}

const user = (id, content) => ({ id, role: 'user', content });

test('the built-in agent calls tools in parallel and answers, over the real protocol', async (t) => {
  const agent = new HttpAgent({ url: await serve(t), initialMessages: [user('u1', 'Were there slow requests in the logs?')] });
  await agent.runAgent({ tools: [askPerson] });
  const { messages } = agent;
  assert.deepEqual(messages.map(({ role }) => role), ['user', 'assistant', 'tool', 'tool', 'tool', 'assistant', 'tool', 'tool', 'assistant']);
  assert.equal(messages[1].toolCalls.length, 3);
  assert.match(messages.at(-1).content, /took longer than ten seconds, all of them in mail/);
  assert.ok(validate(messages).ok);
});

test('the built-in agent gives the same answer to the same question', async (t) => {
  const url = await serve(t);
  const answers = [];
  for (let n = 0; n < 2; n += 1) {
    const agent = new HttpAgent({ url, initialMessages: [user('u1', 'Compare the two orders')] });
    await agent.runAgent({});
    answers.push(agent.messages.map(({ content }) => content));
  }
  assert.deepEqual(answers[0], answers[1]);
});

test('a tool of the page stays pending until the page answers it, and then the run goes on', async (t) => {
  const agent = new HttpAgent({ url: await serve(t), initialMessages: [user('u1', 'Refund the order')] });
  await agent.runAgent({ tools: [askPerson] });
  const call = agent.messages.at(-1).toolCalls[0];
  assert.equal(call.function.name, 'ask_person');
  agent.addMessage({ id: 'answer', role: 'tool', toolCallId: call.id, content: 'yes' });
  await agent.runAgent({ tools: [askPerson] });
  assert.match(agent.messages.at(-1).content, /refunded in full/);
  assert.ok(validate(agent.messages).ok);
});

test('the built-in agent says what it was sent and no more', async (t) => {
  const agent = new HttpAgent({ url: await serve(t), initialMessages: [user('u1', 'Hello'), { id: 'a1', role: 'assistant', content: 'Hi' }, user('u2', 'What do you remember?')] });
  await agent.runAgent({});
  assert.match(agent.messages.at(-1).content, /I was sent 3 messages.*“Hello”/s);
});

test('the built-in agent refuses what a provider would refuse: a broken history and one that is too long', async (t) => {
  const url = await serve(t);
  const errors = [];
  const run = async (messages, window) => {
    const agent = new HttpAgent({ url, initialMessages: messages });
    agent.subscribe({ onRunErrorEvent: ({ event }) => { errors.push(event); } });
    await agent.runAgent({ forwardedProps: { window } }).catch(() => {});
  };
  await run([user('u1', 'x'), { id: 't1', role: 'tool', toolCallId: 'nowhere', content: 'orphan' }, user('u2', 'y')]);
  await run([user('u1', 'x'.repeat(8000))], 1000);
  assert.deepEqual(errors.map(({ code }) => code), ['invalid_request', 'context_length_exceeded']);
  assert.match(errors[1].message, /1000 tokens/);
});

test('the agent answers bad requests with a sentence and keeps running', async (t) => {
  const url = await serve(t);
  const post = (body, headers = {}) => fetch(url, { method: 'POST', body, headers });
  const cases = [
    [await post('{'), 400, /not JSON/],
    [await post('{"messages":[1]}'), 400, /RunAgentInput/],
    [await post(`"${'x'.repeat(MOST_BYTES)}"`), 413, /larger than 4 MiB/],
    [await post('{}', { origin: 'http://evil.example' }), 403, /own page only/],
    [await fetch(url, { method: 'DELETE' }), 405, /GET and POST/],
  ];
  for (const [response, status, sentence] of cases) {
    assert.equal(response.status, status);
    assert.match((await response.json()).error, sentence);
  }
  const info = await fetch(url);
  assert.deepEqual(await info.json(), { agent: 'built-in' });
});

/** A client as the openai package makes it, that streams `rounds` one after the other. */
function model(rounds) {
  const requests = [];
  const create = async (request) => {
    requests.push(structuredClone({ ...request, tools: undefined }));
    const round = rounds.shift();
    return (async function* stream() {
      for (const delta of round) yield { choices: [{ delta }] };
    })();
  };
  return { requests, client: { chat: { completions: { create } } } };
}

test('a model’s tool calls are run and given back to it until it answers', async () => {
  const { client, requests } = model([
    [{ tool_calls: [{ index: 0, id: 'c1', function: { name: 'read_order', arguments: '{"id":' } }, { index: 1, id: 'c2', function: { name: 'find_orders', arguments: '{}' } }] }, { tool_calls: [{ index: 0, function: { arguments: '"HB-1"}' } }] }],
    [{ content: 'It is ' }, { content: 'fine.' }],
  ]);
  const events = [];
  await runModel(client, 'test-model', { messages: [user('u1', 'Is HB-1 fine?')] }, async (event) => { events.push(event); });
  assert.deepEqual(requests[1].messages.map(({ role }) => role), ['user', 'assistant', 'tool', 'tool']);
  assert.equal(JSON.parse(requests[1].messages[2].content).id, 'HB-1');
  assert.equal(events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta).join(''), 'It is fine.');
});

test('what goes wrong with a model is a sentence that says what to do', () => {
  const at = { baseURL: 'http://localhost:11434/v1', model: 'qwen' };
  assert.match(modelProblem({ status: 401 }, at), /OPENAI_API_KEY/);
  assert.match(modelProblem({ status: 404 }, at), /MODEL/);
  assert.match(modelProblem({ cause: { code: 'ECONNREFUSED' } }, at), /No model answers at http:\/\/localhost:11434\/v1 \(ECONNREFUSED\)/);
  assert.match(modelProblem({ status: 400, code: 'context_length_exceeded', message: 'too long' }, at), /^context_length_exceeded/);
});

test('AGUI_URL hands runs on to another AG-UI server, and says when none is there', async (t) => {
  const other = await serve(t);
  const { handler, name } = await agentFromEnvironment({ AGUI_URL: other }, null);
  assert.match(name, /AG-UI server at http/);
  const agent = new HttpAgent({ url: await serve(t, handler), initialMessages: [user('u1', 'Compare the two orders')] });
  await agent.runAgent({});
  assert.match(agent.messages.at(-1).content, /same two workers/);

  const nobody = await serve(t, createRelay('http://127.0.0.1:9/agui'));
  const response = await fetch(nobody, { method: 'POST', body: JSON.stringify({ threadId: 't', runId: 'r', messages: [] }) });
  assert.equal(response.status, 502);
  assert.match((await response.json()).error, /No AG-UI server answers at http:\/\/127\.0\.0\.1:9\/agui/);
  await assert.rejects(agentFromEnvironment({ AGUI_URL: 'ftp://x' }, null), /AGUI_URL must be an http address/);
});
