import { randomUUID } from 'node:crypto';
import { TOOLS } from './tools.js';

/**
 * The agent that answers when there is no model: what it does depends only on what it was sent. It calls
 * tools in parallel, asks the person through a tool of the page, and says what it can see.
 */

const text = (content) => (typeof content === 'string' ? content : Array.isArray(content) ? content.map((part) => part?.text ?? '').join(' ') : '');

/** Which tools to call, batch by batch, before the answer. `ask_person` runs in the page. */
const PLANS = [
  { match: /\b(log|logs|slow|latency)\b/i, batches: [[['read_log', { service: 'web', hour: 10 }], ['read_log', { service: 'mail', hour: 10 }], ['read_log', { service: 'search', hour: 10 }]], [['read_log', { service: 'mail', hour: 9 }], ['read_log', { service: 'mail', hour: 11 }]]], answer: slowAnswer },
  { match: /\b(refund|money back)\b/i, batches: [[['read_order', { id: 'HB-71718' }]], [['ask_person', { question: 'Refund order HB-71718 in full?' }]]], answer: refundAnswer },
  { match: /\b(order|orders|customer|compare)\b/i, batches: [[['find_orders', { customer: 'Ada' }]], [['read_order', { id: 'HB-71718' }], ['read_order', { id: 'HB-71720' }]]], answer: orderAnswer },
];

function slowAnswer(results) {
  const lines = results.flatMap((result) => text(result.content).split('\n'));
  const slow = lines.filter((line) => Number(/\b(\d{1,9}) ms/.exec(line)?.[1]) > 10_000);
  const services = [...new Set(slow.map((line) => line.split(' ')[1]))];
  return slow.length
    ? `I read ${lines.length} log lines from ${results.length} files. ${slow.length} requests took longer than ten seconds, all of them in ${services.join(' and ')}, between ${slow[0].slice(11, 16)} and ${slow.at(-1).slice(11, 16)}. The hours before and after are normal, so it was one slow spell and not a trend.`
    : `I read ${lines.length} log lines and found nothing slow.`;
}

function orderAnswer(results) {
  const orders = results.slice(1).map((result) => JSON.parse(text(result.content)));
  return orders.map((order) => `${order.id}: ${order.items.length} kinds of books, ${(order.total / 100).toFixed(2)} ${order.currency}, ${order.history.length} events.`).join(' ') + ' Both went through the same two workers; nothing sets them apart but their size.';
}

function refundAnswer(results) {
  const said = text(results.at(-1)?.content);
  return /yes/i.test(said) ? 'Done: order HB-71718 is refunded in full. I asked you first because a refund cannot be taken back.' : 'I left order HB-71718 as it is.';
}

/** What the agent was sent, in its own words: the proof of what compaction left. */
function whatISee(messages) {
  const sent = messages.filter(({ role }) => role !== 'activity');
  const questions = sent.filter(({ role }) => role === 'user').map(({ content }) => text(content));
  const results = sent.filter(({ role }) => role === 'tool').length;
  const first = questions[0] ?? '';
  const quoted = first.length > 140 ? `${first.slice(0, 140)}…` : first;
  return `I was sent ${sent.length} messages, ${results} of them tool results. The first question among them is: “${quoted}”${questions.length > 1 ? ` There are ${questions.length} questions in all.` : ''} What lies before that, I cannot see.`;
}

const GENERAL = 'This agent has no model behind it: it follows a script, and it is honest about what it was sent. Ask it to look through the logs, to compare two orders, to refund an order, or what it still remembers.';

/**
 * One run.
 * @param {{messages: object[], tools?: {name: string}[]}} input
 * @param {(event: object) => Promise<void>} emit  sends one AG-UI event
 */
export async function runScript(input, emit) {
  const { messages } = input;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const question = text(messages[last]?.content);
  const since = messages.slice(last + 1);
  const plan = PLANS.find(({ match }) => match.test(question));
  const pageTools = new Set((input.tools ?? []).map(({ name }) => name));
  const batches = (plan?.batches ?? []).filter((batch) => batch.every(([name]) => TOOLS.has(name) || pageTools.has(name)));
  const results = since.filter(({ role }) => role === 'tool');
  let done = since.filter(({ role, toolCalls }) => role === 'assistant' && toolCalls?.length).length;
  for (; done < batches.length; done += 1) {
    const batch = batches[done];
    const messageId = `msg-${randomUUID()}`;
    const calls = batch.map(([name, args]) => ({ id: `call-${randomUUID()}`, name, args }));
    for (const { id, name, args } of calls) {
      await emit({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name, parentMessageId: messageId });
      await emit({ type: 'TOOL_CALL_ARGS', toolCallId: id, delta: JSON.stringify(args) });
      await emit({ type: 'TOOL_CALL_END', toolCallId: id });
    }
    let waiting = false;
    for (const { id, name, args } of calls) {
      const tool = TOOLS.get(name);
      if (!tool) {
        waiting = true;
        continue;
      }
      const result = { id: `result-${randomUUID()}`, role: 'tool', toolCallId: id, content: tool.run(args) };
      results.push(result);
      await emit({ type: 'TOOL_CALL_RESULT', messageId: result.id, toolCallId: id, content: result.content, role: 'tool' });
    }
    if (waiting) return; // The page runs the rest and comes back with the results.
  }
  let answer = GENERAL;
  if (plan) answer = plan.answer(results);
  else if (/\b(remember|see|first|know|forgot)\b/i.test(question)) answer = whatISee(messages);
  const messageId = `msg-${randomUUID()}`;
  await emit({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' });
  for (const delta of answer.match(/\S+\s*/g) ?? []) await emit({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
  await emit({ type: 'TEXT_MESSAGE_END', messageId });
}
