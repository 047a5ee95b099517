/* A small benchmark harness.
 *
 * A benchmark is a module `tests/bench/NAME.bench.js` that exports
 *
 *   name     what is measured, e.g. 'compact 2,000 messages by tokens'
 *   rows     the contestants, Tamp first: [{ name, run, … }], or a (possibly async) function that returns them;
 *            where it returns a string instead, that is the reason why the benchmark cannot run here
 *   runs     how often each is run (default 15); rounds of all rows alternate, so that a busy machine hits all alike
 *   figures  optional: a (possibly async) function that returns values that are not times,
 *            [{ name, value, unit, atMost?, atLeast? }], e.g. mean errors, sizes, peak memory
 *
 * and a row has
 *
 *   name     who
 *   run      the work; may return a promise. What it returns is kept alive until the clock has stopped.
 *   repeat   how often `run` is called within one measurement, for work far below a millisecond (default 1)
 *   bytes    optional: how much input one run reads, to print MB/s
 *   target   optional, on a peer: Tamp has to be at least this many times faster than it
 *   limit    optional, on Tamp: milliseconds it may take
 *
 * Times are medians with their quartiles. Each benchmark runs in a process of its own. */

/**
 * @typedef {{ name: string, run: () => unknown, repeat?: number, bytes?: number, target?: number, limit?: number }} Row
 * @typedef {{ name: string, value: number, unit: string, atMost?: number, atLeast?: number }} Figure
 * @typedef {{ name: string, rows: Row[] | (() => Row[] | string | Promise<Row[] | string>), runs?: number,
 *   figures?: () => Figure[] | Promise<Figure[]> }} Bench
 * @typedef {{ name: string, median: number, low: number, high: number, ratio: number | null, megabytesPerSecond:
 *   number | null, target: number | null, limit: number | null, met: boolean }} RowResult
 * @typedef {{ name: string, skipped: string | null, runs: number, rows: RowResult[], figures: (Figure & { met:
 *   boolean })[] }} Result
 */

/** The value below which the given part of a sorted list lies. */
function quantile(sorted, part) {
  const at = (sorted.length - 1) * part;
  const below = sorted[Math.floor(at)];
  return below + (sorted[Math.ceil(at)] - below) * (at - Math.floor(at));
}

/** Milliseconds of one call of a row's `run`. */
async function time({ run, repeat = 1 }) {
  globalThis.gc?.();
  let kept;
  const start = performance.now();
  for (let i = 0; i < repeat; i++) {
    kept = run();
    if (kept instanceof Promise) kept = await kept;
  }
  const elapsed = performance.now() - start;
  if (kept === time) throw new Error('a benchmark returned the clock'); // keeps `kept` alive up to here
  return elapsed / repeat;
}

/**
 * Runs one benchmark.
 * @param {Bench} bench
 * @returns {Promise<Result>}
 */
export async function measure(bench) {
  const rows = typeof bench.rows === 'function' ? await bench.rows() : bench.rows;
  const runs = bench.runs ?? 15;
  if (typeof rows === 'string') return { name: bench.name, skipped: rows, runs: 0, rows: [], figures: [] };

  for (let warmup = 0; warmup < 2; warmup++) for (const row of rows) await time(row);
  const times = rows.map(() => []);
  for (let round = 0; round < runs; round++) {
    for (const [index, row] of rows.entries()) times[index].push(await time(row));
  }

  const medians = times.map((list) => quantile(list.sort((a, b) => a - b), 0.5));
  const results = rows.map((row, index) => {
    const median = medians[index];
    const ratio = index === 0 ? null : median / medians[0];
    return {
      name: row.name,
      median,
      low: quantile(times[index], 0.25),
      high: quantile(times[index], 0.75),
      ratio,
      megabytesPerSecond: row.bytes === undefined ? null : row.bytes / 1e3 / median,
      target: row.target ?? null,
      limit: row.limit ?? null,
      met: (row.target === undefined || ratio === null || ratio >= row.target)
        && (row.limit === undefined || median <= row.limit),
    };
  });
  const figures = ((await bench.figures?.()) ?? []).map((figure) => ({
    ...figure,
    met: (figure.atMost === undefined || figure.value <= figure.atMost)
      && (figure.atLeast === undefined || figure.value >= figure.atLeast),
  }));
  return { name: bench.name, skipped: null, runs, rows: results, figures };
}

const number = (value) => value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));

/** Columns of text, the first to the left and the others to the right. */
function table(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines.map((line) => `  ${line.map((cell, column) =>
    column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])).join('  ')}`.trimEnd()).join('\n');
}

/** What a benchmark gave, as text. @param {Result} result */
export function format(result) {
  if (result.skipped !== null) return `${result.name}\n  not run: ${result.skipped}`;
  const mark = (met) => met ? '' : 'MISSED';
  const lines = [['', 'median ms', 'quartiles', 'MB/s', 'Tamp is', 'target', '']];
  for (const row of result.rows) {
    lines.push([
      row.name,
      number(row.median),
      `${number(row.low)}-${number(row.high)}`,
      row.megabytesPerSecond === null ? '' : number(row.megabytesPerSecond),
      row.ratio === null ? '' : row.ratio < 1 ? `${number(1 / row.ratio)}x slower` : `${number(row.ratio)}x faster`,
      row.target !== null ? `${row.target}x` : row.limit !== null ? `${row.limit} ms` : '',
      mark(row.met),
    ]);
  }
  const figures = result.figures.map((figure) => [
    figure.name,
    `${number(figure.value)} ${figure.unit}`,
    figure.atMost !== undefined ? `at most ${number(figure.atMost)}`
      : figure.atLeast !== undefined ? `at least ${number(figure.atLeast)}` : '',
    mark(figure.met),
  ]);
  return [
    `${result.name} (${result.runs} runs)`,
    ...(result.rows.length > 0 ? [table(lines)] : []),
    ...(figures.length > 0 ? [table(figures)] : []),
  ].join('\n');
}
