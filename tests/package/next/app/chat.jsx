'use client';
// In the page, and rendered on the server before it gets there.
import { useEffect, useState } from 'react';
import { loadTamp, slidingWindow } from 'tamp';
import { compactionEvent, readCompaction } from 'tamp/ag-ui';
import { createSession } from 'tamp/session';
import { memoryStore } from 'tamp/store';
import 'tamp/elements/define';

async function use(messages) {
  const tamp = await loadTamp();
  const session = await createSession({ chatId: 'next', tamp, store: memoryStore(), compaction: { shouldCompact: () => false, summarize: () => '' } });
  await session.send(messages[0]);
  const kept = session.modelMessages.length;
  await session.close();
  const compaction = tamp.compact(messages, slidingWindow({ maxMessages: 3, keepMessages: 2 }));
  return `${compaction.messages.map(({ id }) => id).join()} ${kept}`;
}

export function Chat({ messages }) {
  const [text, setText] = useState('');
  useEffect(() => {
    use(messages).then(setText, (error) => setText(String(error.stack)));
  }, [messages]);
  const { removed } = readCompaction(compactionEvent({ removed: 1, before: 4, after: 3 }));
  return <><p id="page">{text}</p><p id="both">{removed}</p><compaction-badge></compaction-badge></>;
}
