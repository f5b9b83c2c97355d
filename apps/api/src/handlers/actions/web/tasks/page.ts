import { confirmWith } from '../../../../product/auth/confirm-session.ts';
import { createAccountFeed, createTaskFeed, deleteFeed } from '../../../../product/deliveries/feeds/write.ts';
import { backfillTask } from '../../../../product/executions/start.ts';
import { getTask } from '../../../../product/tasks/read.ts';
import { skipNextRun } from '../../../../product/tasks/skip-next-run.ts';
import { getTaskWithRuns } from '../../../../product/tasks/task-page.ts';
import { listVersions } from '../../../../product/tasks/versions/read.ts';
import { restoreVersion } from '../../../../product/tasks/versions/restore.ts';
import { getVersionPage } from '../../../../product/tasks/versions/version-page.ts';
import { changeTask } from '../../../../product/tasks/write.ts';
import type { WebActionBuilder } from '../create-web-action.ts';

const VERSIONS = 25;

export const taskPageActions = ({ signedIn }: WebActionBuilder) => ({
  getTaskPage: signedIn('getTaskPage', ({ ctx, caller }, { id }) => getTaskWithRuns(ctx, caller, id)),

  pauseTaskUntil: signedIn(
    'pauseTaskUntil',
    async ({ ctx, caller }, { id, until }) => {
      await changeTask(ctx, caller, id, { pausedUntil: until });
      return null;
    },
    { as: 'PATCH /api/tasks/:id' },
  ),

  skipNextRun: signedIn('skipNextRun', async ({ ctx, caller }, { id, plannedFor }) => {
    await skipNextRun(ctx, caller, id, { plannedFor: new Date(plannedFor) });
    return null;
  }),

  createFeed: signedIn('createFeed', async ({ ctx, caller }, { taskId, currentPassword }) => {
    await confirmWith(ctx, caller, currentPassword);
    return { url: await (taskId === null ? createAccountFeed(ctx, caller) : createTaskFeed(ctx, caller, taskId)) };
  }),

  endFeed: signedIn('endFeed', async ({ ctx, caller }, { taskId }) => {
    await deleteFeed(ctx, caller, taskId);
    return null;
  }),

  listTaskVersions: signedIn('listTaskVersions', async ({ ctx, caller }, { id, cursor }) => {
    const query = { limit: VERSIONS, offset: 0, ...(cursor !== undefined && { cursor }) };
    const [task, { versions, pagination }] = await Promise.all([
      getTask(ctx, caller, id),
      listVersions(ctx, caller, id, query),
    ]);
    return { task, versions, nextCursor: pagination.nextCursor };
  }),

  getTaskVersion: signedIn('getTaskVersion', ({ ctx, caller }, { id, number }) =>
    getVersionPage(ctx, caller, id, number),
  ),

  restoreTaskVersion: signedIn(
    'restoreTaskVersion',
    async ({ ctx, caller }, { id, number, revision }) => {
      const { version } = await restoreVersion(ctx, caller, id, number, [revision]);
      return { version };
    },
    { as: 'PATCH /api/tasks/:id' },
  ),

  backfillTask: signedIn('backfillTask', async ({ ctx, caller }, { id, ...period }) => ({
    queued: await backfillTask(ctx, caller, id, period),
  })),
});
