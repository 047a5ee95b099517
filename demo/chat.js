import { core } from './core.js';
import { Code, literal } from './code.js';
import { describe, preview } from './describe.js';
import { $, h, once } from './dom.js';
import { count, oneLine, plural, visible } from './format.js';
import { SAMPLE } from './opened.js';

const AGENT = new URL('./agui', document.baseURI);

/** Names the visitor's own AG-UI server in a request: the demo's server hands it on (demo/server/agent.js). */
const ADDRESS_HEADER = 'x-agent-url';

const POLICIES = [
  { name: 'context-window', title: 'Collapse tool calls, then cut', of: (window) => ({ strategy: 'context-window', maxContextWindowTokens: window, maxOutputTokens: window / 8 }) },
  { name: 'sliding-window', title: 'Keep the newest half', of: (window) => ({ strategy: 'sliding-window', maxTokens: window * 0.8, keepTokens: window * 0.5 }) },
  { name: 'truncation', title: 'Cut the oldest part', of: (window) => ({ strategy: 'truncation', maxTokens: window * 0.8, toTokens: window * 0.5 }) },
];

const PROMPTS = ['Were there slow requests in the logs?', 'Compare Ada’s two orders', 'Refund order HB-71718', 'What do you still remember?'];

const PAGE_TOOLS = [{
  name: 'ask_person',
  description: 'Ask the person at the screen a yes-or-no question before doing something that cannot be taken back.',
  parameters: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
}];

/** The live chat: a real AG-UI client, the server behind this page, and Tamp between them. */
export async function start() {
  const problem = (text) => {
    $('#chat-problem').textContent = text;
    $('#chat-problem').hidden = text === '';
  };
  const [tamp, kit, sample] = await Promise.all([core(), import('./vendor/ag-ui.js'), fetch(SAMPLE).then((response) => response.json()), import('./dist/elements-define.js')]);
  const chat = new Chat(tamp, kit, sample, problem);
  await chat.meet('');
}

class Chat {
  #tamp;
  #kit;
  #problem;
  #agent = null;
  #prefix = [];
  #ends;
  #sent = null;
  #compaction = null;
  #running = false;
  #rows = new Map();
  #code;
  #available = false;
  /** Of the visitor's own server; empty for the demo's agent. */
  #address = '';
  #draw = once(() => this.#render());

