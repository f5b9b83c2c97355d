import { settings, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { getOverview } from '../../../src/product/system/stats/overview.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTask, insertUsage } from '../../support/task-rows.ts';

const { ctx, clock, alice, ai, runDue } = await testEngine(t);

const MORNING = '2026-11-24T05:28:00.000Z';
const insert = (name: string, recurrencePattern: string | null, given: Parameters<typeof insertTask>[2] = {}) =>
  insertTask(ctx, alice().id, {
    name,
    scheduledFor: new Date('2026-11-20T08:00:00Z'),
    nextExecutionAt: new Date('2026-11-24T05:30:00Z'),
    recurrence: 'daily',
    recurrencePattern,
    ...given,
  });
const daily = (name: string, hour: string) =>
  insert(name, `0 ${hour} * * *`, { nextExecutionAt: new Date(`2026-11-24T${hour}:00:00Z`) });
const overview = () => getOverview(ctx, alice());
const allow = (executionsPerDay: number) => ctx.db.update(settings).set({ maxExecutionsPerDay: executionsPerDay });
const setPro = () => ctx.db.update(users).set({ plan: 'pro' }).where(eq(users.id, alice().id));

t.test('The day ahead counts every run, however many there are', async (t) => {
  clock.set(MORNING);
  await setPro();
  for (const name of ['One', 'Two', 'Three']) await insert(name, '* * * * *');
  for (const name of ['Four', 'Five']) await insert(name, '*/2 * * * *');
  for (const name of ['Six', 'Seven', 'Eight']) await daily(name, '08');
  const { upcoming } = await overview();
  // From 05:30 on: the present minute is over.
  t.equal(upcoming.runs + upcoming.refused, 3 * 1438 + 2 * 719 + 3);
  const at = (instant: string) => upcoming.slots.find(({ from }) => from.toISOString() === instant)?.runs;
  t.equal(at('2026-11-24T08:00:00.000Z'), 3 * 30 + 2 * 15 + 3);
  t.equal(at('2026-11-25T04:30:00.000Z'), 3 * 30 + 2 * 15);
  t.equal(upcoming.next.length, 20);
});

t.test('A run that is due is one of those that a task may have', async (t) => {
  clock.set('2026-11-24T05:30:10.000Z');
  await insert('Last', '*/5 * * * *', { maxRuns: 3, plannedRuns: 2 });
  await insert('Last but one', '*/5 * * * *', { maxRuns: 3, plannedRuns: 1 });
  const { upcoming } = await overview();
  t.equal(upcoming.runs, 1 + 2);
  t.equal(upcoming.next.length, 1 + 2);
});

t.test('A used up quota is one cause with the runs and tasks that fall out until it begins again', async (t) => {
  clock.set(MORNING);
  await allow(4);
  for (const hour of ['08', '09', '10', '11']) await daily(`Task of ${hour}`, hour);
  await insert('Hourly', '30 * * * *');
  await insertUsage(ctx, alice().id, { executions: 4 });
  const { causes, upcoming } = await overview();
  t.match(causes, [
    { kind: 'over_quota', resource: 'executions', period: 'day', used: 4, limit: 4, runs: 4 + 19, tasks: 5 },
  ]);
  t.equal(causes[0]?.kind === 'over_quota' && causes[0].until.toISOString(), '2026-11-25T00:00:00.000Z');
  t.equal(upcoming.next[0]?.refusedBy, 'executions');
  t.match(upcoming.slots[0], { runs: 1, refused: 1 });
  t.equal(upcoming.refused, 23 + 1, 'of the next day, five runs are planned and four allowed');
});

t.test('A quota that the plan uses up is announced before', async (t) => {
  clock.set('2026-11-24T00:00:00.000Z');
  await allow(20);
  await insert('Quarterly', '*/15 * * * *', { nextExecutionAt: new Date('2026-11-24T00:00:00Z') });
  const { causes } = await overview();
  t.match(causes, [
    { kind: 'quota_ends', resource: 'executions', period: 'day', used: 0, limit: 20, runs: 76, tasks: 1 },
  ]);
  t.equal(causes[0]?.kind === 'quota_ends' && causes[0].from.toISOString(), '2026-11-24T05:00:00.000Z');
});

t.test('A trial that has ended is said, and so are the runs that it refuses', async (t) => {
  clock.set(MORNING);
  await daily('News', '08');
  await ctx.db
    .update(users)
    .set({ trialEndsAt: new Date('2026-11-23T00:00:00Z') })
    .where(eq(users.id, alice().id));
  const ended = await overview();
  t.match(ended.causes, [{ kind: 'trial_ended', runs: 1, tasks: 1 }]);
  t.match(ended.upcoming, { runs: 0, refused: 1, next: [{ refusedBy: 'trial' }] });
  await ctx.db
    .update(users)
    .set({ trialEndsAt: new Date('2026-11-24T07:10:00Z') })
    .where(eq(users.id, alice().id));
  t.match((await overview()).causes, [{ kind: 'trial_ends', runs: 1, tasks: 1 }]);
  await setPro();
  t.same((await overview()).causes, []);
});

t.test('A stopped task comes before what fails, and a refused run is no failure of its task', async (t) => {
  await allow(6);
  const fail = { scheduledFor: new Date('2026-11-20T10:01:00Z'), nextExecutionAt: new Date('2026-11-20T10:01:00Z') };
  ai.answer(() => ({ status: 401 }));
  await insert('Stopped', '* * * * *', { ...fail, maxRetries: 0 });
  for (let minute = 1; minute <= 5; minute += 1) {
    clock.set(`2026-11-20T10:0${minute}:00.000Z`);
    await runDue(t);
  }
  const due = { scheduledFor: new Date('2026-11-20T10:06:00Z'), nextExecutionAt: new Date('2026-11-20T10:06:00Z') };
  await insert('Failing', null, { ...due, maxRetries: 0 });
  clock.set('2026-11-20T10:06:00.000Z');
  await runDue(t);
  await insert('Refused', null, { ...due, maxRetries: 0 });
  await runDue(t);
  t.match((await overview()).causes, [
    { kind: 'stopped', taskName: 'Stopped', failures: 5, errorCode: 'AUTHENTICATION_FAILED' },
    { kind: 'over_quota', runs: 0 },
    { kind: 'failing', taskName: 'Failing', failures: 1 },
  ]);
  t.equal((await overview()).causes.length, 3);
});

t.test('A task over its budget is a cause, and its runs are refused', async (t) => {
  clock.set(MORNING);
  await insert('Small budget', '0 */12 * * *', {
    nextExecutionAt: new Date('2026-11-24T12:00:00Z'),
    monthlyBudgetUsd: 0,
    aiModel: 'gpt-4o-mini',
  });
  const { causes, upcoming } = await overview();
  t.match(causes, [{ kind: 'over_budget', taskName: 'Small budget' }]);
  t.match(upcoming, { runs: 0, refused: 2, next: [{ refusedBy: 'budget' }, { refusedBy: 'budget' }] });
});

t.test('An outage is told once, with what was missed and made up for', async (t) => {
  const at = new Date('2026-11-20T10:01:00Z');
  await insert('Each minute', '* * * * *', { scheduledFor: at, nextExecutionAt: at });
  await insert('Once an hour', '2 * * * *', { scheduledFor: at, nextExecutionAt: new Date('2026-11-20T10:02:00Z') });
  clock.set('2026-11-20T10:06:30.000Z');
  await runDue(t);
  const { outages } = await overview();
  t.match(outages, [{ missed: 7, madeUp: 2 }]);
  t.same([outages[0]?.from, outages[0]?.until], [at, new Date('2026-11-20T10:06:30Z')]);
  clock.set('2026-11-21T10:06:30.000Z');
  t.same((await overview()).outages, [], 'a day later');
});
