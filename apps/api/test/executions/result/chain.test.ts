import { executions } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import t from 'tap';
import { rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import { testEngine } from '../../support/engine.ts';
import { passTime } from '../../support/leases.ts';
import { insertQueuedRuns, insertTask, readRuns, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, newProcess } = await testEngine(t);

t.test('Runs of a task over two processes are each compared with the success directly before', async (t) => {
  const quiet = { status: 'paused', nextExecutionAt: null } as const;
  const task = await insertTask(ctx, alice().id, { ...quiet, context: { clock: false, previousResult: true } });
  for (let run = 0; run < 40; run += 1) await insertQueuedRuns(ctx, [task]);
  const processes = [newProcess(t), newProcess(t)];
  ai.answer((_request, index) => (index % 7 === 3 ? { status: 401 } : { text: `Answer ${index}.` }));
  const isPending = and(eq(executions.taskId, task), eq(executions.status, 'pending'));
  for (let round = 0; round < 50 && (await ctx.db.$count(executions, isPending)) > 0; round += 1)
    await Promise.all(processes.map(({ worker }) => worker.drain()));

  const ended = await readRuns(ctx, task);
  t.equal(ended.length, 40);
  const toNumber = ({ result }: { result: string | null }) =>
    Number.parseInt(result?.slice('Answer '.length) ?? '', 10);
  const successes = ended.filter(({ status }) => status === 'completed').sort((a, b) => toNumber(a) - toNumber(b));
  t.ok(successes.length > 30);
  for (const [at, run] of successes.entries()) {
    const before = successes[at - 1];
    t.equal(run.comparedWithId, before?.id ?? null, `run ${at}`);
    t.equal(run.changed, before ? true : null);
    if (before) t.match(run.request?.system, String(before.result), 'the model is sent the same one');
  }
  t.equal((await readTaskRow(ctx, task)).lastSuccessId, successes.at(-1)?.id);
});

t.test('A run that another process took over is compared once, by the process that holds it', async (t) => {
  const task = await insertTask(ctx, alice().id, { status: 'paused', nextExecutionAt: null });
  const [slow, quick] = [newProcess(t), newProcess(t)];
  ai.answer(() => ({ text: 'A' }));
  await insertQueuedRuns(ctx, [task]);
  await quick.worker.drain();

  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    const waiting = new Promise<void>((release) => {
      answer = release;
    });
    ai.answer(async () => {
      resolve();
      await waiting;
      return { text: 'lost' };
    });
  });
  await insertQueuedRuns(ctx, [task]);
  const losing = slow.worker.drain();
  await asked;
  ai.answer(() => ({ text: 'B' }));
  await passTime({ ctx, clock }, ctx.config.executionLeaseMs + 1000);
  await rescueExecutions(quick.ctx);
  await quick.worker.drain();
  answer();
  await losing;
  const [first, second, ...more] = await readRuns(ctx, task);
  t.same(more, []);
  t.match(second, { result: 'B', changed: true, comparedWithId: first?.id });
  t.equal((await readTaskRow(ctx, task)).lastSuccessId, second?.id);
});
