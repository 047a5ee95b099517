/**
 * From a plan to what the caller gets: the list of his own objects, and the report. Nothing is decided here.
 */
import { BYTES, bytesName, isBytes } from './encode.js';
import { PLAN_TEXT, NONE } from './wasm.js';

/** @typedef {import('./wasm.js').Bridge} Bridge */
/** @typedef {import('./wasm.js').PlanView} PlanView */

/**
 * @typedef {object} StepReport
 * @property {string} strategy
 * @property {boolean} fired
 * @property {number} removed
 * @property {number} rewritten
 * @property {number} tokensBefore
 * @property {number} tokensAfter
 * @property {string} [note]
 */

/**
 * What was done and why.
 * @typedef {object} Report
 * @property {number} tokensBefore
 * @property {number} tokensAfter
 * @property {number} bytesBefore
 * @property {number} bytesAfter
 * @property {boolean} fits False when the policy's budget could not be met without touching what is protected
 * @property {string | null} reason why `fits` is false
 * @property {StepReport[]} steps
 * @property {{ id: string | null, index: number, reason: string }[]} dropped
 * @property {{ id: string | null, index: number, reason: string }[]} rewritten
 * @property {{ line: number, offset: number, message: string }[]} unreadable records that were passed through (JSON Lines)
 * @property {{ id: string, index: number, reason: string }[]} added
 */

/**
 * @template M
 * @typedef {object} Compaction
 * @property {readonly M[]} messages what to send: the kept objects themselves, and the few that were rewritten or added; the
 *   input array itself when nothing changed
 * @property {boolean} changed
 * @property {number} removed before - after, as the model counts messages: activity is not sent, so it does not count
 * @property {number} before
 * @property {number} after
 * @property {Report} report
 */

/** What a report calls a message: its id, or its position. @param {any} message @param {readonly string[]} path @param {number} index */
export function nameOf(message, path, index) {
  let value = message;
  for (const key of path) value = value?.[key];
  return path.length > 0 && typeof value === 'string' ? value : `#${index}`;
}

/**
 * Lists of thousands that most callers never look at are made when they are read, once; so is what takes long.
 * @template {object} T
 * @param {T} target
 * @param {string} key
 * @param {() => unknown} make
 */
export function lazily(target, key, make) {
  Object.defineProperty(target, key, {
    enumerable: true,
    configurable: true,
    get() {
      const value = make();
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
      return value;
    },
  });
}

/**
 * The report of a plan.
 * @param {Bridge} bridge
 * @param {PlanView} plan
 * @param {(index: number) => string} name of a message of the input
 * @param {(text: number) => string} textName of a text of the plan
 * @returns {Report}
 */
export function makeReport(bridge, plan, name, textName) {
  const origins = new Set(plan.texts.map((text) => text.origin));
  const report = /** @type {Report} */ (/** @type {unknown} */ ({
    tokensBefore: plan.tokensBefore,
    tokensAfter: plan.tokensAfter,
    bytesBefore: plan.bytesBefore,
    bytesAfter: plan.bytesAfter,
    fits: plan.fits,
    reason: plan.report.reason,
    steps: plan.report.steps,
    unreadable: [],
  }));
  lazily(report, 'dropped', () => {
    const dropped = [];
    for (let index = 0; index < plan.reasons.length; index++) {
      const reason = plan.reasons[index];
      if (reason !== 0 && !origins.has(index)) dropped.push({ id: name(index), index, reason: bridge.reason(reason) });
    }
    return dropped;
  });
  lazily(report, 'rewritten', () => plan.texts
    .filter((text) => text.origin !== NONE)
    .map((text) => ({ id: name(text.origin), index: text.origin, reason: text.reason }))
    .sort((a, b) => a.index - b.index));
  lazily(report, 'added', () => {
    const added = [];
    for (let index = 0; index < plan.order.length; index++) {
      const text = plan.order[index] - PLAN_TEXT;
      if (text >= 0 && plan.texts[text].origin === NONE) {
        added.push({ id: textName(text), index, reason: plan.texts[text].reason });
      }
    }
    return added;
  });
  return report;
}

/**
 * The messages of a plan. A loop: `Array.from` with a function takes ten times as long, and a turn counts in microseconds.
 * @template M
 * @param {Uint32Array} order
 * @param {readonly M[]} messages
 * @param {readonly M[]} made
 */
function listed(order, messages, made) {
  /** @type {M[]} */
  const list = new Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const at = order[i];
    list[i] = at >= PLAN_TEXT ? made[at - PLAN_TEXT] : messages[at];
  }
  return list;
}

/**
 * The bytes that a value holds, by what they crossed as.
 * @param {unknown} value
 * @param {Map<string, unknown>} found
 * @param {Set<object>} [seen]
 */
function collectBytes(value, found, seen = new Set()) {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (isBytes(value)) found.set(bytesName(value), value);
  else for (const held of Object.values(value)) collectBytes(held, found, seen);
}

/**
 * The messages that a plan wrote, with the very bytes that the originals held.
 * @param {PlanView} plan
 * @param {readonly object[]} messages
 */
function parseTexts(plan, messages) {
  const decoder = new TextDecoder();
  /** @type {Map<string, unknown> | null} */
  let found = null;
  return plan.texts.map((text) => {
    const json = decoder.decode(text.json);
    if (!json.includes(BYTES)) return JSON.parse(json);
    if (found === null) collectBytes(messages, found = new Map());
    return JSON.parse(json, (_key, value) => (typeof value === 'string' ? found?.get(value) ?? value : value));
  });
}

/**
 * Applies a plan to the objects it was made for.
 * @template {object} M
 * @param {Bridge} bridge
 * @param {PlanView} plan
 * @param {readonly M[]} messages
 * @param {readonly string[]} idPath where a message's id is
 * @returns {Compaction<M>}
 */
export function applyPlan(bridge, plan, messages, idPath) {
  const made = /** @type {M[]} */ (parseTexts(plan, messages));
  const report = makeReport(
    bridge,
    plan,
    (index) => nameOf(messages[index], idPath, index),
    (text) => nameOf(made[text], idPath, plan.order.indexOf(text + PLAN_TEXT)),
  );
  return {
    messages: plan.changed ? listed(plan.order, messages, made) : messages,
    changed: plan.changed,
    removed: plan.before - plan.after,
    before: plan.before,
    after: plan.after,
    report,
  };
}
