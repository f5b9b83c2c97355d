import { DAY_MS } from '@carillon/contract/primitives';
import { mails, occurrences, settings, tasks, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { alertOverdue } from '../../../src/product/notifications/alerts/overdue.ts';
import { tick } from '../../../src/product/system/tick.ts';
import { duplicateTask } from '../../../src/product/tasks/duplicate.ts';
import { skipNextRun } from '../../../src/product/tasks/skip-next-run.ts';
import { lockUserTasks, resumeTasks, suspendTasks } from '../../../src/product/tasks/suspend.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { createAlertedTask, minutesAfter, PLANNED, readAlertKinds, readAlerts } from '../../support/alerts.ts';
import { countStatements, countStatementsInTransactions } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTasks, readRuns, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, runDue, newWorker } = await testEngine(t);

const overdueAt = async (id: number) => (await readTaskRow(ctx, id)).overdueAt;
const OVERDUE = [['task.overdue', PLANNED.toISOString()]];
const NEXT_DAY = new Date(PLANNED.getTime() + DAY_MS);

t.test('A run that does not come is alerted after the limit, once, with the planned instant', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { timezone: 'Europe/Berlin' });
  clock.set(new Date(minutesAfter(15).getTime() - 1));
  await alertOverdue(ctx);
  t.same(await readAlerts(ctx, task), []);
  clock.set(minutesAfter(15));
  await alertOverdue(ctx);
  await alertOverdue(ctx);
  t.match(await readAlerts(ctx, task), [
    {
      userId: alice().id,
      kind: 'task.overdue',
      at: PLANNED,
      executionId: null,
      title: 'Task "Morning news" is overdue',
      message: 'The run planned for 20 November 2026 at 12:00 did not finish within 15 minutes.',
      data: { task: { id: task, name: 'Morning news' }, plannedFor: PLANNED.toISOString(), overdueMinutes: 15 },
      createdAt: minutesAfter(15),
    },
  ]);
  t.match(await readTaskRow(ctx, task), { overdueAt: null, alertingSince: minutesAfter(15) });
});

t.test('The alert is in the language and the time zone of the account', async (t) => {
  const set = (values: Partial<typeof users.$inferInsert>) =>
    ctx.db.update(users).set(values).where(eq(users.id, alice().id));
  await set({ language: 'pt-BR', timezone: 'America/Sao_Paulo' });
  t.teardown(() => set({ language: 'en', timezone: null }));
  const task = await createAlertedTask(ctx, alice(), { alerts: { overdueMinutes: 15 } });
  clock.set(minutesAfter(15));
  await alertOverdue(ctx);
  t.match(await readAlerts(ctx, task), [
    {
      title: 'A tarefa "Morning news" está atrasada',
      message: 'A execução planejada para 20 de novembro de 2026 às 08:00 não terminou em 15 minutos.',
    },
  ]);
  t.match(await ctx.db.select().from(mails), [{ subject: 'A tarefa "Morning news" está atrasada' }]);
});

t.test('A run that lasts longer than the limit is overdue while it lasts', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { alerts: { overdueMinutes: 2 } });
  clock.set(PLANNED);
  await enqueueDue(ctx);
  t.same(await overdueAt(task), minutesAfter(2));
  clock.set(minutesAfter(2));
  await alertOverdue(ctx);
  t.same(await readAlertKinds(ctx, task), [['task.overdue', PLANNED.toISOString()]]);
});

t.test('A run that ends in time is not overdue, and the next one is waited for', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  t.same(await overdueAt(task), minutesAfter(15));
  clock.set(PLANNED);
  await runDue(t);
  t.same(await overdueAt(task), minutesAfter(15, NEXT_DAY));
  clock.set(minutesAfter(60));
  await alertOverdue(ctx);
  t.same(await readAlerts(ctx, task), []);
});

t.test('An outage of a day is one alert of a task, of the first instant that did not come', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { recurrencePattern: '0 * * * *' });
  clock.set(minutesAfter(24 * 60 + 1));
  // A tick on a worker that runs at once: the alert precedes the run.
  await tick(ctx, { wait: false });
  t.same(await readAlertKinds(ctx, task), OVERDUE);
  await newWorker(t).drain();
  await tick(ctx, { wait: false });
  t.same(
    (await readAlertKinds(ctx, task)).map(([kind]) => kind),
    ['task.overdue', 'task.recovered'],
  );
  t.same(await overdueAt(task), minutesAfter(25 * 60 + 15));
});

