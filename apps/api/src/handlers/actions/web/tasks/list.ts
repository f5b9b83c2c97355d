import { AppError } from '../../../../errors.ts';
import { executeTask } from '../../../../product/executions/start.ts';
import { deleteTask } from '../../../../product/tasks/delete.ts';
import { readTaskFile } from '../../../../product/tasks/files/export.ts';
import { importTasks } from '../../../../product/tasks/files/import.ts';
import { listTasksBefore, listTasksPausedUntil } from '../../../../product/tasks/pause-all.ts';
import { findTasksByName, getTaskNames, listTasksWithRuns } from '../../../../product/tasks/task-list.ts';
import { changeTask } from '../../../../product/tasks/write.ts';
import type { WebActionBuilder } from '../create-web-action.ts';
import { RUN_MS, runOnce } from '../run-once.ts';

const NOTHING = { created: 0, updated: 0, unchanged: 0, deleted: 0, preview: [] };

/** Each change of several tasks counts as one towards the rate limit. */
export const taskListActions = ({ signedIn }: WebActionBuilder) => ({
  getTaskList: signedIn('getTaskList', ({ ctx, caller }, query) => listTasksWithRuns(ctx, caller, query)),
  findTasks: signedIn('findTasks', ({ ctx, caller }, { search }) => findTasksByName(ctx, caller, search)),
  getTaskNames: signedIn('getTaskNames', ({ ctx, caller }, input) => getTaskNames(ctx, caller, input)),

  readTaskFile: signedIn('readTaskFile', ({ ctx, caller }, { after }) =>
    readTaskFile(ctx, caller, { type: 'yaml', ...(after !== undefined && { after }) }),
  ),
  importTasks: signedIn('importTasks', ({ ctx, caller }, input) =>
    importTasks(ctx, caller, input).catch((error) => {
      // Its page shows them in a table.
      if (error instanceof AppError && error.errors) return { ...NOTHING, errors: [...error.errors] };
      throw error;
    }),
  ),

  runTasks: signedIn(
    'runTasks',
    async (call, { ids, attempt }) =>
      runOnce(call, { action: 'runTasks', attempt, input: ids, leaseMs: RUN_MS }, () =>
        changeEach(ids, (id) => executeTask(call.ctx, call.caller, id)),
      ),
    { as: 'POST /api/tasks/:id/execute' },
  ),
  setTaskStatuses: signedIn(
    'setTaskStatuses',
    ({ ctx, caller }, { ids, status }) => changeEach(ids, (id) => changeTask(ctx, caller, id, { status })),
    { as: 'PATCH /api/tasks/:id' },
  ),
  deleteTasks: signedIn(
    'deleteTasks',
    ({ ctx, caller }, { ids }) => changeEach(ids, (id) => deleteTask(ctx, caller, id)),
    { as: 'DELETE /api/tasks/:id' },
  ),
  pauseAllTasks: signedIn(
    'pauseAllTasks',
    async ({ ctx, caller }, { until }) => {
      const ids = await listTasksBefore(ctx, caller, new Date(until));
      return changeEach(ids, (id) => changeTask(ctx, caller, id, { pausedUntil: until }));
    },
    { as: 'PATCH /api/tasks/:id' },
  ),
  endPause: signedIn(
    'endPause',
    async ({ ctx, caller }, { until }) => {
      const ids = await listTasksPausedUntil(ctx, caller, new Date(until));
      return changeEach(ids, (id) => changeTask(ctx, caller, id, { pausedUntil: null }));
    },
    { as: 'PATCH /api/tasks/:id' },
  ),
});

/** One after the other, each in a transaction of its own. What a task refuses does not stop the others. */
async function changeEach(ids: readonly number[], change: (id: number) => Promise<unknown>) {
  const done: number[] = [];
  const refused: { id: number; reason: string }[] = [];
  for (const id of new Set(ids)) {
    try {
      await change(id);
      done.push(id);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refused.push({ id, reason: describeReason(error) });
    }
  }
  return { done, refused };
}

const describeReason = ({ kind, message, details }: AppError): string =>
  kind === 'invalid'
    ? (Object.values(details ?? {})
        .flat()
        .map(String)[0] ?? message)
    : message;
