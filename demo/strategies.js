/**
 * The strategies, as one table: what each is for and which numbers it takes. The policy form, the
 * defaults and the explanations all come from here.
 *
 * A field is one of
 *   integer   {key, label, unit, value?, fallback?}          `value`: what a new step starts with; without one the key is left out
 *   fraction  {key, label, value}                            a share between 0 and 1
 *   boolean   {key, label, value}                            `value`: what the core takes when the key is absent
 *   text      {key, label, value}
 *   enum      {key, label, values: [[value, words]…], value}
 *   names     {key, label, placeholder}                      a list of names, typed with commas between
 *   map       {key, label}                                   "tool: argument" pairs, typed with commas between
 *   choices   {key, label, values, value, fallback}          several of a fixed few
 *   measure   {label, options: [{key, unit, value}…], none?} one number in one of several units
 *   pair      {label, toLabel, options: [{key, to, unit, value, toValue}…]}  a limit and where to go when it is passed
 * `fallback` is what the core takes when the key is absent; without one there is no limit then.
 * `unit` names the slider's range: tokens, messages, bytes, groups, turns, results, characters.
 */

const TOKENS = 'tokens';
const MESSAGES = 'messages';

const limits = (label, none, chosen) => ({
  kind: 'measure',
  label,
  none,
  chosen,
  options: [
    { key: 'maxMessages', unit: MESSAGES, value: 80 },
    { key: 'maxTokens', unit: TOKENS, value: 32000 },
    { key: 'maxBytes', unit: 'bytes', value: 100000 },
  ],
});

const firstUser = (value) => ({ kind: 'boolean', key: 'keepFirstUser', label: 'Keep the first question', value });
const keepGroups = (value) => ({ kind: 'integer', key: 'keepLastToolCallGroups', label: 'Leave the newest tool calls alone', unit: 'groups', value, fallback: value });

const summaryFields = [
  { kind: 'measure', label: 'Runs when the list is over', none: 'any size', options: [{ key: 'maxMessages', unit: MESSAGES, value: 80 }, { key: 'maxTokens', unit: TOKENS, value: 32000 }] },
  { kind: 'measure', label: 'Keep the newest', options: [{ key: 'keepMessages', unit: MESSAGES, value: 20 }, { key: 'keepTokens', unit: TOKENS, value: 12000 }] },
  firstUser(true),
  { kind: 'integer', key: 'maxSummaryTokens', label: 'Summary at most', unit: TOKENS },
];

