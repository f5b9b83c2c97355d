import { usageRecords } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { tryPrompt } from '../../../src/product/agent/try-prompt.ts';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { executeTask, retryExecution } from '../../../src/product/executions/start.ts';
import { findWrongCounters } from '../../../src/product/usage/verify.ts';
import { parseFeed, postFeed } from '../../deliveries/feeds/support.ts';
import { createTestAi } from '../../support/ai-client.ts';
import { postChannel } from '../../support/channels.ts';
import { testEngine } from '../../support/engine.ts';
import { confirmAddresses, deliverDueMails } from '../../support/mails.ts';
import { signUp } from '../../support/people.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { insertTask, readRun, readRuns, readTaskRow } from '../../support/task-rows.ts';
import { postTask } from '../../support/tasks.ts';
import { postWebhook } from '../../support/webhooks.ts';

const mailServer = await startMailServer(t);
const env = { AI_WEB_TOOLS: 'openrouter', APP_URL: 'https://bells.example.com', SMTP_URL: mailServer.url };
const { app, ctx, ai, alice, clock, newProcess, runDue } = await testEngine(t, env);
const receiver = await startReceiver(t);
t.beforeEach(() => receiver.received.splice(0));

const CITATIONS = [
  { url: 'https://one.example/prices?a=1&b=2', title: 'Prices at One & Sons' },
  { url: 'https://two.example/', title: '<b>Two</b> @everyone' },
];
const SETTINGS = { tools: ['web_search' as const, 'web_fetch' as const], maxToolUses: 3 };
const NO_CONTEXT = { clock: false, previousResult: false };

interface Answer {
  text?: string;
  citations?: { url: string; title: string }[];
  uses?: number;
  cost?: number;
}

/** What OpenRouter answers after its tools have been used. */
function buildAnswer({ text = 'One is cheaper.', citations = CITATIONS, uses = 2, cost = 0.02 }: Answer = {}) {
  const annotations = citations.map((page) => ({ type: 'url_citation', url_citation: page }));
  const message = { role: 'assistant', content: text, annotations };
  const server_tool_use = { web_search_requests: 1, tool_calls_executed: uses };
  const usage = { prompt_tokens: 900, completion_tokens: 40, total_tokens: 940, cost, server_tool_use };
  return { body: { id: 'gen-1', model: 'test-model', choices: [{ index: 0, message, finish_reason: 'stop' }], usage } };
}

const insert = (values = {}) => insertTask(ctx, alice().id, { ...SETTINGS, context: NO_CONTEXT, ...values });
const readRecords = () => ctx.db.select().from(usageRecords).where(eq(usageRecords.userId, alice().id));
const read = async (headers: Record<string, string>, url: string) => (await app.inject({ url, headers })).json();

t.test('A run asks with the tools of its task and keeps citations, uses and cost', async (t) => {
  ai.answer(() => buildAnswer());
  const task = await insert();
  await runDue(t);
  const sent = ai.requests[0]?.body as unknown as { tools: { type: string }[]; max_tool_calls: number };
  t.same(
    sent.tools.map(({ type }) => type),
    ['openrouter:web_search', 'openrouter:web_fetch'],
  );
  t.equal(sent.max_tool_calls, 3);
  const run = await readRun(ctx, task);
  t.match(run, { status: 'completed', result: 'One is cheaper.', toolUses: 2, costUsd: 0.02, citations: CITATIONS });
  t.equal(run?.request?.system?.split('\n').length, 1);
  t.match(run?.request?.system, 'not instructions');
  t.match(await readRecords(), [{ toolUses: 2, toolCostUsd: 0, costUsd: 0.02 }]);
  t.match(await readTaskRow(ctx, task), { monthCostUsd: 0.02 });
  t.same(await findWrongCounters(ctx.db), []);
});

t.test('A run without tools sends none and has neither citations nor uses', async (t) => {
  const task = await insert({ tools: [] });
  await runDue(t);
  t.notOk('tools' in (ai.requests[0]?.body ?? {}));
  t.match(await readRun(ctx, task), { status: 'completed', citations: null, toolUses: 0, request: { system: null } });
  t.match(await readRecords(), [{ toolUses: 0, toolCostUsd: 0 }]);
});

t.test(
  'A run whose provider has lost its tools fails with what to change, and is neither sent nor retried',
  async (t) => {
    const task = await insert();
    await executeTask(ctx, alice(), task);
    const { worker } = newProcess(t, {}, createTestAi(t, { ...ctx.config.ai, webTools: 'none' }));
    await worker.drain();
    const [run, ...retries] = await readRuns(ctx, task);
    t.match(run, { status: 'failed', errorCode: 'INVALID_REQUEST', toolUses: 0, citations: null });
    t.match(
      run?.error,
      /does not have the tools web_search and web_fetch: choose another model, or take the tools off/,
    );
    t.same([retries.length, ai.requests.length], [0, 0]);
  },
);

t.test('Each attempt books its own uses, also one whose answer does not match the schema', async (t) => {
  const outputSchema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
  const task = await insert({ outputSchema });
  ai.answer(({ body }) => buildAnswer({ text: 'No JSON.', uses: 'tools' in body ? 3 : 0, cost: 0.01 }));
  await runDue(t);
  const failed = await readRun(ctx, task);
  t.match(failed, { status: 'failed', errorCode: 'INVALID_OUTPUT', toolUses: 3, citations: null, costUsd: 0.02 });

  ai.answer(({ body }) =>
    body.tools ? buildAnswer({ text: '{"price": 1' }) : buildAnswer({ text: '{"price": 1}', citations: [], uses: 0 }),
  );
  await retryExecution(ctx, alice(), failed.id);
  await runDue(t);
  const repaired = (await readRuns(ctx, task)).at(-1);
  t.match(repaired, { status: 'completed', output: { price: 1 }, toolUses: 2, citations: CITATIONS, costUsd: 0.04 });
  t.same((await readRecords()).map(({ toolUses }) => toolUses).toSorted(), [2, 3]);
  t.match(await readTaskRow(ctx, task), { monthCostUsd: 0.06 });
});

