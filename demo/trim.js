import { MessageError, PolicyError, core } from './core.js';
import { Code, literal } from './code.js';
import { $, download, h, once, settle } from './dom.js';
import { bytes as size, count, milliseconds, percent, plural } from './format.js';
import { MessageList } from './messages.js';
import { SAMPLE, opened } from './opened.js';
import { PolicyEditor } from './policy-editor.js';
import { reportText } from './report.js';
import { applyStory, readStory } from './story.js';
import { needsModel } from './strategies.js';
import { tabs } from './tabs.js';
import { Timeline } from './timeline.js';
import { FORMAT_NAMES, FileProblem, guessFormat, parseTranscript } from './transcript.js';
import { validate } from './validator.js';

const SAMPLE_NAME = 'sample.json';
const SAMPLE_TITLE = 'The sample: a coding agent hunts down a duplicate mail';

/** From how many bytes and messages on reading takes long enough to be shown. */
const LARGE = 4_000_000;
const MANY = 2_000;

/** From how many bytes on a file is trimmed without its messages being shown: large.js, which few visitors need. */
const LARGE_FILE = 48_000_000;

/** The trimmer panel. Called once, when it is first shown. */
export async function start() {
  const tamp = await core();
  const trimmer = new Trimmer(tamp);
  await trimmer.openSample();
}

class Trimmer {
  #tamp;
  #file = null;
  #story = null;
  /** The transcript, read once: a policy is tried on it as often as a slider moves. */
  #history = null;
  /** The file and its result, when it is too long to be shown. @type {{ file: File, blob: Blob } | null} */
  #large = null;
  #compaction = null;
  #policy = null;
  #editor;
  #timeline;
  #tabs;
  #list;
  #code;
  #reportText;
  #reportJson;
  #opening = null;
  #run = once(() => this.#compact());
  #trimAgain = settle(() => this.#large && this.#trimLarge(this.#large.file), 400);
  #say = settle((text) => { $('#result-status').textContent = text; }, 600);

