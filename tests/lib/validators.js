/**
 * Would a provider accept this list? Strict validators of our own, one per provider, over the
 * provider's own message shape, and the conversions a client makes to get there from AG-UI. They
 * share no code with the core.
 *
 * Each check names the rule and where it comes from: the refusal the API answers with, or the page
 * of its documentation. A list that ends in calls still being worked on is not sent yet, so calls
 * after which neither a person nor the model speaks may be open.
 *
 * They know no rule that compaction cannot break: models that take no pictures, limits on numbers of
 * tools and the like.
 */

/** @typedef {Record<string, any>} Message */
/** @typedef {{ rule: string, index: number, detail: string }} Refusal */

/**
 * @param {Refusal[]} refusals
 * @returns {(rule: string, index: number, detail: string) => void}
 */
const collect = (refusals) => (rule, index, detail) => { refusals.push({ rule, index, detail }); };

// ── OpenAI chat completions ──────────────────────────────────────────────────────────────────────

/**
 * @param {readonly Message[]} messages OpenAI chat messages, as stored
 * @returns {Refusal[]}
 */
export function refusalsOfOpenAI(messages) {
  /** @type {Refusal[]} */
  const refusals = [];
  const refuse = collect(refusals);
  // Refusal: "[] is too short - 'messages'".
  if (messages.length === 0) refuse('openai/empty', -1, 'a request needs a message');
  messages.forEach((message, index) => {
    if (message.role === 'assistant' && message.tool_calls !== undefined) {
      // Refusal: "[] is too short - 'messages.N.tool_calls'".
      if (message.tool_calls.length === 0) refuse('openai/empty-calls', index, 'tool_calls is empty');
      let next = index + 1;
      const answered = new Map();
      while (messages[next]?.role === 'tool') {
        const id = messages[next].tool_call_id;
        answered.set(id, (answered.get(id) ?? 0) + 1);
        next += 1;
      }
      for (const call of message.tool_calls) {
        const results = answered.get(call.id) ?? 0;
        const calls = message.tool_calls.filter((/** @type {any} */ { id }) => id === call.id).length;
        // Refusal: "An assistant message with 'tool_calls' must be followed by tool messages
        // responding to each 'tool_call_id'."
        const open = !messages.slice(next).some(({ role }) => role === 'user' || role === 'assistant');
        if (results < calls && !open) refuse('openai/unanswered', index, `call ${call.id}`);
        // Documentation, function calling: one tool message per tool call.
        if (results > calls) refuse('openai/answered-twice', index, `call ${call.id}`);
      }
    } else if (message.role === 'tool') {
      let call = index - 1;
      while (messages[call]?.role === 'tool') call -= 1;
      const ids = messages[call]?.role === 'assistant'
        ? (messages[call].tool_calls ?? []).map((/** @type {any} */ { id }) => id)
        : [];
      // Refusal: "messages with role 'tool' must be a response to a preceeding message with
      // 'tool_calls'."
      if (!ids.includes(message.tool_call_id)) {
        refuse('openai/orphan', index, `result of ${message.tool_call_id}`);
      }
    }
  });
  return refusals;
}

// ── Anthropic messages ───────────────────────────────────────────────────────────────────────────

/**
 * @param {readonly Message[]} messages Anthropic messages, `system` apart
 * @returns {Refusal[]}
 */
