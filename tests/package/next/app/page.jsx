// On the server: what Next bundles for it can load no file, so the Wasm comes with the module.
import { loadTamp, slidingWindow } from 'tamp/inline';

import { Chat } from './chat';

export const dynamic = 'force-dynamic';

const messages = ['u1', 'a1', 'u2', 'a2'].map((id) => ({ id, role: id[0] === 'u' ? 'user' : 'assistant', content: id }));

export default async function Page() {
  const tamp = await loadTamp();
  const compaction = tamp.compact(messages, slidingWindow({ maxMessages: 3, keepMessages: 2 }));
  return <main><p id="server">{compaction.messages.map(({ id }) => id).join()}</p><Chat messages={messages} /></main>;
}
