import { $, h } from './dom.js';
import { CONDITIONS, PRESETS, STRATEGIES, conditionOf, keysOf, newStep, strategyOf } from './strategies.js';
import { plural } from './format.js';

/**
 * The policy form: steps of one pipeline, optionally inside a budget, or the same as JSON. The form edits
 * the policy itself, so what it does not know (a `when` of several conditions, a key of a newer core) stays in it.
 */
export class PolicyEditor {
  #root;
  #onChange;
  #check;
  #steps = [];
  #budget = null;
  #json;
  #flat = true;
  #policy = null;
  #ranges = { tokens: 128000, messages: 400, bytes: 1000000, groups: 60, turns: 20, results: 60, characters: 8000 };

  /**
   * @param {HTMLElement} root
   * @param {{check: (policy: unknown) => {path: string, code: string, message: string}[], onChange: (policy: unknown, problems: object[]) => void}} options
   *   `onChange` gets every policy the visitor makes, with its problems
   */
  constructor(root, { check, onChange }) {
    this.#root = root;
    this.#check = check;
    this.#onChange = onChange;
    this.#root.replaceChildren(
      h('div', { class: 'field' },
        h('label', { for: 'preset' }, 'Start from'),
        h('select', { id: 'preset', onchange: (event) => this.#usePreset(event.target) },
          h('option', { value: '' }, 'a policy of your own'),
          PRESETS.map(({ name, title }) => h('option', { value: name }, title)))),
      h('div', { class: 'segmented', role: 'group', 'aria-label': 'How to edit the policy' },
        h('button', { type: 'button', 'aria-pressed': 'true', id: 'as-form', onclick: () => this.#showJson(false) }, 'Form'),
        h('button', { type: 'button', 'aria-pressed': 'false', id: 'as-json', onclick: () => this.#showJson(true) }, 'JSON')),
      h('div', { id: 'policy-form' },
        h('ol', { class: 'steps', id: 'steps' }),
        h('p', { class: 'steps-nested', id: 'steps-nested', hidden: true }, 'This policy nests steps, or is not finished. Edit it as JSON.'),
        h('div', { class: 'add-step' },
          h('label', { for: 'add-step', class: 'sr' }, 'Add a step'),
          h('select', { id: 'add-step', onchange: (event) => this.#addStep(event.target) },
            h('option', { value: '' }, 'Add a step…'),
            this.#options())),
        h('div', { class: 'budget-box' },
          h('label', { class: 'check' },
            h('input', { type: 'checkbox', id: 'budget-on', onchange: (event) => this.#setBudget(event.target.checked ? 30000 : null) }),
            h('span', null, 'Stop as soon as it fits')),
          h('div', { id: 'budget-field' }))),
      h('div', { id: 'policy-json', hidden: true },
        h('label', { for: 'policy-text', class: 'sr' }, 'Policy as JSON'),
        (this.#json = h('textarea', { id: 'policy-text', spellcheck: 'false', rows: '16', 'aria-describedby': 'policy-problems', oninput: () => this.#readJson() }))),
      h('ul', { class: 'problems', id: 'policy-problems', role: 'status', 'aria-label': 'Problems of the policy' }));
  }

  get policy() {
    return this.#policy;
  }

  /** How far the sliders go: from the transcript at hand. */
  setRanges(ranges) {
    Object.assign(this.#ranges, ranges);
    this.#renderSteps();
  }

  /** Show a policy and tell the listener. */
  set(policy, { preset = '' } = {}) {
    $('#preset', this.#root).value = preset;
    this.#take(structuredClone(policy));
    this.#json.value = JSON.stringify(policy, null, 2);
    this.#renderSteps();
    this.#emit(policy);
  }

  setPreset(name) {
    const preset = PRESETS.find((each) => each.name === name);
    if (preset) this.set(preset.policy, { preset: name });
  }

  #options() {
    return STRATEGIES.map(({ name, title }) => h('option', { value: name }, title));
  }

  #usePreset(select) {
    if (select.value) this.setPreset(select.value);
  }

  /** Split a policy into what the form shows. */
  #take(policy) {
    const flat = (steps) => Array.isArray(steps) && steps.every((step) => typeof step === 'object' && step !== null && !Array.isArray(step) && step.strategy !== 'budget' && strategyOf(step.strategy));
    this.#flat = true;
    this.#budget = null;
    if (flat(policy)) this.#steps = policy;
    else if (policy?.strategy === 'budget' && flat(policy.steps) && !policy.when) {
      this.#budget = policy.maxTokens;
      this.#steps = policy.steps;
    } else if (flat([policy])) this.#steps = [policy];
    else this.#flat = false;
  }

  #build() {
    if (this.#budget !== null) return { strategy: 'budget', maxTokens: this.#budget, steps: this.#steps };
    return this.#steps.length === 1 ? this.#steps[0] : this.#steps;
  }

  /** The JSON Pointer of step `i` in the policy that #build() makes. */
  #pointer(i) {
    if (this.#budget !== null) return `/steps/${i}`;
    return this.#steps.length === 1 ? '' : `/${i}`;
  }

  #changed({ redraw = false } = {}) {
    const policy = this.#build();
    $('#preset', this.#root).value = '';
    this.#json.value = JSON.stringify(policy, null, 2);
    if (redraw) this.#renderSteps();
    this.#emit(policy);
  }

  #emit(policy) {
    this.#policy = structuredClone(policy);
    const problems = this.#check(this.#policy);
    this.#showProblems(problems);
    this.#onChange(this.#policy, problems);
  }

  #readJson() {
    $('#preset', this.#root).value = '';
    let policy;
    try {
      policy = JSON.parse(this.#json.value);
    } catch (error) {
      const problems = [{ path: '', code: 'not-json', message: `This is not JSON yet: ${error.message}` }];
      this.#flat = false;
      this.#renderSteps();
      this.#showProblems(problems);
      this.#onChange(null, problems);
      return;
    }
    this.#take(structuredClone(policy));
    this.#renderSteps();
    this.#emit(policy);
  }

  #showJson(shown) {
    $('#policy-form', this.#root).hidden = shown;
    $('#policy-json', this.#root).hidden = !shown;
    $('#as-form', this.#root).setAttribute('aria-pressed', String(!shown));
    $('#as-json', this.#root).setAttribute('aria-pressed', String(shown));
  }

  #addStep(select) {
    const name = select.value;
    select.value = '';
    if (!name) return;
    if (!this.#flat) this.#steps = [];
    this.#flat = true;
    this.#steps.push(newStep(name));
    this.#changed({ redraw: true });
    this.#focus(this.#steps.length - 1);
  }

  #move(i, by) {
    const [step] = this.#steps.splice(i, 1);
    this.#steps.splice(i + by, 0, step);
    this.#changed({ redraw: true });
    this.#focus(i + by);
  }

  #remove(i) {
    this.#steps.splice(i, 1);
    this.#changed({ redraw: true });
    if (this.#steps.length) this.#focus(Math.min(i, this.#steps.length - 1));
    else $('#add-step', this.#root).focus();
  }

  #focus(i) {
    $(`#step-${i}-strategy`, this.#root)?.focus();
  }

  #setBudget(tokens) {
    this.#budget = tokens;
    this.#changed({ redraw: true });
  }

  #renderSteps() {
    $('#steps-nested', this.#root).hidden = this.#flat;
    $('#steps', this.#root).replaceChildren(...(this.#flat ? this.#steps.map((step, i) => this.#step(step, i)) : []));
    const box = $('#budget-on', this.#root);
    box.checked = this.#flat && this.#budget !== null;
    $('#budget-field', this.#root).replaceChildren(...(box.checked
      ? [this.#number('budget-tokens', 'Fit into', 'tokens', '/maxTokens', () => this.#budget, (value) => { this.#budget = value ?? 0; })]
      : []));
  }

  #step(step, i) {
    const strategy = strategyOf(step.strategy);
    const condition = conditionOf(step.when);
    const known = new Set(['strategy', ...keysOf(strategy), ...(condition ? ['when'] : [])]);
    const others = Object.keys(step).filter((key) => !known.has(key));
    const last = this.#steps.length - 1;
    const title = `Step ${i + 1}`;
    return h('li', { class: 'step' },
      h('fieldset', null,
        h('legend', { class: 'sr' }, `${title}: ${strategy.title}`),
        h('div', { class: 'step-head' },
          h('span', { class: 'step-number', 'aria-hidden': 'true' }, String(i + 1)),
          h('select', {
            id: `step-${i}-strategy`,
            'aria-label': `${title}: strategy`,
            onchange: (event) => {
              this.#steps[i] = newStep(event.target.value);
              this.#changed({ redraw: true });
              this.#focus(i);
            },
          }, this.#options().map((option) => {
            option.selected = option.value === step.strategy;
            return option;
          })),
          last > 0 ? h('span', { class: 'step-tools' },
            h('button', { type: 'button', class: 'icon', disabled: i === 0, 'aria-label': `Move step ${i + 1} up`, onclick: () => this.#move(i, -1) }, '↑'),
            h('button', { type: 'button', class: 'icon', disabled: i === last, 'aria-label': `Move step ${i + 1} down`, onclick: () => this.#move(i, 1) }, '↓'),
            h('button', { type: 'button', class: 'icon', 'aria-label': `Remove step ${i + 1}`, onclick: () => this.#remove(i) }, '×')) : null),
        h('p', { class: 'step-about' }, strategy.about),
        // Inside a budget nobody asks when a step would run: it runs when the steps before it were not enough.
        condition && (this.#budget === null || step.when) ? this.#when(step, i, condition, `step-${i}-when`) : null,
        strategy.fields.map((field, f) => this.#field(step, i, field, `step-${i}-${f}`)),
        others.length ? h('p', { class: 'step-others' }, `Set in the JSON: ${others.map((key) => `${key} = ${JSON.stringify(step[key])}`).join(', ')}`) : null));
  }

  /** The condition under which a step runs at all. */
  #when(step, i, condition, id) {
    const choose = (key) => {
      const { value } = CONDITIONS.find((each) => each.key === key);
      if (value === undefined) delete step.when;
      else step.when = { [key]: value };
      this.#changed({ redraw: true });
      $(`#${id}`, this.#root).focus();
    };
    return [
      h('div', { class: 'field' },
        h('label', { for: id }, 'Only when the list'),
        h('select', { id, 'data-path': `${this.#pointer(i)}/when`, onchange: (event) => choose(event.target.value) },
          CONDITIONS.map(({ key, words }) => h('option', { value: key, selected: key === condition.key }, words)))),
      condition.unit ? this.#number(`${id}-over`, 'More than', condition.unit, `${this.#pointer(i)}/when/${condition.key}`, () => step.when[condition.key], (value) => {
        step.when[condition.key] = value ?? 0;
        this.#changed();
      }) : null,
    ];
  }

  #field(step, i, field, id) {
    const path = (key) => `${this.#pointer(i)}/${key}`;
    const put = (key, value) => {
      if (value === undefined) delete step[key];
      else step[key] = value;
      this.#changed();
    };
    switch (field.kind) {
      case 'integer':
        return this.#number(id, field.label, field.unit, path(field.key), () => step[field.key], (value) => put(field.key, value), { fallback: field.fallback });
      case 'fraction':
        return this.#number(id, field.label, 'percent', path(field.key), () => Math.round((step[field.key] ?? field.value) * 100), (value) => put(field.key, value === undefined ? undefined : value / 100));
      case 'boolean':
        return h('label', { class: 'check' },
          h('input', { type: 'checkbox', checked: step[field.key] ?? field.value, 'data-path': path(field.key), onchange: (event) => put(field.key, event.target.checked) }),
          h('span', null, field.label));
      case 'text':
        return h('div', { class: 'field' },
          h('label', { for: id }, field.label),
          h('input', { id, type: 'text', value: step[field.key] ?? '', placeholder: field.value, 'data-path': path(field.key), oninput: (event) => put(field.key, event.target.value === '' ? undefined : event.target.value) }));
      case 'enum':
        return h('div', { class: 'field' },
          h('label', { for: id }, field.label),
          h('select', { id, 'data-path': path(field.key), onchange: (event) => put(field.key, event.target.value) },
            field.values.map(([value, words]) => h('option', { value, selected: (step[field.key] ?? field.value) === value }, words))));
      case 'names':
        return h('div', { class: 'field' },
          h('label', { for: id }, field.label),
          h('input', {
            id, type: 'text', placeholder: field.placeholder, value: (step[field.key] ?? []).join(', '), 'data-path': path(field.key),
            oninput: (event) => {
              const names = event.target.value.split(',').map((name) => name.trim()).filter(Boolean);
              put(field.key, names.length ? names : undefined);
            },
          }));
      case 'map':
        return h('div', { class: 'field' },
          h('label', { for: id }, field.label),
          h('input', {
            id, type: 'text', placeholder: 'read_file: path', 'data-path': path(field.key),
            value: Object.entries(step[field.key] ?? {}).map(([tool, argument]) => `${tool}: ${argument}`).join(', '),
            oninput: (event) => {
              const pairs = event.target.value.split(',').map((pair) => pair.split(':').map((part) => part.trim())).filter(([tool]) => tool);
              put(field.key, Object.fromEntries(pairs.map(([tool, argument = '']) => [tool, argument])));
            },
          }));
      case 'choices':
        return h('fieldset', { class: 'choices' },
          h('legend', null, field.label),
          field.values.map((value) => h('label', { class: 'check' },
            h('input', {
              type: 'checkbox', checked: (step[field.key] ?? field.fallback).includes(value), 'data-path': path(field.key),
              onchange: (event) => {
                const chosen = new Set(step[field.key] ?? field.fallback);
                if (event.target.checked) chosen.add(value);
                else chosen.delete(value);
                put(field.key, field.values.filter((each) => chosen.has(each)));
              },
            }),
            h('span', null, value))));
      case 'measure':
      case 'pair':
        return this.#measure(step, i, field, id);
      default:
        return null;
    }
  }

  /** A number in a unit of choice; for a pair, two numbers in it. */
  #measure(step, i, field, id) {
    const chosen = field.options.find(({ key }) => step[key] !== undefined) ?? (field.none ? null : field.options[0]);
    const choose = (event) => {
      for (const option of field.options) {
        delete step[option.key];
        if (option.to) delete step[option.to];
      }
      const option = field.options.find(({ key }) => key === event.target.value);
      if (option) {
        step[option.key] = option.value;
        if (option.to) step[option.to] = option.toValue;
      }
      this.#changed({ redraw: true });
      $(`#${id}-unit`, this.#root).focus();
    };
    const unit = h('select', { id: `${id}-unit`, class: 'unit', 'aria-label': `${field.label}: unit`, onchange: choose },
      field.none ? h('option', { value: '', selected: chosen === null }, field.none) : null,
      field.options.map((option) => h('option', { value: option.key, selected: option === chosen }, option.unit)));
    if (!chosen) return h('div', { class: 'field' }, h('div', { class: 'field-line' }, h('label', { for: `${id}-unit` }, field.label), unit));
    const put = (key) => (value) => {
      if (value === undefined) delete step[key];
      else step[key] = value;
      this.#changed();
    };
    const path = (key) => `${this.#pointer(i)}/${key}`;
    return [
      this.#number(id, field.label, chosen.unit, path(chosen.key), () => step[chosen.key], put(chosen.key), { unitControl: unit }),
      chosen.to ? this.#number(`${id}-to`, field.toLabel, chosen.unit, path(chosen.to), () => step[chosen.to], put(chosen.to)) : null,
    ];
  }

  /** A number with a slider. Empty means: leave the key out. */
  #number(id, label, unit, path, read, write, { unitControl = null, fallback } = {}) {
    const max = unit === 'percent' ? 100 : this.#ranges[unit] ?? 1000;
    const step = unit === 'bytes' ? 1000 : unit === 'tokens' ? 100 : unit === 'characters' ? 50 : 1;
    const value = read();
    const take = (source, other) => {
      const n = source.value === '' ? undefined : Number(source.value);
      if (n !== undefined) other.value = String(Math.min(n, Number(other.max) || n));
      write(n);
    };
    const range = h('input', {
      type: 'range', min: unit === 'percent' ? '1' : '0', max: String(max), step: String(step), value: String(Math.min(value ?? fallback ?? 0, max)), tabindex: '-1', 'aria-hidden': 'true',
      oninput: () => {
        input.value = range.value;
        write(Number(range.value));
      },
    });
    const input = h('input', { id, type: 'number', min: '0', step: 'any', inputmode: 'numeric', value: value ?? '', placeholder: fallback ?? 'no limit', 'data-path': path, oninput: () => take(input, range) });
    return h('div', { class: 'field number' },
      h('div', { class: 'field-line' },
        h('label', { for: id }, label),
        h('span', { class: 'amount' }, input, unitControl ?? h('span', { class: 'unit', 'aria-hidden': 'true' }, unit === 'percent' ? '%' : unit))),
      range);
  }

  /** Mark the fields that are wrong and list the sentences. */
  #showProblems(problems) {
    const list = $('#policy-problems', this.#root);
    list.replaceChildren(...problems.map(({ path, message }, n) => h('li', { id: `problem-${n}` }, path ? h('code', null, path) : null, path ? ' ' : null, message)));
    for (const input of this.#root.querySelectorAll('[data-path]')) {
      const n = problems.findIndex(({ path }) => path !== '' && path === input.dataset.path);
      if (n < 0) {
        input.removeAttribute('aria-invalid');
        input.removeAttribute('aria-describedby');
      } else {
        input.setAttribute('aria-invalid', 'true');
        input.setAttribute('aria-describedby', `problem-${n}`);
      }
    }
    this.#json.toggleAttribute('aria-invalid', problems.length > 0);
    this.#root.dataset.problems = problems.length ? plural(problems.length, 'problem') : '';
  }
}
