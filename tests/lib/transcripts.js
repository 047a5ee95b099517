/** Transcripts as their owners write them, small enough to reason about, and policies of every strategy. */

/** One policy of each strategy, cut so low that it has something to do on a short transcript. @type {any[]} */
export const policies = [
  { strategy: 'sliding-window', keepMessages: 3 },
  { strategy: 'sliding-window', keepMessages: 2, keepFirstUser: false },
  { strategy: 'truncation', maxTokens: 300, toTokens: 200 },
  { strategy: 'context-window', maxContextWindowTokens: 1500, maxOutputTokens: 500 },
  { strategy: 'tool-results', keepLastToolCallGroups: 0 },
  { strategy: 'drop-tool-calls', keepLastToolCallGroups: 0 },
  { strategy: 'clear-tool-results', keepLast: 0, clearInputs: true },
  { strategy: 'dedupe-tool-results', tools: { Read: 'file_path', Bash: 'command' } },
  { strategy: 'clamp', maxChars: 120, headChars: 40, tailChars: 40, roles: ['assistant', 'tool', 'user'] },
  { strategy: 'strip-binary', keepLastTurns: 0 },
  { strategy: 'drop-reasoning', keepLastTurns: 0 },
  { strategy: 'digest', keepMessages: 2 },
  { strategy: 'budget', maxTokens: 400, steps: [{ strategy: 'clear-tool-results' }, { strategy: 'sliding-window', keepMessages: 2 }] },
  { strategy: 'repair', head: 'user' },
];

/** What each policy is called in a test's title. @param {any} policy */
export const policyName = (policy) => `${policy.strategy}${policy.keepFirstUser === false ? ' without the first user message' : ''}`;

const envelope = { isSidechain: false, userType: 'external', cwd: '/w', sessionId: 's1', version: '2.1.38', gitBranch: 'main' };

/** Builds Claude Code records, each hung on the one before. */
export class ClaudeCode {
  /** @type {any[]} */
  records = [];
  /** @type {string | null} */
  last = null;
  #n = 0;

  /** @param {object} record @param {string | null} [parent] */
  add(record, parent = this.last) {
    const uuid = `00000000-0000-4000-8000-${String(++this.#n).padStart(12, '0')}`;
    this.records.push({ parentUuid: parent, ...envelope, ...record, uuid, timestamp: `2026-01-01T00:00:${String(this.#n % 60).padStart(2, '0')}.000Z` });
    this.last = uuid;
    return uuid;
  }

  /** A record that is no link of the tree. @param {object} record */
  meta(record) {
    this.records.push(record);
  }

  /** @param {string} text @param {object} [more] */
  user(text, more = {}) {
    return this.add({ type: 'user', message: { role: 'user', content: text }, ...more });
  }

  /** A line of the message `id` with one block. @param {string} id @param {object} block @param {string | null} [parent] */
  block(id, block, parent = this.last) {
    return this.add({ type: 'assistant', message: { id, type: 'message', role: 'assistant', model: 'm', content: [block], usage: { input_tokens: 3 } }, requestId: 'r' }, parent);
  }

  /** @param {string} id @param {string} text */
  say(id, text) {
    return this.block(id, { type: 'text', text });
  }

  /** @param {string} call @param {string} text @param {string | null} [parent] */
  result(call, text, parent = this.last) {
    return this.add({ type: 'user', message: { role: 'user', content: [{ tool_use_id: call, type: 'tool_result', content: text }] }, toolUseResult: { stdout: text } }, parent);
  }

  /** A call, its progress and its result. @param {string} id @param {string} call @param {string} text */
  run(id, call, text) {
    this.block(id, { type: 'tool_use', id: call, name: 'Bash', input: { command: `run ${call}` } });
    this.add({ type: 'progress', data: { type: 'bash_progress' }, toolUseID: `p-${call}`, parentToolUseID: call });
    return this.result(call, text);
  }

  text() {
    return this.records.map((record) => `${JSON.stringify(record)}\n`).join('');
  }
}

