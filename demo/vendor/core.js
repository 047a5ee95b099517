/** The core in one file. Bundled into vendor/core.js by demo/server/build.js; the other bundles import it from there. */
export * from '../../dist/index.js';
