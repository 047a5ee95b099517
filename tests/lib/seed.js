/**
 * Where random cases start from. A run of `make test` is the same each time, so that it says something about the change it
 * is made for; the long form, `CASES=1000000`, starts elsewhere each time. `SEED=` repeats a run.
 */
import fc from 'fast-check';

const usual = process.env.CASES === undefined ? 20_261_201 : Date.now() % 2 ** 31;

export const SEED = Number(process.env.SEED ?? usual);

fc.configureGlobal({ seed: SEED });