  constructor(tamp) {
    this.#tamp = tamp;
    this.#list = new MessageList($('#pane-messages'));
    this.#timeline = new Timeline($('#timeline'), (entry) => {
      this.#tabs.select('tab-messages');
      this.#list.open(entry);
    });
    this.#tabs = tabs($('#tabs'));
    this.#code = new Code($('#pane-code'), 'The JavaScript that does this');
    this.#reportText = h('pre', { class: 'report', tabindex: '0', role: 'region', 'aria-label': 'Report' });
    this.#reportJson = h('pre', { class: 'report', tabindex: '0', role: 'region', 'aria-label': 'Report as JSON', hidden: true });
    const form = (json) => {
      this.#reportText.hidden = json;
      this.#reportJson.hidden = !json;
      asText.setAttribute('aria-pressed', String(!json));
      asJson.setAttribute('aria-pressed', String(json));
    };
    const asText = h('button', { type: 'button', 'aria-pressed': 'true', onclick: () => form(false) }, 'Text');
    const asJson = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => form(true) }, 'JSON');
    $('#pane-report').replaceChildren(
      h('div', { class: 'pane-tools' },
        h('div', { class: 'segmented', role: 'group', 'aria-label': 'Form of the report' }, asText, asJson),
        h('button', { type: 'button', class: 'button', onclick: () => this.#downloadReport() }, 'Download the report')),
      this.#reportText, this.#reportJson);
    this.#editor = new PolicyEditor($('#policy'), {
      check: (policy) => tamp.checkPolicy(policy),
      onChange: (policy, problems) => this.#setPolicy(policy, problems),
    });
    $('#use-sample').addEventListener('click', () => this.openSample());
    $('#source-cancel').addEventListener('click', () => this.#opening?.abort());
    $('#download').addEventListener('click', () => this.#download());
    $('#choose').addEventListener('change', (event) => {
      const [file] = event.target.files;
      if (file) this.openFile(file);
      event.target.value = '';
    });
    this.#acceptDrops();
    this.#editor.setPreset('fit');
  }

  #acceptDrops() {
    const veil = $('#dropping');
    const carriesFiles = (event) => event.dataTransfer?.types.includes('Files');
    addEventListener('dragover', (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      veil.hidden = false;
    });
    addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) veil.hidden = true;
    });
    addEventListener('drop', (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      veil.hidden = true;
      location.hash = '#trim';
      const { files, items } = event.dataTransfer;
      if (items[0]?.webkitGetAsEntry?.()?.isDirectory) return this.#complain('That is a folder. Drop one transcript file.');
      if (files.length > 1) return this.#complain(`Those are ${files.length} files. Drop one at a time.`);
      if (files.length === 1) this.openFile(files[0]);
    });
  }

  async openSample() {
    await this.#open(SAMPLE_NAME, SAMPLE_TITLE, async (signal) => {
      const response = await fetch(SAMPLE, { signal });
      if (!response.ok) throw new FileProblem(`the server answered ${response.status}. Is it still running? You can also choose a file of your own.`);
      return response.arrayBuffer();
    });
  }

  async openFile(file) {
    if (file.size > LARGE_FILE) return this.#trimLarge(file);
    await this.#open(file.name, file.name, () => file.arrayBuffer());
  }

  /**
   * A file that is too long to show message by message: trimmed as the policy says, in a worker, and anew when the policy
   * changes. What was shown before stays until the first result is there.
   */
  async #trimLarge(file) {
    if (!this.#policy) return;
    this.#opening?.abort();
    const opening = new AbortController();
    const { signal } = opening;
    this.#opening = opening;
    const policy = this.#policy;
    const facts = $('#source-facts');
    const said = facts.textContent;
    $('#source-problem').hidden = true;
    $('#source-reading').hidden = false;
    const onProgress = (share, messages) => {
      $('#source-progress').value = share;
      facts.textContent = `Trimming ${file.name}, ${Math.round(share * 100)} %, ${plural(messages, 'message')}`;
    };
    const started = performance.now();
    try {
      const large = await import('./large.js');
      const trimmed = await large.trimFile(file, policy, { signal, onProgress, summarize: needsModel(policy) ? standIn : undefined });
      signal.throwIfAborted();
      this.#history?.dispose();
      this.#history = this.#story = null;
      this.#large = { file, blob: trimmed.blob() };
      this.#file = { name: file.name, format: trimmed.format };
      this.#compaction = trimmed;
      this.#showLarge(trimmed, policy, performance.now() - started, large);
    } catch (error) {
      if (this.#opening !== opening) return;
      facts.textContent = said;
      if (!signal.aborted) this.#complain(this.#sentence(error, file.name));
    } finally {
      if (this.#opening === opening) $('#source-reading').hidden = true;
    }
  }

  #showLarge(trimmed, policy, took, { stretches, readable }) {
    const { file, blob } = this.#large;
    const { report, before } = trimmed;
    $('#source-name').textContent = file.name;
    $('#source-facts').textContent = `${FORMAT_NAMES.get(trimmed.format)} · ${plural(before, 'message')} · ${plural(report.tokensBefore, 'token')} · ${size(file.size)}, of which ${size(blob.size)} are left`;
    const round = (n, to) => Math.max(to, Math.ceil((n * 1.05) / to) * to);
    this.#editor.setRanges({ tokens: round(report.tokensBefore, 1000), messages: round(before, 10), bytes: round(file.size, 1000) });
    const words = `${plural(before, 'message')} became ${count(trimmed.after)}, of which ${count(report.rewritten.length)} were rewritten.`;
    this.#timeline.showStretches(stretches(trimmed), words);
    this.#list.showNone('This file is too long to show its messages one by one. The report names the first that changed; the download holds the result.');
    this.#showNumbers(trimmed, took, { ok: true });
    const shown = { ...trimmed, report: readable(report) };
    this.#reportText.textContent = reportText(file.name, shown, policy);
    this.#reportJson.textContent = JSON.stringify(shown.report, null, 2);
    this.#code.show([
      "import { trimTranscript } from 'tamp/transcript';",
      '',
      `const policy = ${literal(policy)};`,
      ...(needsModel(policy) ? ['const summarize = async ({ text, prompt }) => askYourModel(prompt, text);'] : []),
      `const trimmed = await trimTranscript(file, policy${needsModel(policy) ? ', { summarize }' : ''}); // file: from an <input type="file">`,
      'const smaller = trimmed.blob();',
      `// here: ${size(file.size)} became ${size(blob.size)}, ${plural(before, 'message')} became ${count(trimmed.after)}`,
    ].join('\n'));
  }

  /** Open one transcript; the one before stays until this one is read, and stays when this one is no good. */
  async #open(name, title, load) {
    this.#opening?.abort();
    const opening = new AbortController();
    const { signal } = opening;
    this.#opening = opening;
    const facts = $('#source-facts');
    const said = facts.textContent;
    const bar = $('#source-progress');
    const show = (share) => {
      bar.value = share;
      facts.textContent = `Reading ${name}, ${Math.round(share * 100)} %`;
      $('#source-reading').hidden = false;
    };
    let history = null;
    try {
      const bytes = new Uint8Array(await load(signal));
      signal.throwIfAborted();
      if (bytes.length > LARGE) {
        show(0);
        await new Promise((resolve) => { setTimeout(resolve); });
      }
      const { messages, container, key } = parseTranscript(bytes);
      const format = guessFormat(messages);
      history = this.#tamp.open(messages, { format });
      const story = await readStory(this.#tamp, history, messages, format, { signal, onProgress: messages.length > MANY ? show : undefined });
      this.#history?.dispose();
      this.#history = history;
      this.#story = story;
      this.#large = null;
      this.#file = { name, title, bytes, container, key, format };
    } catch (error) {
      history?.dispose();
      if (signal.aborted) {
        if (this.#opening === opening) facts.textContent = said;
        return;
      }
      facts.textContent = this.#file ? said : 'Choose a file, or use the sample.';
      this.#complain(this.#sentence(error, name));
      return;
    } finally {
      if (this.#opening === opening) $('#source-reading').hidden = true;
    }
    this.#present();
  }

  #present() {
    const { title, bytes } = this.#file;
    opened.set(this.#file, this.#story);
    const { inspection } = this.#story;
    $('#source-problem').hidden = true;
    $('#source-name').textContent = title;
    const broken = inspection.problems.length;
    $('#source-facts').textContent = [
      FORMAT_NAMES.get(this.#file.format),
      plural(inspection.messages, 'message'),
      plural(inspection.turns, 'turn'),
      plural(inspection.tokens, 'token'),
      size(bytes.length),
      broken ? `${plural(broken, 'problem')} a provider would refuse` : null,
    ].filter(Boolean).join(' · ');
    const round = (n, to) => Math.max(to, Math.ceil((n * 1.05) / to) * to);
    this.#editor.setRanges({
      tokens: round(inspection.tokens, 1000),
      messages: round(inspection.messages, 10),
      bytes: round(bytes.length, 1000),
      groups: round(inspection.groups.length, 5),
      turns: Math.max(3, inspection.turns),
      results: round(inspection.messages / 2, 5),
    });
    this.#run();
  }

  /** What went wrong with a file, and what to do about it. */
  #sentence(error, name) {
    if (error instanceof FileProblem) return `${name}: ${error.message}`;
    if (error instanceof MessageError && error.index >= 0) {
      // The core counts from 0, people from 1.
      return `${name}: ${error.message.replace(/^Message \d+\b/, `Message ${error.index + 1} of the list`)} Put it right or take it out, and open the file again.`;
    }
    if (error instanceof DOMException) return `${name} could not be read (${error.message}). Is it still there, and may the browser read it?`;
    return `${name} could not be opened: ${error.message}`;
  }

  #complain(text) {
    const problem = $('#source-problem');
    problem.textContent = text;
    problem.hidden = false;
  }

  #setPolicy(policy, problems) {
    const notice = $('#result-notice');
    notice.hidden = problems.length === 0;
    if (problems.length > 0) {
      notice.textContent = `The policy has ${plural(problems.length, 'problem')}; what you see is the result of the last one that was fine.`;
      return;
    }
    this.#policy = policy;
    this.#run();
  }

  async #compact() {
    if (this.#large) return this.#trimAgain();
    if (!this.#story || !this.#policy) return;
    const policy = this.#policy;
    const started = performance.now();
    let compaction;
    try {
      compaction = needsModel(policy)
        ? await this.#history.compactAsync(policy, { summarize: standIn })
        : this.#history.compact(policy);
    } catch (error) {
      const notice = $('#result-notice');
      notice.hidden = false;
      notice.textContent = error instanceof PolicyError ? error.problems.map(({ message }) => message).join(' ') : this.#sentence(error, this.#file.name);
      return;
    }
    if (policy !== this.#policy) return;
    this.#compaction = compaction;
    this.#show(compaction, performance.now() - started);
  }

  #show(compaction, took) {
    const { report } = compaction;
    const entries = applyStory(this.#tamp, this.#story, compaction);
    this.#timeline.show(entries, this.#story.inspection.groups);
    this.#list.show(entries);
    this.#showNumbers(compaction, took, validate(compaction.messages));
    this.#reportText.textContent = reportText(this.#file.name, compaction, this.#policy);
    this.#reportJson.textContent = JSON.stringify(report, null, 2);
    this.#code.show(this.#lines());
  }

  /** The numbers of a result, and whether a provider would take it. */
  #showNumbers(compaction, took, verdict) {
    const { report } = compaction;
    const saved = report.tokensBefore - report.tokensAfter;
    $('#stat-tokens').replaceChildren(h('span', { class: 'was' }, count(report.tokensBefore)), h('span', { class: 'arrow', 'aria-label': 'to' }, '→'), h('strong', null, count(report.tokensAfter)), h('span', { class: 'less' }, saved > 0 ? `−${percent(saved, report.tokensBefore)}` : 'unchanged'));
    $('#stat-meter').style.inlineSize = percent(report.tokensAfter, report.tokensBefore).replace(' ', '');
    $('#stat-messages').replaceChildren(h('span', { class: 'was' }, count(compaction.before)), h('span', { class: 'arrow', 'aria-label': 'to' }, '→'), h('strong', null, count(compaction.after)));
    $('#stat-messages-note').textContent = [
      report.dropped.length ? `${count(report.dropped.length)} dropped` : null,
      report.rewritten.length ? `${count(report.rewritten.length)} rewritten` : null,
      report.added.length ? `${count(report.added.length)} added` : null,
    ].filter(Boolean).join(', ') || 'nothing had to go';
    const valid = $('#stat-valid');
    valid.textContent = verdict.ok ? (report.fits ? 'Yes' : 'Yes, but too big') : 'No';
    valid.dataset.verdict = verdict.ok ? (report.fits ? 'good' : 'mixed') : 'bad';
    $('#stat-valid-note').textContent = verdict.ok ? (report.fits ? 'every call has its result' : report.reason ?? 'the budget could not be met') : verdict.problem;
    $('#stat-time').textContent = milliseconds(took);
    $('#download').disabled = false;
    const notice = $('#result-notice');
    notice.hidden = compaction.changed;
    if (!compaction.changed) {
      notice.textContent = report.fits ? 'Nothing has to go: this transcript is below every limit of the policy. Lower its numbers to see what would go first.'
        : report.steps.some(({ fired }) => fired) ? 'Nothing may go: all of it is protected.'
          : 'No step ran, because their conditions do not hold: the transcript stays over the limit.';
    }
    this.#say(`${plural(report.tokensBefore, 'token')} before, ${count(report.tokensAfter)} after. ${plural(report.dropped.length, 'message')} dropped, ${count(report.rewritten.length)} rewritten. ${verdict.ok ? 'A provider would accept the result.' : `A provider would refuse the result: ${verdict.problem}`}`);
  }

  /** The lines of JS that do what the panel just did. */
  #lines() {
    const { format } = this.#file;
    const model = needsModel(this.#policy);
    const options = [format === 'ag-ui' ? null : `format: '${format}'`, model ? 'summarize' : null].filter(Boolean).join(', ');
    return [
      "import { loadTamp } from 'tamp';",
      '',
      'const tamp = await loadTamp();',
      `const policy = ${literal(this.#policy)};`,
      ...(model ? ['const summarize = async ({ text, prompt }) => askYourModel(prompt, text);'] : []),
      `const { messages, removed, report } = ${model ? 'await tamp.compactAsync' : 'tamp.compact'}(history, policy${options ? `, { ${options} }` : ''});`,
      `// here: ${plural(this.#compaction.report.tokensBefore, 'token')} became ${count(this.#compaction.report.tokensAfter)}; removed is ${this.#compaction.removed}`,
    ].join('\n');
  }

  #download() {
    download(this.#large?.blob ?? this.#exact() ?? this.#written(), trimmedName(this.#file.name));
  }

  /** The result with untouched messages byte for byte; null for a container or a policy that has no such way. */
  #exact() {
    if (needsModel(this.#policy)) return null;
    const { bytes, format, container } = this.#file;
    try {
      return new Blob([this.#tamp.compactText(bytes, this.#policy, { format }).bytes], { type: container === 'jsonl' ? 'application/jsonl' : 'application/json' });
    } catch {
      return null;
    }
  }

  /** The result written anew, in the container it came in. */
  #written() {
    const { bytes, container, key } = this.#file;
    const { messages } = this.#compaction;
    if (container === 'jsonl') return new Blob([messages.map((message) => JSON.stringify(message)).join('\n'), '\n'], { type: 'application/jsonl' });
    const value = key === null ? messages : { ...JSON.parse(new TextDecoder().decode(bytes)), [key]: messages };
    return new Blob([JSON.stringify(value, null, 2), '\n'], { type: 'application/json' });
  }

  #downloadReport() {
    if (!this.#compaction) return;
    const json = this.#reportText.hidden;
    const text = json ? this.#reportJson.textContent : this.#reportText.textContent;
    download(new Blob([text, '\n'], { type: json ? 'application/json' : 'text/plain' }), json ? 'report.json' : 'report.txt');
  }
}

/** What the trimmed file of one is called. */
const trimmedName = (name) => name.replace(/(\.[a-z0-9]+)?$/i, (suffix) => `.trimmed${suffix || '.json'}`);

/** In place of a model: a text that says what a model would have been given. */
function standIn({ messages, tokens }) {
  return `(Here your model's summary of ${plural(messages.length, 'message')}, ${plural(tokens, 'token')}, would stand.)`;
}
