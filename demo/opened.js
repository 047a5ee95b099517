/** Where the sample is; relative to the page, as everything is. */
export const SAMPLE = new URL('./sample.json', import.meta.url);

/** The transcript the page has open, shared by its panels. Fires "open" when there is another. */
class Opened extends EventTarget {
  /** @type {{name: string, title: string, bytes: Uint8Array, container: string, key: string | null, format: string} | null} */
  file = null;
  /** @type {Awaited<ReturnType<import('./story.js').readStory>> | null} */
  story = null;

  set(file, story) {
    this.file = file;
    this.story = story;
    this.dispatchEvent(new Event('open'));
  }
}

export const opened = new Opened();
