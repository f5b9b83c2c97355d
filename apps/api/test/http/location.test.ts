import { executions } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { CHANNEL } from '../support/channels.ts';
import { testContext } from '../support/context.ts';
import { type Person, signUpAda, signUpAlice } from '../support/people.ts';
import { insertProposal } from '../support/proposals.ts';
import { postTask, TASK } from '../support/tasks.ts';
import { postWebhook, sendInbound, WEBHOOK } from '../support/webhooks.ts';

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);
const ada = await signUpAda(app);
const task = await postTask(app, alice);

const send = (url: string, { headers }: Person, payload: object = {}) =>
  app.inject({ method: 'POST', url, headers, payload });

const failExecution = (id: number) =>
  ctx.db
    .update(executions)
    .set({ status: 'failed', completedAt: ctx.now(), error: 'It failed.', errorCode: 'PROVIDER_ERROR' })
    .where(eq(executions.id, id));

t.test('The Location of what was created answers with it', async (t) => {
  const executed = await send(`/api/tasks/${task}/execute`, alice);
  const { executionId } = executed.json();
  await failExecution(executionId);
  const webhook = await postWebhook(app, alice);
  const inbound = await sendInbound(app, webhook, { taskId: task });
  const answers = [
    [executed, alice],
    [await send(`/api/executions/${executionId}/retry`, alice), alice],
    [await send('/api/agent/create-task', alice, TASK), alice],
    [await send('/api/agent/confirm-task', alice, { proposalId: await insertProposal(ctx, alice) }), alice],
    [await send(`/api/tasks/${task}/duplicate`, alice), alice],
    [await send('/api/webhooks', alice, { ...WEBHOOK, url: 'https://hooks.example.com/second' }), alice],
    [await send('/api/channels', alice, CHANNEL), alice],
    [inbound, alice],
    [await send('/api/admin/coupons', ada), ada],
  ] as const;
  for (const [answer, { headers }] of answers) {
    t.equal(answer.statusCode, 201, answer.body);
    const url = answer.headers.location ?? '';
    const found = await app.inject({ url, headers });
    t.equal(found.statusCode, 200, url);
    const ids = Object.values(answer.json()).map((value) => (value as { id?: unknown } | null)?.id ?? value);
    t.ok(ids.map(String).includes(url.split('/').at(-1) ?? ''), `${url} has an id of ${answer.body}`);
  }
});

t.test('A retry that exists already has no Location', async (t) => {
  const { executionId } = (await send(`/api/tasks/${task}/execute`, alice)).json();
  await failExecution(executionId);
  const created = await send(`/api/executions/${executionId}/retry`, alice);
  const again = await send(`/api/executions/${executionId}/retry`, alice);
  t.same([created.statusCode, again.statusCode], [201, 200]);
  t.equal(again.headers.location, undefined);
});

t.test('The document names the header for exactly the operations that send it', async (t) => {
  const { paths } = (await app.inject('/api/docs/json')).json();
  type Documented = Record<string, { responses: Record<string, { headers?: object }> }>;
  const located = Object.entries(paths as Record<string, Documented>).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ responses }) => ('Location' in (responses[201]?.headers ?? {}) ? [path] : [])),
  );
  t.same(located.toSorted(), [
    '/api/admin/coupons',
    '/api/agent/confirm-task',
    '/api/agent/create-task',
    '/api/channels',
    '/api/executions/{id}/retry',
    '/api/tasks/{id}/duplicate',
    '/api/tasks/{id}/execute',
    '/api/webhooks',
    '/api/webhooks/{userId}/{secret}',
  ]);
});
