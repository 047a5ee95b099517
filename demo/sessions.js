import { core } from './core.js';
import { Code } from './code.js';
import { describe, preview } from './describe.js';
import { $, h } from './dom.js';
import { bytes, count, oneLine, plural, visible } from './format.js';
import { SAMPLE } from './opened.js';

const CHAT = 'demo';
const DATABASE = 'tamp-demo';

/** The sessions panel: a chat that lives in this browser, compacts by itself or by a button, and undoes. */
export async function start() {
  const [tamp, { createSession, indexedDBStore }, sample] = await Promise.all([core(), import('./vendor/session.js'), fetch(SAMPLE).then((response) => response.json())]);
  const code = new Code($('#session-code'), 'The JavaScript of this session');
  const limit = $('#session-limit');
  const problem = (text) => {
    $('#session-problem').textContent = text;
    $('#session-problem').hidden = text === '';
  };
  let busy = false;
  let session;
  let indicator = 'idle';

  try {
    session = await createSession({
      chatId: CHAT,
      store: indexedDBStore({ name: DATABASE }),
      tamp,
      compaction: {
        shouldCompact: ({ totalTokens }) => totalTokens > Number(limit.value),
        summarize: ({ messages, previousSummary }) => byRule(messages, previousSummary),
      },
      onIndicator: ({ data }) => {
        indicator = data.status;
        $('#session-status').textContent = { compacting: 'Compacting…', complete: 'Compacted.', failed: 'The compaction failed; nothing changed.', aborted: 'The compaction was stopped; nothing changed.' }[data.status];
      },
      onError: (error) => problem(`The browser did not save the last change (${error.message}). It is tried again with the next one. Is the disk full, or is this a private window?`),
    });
  } catch (error) {
    problem(`The chat could not be opened (${error.message}). Does the browser allow this page to store data?`);
    return;
  }

  // Where each turn of the sample begins: a visitor can add them one by one.
  const begins = sample.flatMap(({ role }, n) => (role === 'user' ? [n] : []));
  const turnsThere = () => session.uiMessages.filter(({ role }) => role === 'user').length;

  /** One thing at a time: the buttons wait. */
  async function act(work, done) {
    if (busy) return;
    busy = true;
    problem('');
    enable();
    try {
      const result = await work();
      if (done) $('#session-status').textContent = typeof done === 'function' ? done(result) : done;
    } catch (error) {
      problem(`That did not work: ${error.message}`);
    } finally {
      busy = false;
      enable();
      await draw();
    }
  }

  async function take(question, answers) {
    const turn = await session.send(question);
    for (const answer of answers) await turn.addResponse(answer);
    await turn.complete({ usage: { totalTokens: tamp.countTokens(session.modelMessages) } });
  }

  $('#session-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const input = $('#session-input');
    const text = input.value.trim();
    if (!text) return;
    input.value = '';
    act(() => take({ id: crypto.randomUUID(), role: 'user', content: text }, [{ id: crypto.randomUUID(), role: 'assistant', content: `Noted, as number ${turnsThere() + 1}. This chat holds ${plural(session.uiMessages.length, 'message')}; of them I was given ${count(session.modelMessages.length)}.` }]));
  });
  $('#session-more').addEventListener('click', () => act(() => {
    const n = turnsThere() % (begins.length - 1);
    const fresh = new Map();
    const part = sample.slice(begins[n], begins[n + 1]).map((message) => {
      // Ids are used once in a chat, and the sample may be added more than once.
      const rename = (id) => {
        if (!fresh.has(id)) fresh.set(id, `${id}-${crypto.randomUUID().slice(0, 8)}`);
        return fresh.get(id);
      };
      const copy = structuredClone(message);
      copy.id = rename(copy.id);
      for (const call of copy.toolCalls ?? []) call.id = rename(call.id);
      if (copy.toolCallId) copy.toolCallId = rename(copy.toolCallId);
      return copy;
    });
    return take(part[0], part.slice(1));
  }));
  $('#session-compact').addEventListener('click', () => act(() => session.compact(), (did) => (did ? 'Compacted.' : session.failure ? `Not compacted: ${session.failure.message ?? session.failure.reason ?? 'the summary was refused'}` : 'There is nothing to compact yet.')));
  $('#session-restore').addEventListener('click', () => act(() => session.restore(), 'Everything is sent again.'));
  $('#session-undo').addEventListener('click', () => act(async () => {
    const list = session.uiMessages;
    const last = list.findLastIndex(({ role }) => role === 'user');
    if (last > 0) await session.undo(list[last - 1].id);
    else if (last === 0) await forget();
  }, 'The last turn is undone.'));
  $('#session-forget').addEventListener('click', () => act(forget, 'The chat is deleted.'));
  limit.addEventListener('input', () => lines());

  async function forget() {
    await session.close();
    await indexedDBStore({ name: DATABASE }).remove(CHAT);
    location.reload();
  }

  function enable() {
    for (const button of $('#panel-sessions').querySelectorAll('.session-actions button, #session-form button')) button.disabled = busy;
  }

  async function draw() {
    const ui = session.uiMessages;
    const model = session.modelMessages;
    const { state } = session;
    $('#session-ui-says').textContent = `${plural(ui.length, 'message')}, ${plural(tamp.countTokens(ui), 'token')}`;
    $('#session-model-says').textContent = `${plural(model.length, 'message')}, ${plural(tamp.countTokens(model), 'token')}`;
    $('#session-restore').disabled = busy || state === null;
    $('#session-undo').disabled = busy || ui.length === 0;
    const known = new Set(model.map(({ id }) => id));
    $('#session-ui').replaceChildren(...rows(ui, (message) => (known.has(message.id) ? '' : 'dropped')));
    $('#session-model').replaceChildren(...rows(model, (message) => (ui.some(({ id }) => id === message.id) ? '' : 'summary')));
    if (ui.length === 0) $('#session-ui').append(h('li', { class: 'nothing' }, 'Nothing yet. Write something, or add a turn of the sample.'));
    for (const list of [$('#session-ui'), $('#session-model')]) list.scrollTop = list.scrollHeight;
    $('#session-state').textContent = state === null ? 'No compaction in force.' : JSON.stringify({ ...state, summary: oneLine(state.summary, 90) }, null, 1);
    await stored();
    lines();
  }

  const rows = (messages, mark) => messages.map((message) => {
    const description = describe(message);
    const name = mark(message);
    return h('li', { class: `sent-row ${name === 'summary' ? 'summary' : description.role} ${name}` },
      h('span', { class: 'role' }, name === 'summary' ? 'summary' : description.role),
      h('span', { class: 'says' }, visible(name === 'summary' ? preview(description) : oneLine(preview(description), 140))),
      h('span', { class: 'size' }, count(tamp.countTokens([message]))));
  });

  /** What IndexedDB holds, read beside the session: as a reload would find it. */
  async function stored() {
    const records = await readDatabase();
    $('#session-db-says').textContent = `database “${DATABASE}”, ${plural(records.messages.length, 'message record')}`;
    $('#session-db').replaceChildren(...records.messages.slice(-200).map(({ seq, id, message }) => h('tr', null,
      h('td', { class: 'num' }, String(seq)), h('td', null, h('code', null, visible(oneLine(String(id), 40)))), h('td', null, visible(String(message?.role ?? ''))), h('td', { class: 'num' }, bytes(new Blob([JSON.stringify(message)]).size)))));
  }

  function lines() {
    code.show([
      "import { createSession } from 'tamp/session';",
      "import { indexedDBStore } from 'tamp/store';",
      '',
      'const session = await createSession({',
      `  chatId: '${CHAT}',`,
      `  store: indexedDBStore({ name: '${DATABASE}' }),`,
      '  compaction: {',
      `    shouldCompact: ({ totalTokens }) => totalTokens > ${Number(limit.value) || 0},`,
      '    summarize: ({ text, signal }) => askYourModel(text, signal),',
      '  },',
      '});',
      `const turn = await session.send(question); // turn.messages: ${plural(session.modelMessages.length, 'message')} of ${count(session.uiMessages.length)}`,
      'await turn.complete({ message: answer, usage });',
    ].join('\n'));
  }

  enable();
  await draw();
  if (session.uiMessages.length > 0 && indicator === 'idle') $('#session-status').textContent = `The chat of your last visit: ${plural(session.uiMessages.length, 'message')}${session.state ? ', going on from its summary' : ''}.`;
}

