// "tamp/store": where sessions are kept.

export { indexedDBStore } from './store/indexeddb.js';
export { memoryStore } from './store/memory.js';
