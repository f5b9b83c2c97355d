import t from 'tap';
import { getOverview } from '../../../src/product/system/stats/overview.ts';
import { skipNextRun } from '../../../src/product/tasks/skip-next-run.ts';
import { getTaskWithRuns } from '../../../src/product/tasks/task-page.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTask } from '../../support/task-rows.ts';

const { ctx, clock, alice } = await testEngine(t);

/** Every six hours, from 12:00 on. */
const insert = (values: Parameters<typeof insertTask>[2]) =>
  insertTask(ctx, alice().id, {
    scheduledFor: new Date('2026-11-20T12:00:00Z'),
    nextExecutionAt: new Date('2026-11-20T12:00:00Z'),
    recurrencePattern: '0 */6 * * *',
    ...values,
  });
const hoursAhead = async () => {
  const { upcoming } = await getOverview(ctx, alice());
  return upcoming.next.map(({ at }) => at.toISOString().slice(8, 13));
};
const hoursOfPage = async (id: number) =>
  (await getTaskWithRuns(ctx, alice(), id)).next.map(({ at }) => at.toISOString().slice(8, 13));

t.test('The day ahead and the page of a task show the runs that its number of runs leaves', async (t) => {
  const id = await insert({ maxRuns: 5, plannedRuns: 3 });
  t.same(await hoursAhead(), ['20T12', '20T18']);
  t.same(await hoursOfPage(id), ['20T12', '20T18']);
});

t.test('The day ahead and the page of a task show no run at its end or later', async (t) => {
  const id = await insert({ endsAt: new Date('2026-11-21T00:00:00Z') });
  t.same(await hoursAhead(), ['20T12', '20T18']);
  t.same(await hoursOfPage(id), ['20T12', '20T18']);
});

t.test('The day ahead and the page of a task show no run before the end of a pause', async (t) => {
  const until = new Date('2026-11-21T06:00:00Z');
  const id = await insert({ pausedUntil: until, nextExecutionAt: until });
  t.same(await hoursAhead(), ['21T06']);
  t.same((await hoursOfPage(id)).slice(0, 2), ['21T06', '21T12']);
});

t.test('The day ahead and the page of a task leave out a run that is skipped', async (t) => {
  const id = await insert({ maxRuns: 3 });
  await skipNextRun(ctx, alice(), id);
  t.same(await hoursAhead(), ['20T18', '21T00', '21T06']);
  t.same(await hoursOfPage(id), ['20T18', '21T00', '21T06']);
  clock.set('2026-11-20T11:00:00.000Z');
  t.same((await hoursAhead()).at(0), '20T18');
});