t.test('Several runs that make up for one outage are one alert', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { recurrencePattern: '0 * * * *', missed: 'all' });
  clock.set(minutesAfter(24 * 60 + 1));
  await tick(ctx, { wait: false });
  await newWorker(t).drain();
  await alertOverdue(ctx);
  t.same(
    (await readAlertKinds(ctx, task)).map(([kind]) => kind),
    ['task.overdue', 'task.recovered'],
  );
  t.equal((await readRuns(ctx, task)).length, 10);
});

t.test('The worker alerts by itself while the scheduler is silent', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  clock.set(minutesAfter(20));
  const worker = newWorker(t);
  worker.start();
  while ((await readAlerts(ctx, task)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await worker.stop();
  t.same((await readAlertKinds(ctx, task))[0], OVERDUE[0]);
});

t.test('A missed instant that the policy does not make up for is alerted', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  // As the enqueuer leaves a task whose instants were recorded without a run.
  await ctx.db.update(tasks).set({ nextExecutionAt: NEXT_DAY }).where(eq(tasks.id, task));
  clock.set(minutesAfter(16));
  await alertOverdue(ctx);
  t.same(await readAlertKinds(ctx, task), OVERDUE);
});

t.test('No second alert comes before a run has ended', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  clock.set(minutesAfter(20));
  await alertOverdue(ctx);
  clock.set(minutesAfter(20, NEXT_DAY));
  await enqueueDue(ctx);
  await alertOverdue(ctx);
  t.same(await readAlertKinds(ctx, task), OVERDUE);
});

t.test('A failed run has ended: its retries are not waited for', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  ai.answer(() => ({ status: 503 }));
  clock.set(PLANNED);
  await runDue(t);
  t.same(await overdueAt(task), minutesAfter(15, NEXT_DAY));
});

t.test('The rule decides: its minutes, none with {}, and the defaults only with a webhook or an address', async (t) => {
  const minutes = async (given: object) => {
    const at = await overdueAt(await createAlertedTask(ctx, alice(), given));
    return at && (at.getTime() - PLANNED.getTime()) / 60_000;
  };
  t.equal(await minutes({}), 15);
  t.equal(await minutes({ webhookUrl: null, notificationEmail: 'me@example.com' }), 15);
  t.equal(await minutes({ webhookUrl: null }), null);
  t.equal(await minutes({ alerts: {} }), null);
  t.equal(await minutes({ alerts: { failuresInRow: 1 } }), null);
  t.equal(await minutes({ alerts: { overdueMinutes: 1 }, webhookUrl: null }), 1);
  t.equal(await minutes({ alerts: { overdueMinutes: 10_080 } }), 10_080);
  t.equal(await minutes({ status: 'paused' }), null);
});

t.test('Changing, pausing, resuming and copying a task moves its limit', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  const change = async (input: object) => {
    await changeTask(ctx, alice(), task, input);
    return overdueAt(task);
  };
  t.same(await change({ alerts: { overdueMinutes: 60 } }), minutesAfter(60));
  t.same(await change({ scheduledFor: '2026-11-20T12:00:00.000Z' }), minutesAfter(120));
  t.same(await change({ name: 'Evening news' }), minutesAfter(120));
  t.equal(await change({ status: 'paused' }), null);
  t.same(await change({ status: 'active' }), minutesAfter(120));
  t.equal(await change({ alerts: {} }), null);
  t.same(await change({ alerts: null }), minutesAfter(75));
  t.equal(await change({ webhookUrl: null }), null);
  t.same(await change({ notificationEmail: 'me@example.com' }), minutesAfter(75));
  const copy = await duplicateTask(ctx, alice(), task);
  t.same(await overdueAt(copy.id), minutesAfter(75));
});

t.test('An instant that the owner skips is not overdue', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  await skipNextRun(ctx, alice(), task);
  t.same(await overdueAt(task), minutesAfter(15, NEXT_DAY));
  clock.set(minutesAfter(60));
  await alertOverdue(ctx);
  t.same(await readAlerts(ctx, task), []);
});