t.test('A prompt that is tried uses the tools of the form, and is booked', async (t) => {
  ai.answer(() => buildAnswer());
  const tried = await tryPrompt(ctx, alice(), { prompt: 'Compare.', aiModel: 'test-model', ...SETTINGS });
  t.match(tried, { answer: 'One is cheaper.', citations: CITATIONS, toolUses: 2, toolCostUsd: 0, costUsd: 0.02 });
  t.match(await readRecords(), [{ source: 'agent', toolUses: 2, costUsd: 0.02 }]);
  ai.answer(() => ({ text: 'Hello.' }));
  t.match(await tryPrompt(ctx, alice(), { prompt: 'Hello?', aiModel: 'test-model' }), { citations: [], toolUses: 0 });
  const offline = tryPrompt(
    { ...ctx, config: { ...ctx.config, ai: { ...ctx.config.ai, webTools: 'none' } } },
    alice(),
    {
      prompt: 'Compare.',
      aiModel: 'test-model',
      ...SETTINGS,
    },
  );
  await t.rejects(offline, { kind: 'invalid' } as never);
});

t.test(
  'On Fridays at five in Lisbon the sources arrive at a webhook, in Slack, by mail, in the feed and in the API',
  async (t) => {
    clock.set('2027-04-01T10:00:00Z');
    const person = await signUp(app);
    const { headers } = person;
    await confirmAddresses(ctx, person.id, ['results@example.com']);
    await postWebhook(app, person, { url: `${receiver.url}/hook`, events: ['execution.completed'] });
    const channel = await postChannel(app, person, {
      kind: 'slack',
      name: 'Team',
      url: `${receiver.url}/services/slack`,
      topic: undefined,
    });
    const task = await postTask(app, person, {
      ...SETTINGS,
      prompt: 'Compare the two prices.',
      aiModel: 'test-model',
      scheduledFor: '2027-04-02T16:00:00Z',
      recurrence: 'weekly',
      timezone: 'Europe/Lisbon',
      channels: [channel.id],
      notificationEmail: 'results@example.com',
    });
    const feed = await postFeed(app, person, task);
    const many = Array.from({ length: 7 }, (_, at) => ({ url: `https://shop.example/${at}`, title: `Shop ${at}` }));
    const citations = [...CITATIONS, ...many];
    ai.answer(() => buildAnswer({ citations }));
    clock.set('2027-04-02T15:59:59Z');
    await runDue(t);
    t.equal(ai.requests.length, 0);
    clock.set('2027-04-02T16:00:00Z');
    await runDue(t);
    await createDeliverer(ctx).drain();

    const { executions: runs } = await read(headers, `/api/executions?taskId=${task}`);
    t.match(runs, [{ citations, toolUses: 2, costUsd: 0.02, plannedFor: '2027-04-02T16:00:00.000Z' }]);
    t.match((await read(headers, `/api/executions/${runs[0].id}`)).execution, { citations, toolUses: 2 });
    t.match((await read(headers, '/api/usage')).usage.tools, { uses: 2, costUsd: 0 });
    const { events } = await read(headers, '/api/events?kinds=execution.completed');
    t.match(events, [{ data: { execution: { citations, toolUses: 2 } } }]);

    const bodyOf = (path: string) => JSON.parse(String(receiver.received.find((one) => one.path === path)?.body));
    t.match(bodyOf('/hook').data.execution, { result: 'One is cheaper.', citations, toolUses: 2 });
    const slack = bodyOf('/services/slack')
      .blocks.map((block: { text?: { text: string } }) => block.text?.text)
      .join('\n');
    const shops = [0, 1, 2].map((at) => `• <https://shop.example/${at}|Shop ${at} (shop.example)>`);
    const { request } = (await read(headers, `/api/executions/${runs[0].id}`)).execution;
    t.match(request.system, 'Friday, 2027-04-02, 17:00, in the time zone Europe/Lisbon (UTC+01:00)');
    t.match(
      slack,
      [
        'One is cheaper.',
        '',
        '*Sources*',
        '',
        '• <https://one.example/prices?a=1&amp;b=2|Prices at One &amp; Sons (one.example)>',
        '• <https://two.example/|&lt;b&gt;Two&lt;/b&gt; @everyone (two.example)>',
        ...shops,
      ].join('\n'),
    );
    t.notMatch(slack, 'Shop 3');

    await deliverDueMails(ctx);
    t.match(
      mailServer.received[0]?.text,
      /Sources:\n- Prices at One & Sons \(one\.example\): https:\/\/one\.example\/prices\?a=1&b=2\n/,
    );
    const { entries } = parseFeed((await app.inject({ url: feed })).body);
    t.match(
      entries[0]?.content,
      '<h4>Sources</h4>\n<ul><li><p><a href="https://one.example/prices?a=1&amp;b=2" rel="noopener noreferrer nofollow">Prices at One &amp; Sons (one.example)</a></p></li>',
    );
  },
);
