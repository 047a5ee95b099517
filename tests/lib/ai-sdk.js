/** The AI SDK in its three major versions, each with its mock model behind one interface. */
import { long } from './chats.js';

/** How each version's model reports tokens and why it stopped. */
const REPORT = {
  5: (tokens, reason) => ({
    usage: { inputTokens: tokens - 10, outputTokens: 10, totalTokens: tokens },
    finishReason: reason,
  }),
  6: (tokens, reason) => ({
    usage: { inputTokens: { total: tokens - 10 }, outputTokens: { total: 10 } },
    finishReason: { unified: reason, raw: reason },
  }),
};
REPORT[7] = REPORT[6];

async function load(version, name, model) {
  const ai = await import(name);
  const mocks = await import(`${name}/test`);
  const tool = ai.tool({
    description: 'Looks something up.',
    inputSchema: ai.jsonSchema({ type: 'object', properties: { at: { type: 'string' } } }),
    execute: async ({ at }) => long(`found-${at}`),
  });
  /** What the model says, step by step: {call: id} or {text}, each with `tokens`. */
  const contents = (said) => (said.call === undefined
    ? [{ type: 'text', text: long(said.text) }]
    : [{ type: 'tool-call', toolCallId: said.call, toolName: 'look', input: JSON.stringify({ at: said.call }) }]);
  const reason = (said) => (said.call === undefined ? 'stop' : 'tool-calls');
  return {
    version,
    ai,
    tools: { look: tool },
    /** A model that follows the script and remembers the prompts it was given. @param {{ call?: string, text?: string, tokens: number }[]} script */
    model(script) {
      const prompts = [];
      const next = ({ prompt }) => {
        prompts.push(prompt);
        return script[prompts.length - 1];
      };
      const mock = new mocks[model]({
        doGenerate: async (options) => {
          const said = next(options);
          return { content: contents(said), warnings: [], ...REPORT[version](said.tokens, reason(said)) };
        },
        doStream: async (options) => {
          const said = next(options);
          const body = said.call === undefined
            ? [{ type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: long(said.text) }, { type: 'text-end', id: '1' }]
            : contents(said);
          return {
            stream: mocks.convertArrayToReadableStream([
              { type: 'stream-start', warnings: [] }, ...body, { type: 'finish', ...REPORT[version](said.tokens, reason(said)) },
            ]),
          };
        },
      });
      return { mock, prompts };
    },
    stopWhen: (ai.stepCountIs ?? ai.isStepCount)(20),
  };
}

export const sdks = await Promise.all([
  load(5, 'ai-5', 'MockLanguageModelV2'),
  load(6, 'ai-6', 'MockLanguageModelV3'),
  load(7, 'ai', 'MockLanguageModelV4'),
]);
