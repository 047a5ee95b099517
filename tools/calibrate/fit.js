/**
 * Fitting the costs of a machine's cells: least squares on texts with known token counts, over costs that
 * are not negative, by coordinate descent. A text's estimate is linear in the costs, with the number of
 * times it visits each cell as coefficients.
 */

/**
 * The cells the bytes of a text fall into, in order.
 * @param {import('./machine.js').Machine} machine
 * @returns {(bytes: Uint8Array, visit: (cell: number) => void) => void}
 */
export function walker(machine) {
  const next = successors(machine);
  const start = /** @type {number} */ (machine.row[0]);
  return (bytes, visit) => {
    let row = start;
    for (const byte of bytes) {
      const cell = row * 16 + /** @type {number} */ (machine.column[byte]);
      visit(cell);
      row = /** @type {number} */ (next[cell]);
    }
  };
}

/** The row that follows each cell. @param {import('./machine.js').Machine} machine */
export function successors(machine) {
  const next = new Uint16Array(machine.cells);
  machine.states.forEach((_, state) => {
    const width = /** @type {number} */ (machine.width[state]);
    for (let column = 0; column < width; column++) {
      const target = machine.next[state]?.[Math.min(column, machine.columns.length - 1)] ?? 0;
      next[/** @type {number} */ (machine.row[state]) * 16 + column] = machine.row[target] ?? 0;
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
  const walk = walker(machine);
  const cells = machine.cells;
  /** @type {number[][]} */
  const rowsOf = Array.from({ length: cells }, () => []);
  /** @type {number[][]} */
  const visitsOf = Array.from({ length: cells }, () => []);
  const visits = new Uint32Array(cells);
  samples.forEach(({ bytes }, sample) => {
    /** @type {number[]} */
    const touched = [];
    walk(bytes, (cell) => {
      if (visits[cell] === 0) touched.push(cell);
      visits[cell]++;
    });
    for (const cell of touched) {
      rowsOf[cell]?.push(sample);
      visitsOf[cell]?.push(/** @type {number} */ (visits[cell]));
      visits[cell] = 0;
    }
  });
  const weights = Float64Array.from(samples, (sample) => sample.weight);

  // families of cells first: what a cell that few samples visit is pulled to
  const family = families(machine);
  const groups = Math.max(...family) + 1;
  const means = solve(merge(rowsOf, family, groups), merge(visitsOf, family, groups), samples, weights, new Float64Array(groups), 1e-3, 0);
  const prior = Float64Array.from(family, (group) => means[group] ?? 0);
  const exact = solve(rowsOf, visitsOf, samples, weights, prior, 0.02, 0);
  const limited = exact.map((cost) => Math.min(cost, 255 / scale));
  const rounded = solve(rowsOf, visitsOf, samples, weights, prior, 0.02, scale, limited);
  return Uint8Array.from(rounded, (cost) => Math.round(cost * scale));
}

/** A number for each cell that alike cells share. @param {import('./machine.js').Machine} machine */
function families(machine) {
  const kind = (/** @type {string} */ name) => (/^(letter|capital|digit|space|tab|line|mark|lead)/.exec(name) ?? [name])[0];
  /** @type {Map<string, number>} */
  const numbers = new Map();
  const family = new Array(machine.cells).fill(0);
  machine.states.forEach((state, index) => {
    for (let column = 0; column < (machine.width[index] ?? 0); column++) {
      const own = machine.width[index] === 48 ? kind(machine.columns[column] ?? '') : 'inside';
      const name = `${kind(state)} ${own}`;
      if (!numbers.has(name)) numbers.set(name, numbers.size);
      family[/** @type {number} */ (machine.row[index]) * 16 + column] = numbers.get(name);
    }
  });
  return family;
}

/**
 * The lists of cells of one family in one. The same sample may be in it more than once.
 * @param {number[][]} lists @param {number[]} family @param {number} groups
 */
function merge(lists, family, groups) {
  /** @type {number[][]} */
  const merged = Array.from({ length: groups }, () => []);
  lists.forEach((list, cell) => {
    const group = /** @type {number[]} */ (merged[/** @type {number} */ (family[cell])]);
    for (const value of list) group.push(value);
  });
  return merged;
}

/**
 * Coordinate descent on sum(weight * (tokens - visits . x)^2) + ridge * sum((x - prior)^2), x >= 0.
 * With a `scale`, x stays on multiples of 1/scale and at most 255/scale.
 * @param {number[][]} rowsOf @param {number[][]} visitsOf @param {Sample[]} samples @param {Float64Array} weights
 * @param {Float64Array} prior @param {number} ridge @param {number} scale @param {Float64Array} [from]
 */
function solve(rowsOf, visitsOf, samples, weights, prior, ridge, scale, from) {
  const count = prior.length;
  const x = new Float64Array(count);
  const residual = Float64Array.from(samples, (sample) => sample.tokens);
  const rows = rowsOf.map((list) => Int32Array.from(list));
  const visits = visitsOf.map((list) => Float64Array.from(list));
  /** @param {number} cell @param {number} value */
  const set = (cell, value) => {
    const change = value - /** @type {number} */ (x[cell]);
    if (change === 0) return 0;
    const at = /** @type {Int32Array} */ (rows[cell]);
    const times = /** @type {Float64Array} */ (visits[cell]);
    for (let index = 0; index < at.length; index++) residual[/** @type {number} */ (at[index])] -= change * /** @type {number} */ (times[index]);
    x[cell] = value;
    return Math.abs(change);
  };
  const grid = (/** @type {number} */ value) => (scale > 0 ? Math.min(255, Math.round(value * scale)) / scale : value);
  const curvature = new Float64Array(count);
  for (let cell = 0; cell < count; cell++) {
    // a family may hold a sample more than once: its visits count together
    const at = /** @type {Int32Array} */ (rows[cell]);
    const times = /** @type {Float64Array} */ (visits[cell]);
    let sum = ridge;
    /** @type {Map<number, number>} */
    const together = new Map();
    for (let index = 0; index < at.length; index++) together.set(/** @type {number} */ (at[index]), (together.get(/** @type {number} */ (at[index])) ?? 0) + /** @type {number} */ (times[index]));
    for (const [row, total] of together) sum += /** @type {number} */ (weights[row]) * total * total;
    curvature[cell] = sum;
    set(cell, grid(Math.max(0, (from ?? prior)[cell] ?? 0)));
  }
  for (let sweep = 0; sweep < 300; sweep++) {
    let moved = 0;
    for (let cell = 0; cell < count; cell++) {
      const at = /** @type {Int32Array} */ (rows[cell]);
      const times = /** @type {Float64Array} */ (visits[cell]);
      let slope = -ridge * (/** @type {number} */ (x[cell]) - /** @type {number} */ (prior[cell]));
      for (let index = 0; index < at.length; index++) {
        const row = /** @type {number} */ (at[index]);
        slope += /** @type {number} */ (weights[row]) * /** @type {number} */ (times[index]) * /** @type {number} */ (residual[row]);
      }
      moved = Math.max(moved, set(cell, grid(Math.max(0, /** @type {number} */ (x[cell]) + slope / /** @type {number} */ (curvature[cell])))));
    }
    if (moved < 1e-4) break;
  }
  return x;
}
