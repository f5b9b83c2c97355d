import { eq } from 'drizzle-orm';
import t from 'tap';
import { executions } from '../../../../packages/db/src/index.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, readRun } from '../../../api/test/support/task-rows.ts';
import { answer, createModel, runAll } from '../support/runs.ts';
import { visit } from '../support/visitor.ts';

const model = createModel();
const { app, ctx } = await testContext(t, { ai: model.ai });

t.test('A run says that its answer is cut off', async (t) => {
  const alice = await signUp(app);
  const task = await insertTask(ctx, alice.id);
  await runAll(ctx, model, answer('The bin costs 59 €.'));
  const { id } = await readRun(ctx, task);
  const visitor = visit(app, alice);
  t.notMatch((await visitor.open(`/executions/${id}`)).text, /cut off/i);
  await ctx.db.update(executions).set({ truncated: true }).where(eq(executions.id, id));
  t.match((await visitor.open(`/executions/${id}`)).text, /Answer ?Cut off at 80 tokens\. Change the limit/);
  t.match((await visitor.open(`/executions/${id}/text`)).response.body, /Cut off at 80 tokens\./);
  await ctx.db.update(executions).set({ tokensEstimated: true }).where(eq(executions.id, id));
  t.match((await visitor.open(`/executions/${id}`)).text, /Answer ?Cut off at the maximum length\./);
});

t.test('A run that got no token does not show an estimated 0', async (t) => {
  const alice = await signUp(app);
  const task = await insertTask(ctx, alice.id);
  await runAll(ctx, model, answer('Quiet.'));
  const { id } = await readRun(ctx, task);
  await ctx.db
    .update(executions)
    .set({ tokensEstimated: true, inputTokens: 12, outputTokens: 0 })
    .where(eq(executions.id, id));
  const { text } = await visit(app, alice).open(`/executions/${id}`);
  t.match(text, /Input tokens ?12 \(estimated\)/);
  t.notMatch(text, /Output tokens|\b0 \(estimated\)/);
});
