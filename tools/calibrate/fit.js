/**
 * Fitting the costs of a machine's cells: least squares on texts with known token counts, over costs that
 * are not negative, by coordinate descent. A text's estimate is linear in the costs, with the number of
 * times it visits each cell as coefficients.
 */

import { UNIT } from './machine.js';

const RIDGE = 1; // how hard a cost is pulled to what alike cells cost; 0.02 to 3 do about as well

/**
 * The cells the bytes of a text fall into, in order.
 * @param {import('./machine.js').Machine} machine
 * @returns {(bytes: Uint8Array, visit: (cell: number) => void) => void}
 */
export function walker(machine) {
  const next = successors(machine);
  const start = machine.row[0];
  return (bytes, visit) => {
    let row = start;
    for (const byte of bytes) {
      const cell = row * UNIT + machine.column[byte];
      visit(cell);
      row = next[cell];
    }
  };
}

/** The row that follows each cell. @param {import('./machine.js').Machine} machine */
export function successors(machine) {
  const next = new Uint16Array(machine.cells);
  machine.states.forEach((_, state) => {
    const width = machine.width[state];
    for (let column = 0; column < width; column++) {
      const target = machine.next[state][Math.min(column, machine.columns.length - 1)];
      next[machine.row[state] * UNIT + column] = machine.row[target];
    }
  });
  return next;
}

/**
 * @typedef {object} Sample
 * @property {Uint8Array} bytes
 * @property {number} tokens exact
 * @property {number} weight of its squared error
 */

/**
 * Costs by cell in units of 1/`scale` token, whole and from 0 to 255.
 * @param {import('./machine.js').Machine} machine
 * @param {Sample[]} samples
 * @param {number} scale
 */
export function fit(machine, samples, scale) {
  const family = families(machine);
  const groups = Math.max(...family) + 1;
  const alike = solve(
    samples,
    tally(machine, samples, (cell) => family[cell], groups),
    { prior: new Float64Array(groups), ridge: 1e-3 },
  );
  const prior = Float64Array.from(family, (group) => alike[group]);
  const visits = tally(machine, samples, (cell) => cell, machine.cells);
  const exact = solve(samples, visits, { prior, ridge: RIDGE });
  const rounded = solve(samples, visits, { prior, ridge: RIDGE, scale, from: exact });
  return Uint8Array.from(rounded, (cost) => Math.round(cost * scale));
}

/** A number for each cell that alike cells share. @param {import('./machine.js').Machine} machine */
function families(machine) {
  const kind = (/** @type {string} */ name) =>
    (/^(letter|first|capital|digit|space|tab|line|mark|lead)/.exec(name) ?? [name])[0];
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @type {number[]} */
  const family = new Array(machine.cells).fill(0);
  machine.states.forEach((state, index) => {
    for (let column = 0; column < machine.width[index]; column++) {
      const within = machine.width[index] < machine.columns.length;
      const name = `${kind(state)} ${within ? '' : kind(machine.columns[column])}`;
      if (!numbers.has(name)) numbers.set(name, numbers.size);
      family[machine.row[index] * UNIT + column] = numbers.get(name) ?? 0;
    }
  });
  return family;
}

/**
 * How often each text visits the cells of each group: for every group the texts that do, and how often.
 * @typedef {{ texts: Int32Array, times: Float64Array }[]} Visits
 * @param {import('./machine.js').Machine} machine
 * @param {Sample[]} samples
 * @param {(cell: number) => number} groupOf
 * @param {number} groups
 * @returns {Visits}
 */
function tally(machine, samples, groupOf, groups) {
  const walk = walker(machine);
  const lists = Array.from({ length: groups }, () => ({
    texts: /** @type {number[]} */ ([]),
    times: /** @type {number[]} */ ([]),
  }));
  const times = new Uint32Array(groups);
  samples.forEach(({ bytes }, text) => {
    /** @type {number[]} */
    const visited = [];
    walk(bytes, (cell) => {
      const group = groupOf(cell);
      if (times[group]++ === 0) visited.push(group);
    });
    for (const group of visited) {
      lists[group].texts.push(text);
      lists[group].times.push(times[group]);
      times[group] = 0;
    }
  });
  return lists.map((list) => ({ texts: Int32Array.from(list.texts), times: Float64Array.from(list.times) }));
}

/**
 * Coordinate descent on sum(weight * (tokens - times . cost)^2) + ridge * sum((cost - prior)^2) over costs that
 * are at least 0. With a `scale`, costs stay on multiples of 1/scale and at most 255/scale.
 * @param {Sample[]} samples
 * @param {Visits} visits
 * @param {{ prior: Float64Array, ridge: number, scale?: number, from?: Float64Array }} options
 */
function solve(samples, visits, { prior, ridge, scale = 0, from = prior }) {
  const weights = Float64Array.from(samples, (sample) => sample.weight);
  const residual = Float64Array.from(samples, (sample) => sample.tokens);
  const costs = new Float64Array(prior.length);
  const allowed = (/** @type {number} */ cost) =>
    scale > 0 ? Math.min(255, Math.max(0, Math.round(cost * scale))) / scale : Math.max(0, cost);
  /** @param {number} group @param {number} cost */
  const set = (group, cost) => {
    const change = cost - costs[group];
    if (change === 0) return 0;
    const { texts, times } = visits[group];
    for (let index = 0; index < texts.length; index++) residual[texts[index]] -= change * times[index];
    costs[group] = cost;
    return Math.abs(change);
  };
  const curvature = Float64Array.from(visits, ({ texts, times }, group) => {
    set(group, allowed(from[group]));
    let sum = ridge;
    for (let index = 0; index < texts.length; index++) sum += weights[texts[index]] * times[index] ** 2;
    return sum;
  });
  for (let sweep = 0; sweep < 300; sweep++) {
    let moved = 0;
    for (let group = 0; group < costs.length; group++) {
      const { texts, times } = visits[group];
      let slope = ridge * (prior[group] - costs[group]);
      for (let index = 0; index < texts.length; index++)
        slope += weights[texts[index]] * times[index] * residual[texts[index]];
      moved = Math.max(moved, set(group, allowed(costs[group] + slope / curvature[group])));
    }
    if (moved < 5e-4) break;
  }
  return costs;
}
