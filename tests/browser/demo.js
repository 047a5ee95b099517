// The demo with its server, for the tests that use it in a browser and for the pictures of it.
import { fileURLToPath } from 'node:url';

import { agentFromEnvironment } from '../../demo/server/agent.js';
import { createDemoServer } from '../../demo/server.js';
import { loadTamp } from '../../dist/index.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Starts it with its scripted agent, on a port of the system's choice.
 * @returns {Promise<{ address: string, close(): Promise<void> }>} `address` with a slash at its end
 */
export async function startDemo() {
  const { handler } = await agentFromEnvironment({}, await loadTamp());
  const server = createDemoServer({ root, agent: handler });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    address: `http://127.0.0.1:${port}/`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve(undefined)));
    },
  };
}

/** What is there when the comparison has judged every way; runs in the page. */
export const compared = () => document.querySelectorAll('#compare-rows tr').length > 0
  && [...document.querySelectorAll('#compare-rows tr td:nth-child(6)')].every((cell) => !['', '…'].includes(cell.textContent ?? ''));
