// A chat with CopilotKit v2 that shows compactions: as CopilotKit's own component would, through the schema and a badge.
import { useLayoutEffect, useRef } from 'react';
import { createRoot } from 'react-dom/client';
import { CopilotKitProvider, useAgent, useRenderActivityMessage } from '@copilotkit/react-core/v2';
import { HttpAgent } from '@ag-ui/client';
import { slidingWindow } from 'tamp';
import { CompactionObserver, compactionContentSchema, compactionMiddleware, readCompaction } from 'tamp/ag-ui';
import 'tamp/elements/define';

const { url, messages } = window.settings;
window.rendered = [];

function Compaction({ content, message }) {
  const badge = useRef(null);
  useLayoutEffect(() => badge.current.add({ ...readCompaction(message), at: 0, origin: 'client' }), [message]);
  window.rendered.push(content);
  return <compaction-badge ref={badge}>{content.removed} messages</compaction-badge>;
}

const renderers = [{ activityType: 'compaction', content: compactionContentSchema, render: Compaction }];

function Chat() {
  const { agent } = useAgent({ agentId: 'default' });
  const { renderActivityMessage } = useRenderActivityMessage();
  return (
    <ol>
      {agent.messages.map((message) => (
        <li key={message.id}>{message.role === 'activity' ? renderActivityMessage(message) : String(message.content)}</li>
      ))}
    </ol>
  );
}

const agent = new HttpAgent({ url, threadId: 'copilotkit', initialMessages: messages });
agent.use(compactionMiddleware({ before: new CompactionObserver(slidingWindow({ maxMessages: 6, keepMessages: 4, keepFirstUser: false })) }));
window.run = () => agent.runAgent().then(() => agent.messages.length);

createRoot(document.querySelector('main')).render(
  <CopilotKitProvider agents__unsafe_dev_only={{ default: agent }} renderActivityMessages={renderers} enableInspector={false}>
    <Chat />
  </CopilotKitProvider>,
);
