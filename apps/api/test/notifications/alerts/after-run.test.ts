import { alerts, deliveries, executions, notifications, tasks } from '@carillon/db';
import { and, asc, eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { decideAlerts, type EndedRun } from '../../../src/product/notifications/alerts/after-run.ts';
import { describeAlert } from '../../../src/product/notifications/alerts/describe-alert.ts';
import { alertOverdue } from '../../../src/product/notifications/alerts/overdue.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { createAlertedTask, minutesAfter, PLANNED, readAlertKinds, readAlerts } from '../../support/alerts.ts';
import { insertChannel } from '../../support/channel-rows.ts';
import { countStatementsInTransactions } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { readRuns, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, newWorker } = await testEngine(t);

const fail = () => ai.answer(() => ({ status: 401 }));
const succeed = () => ai.answer(() => ({ text: 'Done.' }));
async function run(task: number) {
  clock.set(new Date(ctx.now().getTime() + 1000));
  await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
}
const kinds = async (task: number) => (await readAlerts(ctx, task)).map(({ kind }) => kind);

t.test('The third failure in a row is alerted, and neither the second nor the fourth', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  fail();
  await run(task);
  await run(task);
  t.same(await kinds(task), []);
  await run(task);
  await run(task);
  const runs = await readRuns(ctx, task);
  t.match(await readAlerts(ctx, task), [
    {
      kind: 'task.failing',
      at: runs[2]?.createdAt,
      executionId: runs[2]?.id,
      title: 'Task "Morning news" failed 3 times in a row',
      message: `Last error: ${runs[2]?.error}`,
      data: { failuresInRow: 3, errorCode: 'AUTHENTICATION_FAILED', execution: { id: runs[2]?.id, status: 'failed' } },
    },
  ]);
  t.same((await readTaskRow(ctx, task)).alertingSince, runs[2]?.completedAt);
});

t.test(
  'A row of failures is alerted once, also when the rule is added or lowered after its number is reached',
  async (t) => {
    const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 10 }, maxRetries: 0 });
    const setRules = (alerts: object) => ctx.db.update(tasks).set({ alerts }).where(eq(tasks.id, task));
    fail();
    for (let failure = 1; failure <= 3; failure += 1) await run(task);
    await setRules({});
    await setRules({ failuresInRow: 2 });
    await run(task);
    t.match(await readAlerts(ctx, task), [{ kind: 'task.failing', data: { failuresInRow: 4, stopped: false } }]);
    await setRules({ failuresInRow: 1 });
    succeed();
    await run(task);
    fail();
    await run(task);
    await run(task);
    t.same(await kinds(task), ['task.failing', 'task.recovered', 'task.failing']);
  },
);

t.test('A stop is one alert and one notification, and a resumed task is alerted again', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 3 } });
  fail();
  for (let failure = 1; failure <= 5; failure += 1) await run(task);
  t.match(await readAlerts(ctx, task), [
    { data: { failuresInRow: 3, stopped: false } },
    {
      title: 'Task "Morning news" was stopped after 5 failed runs',
      message: /^It will not run again until you resume it\. Last error: /,
      data: { failuresInRow: 5, stopped: true },
    },
  ]);
  const notices = await ctx.db.select().from(notifications).where(eq(notifications.userId, alice().id));
  t.same(notices.map(({ kind }) => kind).sort(), ['task.failed', 'task.failing']);
  await changeTask(ctx, alice(), task, { status: 'active' });
  for (let failure = 1; failure <= 3; failure += 1) await run(task);
  t.match((await readAlerts(ctx, task)).at(-1), { data: { failuresInRow: 3, stopped: false } });
});

t.test('A channel of the task gets one message of a failure that is alerted, and of the stop', async (t) => {
  const channel = await insertChannel(ctx, alice().id);
  const task = await createAlertedTask(ctx, alice(), { channels: [channel], webhookUrl: null });
  fail();
  for (let failure = 1; failure <= 5; failure += 1) await run(task);
  const sent = await ctx.db
    .select()
    .from(deliveries)
    .where(eq(deliveries.webhookId, channel))
    .orderBy(asc(deliveries.createdAt));
  t.same(
    sent.map(({ event }) => event),
    ['execution.failed', 'execution.failed', 'task.failing', 'execution.failed', 'task.failing'],
  );
});

t.test('The first success after an alert says that the task works again, once', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 1 } });
  succeed();
  await run(task);
  t.same(await kinds(task), [], 'nothing to recover from');
  fail();
  await run(task);
  succeed();
  await run(task);
  await run(task);
  t.same(await kinds(task), ['task.failing', 'task.recovered']);
  t.equal((await readTaskRow(ctx, task)).alertingSince, null);
  fail();
  await run(task);
  t.same(await kinds(task), ['task.failing', 'task.recovered', 'task.failing']);
});

t.test('A late run recovers from its own overdue alert, at the same instant', async (t) => {
  const task = await createAlertedTask(ctx, alice());
  clock.set(minutesAfter(15));
  await alertOverdue(ctx);
  succeed();
  await newWorker(t).drain();
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const at = PLANNED.toISOString();
  t.same(await readAlertKinds(ctx, task), [
    ['task.overdue', at],
    ['task.recovered', at],
  ]);
});

t.test('Only the last failure of a run with retries counts', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 1 }, recurrence: 'once' });
  ai.answer(() => ({ status: 503 }));
  clock.set(PLANNED);
  for (const wait of [0, 60_000, 300_000]) {
    clock.advance(wait);
    await enqueueDue(ctx);
    await newWorker(t).drain();
    t.same(await kinds(task), []);
  }
  clock.advance(900_000);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.same(await readAlertKinds(ctx, task), [['task.failing', PLANNED.toISOString()]]);
});

