import { randomUUID } from 'node:crypto';
import { TOOLS } from './tools.js';

/** Rounds of tool calls before the run is ended: a model that never stops calling does not run for ever. */
const MOST_ROUNDS = 8;

const text = (content) => (typeof content === 'string' ? content : Array.isArray(content) ? content.map((part) => part?.text ?? '').join('\n') : '');

/** AG-UI messages as chat completions; what a model is not told (activity, reasoning) stays out. */
function toChat(messages) {
  return messages.flatMap((message) => {
    switch (message.role) {
      case 'system':
      case 'developer':
        return [{ role: 'system', content: text(message.content) }];
      case 'user':
        return [{ role: 'user', content: text(message.content) }];
      case 'assistant':
        return [{ role: 'assistant', content: text(message.content), ...(message.toolCalls?.length ? { tool_calls: message.toolCalls.map(({ id, function: call }) => ({ id, type: 'function', function: { name: call.name, arguments: call.arguments } })) } : {}) }];
      case 'tool':
        return [{ role: 'tool', tool_call_id: message.toolCallId, content: text(message.content) }];
      default:
        return [];
    }
  });
}

/** An error of the model's server as a sentence with what to do. */
export function modelProblem(error, { baseURL, model }) {
  const where = baseURL ?? 'the provider';
  if (error?.status === 401 || error?.status === 403) return `${where} refuses the key. Check OPENAI_API_KEY and start the demo again.`;
  if (error?.status === 404) return `${where} does not know the model "${model}". Set MODEL to one it has and start the demo again.`;
  if (error?.status === 429) return `${where} says there were too many requests. Wait a little and send again.`;
  if (error?.code === 'context_length_exceeded' || /context.?length|maximum context/i.test(error?.message ?? '')) return `context_length_exceeded: ${error.message}`;
  if (error?.status === undefined) return `No model answers at ${where} (${error?.cause?.code ?? error?.message ?? 'no connection'}). Is it running? Without OPENAI_BASE_URL and OPENAI_API_KEY the demo uses its built-in agent.`;
  return `${where} answered ${error.status}: ${error.message}`;
}

/**
 * One run against any OpenAI-compatible endpoint.
 * @param {import('openai').OpenAI} client
 */
export async function runModel(client, model, input, emit, signal) {
  const chat = toChat(input.messages);
  const pageTools = input.tools ?? [];
  const tools = [
    ...[...TOOLS].map(([name, { description, parameters }]) => ({ type: 'function', function: { name, description, parameters } })),
    ...pageTools.filter(({ name }) => !TOOLS.has(name)).map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })),
  ];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const stream = await client.chat.completions.create({ model, messages: chat, tools, stream: true }, { signal });
    const messageId = `msg-${randomUUID()}`;
    const calls = [];
    let said = '';
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta ?? {};
      if (delta.content) {
        if (!said) await emit({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' });
        said += delta.content;
        await emit({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: delta.content });
      }
      for (const part of delta.tool_calls ?? []) {
        const call = (calls[part.index] ??= { id: '', name: '', arguments: '' });
        if (part.id) call.id = part.id;
        call.name += part.function?.name ?? '';
        call.arguments += part.function?.arguments ?? '';
      }
    }
    if (said) await emit({ type: 'TEXT_MESSAGE_END', messageId });
    const asked = calls.filter(Boolean);
    if (asked.length === 0) return;
    chat.push({ role: 'assistant', content: said, tool_calls: asked.map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: args } })) });
    for (const { id, name, arguments: args } of asked) {
      await emit({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name, parentMessageId: messageId });
      await emit({ type: 'TOOL_CALL_ARGS', toolCallId: id, delta: args });
      await emit({ type: 'TOOL_CALL_END', toolCallId: id });
    }
    let waiting = false;
    for (const { id, name, arguments: args } of asked) {
      const tool = TOOLS.get(name);
      if (!tool) {
        waiting = true;
        continue;
      }
      let content;
      try {
        content = tool.run(JSON.parse(args || '{}'));
      } catch (error) {
        content = `The arguments are not JSON: ${error.message}`;
      }
      chat.push({ role: 'tool', tool_call_id: id, content });
      await emit({ type: 'TOOL_CALL_RESULT', messageId: `result-${randomUUID()}`, toolCallId: id, content, role: 'tool' });
    }
    if (waiting) return;
  }
}
