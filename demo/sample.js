/** Where the sample is; relative to the page, as everything is. */
export const SAMPLE = new URL('./sample.json', import.meta.url);