t.test('Rules that were removed lead to no further alert', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 1 } });
  fail();
  await run(task);
  await ctx.db.update(tasks).set({ alerts: {} }).where(eq(tasks.id, task));
  succeed();
  await run(task);
  t.same(await kinds(task), ['task.failing']);
  t.equal((await readTaskRow(ctx, task)).alertingSince, null);
});

t.test('One alert of a kind is stored for an instant, whatever ends for it again', async (t) => {
  const task = await createAlertedTask(ctx, alice(), { alerts: { failuresInRow: 1 } });
  fail();
  await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
  await ctx.db.update(tasks).set({ consecutiveFailures: 0 }).where(eq(tasks.id, task));
  await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
  t.same(await kinds(task), ['task.failing'], 'both were asked for at the same instant');
});

const RUN: EndedRun = {
  id: 7,
  userId: 1,
  taskId: 3,
  taskName: 'News',
  owner: { language: 'en', timezone: null },
  viaWebhook: false,
  plannedFor: PLANNED,
  requestedAt: PLANNED,
  completedAt: minutesAfter(1),
  alerts: null,
  hasWebhook: true,
  notificationEmail: null,
  alertingSince: null,
  isFailingAlerted: false,
  costUsd: 0.5,
  result: { ok: true, outcome: null, outcomeReason: null, durationMs: 1500 },
};
const FINAL = { isFailure: true, failuresInRow: 0, isStopped: false, fallbacksInRow: 0 };
const decide = (given: Partial<EndedRun>, outcome = FINAL) =>
  decideAlerts({ ...RUN, ...given }, outcome).alerts.map((alert) => ({
    ...alert,
    ...describeAlert(alert, alert.owner),
  }));

t.test('A run is expensive above the limit, and not at it', async (t) => {
  t.match(decide({ alerts: { costAboveUsd: 0.49 } }), [
    {
      kind: 'task.expensive',
      at: PLANNED,
      executionId: 7,
      title: 'A run of the task "News" cost $0.50',
      message: 'The alert limit is $0.49.',
      data: {
        task: { id: 3, name: 'News' },
        execution: { id: 7, status: 'completed' },
        costUsd: 0.5,
        costAboveUsd: 0.49,
      },
    },
  ]);
  t.same(decide({ alerts: { costAboveUsd: 0.5 } }), []);
  t.same(decide({ alerts: { costAboveUsd: 0 }, costUsd: 0 }), []);
});

t.test('A run is slow above the limit, and not at it, also if it fails', async (t) => {
  t.match(decide({ alerts: { durationAboveMs: 1499 } }), [
    {
      kind: 'task.slow',
      title: 'A run of the task "News" took 1.5 s',
      message: 'The alert limit is 1.5 s.',
      data: { durationMs: 1500, durationAboveMs: 1499 },
    },
  ]);
  t.same(decide({ alerts: { durationAboveMs: 1500 } }), []);
  const timeout = { ok: false, errorCode: 'TIMEOUT', message: 'Too long', durationMs: 90_000 } as const;
  t.match(decide({ alerts: { durationAboveMs: 60_000 }, result: timeout }), [{ kind: 'task.slow' }]);
});

t.test('A cancelled run counts as no failure and is not slow, but its cost is alerted', async (t) => {
  const result = {
    ok: false,
    errorCode: 'CANCELLED',
    message: 'Cancelled',
    durationMs: 9e6,
  } as const;
  const rules = { failuresInRow: 1, durationAboveMs: 1, costAboveUsd: 1 };
  t.match(decide({ alerts: rules, result, costUsd: 9 }, { ...FINAL, isFailure: false, failuresInRow: 1 }), [
    { kind: 'task.expensive' },
  ]);
  const since = minutesAfter(-60);
  t.match(decideAlerts({ ...RUN, result, alertingSince: since }, FINAL), { alerts: [], alertingSince: since });
});

t.test('The default rules apply with a webhook or an address, and are off without either', async (t) => {
  const result = { ok: false, errorCode: 'TIMEOUT', message: 'Too long', durationMs: 1 } as const;
  const third = { ...FINAL, failuresInRow: 3 };
  t.match(decide({ result }, third), [{ kind: 'task.failing' }]);
  t.match(decide({ result, hasWebhook: false, notificationEmail: 'a@example.com' }, third), [{ kind: 'task.failing' }]);
  t.same(decide({ result, hasWebhook: false }, third), []);
  t.same(decide({ result, alerts: {} }, third), []);
});

t.test('Runs without an alert send as many statements as those of a task without rules', async (t) => {
  succeed();
  const count = async (given: object) => {
    const task = await createAlertedTask(ctx, alice(), { webhookUrl: null, ...given });
    await run(task);
    await executeTask(ctx, alice(), task);
    const done = countStatementsInTransactions(ctx.db);
    await newWorker(t).drain();
    t.equal(await ctx.db.$count(executions, and(eq(executions.taskId, task), eq(executions.status, 'completed'))), 2);
    return done();
  };
  const without = await count({ alerts: {} });
  t.equal(
    await count({ alerts: { overdueMinutes: 1, failuresInRow: 1, costAboveUsd: 9, durationAboveMs: 1e6 } }),
    without,
  );
  t.equal(await ctx.db.$count(alerts, eq(alerts.userId, alice().id)), 0);
});
