import { type Db, mails, notifications, settings, usageAlertFirings, usageCounters, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { decryptBody } from '../../src/lib/mail/queue.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { executeTask } from '../../src/product/executions/start.ts';
import { checkAlerts } from '../../src/product/usage/alerts.ts';
import { recordUsage, type UsageDelta } from '../../src/product/usage/record.ts';
import { deleteUsageAlert, setUsageAlert } from '../../src/product/usage/write.ts';
import { inTransaction } from '../../src/transaction.ts';
import { captureEvents } from '../support/deliveries.ts';
import { testEngine } from '../support/engine.ts';
import { signUpBob } from '../support/people.ts';
import { insertTask, insertUsage } from '../support/task-rows.ts';
import { setStorageUsed } from '../support/uploads.ts';

const { ctx, app, ai, clock, alice, newWorker } = await testEngine(t);

const set = (threshold: number, { notifyEmail = false, notifyWebhook = false } = {}) =>
  setUsageAlert(ctx, alice(), { threshold, notifyEmail, notifyWebhook });
const titles = async () =>
  (
    await ctx.db
      .select({ title: notifications.title })
      .from(notifications)
      .where(eq(notifications.userId, alice().id))
      .orderBy(notifications.id)
  ).map(({ title }) => title);
const store = (bytes: number) => setStorageUsed(ctx, alice(), bytes);
const checkStorage = () => inTransaction(ctx, (tx) => checkAlerts(tx, alice().id));

t.test('The execution that reaches a threshold notifies by notification, mail and event', async (t) => {
  const receivedEvents = await captureEvents(ctx, alice() as never, ['usage.alert']);
  const task = await insertTask(ctx, alice().id);
  await set(80, { notifyEmail: true, notifyWebhook: true });
  await insertUsage(ctx, alice().id, { executions: 398, day: '2026-11-02' });
  await executeTask(ctx, alice(), task);
  t.same(
    [await titles(), await receivedEvents(), await ctx.db.$count(mails)],
    [[], [], 0],
    'no notification one below the threshold',
  );

  await executeTask(ctx, alice(), task);
  t.match(await ctx.db.select().from(notifications), [
    {
      kind: 'usage.alert',
      title: '80% of your runs are used',
      message: "400 of this month's 500 runs are used (80%).",
      readAt: null,
    },
  ]);
  const [mail] = await ctx.db.select().from(mails);
  t.match(mail, { recipient: 'alice@example.com', subject: '80% of your runs are used' });
  t.match(decryptBody(ctx, mail?.id ?? '', mail?.bodyEncrypted ?? ''), /400 of this month's 500 runs/);
  t.match(await receivedEvents(), [
    {
      event: 'usage.alert',
      data: {
        resource: 'executions',
        threshold: 80,
        percentage: 80,
        used: 400,
        limit: 500,
        period: '2026-11',
      },
    },
  ]);
});

t.test('An alert fires once a month, regardless of the usage after that', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await set(1);
  await insertUsage(ctx, alice().id, { executions: 4 });
  for (let i = 0; i < 5; i++) await executeTask(ctx, alice(), task);
  t.same(await titles(), ['1% of your runs are used']);
  clock.set('2026-12-01T00:00:00.000Z');
  await insertUsage(ctx, alice().id, { executions: 4 });
  for (let i = 0; i < 5; i++) await executeTask(ctx, alice(), task);
  t.equal((await titles()).length, 2);
});

t.test('The tokens of a run fire every alert that they reach when it ends', async (t) => {
  const receivedEvents = await captureEvents(ctx, alice() as never, ['usage.alert']);
  for (const threshold of [5, 10, 90]) await set(threshold, { notifyWebhook: true });
  ai.answer(() => ({ usage: { promptTokens: 8_000, completionTokens: 99_654 } }));
  await insertTask(ctx, alice().id, { maxTokens: 100_000 });
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.same((await titles()).toSorted(), ['10% of your tokens are used', '5% of your tokens are used']);
  const received = (await receivedEvents()).map(({ data }) => data).toSorted((a, b) => a.threshold - b.threshold);
  const rest = { resource: 'tokens', percentage: 10.77, used: 107_654, limit: 1_000_000, period: '2026-11' };
  t.same(received, [
    { threshold: 5, ...rest },
    { threshold: 10, ...rest },
  ]);
});

t.test('Usage beyond a limit is reported as 100 percent', async (t) => {
  const receivedEvents = await captureEvents(ctx, alice() as never, ['usage.alert']);
  await set(100, { notifyWebhook: true });
  await insertUsage(ctx, alice().id, { tokens: 999_999, day: '2026-11-02' });
  ai.answer(() => ({ usage: { promptTokens: 500, completionTokens: 500 } }));
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.match(await receivedEvents(), [{ data: { threshold: 100, percentage: 100, used: 1_000_999 } }]);
});

t.test('An alert on storage fires when storage is checked', async (t) => {
  await set(50);
  await store(50 * 1_048_576 - 1);
  await checkStorage();
  t.same(await titles(), []);
  await store(50 * 1_048_576);
  await checkStorage();
  await checkStorage();
  t.same(await titles(), ['50% of your storage are used']);
});

t.test('An alert that is set when its threshold is already reached fires at once, and once', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 250, tokens: 1, day: '2026-11-01' });
  await store(90 * 1_048_576);
  const { id } = await set(50);
  const both = ['50% of your runs are used', '50% of your storage are used'];
  t.same((await titles()).toSorted(), both);
  await set(50, { notifyEmail: true });
  t.same((await titles()).toSorted(), both);
  t.equal(await ctx.db.$count(mails), 0);
  await deleteUsageAlert(ctx, alice(), id);
  t.equal(await ctx.db.$count(usageAlertFirings), 0);
});