/** A session with parallel calls, thinking and metadata lines. */
export function claudeCodeSession() {
  const session = new ClaudeCode();
  session.meta({ type: 'file-history-snapshot', messageId: 'x', snapshot: { messageId: 'x' }, isSnapshotUpdate: false });
  session.user('Find out why the build fails, please.');
  session.block('m1', { type: 'thinking', thinking: 'Look at the log first.', signature: 'c2ln' });
  session.say('m1', 'I look at the log.');
  const first = session.block('m1', { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'cat log' } });
  const second = session.block('m1', { type: 'tool_use', id: 't2', name: 'Read', input: { file_path: 'a.c' } });
  session.result('t1', 'error: missing header '.repeat(20), first);
  session.result('t2', 'int main(void) { return 0; } '.repeat(20), second);
  session.meta({ type: 'queue-operation', operation: 'enqueue', sessionId: 's1' });
  session.say('m2', 'A header is missing. I add it.');
  session.user('Go on.');
  session.run('m3', 't3', 'compiled '.repeat(30));
  session.say('m3', 'It compiles now.');
  session.user('And the tests?');
  session.run('m4', 't4', 'all passed '.repeat(30));
  session.say('m5', 'They pass.');
  session.meta({ type: 'custom-title', customTitle: 'The build', sessionId: 's1' });
  session.meta({ type: 'last-prompt', lastPrompt: 'And the tests?', leafUuid: session.last });
  return session;
}

/** A Codex rollout with twins. @returns {any[]} */
export function codexRollout() {
  let ordinal = 0;
  const line = (/** @type {string} */ type, /** @type {object} */ payload) => ({ timestamp: `2026-01-01T00:00:${String(ordinal).padStart(2, '0')}Z`, ordinal: ordinal++, type, payload });
  const item = (/** @type {object} */ payload) => line('response_item', payload);
  const event = (/** @type {object} */ payload) => line('event_msg', payload);
  const said = (/** @type {string} */ role, /** @type {string} */ text, /** @type {string} */ id) => item({ type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }], id });
  const run = (/** @type {string} */ call, /** @type {string} */ output) => [
    item({ type: 'reasoning', id: `rs-${call}`, summary: [{ type: 'summary_text', text: `think about ${call}` }], encrypted_content: 'eA==' }),
    item({ type: 'function_call', name: 'exec_command', arguments: `{"cmd":"${call}"}`, call_id: call }),
    event({ type: 'item_completed', item: { type: 'CommandExecution', id: call, aggregated_output: output } }),
    item({ type: 'function_call_output', call_id: call, output }),
  ];
  return [
    line('session_meta', { id: '0000', cwd: '/w', cli_version: '0.171.0', history_mode: 'paginated' }),
    said('developer', 'Be careful.', 'd1'),
    said('user', '<environment_context>\n<cwd>/w</cwd>\n</environment_context>', 'e1'),
    line('turn_context', { cwd: '/w', model: 'm' }),
    said('user', 'List the files.', 'u1'),
    event({ type: 'user_message', message: 'List the files.' }),
    ...run('c1', 'a.txt b.txt '.repeat(30)),
    said('assistant', 'There are two files.', 'a1'),
    event({ type: 'agent_message', message: 'There are two files.' }),
    said('user', 'Read a.txt.', 'u2'),
    event({ type: 'user_message', message: 'Read a.txt.' }),
    ...run('c2', 'hello world '.repeat(30)),
    said('assistant', 'It says hello.', 'a2'),
    event({ type: 'agent_message', message: 'It says hello.' }),
    event({ type: 'task_complete', last_agent_message: 'It says hello.' }),
    said('user', 'Thanks.', 'u3'),
    event({ type: 'user_message', message: 'Thanks.' }),
    said('assistant', 'You are welcome.', 'a3'),
  ];
}

/** @param {readonly object[]} records @param {string} [end] of a line */
export const jsonLines = (records, end = '\n') => records.map((record) => JSON.stringify(record) + end).join('');
