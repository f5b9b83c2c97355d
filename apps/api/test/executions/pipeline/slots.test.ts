import { executions } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import type { ExecutionResult } from '../../../src/product/executions/pipeline/execution-result.ts';
import { rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import type { ClaimedExecution } from '../../../src/product/executions/pipeline/select-candidates.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { passTime } from '../../support/leases.ts';
import { insertQueuedRuns, insertTasks, insertUsage, readUsage } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, logged, newWorker } = await testEngine(t);

const countOf = (status: 'pending' | 'running' | 'completed' | 'failed') =>
  ctx.db.$count(executions, eq(executions.status, status));
const queueSix = async (values = {}) =>
  insertQueuedRuns(
    ctx,
    await insertTasks(
      ctx,
      Array.from({ length: 6 }, () => alice().id),
      { nextExecutionAt: null, ...values },
    ),
  );
const OPTIONS = { limit: 10, after: 0 };
const claim = () => pipeline.claim(ctx, OPTIONS);
const complete = (result: ExecutionResult) => pipeline.complete(ctx, [result], new AbortController().signal);

function resultWith(run: ClaimedExecution, tokens = 10) {
  const usage = { model: 'test', inputTokens: tokens, outputTokens: 0, estimated: false, costUsd: 0 };
  return buildResult(run, { usage });
}

t.test('An execution starts in the slot of one that has completed', async (t) => {
  await queueSix();
  const { started } = await claim();
  t.equal(started.length, 5, 'one user has five places');
  t.equal((await claim()).started.length, 0);
  const [first] = started as [ClaimedExecution];
  await complete(resultWith(first));
  t.equal((await claim()).started.length, 1);
  t.strictSame([await countOf('completed'), await countOf('running'), await countOf('pending')], [1, 5, 0]);
});

t.test('A lost execution frees no slot', async (t) => {
  await queueSix();
  const { started } = await claim();
  const [first] = started as [ClaimedExecution];
  const stale = { ...resultWith(first), claimToken: '00000000-0000-4000-8000-000000000000' };
  await complete(stale);
  t.equal((await claim()).started.length, 0);
  t.strictSame([await countOf('completed'), await countOf('running')], [0, 5]);
});

t.test(
  'Reserved tokens that a completed call has not used are there for the one that starts in its slot',
  async (t) => {
    await insertUsage(ctx, alice().id, { tokens: 99_000 });
    await queueSix({ maxTokens: 1000 });
    const { started } = await claim();
    t.equal(started.length, 1);
    const [first] = started as [ClaimedExecution];
    await complete(resultWith(first, 10));
    t.equal((await claim()).started.length, 1);
    t.match(await readUsage(ctx, alice().id), { tokens: 99_010, tokensReserved: 1000 });
  },
);

t.test('An execution is refused if the one that completes before it has used up the quota', async (t) => {
  await insertUsage(ctx, alice().id, { tokens: 99_000 });
  await queueSix({ maxTokens: 1000 });
  const [first] = (await claim()).started as [ClaimedExecution];
  await complete(resultWith(first, 1000));
  t.match(await claim(), { started: [], refused: 5 });
  t.strictSame([await countOf('completed'), await countOf('failed')], [1, 5]);
  t.match(await readUsage(ctx, alice().id), { executions: 1, tokens: 100_000, tokensReserved: 0 });
});

t.test("The end of yesterday's execution counts yesterday, and the start in its slot today", async (t) => {
  clock.set('2026-11-20T23:59:50.000Z');
  await queueSix();
  const [first] = (await claim()).started as [ClaimedExecution];
  clock.set('2026-11-21T00:00:10.000Z');
  await complete(resultWith(first));
  t.equal((await claim()).started.length, 1);
  t.match(await readUsage(ctx, alice().id), { executions: 1, tokens: 0 });
  await passTime({ ctx, clock }, 3_600_000);
  await rescueExecutions(ctx);
  await newWorker(t).drain();
});

t.test('Results are stored even if starting others in their slots fails', async (t) => {
  await queueSix();
  await ctx.db.execute(`
    create function refuse() returns trigger language plpgsql as $$
    begin
      if exists (select from executions where status = 'completed') then raise 'no start'; end if;
      return new;
    end $$`);
  await ctx.db.execute(`create trigger refuse before update on executions for each row
    when (new.status = 'running') execute function refuse()`);
  t.teardown(() => ctx.db.execute('drop function refuse cascade'));
  await newWorker(t).drain();
  t.strictSame([await countOf('completed'), await countOf('pending')], [5, 1]);
  t.equal(ai.requests.length, 5);
  t.ok(logged.some(({ msg }) => msg === 'claiming executions failed'));
});