export const STRATEGIES = [
  {
    name: 'sliding-window',
    title: 'Sliding window',
    about: 'Keeps the newest part. The cut moves back to the start of a tool call rather than through it.',
    fields: [
      limits('Runs when the list is over', 'any size', 'maxMessages'),
      {
        kind: 'measure',
        label: 'Keep the newest',
        options: [
          { key: 'keepMessages', unit: MESSAGES, value: 40 },
          { key: 'keepTokens', unit: TOKENS, value: 16000 },
          { key: 'keepGroups', unit: 'groups', value: 12 },
          { key: 'keepTurns', unit: 'turns', value: 2 },
        ],
      },
      firstUser(true),
    ],
  },
  {
    name: 'truncation',
    title: 'Truncation',
    about: 'Over a limit, the oldest groups go one at a time until the list is small enough.',
    fields: [
      {
        kind: 'pair',
        label: 'Runs when the list is over',
        toLabel: 'Goes down to',
        options: [
          { key: 'maxTokens', to: 'toTokens', unit: TOKENS, value: 32000, toValue: 24000 },
          { key: 'maxMessages', to: 'toMessages', unit: MESSAGES, value: 100, toValue: 60 },
          { key: 'maxBytes', to: 'toBytes', unit: 'bytes', value: 120000, toValue: 90000 },
        ],
      },
      firstUser(false),
    ],
  },
  {
    name: 'tool-results',
    title: 'Collapse tool calls',
    about: 'Each older tool call and its results become one short assistant message that still says what came back.',
    fields: [keepGroups(2), { kind: 'integer', key: 'maxChars', label: 'Length of what stays', unit: 'characters', value: 400, fallback: 4096 }],
  },
  {
    name: 'context-window',
    title: 'Fit a context window',
    about: 'Collapses tool calls when the window is half full and cuts the oldest part when it is nearly full.',
    fields: [
      { kind: 'integer', key: 'maxContextWindowTokens', label: 'The model’s window', unit: TOKENS, value: 32000 },
      { kind: 'integer', key: 'maxOutputTokens', label: 'Of it, for the answer', unit: TOKENS, value: 4000 },
      { kind: 'fraction', key: 'toolEvictionThreshold', label: 'Collapse tool calls over', value: 0.5 },
      { kind: 'fraction', key: 'truncationThreshold', label: 'Cut the oldest part over', value: 0.8 },
      keepGroups(2),
      firstUser(false),
    ],
  },
  {
    name: 'drop-tool-calls',
    title: 'Drop tool calls',
    about: 'Older tool calls go whole, with their results.',
    fields: [keepGroups(1), { kind: 'names', key: 'tools', label: 'Only these tools', placeholder: 'all tools' }],
  },
  {
    name: 'clear-tool-results',
    title: 'Clear tool results',
    about: 'The text of older results becomes a short placeholder. Which tool ran, and on what, stays.',
    fields: [
      { kind: 'measure', label: 'Runs when the list is over', none: 'any size', options: [{ key: 'maxMessages', unit: MESSAGES, value: 80 }, { key: 'maxTokens', unit: TOKENS, value: 32000 }] },
      { kind: 'integer', key: 'keepLast', label: 'Leave the newest results alone', unit: 'results', value: 3, fallback: 3 },
      { kind: 'integer', key: 'minTokens', label: 'Only when it saves at least', unit: TOKENS, fallback: 0 },
      { kind: 'boolean', key: 'clearInputs', label: 'Clear the arguments too', value: false },
      { kind: 'names', key: 'excludeTools', label: 'Never these tools', placeholder: 'none' },
      { kind: 'text', key: 'placeholder', label: 'Placeholder', value: '[tool result cleared]' },
    ],
  },
  {
    name: 'dedupe-tool-results',
    title: 'Drop repeated reads',
    about: 'When a tool read the same thing again, only the newest successful result keeps its text.',
    fields: [{ kind: 'map', key: 'tools', label: 'Tool and the argument that names what was read', value: { read_file: 'path' } }],
  },
  {
    name: 'clamp',
    title: 'Shorten long texts',
    about: 'A text over the limit keeps its head and its tail, with a marker that says how much is gone.',
    fields: [
      { kind: 'measure', label: 'Texts over', options: [{ key: 'maxChars', unit: 'characters', value: 3000 }, { key: 'maxTokens', unit: TOKENS, value: 800 }] },
      { kind: 'integer', key: 'headChars', label: 'Keep of the head', unit: 'characters', value: 1000, fallback: 2000 },
      { kind: 'integer', key: 'tailChars', label: 'Keep of the tail', unit: 'characters', value: 500, fallback: 2000 },
      { kind: 'choices', key: 'roles', label: 'In texts of', values: ['assistant', 'tool', 'user', 'reasoning'], value: ['assistant', 'tool'], fallback: ['assistant'] },
      { kind: 'boolean', key: 'toolInputs', label: 'Shorten arguments too', value: true },
    ],
  },
  {
    name: 'strip-binary',
    title: 'Strip images and files',
    about: 'Inline images, audio and documents in older turns become a line that says what was there.',
    fields: [
      { kind: 'integer', key: 'keepLastTurns', label: 'Leave the newest turns alone', unit: 'turns', value: 1, fallback: 1 },
      { kind: 'integer', key: 'minBytes', label: 'Only from this size', unit: 'bytes', fallback: 0 },
    ],
  },
  {
    name: 'drop-reasoning',
    title: 'Drop reasoning',
    about: 'The model’s own thinking in older turns goes.',
    fields: [{ kind: 'integer', key: 'keepLastTurns', label: 'Leave the newest turns alone', unit: 'turns', value: 1, fallback: 1 }],
  },
  {
    name: 'digest',
    title: 'Digest',
    about: 'The old part becomes one message that says what was asked, which tools ran and on what. No model needed.',
    fields: summaryFields,
  },
  {
    name: 'summarize',
    title: 'Summarize with a model',
    about: 'The old part becomes one summary. Here no model runs: a stand-in text shows where yours would be.',
    async: true,
    fields: summaryFields,
  },
  {
    name: 'repair',
    title: 'Repair',
    about: 'Makes a broken list one that a provider accepts. It also runs by itself after anything that changed the list.',
    fields: [
      { kind: 'enum', key: 'orphanResults', label: 'Results without their call', values: [['drop', 'drop'], ['keep', 'keep']], value: 'drop' },
      { kind: 'enum', key: 'staleCalls', label: 'Calls that were never answered', values: [['answer', 'answer with the placeholder'], ['drop', 'drop'], ['keep', 'keep']], value: 'answer' },
      { kind: 'enum', key: 'head', label: 'First message', values: [['any', 'any'], ['user', 'always the user’s (Gemini)']], value: 'any' },
      { kind: 'text', key: 'placeholder', label: 'Placeholder', value: '[no result was recorded]' },
    ],
  },
];

