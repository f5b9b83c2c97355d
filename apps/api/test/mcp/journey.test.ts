import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t, { type Test } from 'tap';
import { createDeliverer } from '../../src/product/deliveries/queue/deliverer.ts';
import { startTarget } from '../deliveries/messages/support/target.ts';
import { postChannel } from '../support/channels.ts';
import { START, testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import { startAiServer } from '../support/servers/ai-server.ts';
import { runDue } from '../support/tasks.ts';

const ai = await startAiServer();
t.teardown(() => ai.close());
const env = { AI_BASE_URL: ai.url, AI_API_KEY: 'key', AI_WEB_TOOLS: 'openrouter', DEFAULT_AI_MODEL: 'some/model' };
const { app, ctx, clock } = await testContext(t, { env });
const url = new URL('/mcp', await app.listen({ port: 0 }));

const NAME = 'Two shops';
const SHOPS = ['https://one.example.com/kettle', 'https://two.example.com/kettle'];
const SCOPES = ['tasks:read', 'tasks:write', 'executions:read', 'webhooks:read', 'usage:read'];
const ABOUT = { name: 'journey', version: '1.0.0' };

type Headers = Record<string, string>;
interface Result {
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}
interface Assistant {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const ERAS: Record<string, (headers: Headers) => Promise<Assistant>> = {
  'protocol of 2026': async (headers) => {
    const client = new Client(ABOUT, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    return client;
  },
  'protocol of 2025': async (headers) => {
    const client = new EarlierClient(ABOUT);
    await client.connect(new EarlierTransport(url, { requestInit: { headers } }) as never);
    return client;
  },
};

/** Answers as OpenRouter does after its model has read both pages. */
function answerPrices(first: number, second: number) {
  const output = { first, second, differ: first !== second };
  const annotations = SHOPS.map((page, at) => ({
    type: 'url_citation',
    url_citation: { url: page, title: `Kettle <${at + 1}>`, content: '', start_index: 0, end_index: 1 },
  }));
  const message = { role: 'assistant', content: JSON.stringify(output), annotations };
  const server_tool_use_details = { tool_calls_requested: 2, tool_calls_executed: 2 };
  const usage = { prompt_tokens: 3000, completion_tokens: 20, total_tokens: 3020, cost: 0.01, server_tool_use_details };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  ai.answer(() => ({ body: { id: 'gen-1', object: 'chat.completion', model: 'some/model', choices, usage } }));
  return output;
}

async function runAt(instant: string) {
  clock.set(instant);
  await runDue(ctx);
  await createDeliverer(ctx).drain();
}

async function connectAssistant(t: Test, era: string, person: { headers: Headers }) {
  const payload = { name: `Assistant ${era}`, scopes: SCOPES };
  const created = await app.inject({ method: 'POST', url: '/api/keys', headers: person.headers, payload });
  const assistant = await ERAS[era]?.({ authorization: `Bearer ${created.json().secret}` });
  if (!assistant) throw new Error(era);
  t.teardown(() => assistant.close());
  /** Returns what programs read and what the model reads. */
  return async (name: string, given: Record<string, unknown> = {}) => {
    const { content, structuredContent, isError } = (await assistant.callTool({ name, arguments: given })) as Result;
    const text = content.map((part) => part.text).join('\n');
    if (isError) throw new Error(text);
    // biome-ignore lint/suspicious/noExplicitAny: the answers of several tools, compared as a whole
    return { data: structuredContent as any, text };
  };
}

const SCHEDULE = { scheduledFor: '2026-11-20T17:00', recurrence: 'weekly', timezone: 'Europe/Lisbon' };

for (const era of Object.keys(ERAS)) {
  t.test(`"Every Friday at five, compare two prices and tell me in Slack when they differ", ${era}`, async (t) => {
    clock.set(START);
    const slack = await startTarget(t, () => ({ status: 200, body: 'ok' }));
    const person = await signUp(app, { timezone: 'Europe/Lisbon' });
    await postChannel(app, person, {
      kind: 'slack',
      name: 'Shopping',
      url: `${slack.url}/services/hook`,
      topic: undefined,
    });
    const call = await connectAssistant(t, era, person);

    const { channels } = (await call('list_channels')).data;
    t.match(channels, [{ kind: 'slack', name: 'Shopping', state: 'works' }]);

    const planned = await call('preview_schedule', { ...SCHEDULE, count: 2 });
    t.match(planned.data.nextRuns, [
      { at: '2026-11-20T17:00:00.000Z', local: /^Friday 20 November 2026, 17:00/ },
      { at: '2026-11-27T17:00:00.000Z', local: /^Friday 27 November 2026, 17:00/ },
    ]);
    t.match(planned.text, 'Friday 27 November 2026, 17:00');

    const price = { type: 'number' };
    const created = await call('create_task', {
      ...SCHEDULE,
      name: NAME,
      prompt: `Read the price of the kettle at ${SHOPS.join(' and at ')}, and say whether the prices differ.`,
      tools: ['web_fetch'],
      maxToolUses: 2,
      outputSchema: {
        type: 'object',
        properties: { first: price, second: price, differ: { type: 'boolean' } },
        required: ['first', 'second', 'differ'],
      },
      notify: 'change',
      watch: ['differ'],
      channels: [channels[0].id],
      requestId: 'the first call',
    });
    const { taskId } = created.data;
    t.match(created.data.nextRuns, [{ at: '2026-11-20T17:00:00.000Z' }, { at: '2026-11-27T17:00:00.000Z' }]);
    t.match((await call('list_tasks')).text, NAME);

    ai.requests.length = 0;
    answerPrices(49, 49);
    await runAt('2026-11-20T17:00:00Z');
    t.match(ai.requests[0]?.body, { tools: [{ type: 'openrouter:web_fetch' }], max_tool_calls: 2 });
    t.same(slack.received, [], 'equal prices are no news');

    const output = answerPrices(49, 39);
    await runAt('2026-11-27T17:00:00Z');
    t.equal(slack.received.length, 1);
    const message = JSON.parse(slack.received[0]?.body ?? '');
    const shown = JSON.stringify(message.blocks);
    t.match(message.text, NAME);
    t.match(shown, 'differ: `false` → `true`');
    t.match(shown, `<${SHOPS[0]}|Kettle &lt;1&gt; (one.example.com)>`);
    t.match(shown, `<${SHOPS[1]}|Kettle &lt;2&gt; (two.example.com)>`);

    const { runs } = (await call('list_runs', { taskId })).data;
    t.match(runs, [
      { status: 'completed', changed: true, created: { local: /^Friday 27 November 2026, 17:00/ } },
      { status: 'completed', created: { local: /^Friday 20 November 2026, 17:00/ } },
    ]);
    t.equal(runs.length, 2);
    const run = await call('get_run', { runId: runs[0].id });
    t.match(run.data.run, {
      taskId,
      result: JSON.stringify(output),
      changes: [{ path: 'differ', from: false, to: true }],
      citations: SHOPS.map((page) => ({ url: page })),
      toolUses: 2,
      costUsd: 0.01,
    });
    t.match(run.text, SHOPS[1]);
    t.match(shown, run.data.page, 'the message leads to the run');

    t.match((await call('get_usage')).data, { runs: { used: 2 }, today: { runs: { used: 1 } } });
    await call('delete_task', { taskId });
    t.same((await call('list_tasks')).data.tasks, []);

    const { headers } = await signUp(app, { role: 'ADMIN' });
    const log = (await app.inject({ url: `/api/admin/audit?actorId=${person.id}&limit=2`, headers })).json().entries;
    const details = { keyName: `Assistant ${era}`, taskId };
    t.match(log, [
      { kind: 'task.deleted_by_assistant', details },
      { kind: 'task.created_by_assistant', details },
    ]);
  });
}
