/** Reading a file a visitor gives: bytes to messages, or a sentence about what is wrong with it. */

/** What a visitor can do something about. */
export class FileProblem extends Error {
  code = 'file';
}

const WHAT = 'Tamp reads a chat as JSON: a list of messages, or one a line.';

/**
 * @param {Uint8Array} bytes
 * @returns {{messages: object[], container: 'json-array' | 'json-object' | 'jsonl', key: string | null}}
 */
export function parseTranscript(bytes) {
  if (bytes.length === 0) throw new FileProblem('This file is empty. Choose one that holds a chat.');
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof RangeError) throw new FileProblem('This file is too large for the page to show. Trim it with trimTranscript in Node instead.');
    throw new FileProblem(`This file is not text in UTF-8, so it cannot be a transcript. ${WHAT}`);
  }
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const records = jsonLines(text);
    if (records) return { messages: records, container: 'jsonl', key: null };
    throw new FileProblem(`This file is not JSON (${oneSentence(error.message)}). ${WHAT}`);
  }
  if (Array.isArray(value)) return { messages: check(value), container: 'json-array', key: null };
  if (typeof value === 'object' && value !== null) {
    const key = Object.keys(value).find((each) => Array.isArray(value[each]) && value[each].some((item) => typeof item === 'object' && item !== null && 'role' in item));
    if (key) return { messages: check(value[key]), container: 'json-object', key };
    throw new FileProblem(`This is a JSON object without a list of messages in it. ${WHAT}`);
  }
  throw new FileProblem(`This is JSON, but not a list of messages. ${WHAT}`);
}

function check(messages) {
  if (messages.length === 0) throw new FileProblem('This list of messages is empty: there is nothing to trim. Choose another file.');
  return messages;
}

/** One JSON object a line, at least two lines; null when it is not that. */
function jsonLines(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2) return null;
  const records = [];
  for (const line of lines) {
    try {
      const record = JSON.parse(line);
      if (typeof record !== 'object' || record === null) return null;
      records.push(record);
    } catch {
      return null;
    }
  }
  return records;
}

const oneSentence = (message) => message.replace(/\s+/g, ' ').replace(/\.$/, '').slice(0, 160);

/** Names of formats, as people know them. */
export const FORMAT_NAMES = new Map([
  ['ag-ui', 'AG-UI'], ['openai', 'OpenAI'], ['anthropic', 'Anthropic'], ['ai-sdk-ui', 'AI SDK (UI messages)'], ['ai-sdk-model', 'AI SDK (model messages)'],
  ['pydantic-ai', 'pydantic-ai'], ['agent-framework', 'agent-framework'], ['claude-code', 'Claude Code'], ['codex', 'Codex'],
]);

/** What only one format has, the more particular ones first. */
const SIGNS = [
  ['claude-code', (m) => typeof m.sessionId === 'string' && typeof m.type === 'string' && 'message' in m],
  ['codex', (m) => (m.type === 'response_item' || m.type === 'session_meta') && typeof m.payload === 'object'],
  ['pydantic-ai', (m) => (m.kind === 'request' || m.kind === 'response') && Array.isArray(m.parts)],
  ['agent-framework', (m) => typeof m.role === 'string' && Array.isArray(m.contents)],
  ['ai-sdk-ui', (m) => typeof m.role === 'string' && Array.isArray(m.parts)],
  ['anthropic', (m) => Array.isArray(m.content) && m.content.some((part) => part?.type === 'tool_use' || part?.type === 'tool_result')],
  ['ai-sdk-model', (m) => Array.isArray(m.content) && m.content.some((part) => part?.type === 'tool-call' || part?.type === 'tool-result')],
  ['openai', (m) => Array.isArray(m.tool_calls) || typeof m.tool_call_id === 'string'],
  ['ag-ui', (m) => Array.isArray(m.toolCalls) || typeof m.toolCallId === 'string' || m.role === 'activity' || m.role === 'reasoning'],
];

/** The format of a list, by what only that format has; AG-UI messages have ids, where nothing else tells. */
export function guessFormat(messages) {
  const objects = messages.filter((message) => typeof message === 'object' && message !== null);
  for (const [format, sign] of SIGNS) if (objects.some(sign)) return format;
  return objects.some(({ id }) => typeof id === 'string') ? 'ag-ui' : 'openai';
}
