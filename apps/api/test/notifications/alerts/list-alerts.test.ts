import { randomUUID } from 'node:crypto';
import { alerts, deliveries, deliveryAttempts, endpoints, mails, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { type NewAlert, recordAlerts } from '../../../src/product/notifications/alerts/record.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { minutesAfter, PLANNED } from '../../support/alerts.ts';
import { insertChannel } from '../../support/channel-rows.ts';
import { START, testContext } from '../../support/context.ts';
import { createKey } from '../../support/keys.ts';
import { type Person, signUpAlice, signUpBob } from '../../support/people.ts';
import { insertTask } from '../../support/task-rows.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(mails);
  await ctx.db.delete(tasks);
});

const list = async ({ headers }: Person, query: Record<string, string> = {}) =>
  (await app.inject({ url: '/api/alerts', query, headers })).json();
const titles = async (person: Person, query: Record<string, string> = {}) =>
  (await list(person, query)).alerts.map(toName);
const toName = ({ title }: { title: string }) => /"(.*)"/.exec(title)?.[1];

async function alert(person: Person, taskId: number, name: string, given: Partial<NewAlert> = {}) {
  const data = { task: { id: taskId, name }, plannedFor: PLANNED, overdueMinutes: 15 };
  const minutes = await ctx.db.$count(alerts);
  const owner = { language: 'en', timezone: null };
  const rest = { userId: person.id, owner, executionId: null, notificationEmail: null, viaWebhook: false };
  const due = { kind: 'task.overdue', at: minutesAfter(minutes), data, ...rest, ...given };
  await inTransaction(ctx, (tx) => recordAlerts(tx, [due as NewAlert]));
  return (await ctx.db.select().from(alerts)).find((row) => toName(row) === name)?.id as number;
}

t.test('Alerts are listed newest first with their task, without those of other users', async (t) => {
  const news = await insertTask(ctx, alice.id, { name: 'News' });
  const others = await insertTask(ctx, bob.id);
  const first = await alert(alice, news, 'First');
  await alert(bob, others, 'Of Bob');
  await alert(alice, news, 'Second');
  const answer = await list(alice);
  t.equal(answer.success, true);
  t.same(answer.pagination, { limit: 20, nextCursor: null });
  t.match(answer.alerts, [
    { title: 'Task "Second" is overdue' },
    {
      id: first,
      kind: 'task.overdue',
      taskId: news,
      taskName: 'News',
      at: PLANNED.toISOString(),
      executionId: null,
      title: 'Task "First" is overdue',
      createdAt: START.toISOString(),
      undelivered: false,
    },
  ]);
  t.same(await titles(bob), ['Of Bob']);
  t.same(await titles(bob, { taskId: String(news) }), []);
});

t.test('The list can be limited to a task and to a kind', async (t) => {
  const [news, weather] = [await insertTask(ctx, alice.id), await insertTask(ctx, alice.id)];
  await alert(alice, news, 'A');
  await alert(alice, weather, 'B');
  await alert(alice, weather, 'C', { kind: 'task.slow' } as Partial<NewAlert>);
  t.same(await titles(alice, { taskId: String(weather) }), ['C', 'B']);
  t.same(await titles(alice, { kind: 'task.overdue' }), ['B', 'A']);
  t.same(await titles(alice, { taskId: String(news), kind: 'task.slow' }), []);
  for (const [field, value] of [
    ['taskId', '0'],
    ['kind', 'task.started'],
    ['cursor', 'abc'],
  ] as const) {
    const answer = await app.inject({ url: '/api/alerts', query: { [field]: value }, headers: alice.headers });
    t.equal(answer.statusCode, 400);
    t.ok(field in answer.json().details);
  }
});

t.test('Pages by cursor have each alert once', async (t) => {
  const task = await insertTask(ctx, alice.id);
  for (const title of ['A', 'B', 'C']) await alert(alice, task, title);
  const first = await list(alice, { limit: '2' });
  const second = await list(alice, { limit: '2', cursor: first.pagination.nextCursor });
  const found = [...first.alerts, ...second.alerts].map(toName);
  t.same(found, ['C', 'B', 'A']);
  t.equal(second.pagination.nextCursor, null);
});