t.test('The alert decides on mail, not the general preference of the user', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 250, day: '2026-11-01' });
  await set(10);
  t.equal(await ctx.db.$count(mails), 0);
  await ctx.db.update(users).set({ notifyEmail: false }).where(eq(users.id, alice().id));
  await set(20, { notifyEmail: true });
  t.match(await ctx.db.select().from(mails), [{ subject: '20% of your runs are used' }]);
});

t.test('The limit is the limit of the plan in force', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await ctx.db.update(users).set({ plan: 'pro' }).where(eq(users.id, alice().id));
  await insertUsage(ctx, alice().id, { executions: 499, day: '2026-11-01' });
  await set(5);
  await executeTask(ctx, alice(), task);
  t.match(await ctx.db.select().from(notifications), [{ message: /^500 of this month's 10,000 runs/ }]);
});

for (const round of [1, 2, 3, 4, 5]) {
  t.test(`One of 100 concurrent executions that reach a threshold fires the alert (${round})`, async (t) => {
    await ctx.db.update(users).set({ plan: 'pro' }).where(eq(users.id, alice().id));
    await ctx.db.update(settings).set({ maxExecutionsPerDay: 500 });
    await set(1, { notifyEmail: true });
    const task = await insertTask(ctx, alice().id);
    await insertUsage(ctx, alice().id, { executions: 50 });
    await Promise.all(Array.from({ length: 100 }, () => executeTask(ctx, alice(), task)));
    t.equal((await titles()).length, 1);
    t.equal(await ctx.db.$count(mails), 1);
  });
}

t.test('A stranger’s usage fires no alert', async (t) => {
  const bob = await signUpBob(app);
  await set(1);
  await insertUsage(ctx, bob.id, { executions: 40, tokens: 40_000 });
  await executeTask(ctx, bob, await insertTask(ctx, bob.id));
  t.equal(await ctx.db.$count(notifications), 0);
});

t.test('A usage record that is rolled back fires no alert', async (t) => {
  await set(1);
  await insertUsage(ctx, alice().id, { executions: 4 });
  const recording = inTransaction(ctx, async (tx) => {
    await recordUsage(tx, [{ userId: alice().id, day: '2026-11-20', executions: 1 }]);
    throw new Error('undone');
  });
  await t.rejects(recording, /undone/);
  t.same(await titles(), []);
  t.equal(await ctx.db.$count(usageAlertFirings), 0);
});

t.test('Recording takes one statement for users without alerts, and if no counter increases', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 10 });
  let statements = 0;
  const db = {
    execute: (...given: Parameters<Db['execute']>) => {
      statements += 1;
      return ctx.db.execute(...given);
    },
  } as unknown as Db;
  const record = async (change: Partial<UsageDelta>) => {
    statements = 0;
    await recordUsage({ ...ctx, db }, [{ userId: alice().id, day: '2026-11-20', ...change }]);
    return statements;
  };
  t.equal(await record({ executions: 1, tokens: 5 }), 1);
  await set(90);
  t.equal(await record({ tokensReserved: 5 }), 1);
  t.equal(await record({ executions: -1, tokensReserved: -5 }), 1);
  await ctx.db.update(usageCounters).set({ tokens: 0 });
});