export function refusalsOfAnthropic(messages) {
  /** @type {Refusal[]} */
  const refusals = [];
  const refuse = collect(refusals);
  // Refusal: "messages: at least one message is required".
  if (messages.length === 0) refuse('anthropic/empty', -1, 'a request needs a message');
  // A content that is a string is one text block.
  const blocks = (/** @type {Message | undefined} */ message) => (typeof message?.content === 'string'
    ? [{ type: 'text', text: message.content }]
    : message?.content ?? []);
  messages.forEach((message, index) => {
    const uses = message.role === 'assistant'
      ? blocks(message).filter(({ type }) => type === 'tool_use').map(({ id }) => id)
      : [];
    const results = message.role === 'user'
      ? blocks(message).filter(({ type }) => type === 'tool_result')
      : [];
    // Refusals: "text content blocks must be non-empty", "text content blocks must contain
    // non-whitespace text", "all messages must have non-empty content".
    if (blocks(message).length === 0) refuse('anthropic/blank', index, 'no content');
    for (const { type, text } of blocks(message)) {
      if (type === 'text' && text.trim() === '') refuse('anthropic/blank', index, 'a blank text');
    }
    // Refusal: "tool_use ids must be unique" (within the message that calls).
    if (new Set(uses).size < uses.length) refuse('anthropic/use-twice', index, uses.join(', '));
    if (uses.length > 0 && index + 1 < messages.length) {
      const next = messages[index + 1];
      const spoken = messages.slice(index + 1).some((later) =>
        blocks(later).some(({ type }) => type !== 'tool_result'));
      const answered = next.role === 'user'
        ? blocks(next).filter(({ type }) => type === 'tool_result')
          .map((/** @type {any} */ { tool_use_id }) => tool_use_id)
        : [];
      for (const id of uses) {
        // Refusal: "tool_use ids were found without tool_result blocks immediately after".
        if (!answered.includes(id) && spoken) refuse('anthropic/unanswered', index, `use ${id}`);
      }
    }
    const before = blocks(messages[index - 1]).filter(({ type }) => type === 'tool_use')
      .map(({ id }) => id);
    const seen = new Set();
    for (const { tool_use_id: id } of results) {
      // Refusal: "unexpected tool_use_id found in tool_result blocks. Each tool_result block must
      // have a corresponding tool_use block in the previous message."
      if (!before.includes(id)) refuse('anthropic/orphan', index, `result of ${id}`);
      // Refusal: "each tool_use must have a single result. Found multiple tool_result blocks".
      if (seen.has(id)) refuse('anthropic/answered-twice', index, `use ${id}`);
      seen.add(id);
    }
    // Documentation, "Handle tool calls": tool results come first in the content, text after them.
    const types = message.role === 'user' ? blocks(message).map(({ type }) => type) : [];
    const last = types.lastIndexOf('tool_result');
    if (last >= 0 && types.slice(0, last).some((type) => type !== 'tool_result')) {
      refuse('anthropic/text-before-result', index, 'results come first');
    }
  });
  return refusals;
}

// ── Gemini generateContent ───────────────────────────────────────────────────────────────────────

/**
 * @param {readonly Message[]} contents Gemini contents, turns of one role merged
 * @param {{ head?: boolean }} [options] `head: false` leaves out the rules about the first turn,
 *   which hold only where a policy ends in `repair` with `head: "user"`
 * @returns {Refusal[]}
 */
export function refusalsOfGemini(contents, { head = true } = {}) {
  /** @type {Refusal[]} */
  const refusals = [];
  const refuse = collect(refusals);
  // Refusal: "GenerateContentRequest.contents: contents is not specified".
  if (contents.length === 0) refuse('gemini/empty', -1, 'a request needs a content');
  const count = (/** @type {Message | undefined} */ content, /** @type {string} */ key) =>
    content?.parts.filter((/** @type {object} */ part) => key in part).length ?? 0;
  // Refusal: "Please ensure that multiturn requests alternate between user and model", the first
  // being the user's.
  if (head && contents[0]?.role === 'model') refuse('gemini/head', 0, 'the first turn is the model\'s');
  contents.forEach((content, index) => {
    const calls = count(content, 'functionCall');
    const responses = count(content, 'functionResponse');
    const before = contents[index - 1];
    if (calls > 0 && (head || index > 0) && before?.role !== 'user') {
      // Refusal: "Please ensure that function call turn comes immediately after a user turn or after
      // a function response turn."
      refuse('gemini/call-turn', index, `after ${before?.role ?? 'nothing'}`);
    }
    if (calls > 0 && index + 1 < contents.length) {
      // Refusal: "Please ensure that the number of function response parts is equal to the number of
      // function call parts of the function call turn."
      const next = count(contents[index + 1], 'functionResponse');
      const open = next < calls && index + 2 >= contents.length
        && next === contents[index + 1].parts.length;
      if (next !== calls && !open) refuse('gemini/count', index, `${calls} calls, ${next} responses`);
    }
    if (responses > 0 && count(before, 'functionCall') === 0) {
      // Refusal: "Please ensure that function response turn comes immediately after a function call
      // turn."
      refuse('gemini/response-turn', index, `after ${before?.role ?? 'nothing'}`);
    }
  });
  return refusals;
}

