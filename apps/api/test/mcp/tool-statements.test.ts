import t from 'tap';
import { TOOLS } from '../../src/handlers/mcp/tools/index.ts';
import { testContext } from '../support/context.ts';
import { countStatements, countStatementsInTransactions } from '../support/database.ts';
import { createKey } from '../support/keys.ts';
import { signUp } from '../support/people.ts';
import { postTask, TASK } from '../support/tasks.ts';
import { callTool } from './support/call-tool.ts';

const { app, ctx } = await testContext(t);
const alice = await signUp(app);
const key = await createKey(app, alice);

async function countSent(work: () => Promise<unknown>) {
  const endOutside = countStatements(ctx.db);
  const endInside = countStatementsInTransactions(ctx.db);
  await work();
  return { outside: endOutside(), inside: endInside() };
}

const { scheduledFor, recurrence, timezone } = TASK;
/** The body of the route, which the arguments have beside the id. */
const BODIES: Record<string, object> = {
  preview_schedule: { scheduledFor, recurrence, timezone },
  create_task: TASK,
  update_task: { name: 'Another name' },
};

async function createIds(name: string): Promise<{ taskId?: number; runId?: number }> {
  const taskId = await postTask(app, alice);
  if (!name.endsWith('_run')) return name.endsWith('_task') && name !== 'create_task' ? { taskId } : {};
  return { runId: (await callTool(app, key, 'run_task', { taskId })).data.runId };
}

async function sendRequest(name: string, as: string, { taskId, runId }: { taskId?: number; runId?: number }) {
  const [method, url = ''] = as.split(' ') as ['GET', string];
  const payload = BODIES[name];
  const path = url.replace(':id', String(taskId ?? runId));
  const answer = await app.inject({ method, url: path, headers: key.headers, ...(payload && { payload }) });
  if (answer.statusCode >= 300) throw new Error(answer.body);
}

async function sendCall(name: string, ids: object) {
  const answer = await callTool(app, key, name, { ...ids, ...BODIES[name] });
  if (answer.isError) throw new Error(answer.text);
}

t.test('A tool sends the statements of its route, one that counts the call, and one for the audit log', async (t) => {
  await callTool(app, key, 'get_usage');
  // The first run that is cancelled reads the providers, which are kept.
  await sendRequest('cancel_run', 'POST /api/executions/:id/cancel', await createIds('cancel_run'));
  for (const { name, as, hints } of TOOLS) {
    const [first, second] = [await createIds(name), await createIds(name)];
    const route = await countSent(() => sendRequest(name, as, first));
    const tool = await countSent(() => sendCall(name, second));
    // The list of runs also counts those that were not seen.
    const expected = { outside: name === 'list_runs' ? 2 : 1, inside: hints.readOnlyHint ? 0 : 1 };
    t.same({ outside: tool.outside - route.outside, inside: tool.inside - route.inside }, expected, name);
    // The quota is of ten active tasks.
    for (const { id } of (await callTool(app, key, 'list_tasks')).data.tasks)
      await callTool(app, key, 'delete_task', { taskId: id });
  }
});
