/** The AG-UI client and Tamp's middleware for it, sharing one rxjs. Bundled into vendor/ag-ui.js by demo/server/build.js. */
export { HttpAgent } from '@ag-ui/client';
export { CompactionObserver, compactionMiddleware, onCompaction } from '../../dist/ag-ui.js';
