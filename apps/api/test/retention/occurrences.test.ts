import { DAY_MS } from '@carillon/contract/primitives';
import { occurrences, users } from '@carillon/db';
import t from 'tap';
import { createPruner, pruneAll } from '../../src/retention/prune.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { insertTask, insertTasks, insertUsers, readLedger } from '../support/task-rows.ts';

const { app, ctx } = await testContext(t);
const ago = (days: number, ms = 0) => new Date(START.getTime() - days * DAY_MS - ms);
let alice: Person;
t.beforeEach(async () => {
  await ctx.db.delete(users);
  alice = await signUp(app);
});

const record = (taskId: number, recordedAt: Date, plannedFor = recordedAt) => ({
  ...{ taskId, plannedFor, recordedAt },
  fate: 'ran' as const,
});
const ofYears = (taskId: number, count: number) =>
  Array.from({ length: count }, (_, at) => record(taskId, ago(400, at)));

t.test('Occurrences are stored for a year after they were recorded, to the millisecond', async (t) => {
  const task = await insertTask(ctx, alice.id);
  await ctx.db
    .insert(occurrences)
    .values([record(task, ago(365, 1)), record(task, ago(365)), record(task, ago(1), ago(500))]);
  await pruneAll(ctx);
  t.same(await readLedger(ctx, task), [
    [ago(500).toISOString(), 'ran'],
    [ago(365).toISOString(), 'ran'],
  ]);
});

t.test('Old occurrences are all pruned, of one task and of many, with several pruners at once', async (t) => {
  const [many, ...others] = await insertTasks(ctx, Array(2500).fill((await insertUsers(ctx, 1))[0]));
  await ctx.db.insert(occurrences).values(ofYears(many as number, 2500));
  await ctx.db.insert(occurrences).values(others.map((id) => record(id, ago(366))));
  await ctx.db.insert(occurrences).values(others.slice(0, 10).map((id) => record(id, ago(10))));
  await Promise.all([pruneAll(ctx), pruneAll(ctx), createPruner(ctx)()]);
  t.equal(await ctx.db.$count(occurrences), 10);
});

t.test('A worker prunes a thousand tasks per round, and starts over after the last', async (t) => {
  const tasks = await insertTasks(ctx, Array(2001).fill((await insertUsers(ctx, 1))[0]));
  const [first, last] = [tasks[0] as number, tasks.at(-1) as number];
  const round = createPruner(ctx);
  await ctx.db.insert(occurrences).values(ofYears(last, 1));
  await round();
  await round();
  t.equal(await ctx.db.$count(occurrences), 1);
  await round();
  t.equal(await ctx.db.$count(occurrences), 0);
  await ctx.db.insert(occurrences).values(ofYears(first, 1500));
  await round();
  t.equal(await ctx.db.$count(occurrences), 0, 'it continues while there is much to delete');
});

t.test('The occurrence of an active single-run task is never pruned', async (t) => {
  const [waiting, ended] = [
    await insertTask(ctx, alice.id, { recurrence: 'once', nextExecutionAt: null }),
    await insertTask(ctx, alice.id, { recurrence: 'once', nextExecutionAt: null, status: 'completed' }),
  ];
  await ctx.db.insert(occurrences).values([record(waiting, ago(400)), record(ended, ago(400))]);
  await pruneAll(ctx);
  t.equal((await readLedger(ctx, waiting)).length, 1);
  t.equal((await readLedger(ctx, ended)).length, 0);
});
