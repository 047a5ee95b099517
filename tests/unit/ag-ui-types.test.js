// The declarations of tamp/ag-ui fit both clients in strict mode, and name neither.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));

const program = (/** @type {string} */ client) => `
import { AbstractAgent, HttpAgent, type AgentSubscriber, type RunAgentInput } from '${client}';
import { loadTamp, slidingWindow } from 'tamp';
import {
  CompactionObserver, compactionContentSchema, compactionMiddleware, compactionSubscriber, createMessageFilter, onCompaction,
  readCompaction, restoreCompactions, useCompaction, type CompactionNotice, type MiddlewareOptions,
} from 'tamp/ag-ui';

const agent: AbstractAgent = new HttpAgent({ url: 'http://127.0.0.1/' });
const options: MiddlewareOptions = {
  before: new CompactionObserver(slidingWindow({ maxMessages: 80, keepMessages: 40 })),
  after: [slidingWindow({ keepMessages: 40 })],
  archive: async (removed, { threadId, runId }) => { removed.length; threadId.length; runId.length; },
  summarize: async ({ text, signal }) => (signal.aborted ? '' : text),
  tamp: loadTamp(),
};
agent.use(compactionMiddleware(options)).use(compactionMiddleware({}), (input: RunAgentInput, next) => next.run(input));
const subscriber: AgentSubscriber = compactionSubscriber((notice: CompactionNotice) => { notice.removed.toFixed(); });
const { unsubscribe } = agent.subscribe(subscriber);
unsubscribe();
const stop: () => void = onCompaction(agent, ({ messageId, at }) => { messageId.length + at; }, { activityTypes: ['compaction'] });
stop();
useCompaction(agent, options)();
restoreCompactions(agent.messages).map(({ origin }) => origin satisfies 'client' | 'server');
const read = readCompaction(agent.messages[0]);
if (read !== null) read.after.toFixed();
const outcome = compactionContentSchema['~standard'].validate({});
if ('issues' in outcome) outcome.issues.map(({ message }) => message);
const kept: typeof agent.messages = createMessageFilter(await loadTamp(), [])(agent.messages);
kept.length;
// @ts-expect-error a policy is checked where it is written
compactionMiddleware({ before: { strategy: 'sliding-window', keepMesages: 3 } });
// @ts-expect-error so is a mode
useCompaction(agent, { afterMode: 'delete' });
`;

for (const client of ['@ag-ui/client', 'ag-ui-client-0059']) {
  test(`an agent of ${client} takes the middleware and the subscriber as they are declared`, () => {
    const file = join(root, 'tests/unit', 'ag-ui-types-check.ts');
    /** @type {import('typescript').CompilerOptions} */
    const options = {
      strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [],
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts', 'lib.esnext.disposable.d.ts'],
    };
    const host = ts.createCompilerHost(options);
    const { getSourceFile, fileExists, readFile } = host;
    host.getSourceFile = (name, ...rest) => (name === file
      ? ts.createSourceFile(name, program(client), ts.ScriptTarget.ES2022)
      : getSourceFile.call(host, name, ...rest));
    host.fileExists = (name) => name === file || fileExists(name);
    host.readFile = (name) => (name === file ? program(client) : readFile(name));
    const problems = ts.getPreEmitDiagnostics(ts.createProgram([file], options, host))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
    assert.deepEqual(problems, []);
  });
}

test('what ships for AG-UI imports neither a client nor rxjs', () => {
  const folder = join(root, 'dist/ag-ui');
  const files = [join(root, 'dist/ag-ui.js'), ...readdirSync(folder).map((name) => join(folder, name))];
  for (const file of files) {
    assert.doesNotMatch(readFileSync(file, 'utf8'), /(from|import\()\s*['"](?!\.)/, file);
  }
});
