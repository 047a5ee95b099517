// "tamp/elements": <compaction-badge> and <context-meter>. Importing registers nothing and is safe on a server;
// "tamp/elements/define" registers both.
import { CompactionBadge } from './elements/badge.js';
import { ContextMeter } from './elements/meter.js';

export { CompactionBadge, ContextMeter };

/**
 * Register the elements under their names, where nothing has these names yet. Does nothing on a server.
 * @param {CustomElementRegistry} [registry] default: the page's
 */
export function defineTampElements(registry = globalThis.customElements) {
  for (const [name, element] of /** @type {const} */ ([['compaction-badge', CompactionBadge], ['context-meter', ContextMeter]])) {
    if (registry && !registry.get(name)) registry.define(name, element);
  }
}