t.test('An alert has its deliveries, with the last error of one that failed', async (t) => {
  const task = await insertTask(ctx, alice.id);
  const id = await alert(alice, task, 'Late');
  const [webhookId, deliveryId] = ['3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d', 'c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70'];
  const url = 'https://hooks.example.com/';
  const times = { createdAt: START, updatedAt: START };
  const hook = { id: webhookId, userId: alice.id, url, secretEncrypted: '', secretLookup: 'x', events: [], ...times };
  await ctx.db.insert(endpoints).values(hook);
  const delivery = { id: deliveryId, webhookId, event: 'task.overdue', payload: '', requestId: '', createdAt: START };
  await ctx.db
    .insert(deliveries)
    .values({ ...delivery, alertId: id, status: 'failed', attempt: 2, endedAt: minutesAfter(2) });
  const attempt = { deliveryId, webhookId, event: 'task.overdue', url, success: false, responseTimeMs: 1 };
  await ctx.db.insert(deliveryAttempts).values([
    { ...attempt, id: webhookId, attempt: 1, error: 'refused', attemptedAt: minutesAfter(1) },
    { ...attempt, id: deliveryId, attempt: 2, error: 'timeout', attemptedAt: minutesAfter(2) },
  ]);
  const mail = { recipient: 'team@example.com', subject: 'Late', createdAt: START, userId: alice.id, alertId: id };
  await ctx.db.update(mails).set({ alertId: null });
  await ctx.db.insert(mails).values({ ...mail, id: webhookId, attempt: 1, sentAt: minutesAfter(3) });
  t.match((await list(alice)).alerts, [
    {
      undelivered: true,
      deliveries: [
        {
          kind: 'webhook',
          to: url,
          status: 'failed',
          attempts: 2,
          lastError: 'timeout',
          at: minutesAfter(2).toISOString(),
        },
        {
          kind: 'mail',
          to: 'team@example.com',
          status: 'delivered',
          attempts: 1,
          lastError: null,
          at: minutesAfter(3).toISOString(),
        },
      ],
    },
  ]);
});

t.test('A key needs the scope executions:read', async (t) => {
  const reads = await createKey(app, alice, { scopes: ['executions:read'] });
  const other = await createKey(app, alice, { scopes: ['usage:read'] });
  t.equal((await app.inject({ url: '/api/alerts', headers: reads.headers })).statusCode, 200);
  t.equal((await app.inject({ url: '/api/alerts', headers: other.headers })).statusCode, 403);
  t.equal((await app.inject('/api/alerts')).statusCode, 401);
});

t.test('Channels are listed by name, held ones as held, and those in a digest with its status', async (t) => {
  const channel = (name: string, values = {}) => insertChannel(ctx, alice.id, { name, ...values });
  const quiet = { from: '00:00', to: '23:59', timezone: 'UTC' };
  const phone = await channel('Phone');
  const night = await channel('Night', { quiet });
  const box = await channel('Box', { quiet });
  const news = await insertTask(ctx, alice.id, { channels: [phone, night, box] });
  await alert(alice, news, 'Late');
  const digest = randomUUID();
  const [held] = await ctx.db.select().from(deliveries).where(eq(deliveries.webhookId, box));
  const failed = { status: 'failed' as const, nextAttemptAt: null, attempt: 3, endedAt: START };
  await ctx.db.insert(deliveries).values({ ...held!, ...failed, id: digest, event: 'digest', alertId: null });
  const digested = { status: 'digested' as const, digestId: digest, nextAttemptAt: null, endedAt: START };
  await ctx.db.update(deliveries).set(digested).where(eq(deliveries.id, held!.id));
  const [{ undelivered, deliveries: sent }] = (await list(alice)).alerts;
  t.equal(undelivered, true);
  t.match(
    sent.filter(({ kind }: { kind: string }) => kind === 'channel'),
    [
      { to: 'Box', status: 'failed', attempts: 3 },
      { to: 'Night', status: 'held', attempts: 0 },
      { to: 'Phone', status: 'pending', attempts: 0 },
    ],
  );
});
