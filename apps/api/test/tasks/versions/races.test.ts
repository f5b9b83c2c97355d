import { executions } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import { executeTask } from '../../../src/product/executions/start.ts';
import { getVersion } from '../../../src/product/tasks/versions/read.ts';
import { restoreVersion } from '../../../src/product/tasks/versions/restore.ts';
import { changeTask, createTask } from '../../../src/product/tasks/write.ts';
import { testEngine } from '../../support/engine.ts';
import { TASK } from '../../support/tasks.ts';

const { ctx, alice, newProcess } = await testEngine(t);

t.test('Each run names the version whose prompt it was sent, while two processes change the task', async (t) => {
  const id = await createTask(ctx, alice(), { ...TASK, prompt: 'The prompt of the creation.' } as never);
  const [one, two] = [newProcess(t), newProcess(t)];
  for (let round = 0; round < 12; round++) {
    for (let n = 0; n < 2; n++) await executeTask(ctx, alice(), id);
    await Promise.all([
      one.worker.drain(),
      two.worker.drain(),
      ...[0, 1, 2].map((n) => changeTask(one.ctx, alice(), id, { prompt: `Prompt ${n} of round ${round}.` })),
      changeTask(two.ctx, alice(), id, { maxTokens: 100 + round }),
      restoreVersion(two.ctx, alice(), id, 1),
    ]);
  }
  await one.worker.drain();
  const runs = await ctx.db.select().from(executions).where(eq(executions.taskId, id)).orderBy(asc(executions.id));
  t.equal(runs.length, 24);
  for (const { taskVersion, request } of runs) {
    const { task } = await getVersion(ctx, alice(), id, taskVersion as number);
    t.equal(task.prompt, request?.prompt);
  }
  const used = new Set(runs.map(({ taskVersion }) => taskVersion));
  t.ok(used.size > 3, `${used.size} versions were used`);
});
