/** Sessions and their store, with idb inside. Bundled into vendor/session.js by demo/server/build.js. */
export { createSession } from '../../dist/session.js';
export { indexedDBStore } from '../../dist/store.js';
