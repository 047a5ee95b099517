// Messages for the AG-UI tests.

/** @typedef {Record<string, any> & { id: string, role: any }} Message */

/** @param {string} id @param {string} [content] @returns {Message} */
export const user = (id, content = `${id} asks`) => ({ id, role: 'user', content });
/** @param {string} id @param {string} [content] @returns {Message} */
export const says = (id, content = `${id} answers`) => ({ id, role: 'assistant', content });
/** @param {string} id @param {string[]} ids @returns {Message} */
export const calls = (id, ...ids) => ({
  id,
  role: 'assistant',
  toolCalls: ids.map((call) => ({ id: call, type: 'function', function: { name: 'read', arguments: '{}' } })),
});
/** @param {string} id @param {string} toolCallId @param {string} [content] @returns {Message} */
export const result = (id, toolCallId, content = `${id} found ${'something '.repeat(40)}`) => ({ id, role: 'tool', toolCallId, content });

/** An instruction, `turns` questions with answers, one question. @param {number} turns @returns {Message[]} */
export const chat = (turns) => [
  { id: 's', role: 'system', content: 'Be brief.' },
  ...Array.from({ length: turns }, (_, n) => [user(`u${n}`), says(`a${n}`)]).flat(),
  user(`u${turns}`),
];

/** The same with two parallel calls in each turn. @param {number} turns @returns {Message[]} */
export const toolChat = (turns) => [
  { id: 's', role: 'system', content: 'Be brief.' },
  ...Array.from({ length: turns }, (_, n) => [
    user(`u${n}`), calls(`k${n}`, `c${n}`, `d${n}`), result(`r${n}`, `c${n}`), result(`q${n}`, `d${n}`), says(`a${n}`),
  ]).flat(),
  user(`u${turns}`),
];

/** @param {readonly any[]} messages */
export const idsOf = (messages) => messages.map(({ id }) => id);

/** Ids, and the types of activity messages. @param {readonly any[]} messages */
export const shown = (messages) => messages.map(({ id, role, activityType }) => (role === 'activity' ? `<${activityType}>` : id));
