import { confirmWith } from '../../../../product/auth/confirm-session.ts';
import { createAccountFeed, createTaskFeed, deleteFeed } from '../../../../product/deliveries/feeds/write.ts';
import { backfillTask } from '../../../../product/executions/start.ts';
import { skipNextRun } from '../../../../product/tasks/skip-next-run.ts';
import { getTaskWithRuns } from '../../../../product/tasks/task-page.ts';
import { changeTask } from '../../../../product/tasks/write.ts';
import type { WebActionBuilder } from '../create-web-action.ts';

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

  backfillTask: signedIn('backfillTask', async ({ ctx, caller }, { id, ...period }) => ({
    queued: await backfillTask(ctx, caller, id, period),
  })),
});