/** In place of a model: what was asked, and which tools ran how often. */
function byRule(messages, previous) {
  const asked = [];
  const tools = new Map();
  for (const message of messages) {
    const { role, texts, calls } = describe(message);
    if (role === 'user') asked.push(oneLine(texts.map(({ text }) => text).join(' '), 110));
    for (const { name } of calls) tools.set(name, (tools.get(name) ?? 0) + 1);
  }
  return [
    previous,
    asked.length ? `Asked:\n${asked.map((line) => `- ${line}`).join('\n')}` : null,
    tools.size ? `Tools: ${[...tools].map(([name, times]) => `${name} × ${times}`).join(', ')}` : null,
  ].filter(Boolean).join('\n\n');
}

/** Every record of the demo's database; empty when there is none. */
function readDatabase() {
  return new Promise((resolve) => {
    const nothing = { messages: [] };
    const opening = indexedDB.open(DATABASE);
    opening.onerror = () => resolve(nothing);
    opening.onblocked = () => resolve(nothing);
    opening.onsuccess = () => {
      const database = opening.result;
      if (!database.objectStoreNames.contains('messages')) {
        database.close();
        return resolve(nothing);
      }
      const reading = database.transaction('messages').objectStore('messages').getAll();
      reading.onsuccess = () => {
        database.close();
        resolve({ messages: reading.result });
      };
      reading.onerror = () => {
        database.close();
        resolve(nothing);
      };
      return undefined;
    };
  });
}