  constructor(tamp, kit, sample, problem) {
    this.#tamp = tamp;
    this.#kit = kit;
    this.#problem = problem;
    // Where a turn of the sample ends: an earlier conversation is whole turns of it.
    this.#ends = [0];
    sample.forEach(({ role }, n) => {
      if (role === 'user' && n > 1) this.#ends.push(n);
    });
    this.#code = new Code($('#chat-code'), 'The JavaScript of this chat');

    const earlier = $('#chat-earlier');
    earlier.max = String(this.#ends.length - 1);
    earlier.addEventListener('input', () => this.#restart({ live: this.#live() }));
    for (const id of ['#chat-window', '#chat-policy', '#chat-on']) $(id).addEventListener('change', () => this.#restart({ live: this.#live() }));
    $('#chat-policy').replaceChildren(...POLICIES.map(({ name, title }) => h('option', { value: name }, title)));
    $('#chat-prompts').replaceChildren(...PROMPTS.map((text) => h('button', { type: 'button', class: 'button', onclick: () => this.#ask(text) }, text)));
    $('#chat-clear').addEventListener('click', () => this.#restart({ live: [] }));
    $('#chat-form').addEventListener('submit', (event) => {
      event.preventDefault();
      const input = $('#chat-input');
      const text = input.value.trim();
      if (text === '') return;
      input.value = '';
      this.#ask(text);
    });
    $('#chat-stop').addEventListener('click', () => this.#agent.abortRun());
    $('#chat-own-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.meet($('#chat-address').value.trim());
    });
    $('#chat-address').disabled = $('#chat-use').disabled = false;
    this.sample = sample;
    this.#restart({ live: [] });
  }

  get #headers() {
    return this.#address === '' ? {} : { [ADDRESS_HEADER]: this.#address };
  }

  /**
   * Ask the demo's server who answers from now on, and say so.
   * @param {string} address  of the visitor's own AG-UI server; empty for the demo's agent
   */
  async meet(address) {
    const before = this.#address;
    this.#address = address;
    let info = null;
    try {
      const response = await fetch(AGENT, { headers: this.#headers });
      const answer = await response.json();
      if (response.ok) info = answer;
      else if (response.status === 400) {
        this.#address = before;
        return this.#problem(answer.error);
      }
    } catch {
      // Nobody is there: said below.
    }
    this.#available = info !== null;
    const who = !info ? '' : info.agent === 'model' ? `${info.model} answers, through the demo’s server.` : info.agent === 'other' ? `Your server at ${info.address} answers.` : 'A scripted agent answers: no model, no key, no network. It refuses what a provider would refuse.';
    $('#chat-who').textContent = who;
    // What is written here goes where whoever started the server, or the visitor, said.
    const { dataset } = $('#panel-chat');
    if (info && info.agent !== 'built-in') dataset.private = `Messages go to ${info.model ?? info.address}`;
    else delete dataset.private;
    if (!$('#panel-chat').hidden) $('#private').textContent = dataset.private ?? 'Talks to its own server only';
    this.#restart({ live: this.#live() });
    this.#problem(info ? '' : 'The chat needs the demo’s server: run "make demo" and open the address it prints. Everything else on this page works without it.');
    this.#enable();
    if (address !== before) $('#chat-status').textContent = who;
  }

  get #window() {
    return Number($('#chat-window').value);
  }

  get #policy() {
    return POLICIES.find(({ name }) => name === $('#chat-policy').value).of(this.#window);
  }

  get #on() {
    return $('#chat-on').checked;
  }

  #live() {
    return this.#agent.messages.slice(this.#prefix.length);
  }

  /** A new client with the conversation as it is: middleware cannot be taken off an agent. */
  #restart({ live }) {
    if (this.#running) this.#agent.abortRun();
    const turns = Number($('#chat-earlier').value);
    this.#prefix = this.sample.slice(0, this.#ends[turns]);
    const { HttpAgent, CompactionObserver, compactionMiddleware } = this.#kit;
    const agent = new HttpAgent({ url: AGENT.href, headers: this.#headers, threadId: crypto.randomUUID(), initialMessages: [...structuredClone(this.#prefix), ...live] });
    if (this.#on) {
      agent.use(compactionMiddleware({
        before: new CompactionObserver(this.#policy),
        tamp: this.#tamp,
        onCompacted: ({ compaction }) => { this.#compaction = compaction; },
        onError: (error) => this.#problem(`Compaction failed, so everything was sent: ${error.message}`),
      }));
    }
    agent.use((input, next) => {
      this.#sent = input.messages;
      return next.run(input);
    });
    agent.subscribe({
      onMessagesChanged: () => this.#draw(),
      onRunErrorEvent: ({ event }) => this.#refused(event.message),
    });
    this.#agent = agent;
    this.#sent = null;
    this.#compaction = null;
    const badge = $('#chat-badge');
    badge.clear();
    badge.agent = agent;
    this.#problem(this.#available || !this.#rows.size ? '' : $('#chat-problem').textContent);
    $('#chat-earlier-says').textContent = turns === 0 ? 'none' : `${plural(turns, 'turn')}, ${plural(this.#prefix.length, 'message')}, ${plural(this.#tamp.countTokens(this.#prefix), 'token')}`;
    $('#chat-earlier').setAttribute('aria-valuetext', $('#chat-earlier-says').textContent);
    this.#draw();
  }

  async #ask(text) {
    if (this.#running || !this.#available) return;
    // A question that is still open is answered by moving on.
    for (const { id } of this.#pending()) this.#answer(id, 'no answer');
    this.#agent.addMessage({ id: `user-${crypto.randomUUID()}`, role: 'user', content: text });
    await this.#run();
  }

  #pending() {
    const { messages } = this.#agent;
    const answered = new Set(messages.filter(({ role }) => role === 'tool').map(({ toolCallId }) => toolCallId));
    return messages.slice(this.#prefix.length).flatMap(({ toolCalls }) => toolCalls ?? []).filter(({ id, function: call }) => call.name === 'ask_person' && !answered.has(id));
  }

  #answer(toolCallId, content) {
    this.#agent.addMessage({ id: `answer-${crypto.randomUUID()}`, role: 'tool', toolCallId, content });
  }

  async #run() {
    this.#running = true;
    this.#problem('');
    this.#compaction = null;
    this.#enable();
    const agent = this.#agent;
    try {
      await agent.runAgent({ tools: PAGE_TOOLS, forwardedProps: { window: this.#window } });
    } catch (error) {
      if (agent === this.#agent && error.name !== 'AbortError') {
        this.#problem(failureOf(error));
      }
    } finally {
      if (agent === this.#agent) {
        this.#running = false;
        this.#enable();
        this.#draw();
        const last = agent.messages.findLast(({ role }) => role === 'assistant');
        if (last?.content) $('#chat-status').textContent = last.content;
      }
    }
  }

  #refused(message) {
    const advice = /context_length/.test(message)
      ? this.#on ? 'Choose a larger window or a shorter earlier conversation.' : 'Switch compaction on, and send again.'
      : /invalid_request/.test(message) ? 'This is what a broken history gets.' : '';
    this.#problem(`The provider refused: ${message} ${advice}`);
  }

  #enable() {
    for (const button of [...$('#chat-prompts').children, $('#chat-send')]) button.disabled = this.#running || !this.#available;
    $('#chat-stop').hidden = !this.#running;
    $('#chat-send').hidden = this.#running;
  }

  #render() {
    const { messages } = this.#agent;
    const sent = this.#sent === null ? null : new Map(this.#sent.map((message) => [message.id, message]));
    const lastSent = this.#sent?.at(-1);
    const sentUpTo = lastSent ? messages.findIndex(({ id }) => id === lastSent.id) : -1;
    const list = $('#chat-log');
    const pinned = list.scrollTop + list.clientHeight >= list.scrollHeight - 80;
    const open = new Set(this.#pending().map(({ id }) => id));

    const next = messages.map((message, n) => {
      const there = sent?.get(message.id);
      const fate = sent === null || n > sentUpTo || message.role === 'activity' ? 'kept' : there === undefined ? 'dropped' : sameText(there, message) ? 'kept' : 'rewritten';
      const asking = (message.toolCalls ?? []).some(({ id }) => open.has(id)) && !this.#running;
      const key = `${message.id}|${fate}|${asking}|${weight(message)}`;
      let row = this.#rows.get(key);
      if (!row) {
        row = this.#row(message, fate, asking ? open : new Set());
        this.#rows.set(key, row);
      }
      row.key = key;
      return row;
    });
    list.replaceChildren(...next);
    const used = new Set(next.map((row) => row.key));
    for (const key of this.#rows.keys()) if (!used.has(key)) this.#rows.delete(key);
    if (pinned) list.scrollTop = list.scrollHeight;

    this.#renderSent(messages, sentUpTo);
    this.#code.show(this.#lines());
  }

  #row(message, fate, open) {
    const description = describe(message);
    const { role } = description;
    const item = h('li', { class: `turn ${role} ${fate}` });
    if (message.role === 'activity' && message.activityType === 'compaction') {
      const { removed, before, after } = message.content;
      item.append(h('p', { class: 'mark-line', role: 'note' }, `${plural(removed, 'message')} were left out of this request: ${count(before)} became ${count(after)}`));
      return item;
    }
    if (role === 'tool' || role === 'activity' || role === 'reasoning' || role === 'system') {
      item.append(h('details', null,
        h('summary', null, h('span', { class: 'role' }, role === 'tool' ? 'result' : role), h('span', { class: 'says' }, visible(oneLine(preview(description), 140)))),
        h('pre', { tabindex: '0' }, visible(preview(description).slice(0, 8000)))));
    } else {
      for (const { text } of description.texts) item.append(h('p', { class: 'bubble' }, visible(text)));
      for (const call of description.calls) {
        if (open.has(call.id)) item.append(this.#question(call));
        else item.append(h('p', { class: 'call' }, h('span', { class: 'role' }, 'calls'), h('code', null, `${call.name} ${visible(oneLine(call.arguments, 90))}`)));
      }
    }
    if (fate !== 'kept') item.append(h('span', { class: 'fate' }, fate === 'dropped' ? 'not sent' : 'sent shorter'));
    return item;
  }

  #question(call) {
    let question = 'May I go on?';
    try {
      question = JSON.parse(call.arguments).question ?? question;
    } catch {
      // The arguments of a model need not be JSON.
    }
    const reply = (text) => async () => {
      this.#answer(call.id, text);
      if (this.#pending().length === 0) await this.#run();
    };
    return h('div', { class: 'asks', role: 'group', 'aria-label': 'The agent asks' },
      h('p', null, visible(question)),
      h('button', { type: 'button', class: 'button primary', onclick: reply('yes') }, 'Yes'),
      h('button', { type: 'button', class: 'button', onclick: reply('no') }, 'No'));
  }

  #renderSent(messages, sentUpTo) {
    const limit = this.#window;
    const stored = this.#tamp.countTokens(messages);
    const after = this.#sent === null ? messages : messages.slice(sentUpTo + 1);
    const used = (this.#sent === null ? 0 : this.#tamp.countTokens(this.#sent)) + this.#tamp.countTokens(after);
    const meter = $('#chat-meter');
    meter.limit = limit;
    meter.used = used;
    const policy = this.#policy;
    const budget = limit - (policy.maxOutputTokens ?? 0);
    meter.marks = !this.#on ? [] : policy.strategy === 'context-window'
      ? [{ at: Math.trunc(budget * 0.5), label: 'tool calls collapse' }, { at: Math.trunc(budget * 0.8), label: 'the oldest part goes' }]
      : [{ at: policy.maxTokens, label: 'compaction starts' }];
    $('#chat-stored').textContent = `${plural(messages.filter(({ role }) => role !== 'activity').length, 'message')}, ${plural(stored, 'token')}`;
    const list = $('#chat-sent');
    if (this.#sent === null) {
      $('#chat-sent-says').textContent = 'nothing yet';
      list.replaceChildren(h('li', { class: 'nothing' }, 'Send a message to see what goes to the model.'));
      return;
    }
    $('#chat-sent-says').textContent = `${plural(this.#sent.length, 'message')}, ${plural(this.#tamp.countTokens(this.#sent), 'token')}`;
    if (list.shown === this.#sent) return;
    list.shown = this.#sent;
    const known = new Map(messages.map((message) => [message.id, message]));
    list.replaceChildren(...this.#sent.map((message) => {
      const description = describe(message);
      const original = known.get(message.id);
      const state = original === undefined ? 'added' : sameText(original, message) ? '' : 'rewritten';
      return h('li', { class: `sent-row ${description.role} ${state}` },
        h('span', { class: 'role' }, description.role),
        h('span', { class: 'says' }, visible(oneLine(preview(description), 120))),
        h('span', { class: 'size' }, count(this.#tamp.countTokens([message]))));
    }));
  }

  #lines() {
    return [
      "import { HttpAgent } from '@ag-ui/client';",
      "import { compactionMiddleware, CompactionObserver } from 'tamp/ag-ui';",
      "import 'tamp/elements/define';",
      '',
      `const agent = new HttpAgent({ url: ${literal(this.#address || AGENT.pathname)} });`,
      `agent.use(compactionMiddleware({ before: new CompactionObserver(${literal(this.#policy)}) }));`,
      "document.querySelector('compaction-badge').agent = agent;",
      ...(this.#compaction ? [`// last run: ${plural(this.#compaction.before, 'message')} became ${count(this.#compaction.after)}, ${plural(this.#compaction.report.tokensBefore, 'token')} became ${count(this.#compaction.report.tokensAfter)}`] : []),
    ].join('\n');
  }
}

/** Why a run failed, in a sentence: what the server said, when it said something. */
function failureOf({ message }) {
  const [, answer] = /^HTTP \d+: (\{.*\})$/s.exec(message) ?? [];
  try {
    if (answer) return String(JSON.parse(answer).error);
  } catch {
    // Not an answer of the demo's server.
  }
  return /fetch|network/i.test(message) ? 'The demo’s server does not answer. Is it still running? Start it with "make demo" and send again.' : `The run failed: ${message}`;
}

const sameText = (a, b) => a === b || weight(a) === weight(b);

/** Changes whenever a message's text or calls do. */
function weight({ content, toolCalls }) {
  return `${typeof content === 'string' ? content.length : JSON.stringify(content ?? '').length}/${(toolCalls ?? []).map(({ id, function: call }) => `${id}:${call.arguments.length}`).join()}`;
}