// ── What a client sends for an AG-UI list ────────────────────────────────────────────────────────

/** The text of a content, whatever its form. @param {unknown} content @returns {string} */
const textOf = (content) => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('');
};

const SENT = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

/**
 * Activity is never sent, reasoning has no place in chat completions, and what a client does with a
 * role nobody knows is nobody's rule.
 *
 * @param {Message} message
 */
const isSent = (message) => SENT.has(message.role);

/**
 * @param {readonly Message[]} messages AG-UI messages
 * @returns {Message[]}
 */
export const toOpenAI = (messages) => messages.filter(isSent).map((message) => {
  switch (message.role) {
    case 'assistant':
      return message.toolCalls?.length > 0
        ? { role: 'assistant', content: message.content ?? null, tool_calls: message.toolCalls }
        : { role: 'assistant', content: message.content ?? '' };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    default:
      return { role: message.role, content: message.content };
  }
});

/**
 * A run of results and what a person says after it are one user message, as the API itself merges
 * consecutive messages of one role. Reasoning is left out: whether it stands where its signature is
 * good is a matter of groups, not of shapes.
 *
 * @param {readonly Message[]} messages AG-UI messages
 * @returns {Message[]}
 */
export function toAnthropic(messages) {
  /** @type {Message[]} */
  const sent = [];
  const add = (/** @type {string} */ role, /** @type {object[]} */ blocks) => {
    const last = sent.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else sent.push({ role, content: blocks });
  };
  const text = (/** @type {Message} */ { content }) => ({ type: 'text', text: textOf(content) });
  for (const message of messages) {
    const calls = message.toolCalls ?? [];
    switch (message.role) {
      case 'assistant':
        if (calls.length === 0 || textOf(message.content) !== '') add('assistant', [text(message)]);
        add('assistant', calls.map((/** @type {any} */ { id, function: { name, arguments: input } }) =>
          ({ type: 'tool_use', id, name, input: inputOf(input) })));
        break;
      case 'tool':
        add('user', [{ type: 'tool_result', tool_use_id: message.toolCallId, content: textOf(message.content) }]);
        break;
      case 'user':
        add('user', typeof message.content === 'string' ? [text(message)] : message.content.map(
          (/** @type {any} */ part) => (part.type === 'text' ? part : { type: 'image' })));
        break;
    }
  }
  return sent;
}

/** Arguments as the object that providers want. @param {string} text */
function inputOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

/**
 * @param {readonly Message[]} messages AG-UI messages
 * @returns {Message[]}
 */
export function toGemini(messages) {
  /** @type {Message[]} */
  const sent = [];
  let responding = false;
  for (const message of messages) {
    if (!isSent(message) || message.role === 'system' || message.role === 'developer') continue;
    // A system instruction is a field of its own, not a content.
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = message.role === 'tool'
      ? [{ functionResponse: { id: message.toolCallId } }]
      : [{ text: textOf(message.content) }, ...(message.toolCalls ?? []).map(
        (/** @type {any} */ { id }) => ({ functionCall: { id } }))];
    const last = sent.at(-1);
    // A turn of function responses holds nothing else.
    if (last?.role === role && responding === (message.role === 'tool')) last.parts.push(...parts);
    else sent.push({ role, parts });
    responding = message.role === 'tool';
  }
  return sent;
}

/**
 * Everything the three providers would refuse in an AG-UI list.
 *
 * @param {readonly Message[]} messages
 * @param {{ head?: boolean }} [options] see {@link refusalsOfGemini}
 */
export const refusals = (messages, options) => [
  ...refusalsOfOpenAI(toOpenAI(messages)),
  ...refusalsOfAnthropic(toAnthropic(messages)),
  ...refusalsOfGemini(toGemini(messages), options),
];
