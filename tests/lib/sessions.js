/**
 * Long lists with the shape of real agent sessions: the transcripts beside the repository, or the demo's
 * sample where they are missing, over and over with ids of their own and no text twice.
 */
import { readFileSync } from 'node:fs';
import { openaiTranscripts } from './shared-data.js';

/** @typedef {Record<string, any>} Message */

/**
 * An OpenAI session as an AG-UI client holds it.
 *
 * @param {readonly Message[]} messages
 * @returns {Message[]}
 */
export const toAgui = (messages) => messages.map(
  ({ tool_calls: toolCalls, tool_call_id: toolCallId, ...message }, index) => ({
    id: `m${index}`,
    ...message,
    ...(toolCalls === undefined ? {} : { toolCalls }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
  }));

/** The demo's sample session: the same on every machine. @returns {Message[]} */
export const sampleSession = () => JSON.parse(
  readFileSync(new URL('../../demo/sample.json', import.meta.url), 'utf8'));

function realSessions() {
  const sessions = openaiTranscripts.filter(({ name }) => name.includes('tools'))
    .map(({ messages }) => toAgui(messages));
  return sessions.length > 0 ? sessions : [sampleSession()];
}

/**
 * @param {number} count how many messages
 * @param {readonly (readonly Message[])[]} [sessions]
 * @returns {Message[]} AG-UI messages: one set of instructions, then session after session
 */
export function longSession(count, sessions = realSessions()) {
  /** @type {Message[]} */
  const messages = [];
  for (let round = 0; messages.length < count; round += 1) {
    for (const message of sessions[round % sessions.length]) {
      if (message.role === 'system' && messages.length > 0) continue;
      if (messages.length === count) break;
      messages.push(anew(message, round));
    }
  }
  // A call at the end would be one that nobody answers when the session goes on.
  const last = messages.at(-1);
  if (last?.toolCalls !== undefined) messages.splice(-1, 1, { id: last.id, role: 'assistant', content: 'Done.' });
  return messages;
}

/** @param {Message} message @param {number} round */
function anew(message, round) {
  const copy = structuredClone(message);
  copy.id = `${message.id}-${round}`;
  if (typeof copy.content === 'string') copy.content = `${copy.content} (${round})`;
  if (copy.toolCallId !== undefined) copy.toolCallId = `${copy.toolCallId}-${round}`;
  for (const call of copy.toolCalls ?? []) call.id = `${call.id}-${round}`;
  return copy;
}
