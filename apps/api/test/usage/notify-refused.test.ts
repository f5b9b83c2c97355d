import { notifications, settings, users } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { getUsageMonth } from '../../src/product/usage/month.ts';
import { testEngine } from '../support/engine.ts';
import { insertTask } from '../support/task-rows.ts';

const engine = await testEngine(t);
const { ctx, clock, alice, runDue } = engine;

const insert = (minute: number, given: Parameters<typeof insertTask>[2] = {}) => {
  const at = new Date(Date.UTC(2026, 10, 20, 10, minute));
  const schedule = { recurrencePattern: '* * * * *', scheduledFor: at, nextExecutionAt: at };
  return insertTask(ctx, alice().id, { ...schedule, ...given });
};
const notices = () =>
  ctx.db
    .select({ kind: notifications.kind, title: notifications.title, message: notifications.message })
    .from(notifications)
    .where(eq(notifications.userId, alice().id))
    .orderBy(asc(notifications.id));
const change = (values: Partial<typeof users.$inferInsert>) =>
  ctx.db.update(users).set(values).where(eq(users.id, alice().id));

t.test('A used up quota is notified once, with what falls out and until when in the zone of the person', async (t) => {
  await change({ timezone: 'Europe/Berlin' });
  await ctx.db.update(settings).set({ maxExecutionsPerDay: 2 });
  for (const minute of [1, 1, 2]) await insert(minute);
  for (const at of ['10:01', '10:02', '10:03']) {
    clock.set(`2026-11-20T${at}:00.000Z`);
    await runDue(t);
  }
  const found = (await notices()).filter(({ kind }) => kind !== 'task.failed');
  t.same(found, [
    {
      kind: 'quota.used_up',
      title: "Today's runs are used",
      message: `All 2 runs are used, so 2,511 planned runs of 3 tasks are skipped. Runs resume on 21 November 2026 at 01:00.`,
    },
  ]);
});

t.test('Several processes that refuse runs at once notify once', async (t) => {
  await ctx.db.update(settings).set({ maxExecutionsPerDay: 1 });
  for (let task = 0; task < 20; task += 1) await insert(1);
  clock.set('2026-11-20T10:01:00.000Z');
  const processes = [1, 2, 3].map(() => engine.newProcess(t).ctx);
  await Promise.all(processes.map((process) => enqueueDue(process)));
  t.equal((await notices()).filter(({ kind }) => kind === 'quota.used_up').length, 1);
});

t.test('The end of a trial is notified as such, once for each end', async (t) => {
  await insert(1);
  await change({ trialEndsAt: new Date('2026-11-20T10:00:30Z') });
  clock.set('2026-11-20T10:01:00.000Z');
  await runDue(t);
  clock.set('2026-11-20T10:02:00.000Z');
  await runDue(t);
  t.match(await notices(), [
    { kind: 'trial.ended', title: 'The trial has ended', message: /1,439 planned runs of 1 task / },
  ]);
  const { trialEndsAt, forecast } = await getUsageMonth(ctx, alice());
  t.same(trialEndsAt, new Date('2026-11-20T10:00:30Z'));
  t.match(forecast, { shortages: [{ resource: 'trial', isNow: true, tasks: 1 }] });
  await change({ trialEndsAt: new Date('2026-11-20T10:02:30Z') });
  clock.set('2026-11-20T10:03:00.000Z');
  await runDue(t);
  t.same(
    (await notices()).map(({ kind }) => kind),
    ['trial.ended', 'trial.ended'],
  );
});

t.test('The forecast of a month follows from the plan, not from the days so far', async (t) => {
  clock.set('2026-11-20T00:00:00.000Z');
  await change({ plan: 'pro' });
  const at = new Date('2026-11-20T00:00:00Z');
  await insert(0, { recurrencePattern: '0 * * * *', scheduledFor: at, nextExecutionAt: at });
  t.match((await getUsageMonth(ctx, alice())).forecast, { executions: 11 * 24, shortages: [] });
  for (let task = 0; task < 4; task += 1) await insert(0, { scheduledFor: at, nextExecutionAt: at });
  const { forecast } = await getUsageMonth(ctx, alice());
  t.match(forecast, {
    executions: 11 * 500,
    shortages: [
      { resource: 'executions', period: 'day', limit: 500, isNow: false, runs: 4 * 1440 + 24 - 500, tasks: 5 },
    ],
  });
});