t.test('An instant that is over the budget of its task is not overdue, and the next one is waited for', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  const row = { taskId: task, plannedFor: PLANNED, recordedAt: PLANNED };
  await ctx.db.insert(occurrences).values({ ...row, fate: 'over_budget' });
  await ctx.db.update(tasks).set({ nextExecutionAt: NEXT_DAY }).where(eq(tasks.id, task));
  clock.set(minutesAfter(20));
  await alertOverdue(ctx);
  t.same(await readAlerts(ctx, task), []);
  t.same(await overdueAt(task), minutesAfter(15, NEXT_DAY));
});

t.test('A change of the rule while a run is queued counts from the instant of that run', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  clock.set(PLANNED);
  await enqueueDue(ctx);
  await changeTask(ctx, alice(), task, { alerts: { overdueMinutes: 30 } });
  t.same(await overdueAt(task), minutesAfter(30));
});

t.test('Tasks of a suspended account are not overdue, and are again once it is active', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  await lockUserTasks(ctx, alice().id);
  await suspendTasks(ctx, alice().id);
  t.equal(await overdueAt(task), null);
  await resumeTasks(ctx, alice().id);
  t.same(await overdueAt(task), minutesAfter(15));
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice().id));
  clock.set(minutesAfter(20));
  await alertOverdue(ctx);
  t.same(await readAlerts(ctx, task), []);
});

t.test('A task that has completed or failed is not overdue', async (t) => {
  const once = await createAlertedTask(ctx, alice(), { recurrence: 'once' });
  clock.set(PLANNED);
  await enqueueDue(ctx);
  t.same(await overdueAt(once), minutesAfter(15));
  await newWorker(t).drain();
  t.match(await readTaskRow(ctx, once), { status: 'completed', overdueAt: null });
  ai.answer(() => ({ status: 401 }));
  const failing = await createAlertedTask(ctx, alice(), { recurrence: 'once', scheduledFor: NEXT_DAY.toISOString() });
  clock.set(NEXT_DAY);
  await runDue(t);
  t.match(await readTaskRow(ctx, failing), { status: 'failed', overdueAt: null });
});

t.test('Nothing is alerted in maintenance mode, and all of it afterwards', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  clock.set(minutesAfter(20));
  await ctx.db.update(settings).set({ maintenanceMode: true });
  await tick(ctx, { wait: false });
  t.same(await readAlerts(ctx, task), []);
  await ctx.db.update(settings).set({ maintenanceMode: false });
  await tick(ctx, { wait: false });
  t.same(await readAlertKinds(ctx, task), OVERDUE);
});

t.test('A run that an older version has completed without moving the limit is not overdue', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  clock.set(PLANNED);
  await runDue(t);
  await ctx.db
    .update(tasks)
    .set({ overdueAt: minutesAfter(15) })
    .where(eq(tasks.id, task));
  clock.set(minutesAfter(20));
  await alertOverdue(ctx);
  t.same(await readAlerts(ctx, task), []);
  t.same(await overdueAt(task), minutesAfter(15, NEXT_DAY));
});

t.test('More overdue tasks than one batch holds are alerted by one call', async (t) => {
  const values = { alerts: { overdueMinutes: 15 }, nextExecutionAt: PLANNED, overdueAt: minutesAfter(15) };
  const ids = await insertTasks(
    ctx,
    Array.from({ length: 401 }, () => alice().id),
    values,
  );
  clock.set(minutesAfter(16));
  await alertOverdue(ctx);
  const found = await Promise.all([ids[0], ids[200], ids[400]].map((id) => readAlertKinds(ctx, id as number)));
  t.same(found, [OVERDUE, OVERDUE, OVERDUE]);
  t.equal(await ctx.db.$count(tasks, eq(tasks.userId, alice().id)), 401);
});

t.test('A tick without anything overdue sends as many statements as with a rule that is off', async (t) => {
  const count = async () => {
    const [outside, inside] = [countStatements(ctx.db), countStatementsInTransactions(ctx.db)];
    await tick(ctx, { wait: false });
    return [outside(), inside()];
  };
  const without = await count();
  await createAlertedTask(ctx, alice());
  t.same(await count(), without);
});
