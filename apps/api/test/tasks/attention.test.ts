import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { duplicateTask } from '../../src/product/tasks/duplicate.ts';
import { listTasksWithRuns } from '../../src/product/tasks/task-list.ts';
import { testEngine } from '../support/engine.ts';
import { insertTask, insertTasks } from '../support/task-rows.ts';

const { ctx, alice } = await testEngine(t);

const insert = (name: string, given: Parameters<typeof insertTask>[2] = {}) =>
  insertTask(ctx, alice().id, { name, ...given });
const STOPPED = { status: 'failed', nextExecutionAt: null, consecutiveFailures: 5 } as const;

t.test('Stopped tasks come first, on every page, and tasks without a next run last', async (t) => {
  await insert('Paused', { status: 'paused', nextExecutionAt: null });
  await insert('Done', { status: 'failed', nextExecutionAt: null, recurrence: 'once' });
  await insertTasks(
    ctx,
    Array.from({ length: 25 }, () => alice().id),
    { name: 'Daily' },
  );
  await insert('First stopped', STOPPED);
  await insert('Second stopped', STOPPED);
  const first = await listTasksWithRuns(ctx, alice(), { sort: 'next' });
  t.same(
    first.tasks.map(({ name }) => name),
    ['First stopped', 'Second stopped', ...Array.from({ length: 23 }, () => 'Daily')],
  );
  const second = await listTasksWithRuns(ctx, alice(), { sort: 'next', cursor: first.nextCursor as string });
  t.same(
    second.tasks.map(({ name }) => name),
    ['Daily', 'Daily', 'Paused', 'Done'],
  );
});

t.test('The filter leaves the tasks that were stopped, fail or are overdue', async (t) => {
  await insert('Works');
  await insert('Stopped', STOPPED);
  await insert('Failing', { consecutiveFailures: 1 });
  await insert('Overdue', { alertingSince: ctx.now() });
  await insert('Paused', { alertingSince: ctx.now(), status: 'paused', nextExecutionAt: null });
  const { tasks } = await listTasksWithRuns(ctx, alice(), { sort: 'name', needsAttention: true });
  t.same(
    tasks.map(({ name, needsAttention }) => [name, needsAttention]),
    [
      ['Failing', true],
      ['Overdue', true],
      ['Stopped', true],
    ],
  );
});

t.test('A cursor between stopped tasks is one of this list', async (t) => {
  await insertTasks(
    ctx,
    Array.from({ length: 27 }, () => alice().id),
    STOPPED,
  );
  const { nextCursor } = await listTasksWithRuns(ctx, alice(), { sort: 'next' });
  t.equal((await listTasksWithRuns(ctx, alice(), { sort: 'next', cursor: nextCursor as string })).tasks.length, 2);
});

t.test('The list by next run is read in the order of its index', async (t) => {
  await insertTasks(
    ctx,
    Array.from({ length: 2000 }, () => alice().id),
  );
  await ctx.db.execute(sql`analyze tasks`);
  const plan = await queryRows<{ queryPlan: string }>(
    ctx.db,
    sql`explain select id from tasks where user_id = ${alice().id}
      order by (case when status = 'failed' and recurrence <> 'once' then '-infinity' else coalesce(next_execution_at, 'infinity') end), id limit 26`,
  );
  t.match(JSON.stringify(plan), /tasks_by_attention/);
});

t.test('A copy made in the dashboard is paused until it was edited', async (t) => {
  const id = await insert('News');
  t.match(await duplicateTask(ctx, alice(), id, { isPaused: true }), { status: 'paused', nextExecutionAt: null });
  t.match(await duplicateTask(ctx, alice(), id), { status: 'active' });
});