/** Conditions of a step (`when`), the first for none: the form offers one at a time, several are for the JSON. */
export const CONDITIONS = [
  { key: '', words: 'has any size' },
  { key: 'tokensOver', words: 'has more than … tokens', unit: TOKENS, value: 20000 },
  { key: 'messagesOver', words: 'has more than … messages', unit: MESSAGES, value: 60 },
  { key: 'bytesOver', words: 'has more than … bytes', unit: 'bytes', value: 100000 },
  { key: 'turnsOver', words: 'has more than … turns', unit: 'turns', value: 3 },
  { key: 'groupsOver', words: 'has more than … groups', unit: 'groups', value: 20 },
  { key: 'hasToolCalls', words: 'has tool calls', value: true },
];

/** The condition that a `when` is; null for one that the form has no fields for. */
export function conditionOf(when) {
  if (when === undefined) return CONDITIONS[0];
  const keys = typeof when === 'object' && when !== null ? Object.keys(when) : [];
  return keys.length === 1 ? CONDITIONS.find(({ key }) => key === keys[0]) ?? null : null;
}

const BY_NAME = new Map(STRATEGIES.map((strategy) => [strategy.name, strategy]));

export const strategyOf = (name) => BY_NAME.get(name);

/** Every key a strategy's form can show, besides `strategy` itself. */
export function keysOf(strategy) {
  return strategy.fields.flatMap((field) => (field.options ? field.options.flatMap((option) => (option.to ? [option.key, option.to] : [option.key])) : [field.key]));
}

/** A new step with sensible numbers. */
export function newStep(name) {
  const step = { strategy: name };
  for (const field of strategyOf(name).fields) {
    if (field.kind === 'measure') {
      if (field.none && !field.chosen) continue;
      const option = field.options.find(({ key }) => key === field.chosen) ?? field.options[0];
      step[option.key] = option.value;
    } else if (field.kind === 'pair') {
      step[field.options[0].key] = field.options[0].value;
      step[field.options[0].to] = field.options[0].toValue;
    } else if (field.kind === 'integer' || field.kind === 'map' || field.kind === 'choices') {
      if (field.value !== undefined) step[field.key] = structuredClone(field.value);
    }
  }
  return step;
}

/** Policies to start from. */
export const PRESETS = [
  { name: 'window', title: 'Keep the newest 40 messages', policy: { strategy: 'sliding-window', maxMessages: 80, keepMessages: 40, keepFirstUser: true } },
  { name: 'fit', title: 'Fit a 32k model', policy: { strategy: 'context-window', maxContextWindowTokens: 32000, maxOutputTokens: 4000, keepLastToolCallGroups: 2 } },
  { name: 'collapse', title: 'Collapse old tool calls', policy: { strategy: 'tool-results', keepLastToolCallGroups: 3, maxChars: 400 } },
  { name: 'cut', title: 'Cut to 24,000 tokens', policy: { strategy: 'truncation', maxTokens: 32000, toTokens: 24000, keepFirstUser: true } },
  {
    name: 'gently',
    title: 'Gently: what hurts least goes first',
    policy: {
      strategy: 'budget',
      maxTokens: 30000,
      steps: [
        { strategy: 'strip-binary', keepLastTurns: 1 },
        { strategy: 'drop-reasoning', keepLastTurns: 1 },
        { strategy: 'dedupe-tool-results', tools: { read_file: 'path' } },
        { strategy: 'clear-tool-results', keepLast: 12 },
        { strategy: 'tool-results', keepLastToolCallGroups: 6, maxChars: 400 },
        { strategy: 'truncation', maxTokens: 30000, toTokens: 24000, keepFirstUser: true },
      ],
    },
  },
  { name: 'repair', title: 'Only repair', policy: { strategy: 'repair', orphanResults: 'drop', staleCalls: 'answer' } },
];

/** The names of all strategies a policy uses, at any depth. */
export function strategiesIn(policy) {
  if (Array.isArray(policy)) return policy.flatMap(strategiesIn);
  if (typeof policy !== 'object' || policy === null) return [];
  return [policy.strategy, ...(Array.isArray(policy.steps) ? policy.steps.flatMap(strategiesIn) : [])];
}

export const needsModel = (policy) => strategiesIn(policy).some((name) => strategyOf(name)?.async);
