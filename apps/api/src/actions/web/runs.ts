import { ownChannel } from '../../channels/read.ts';
import { cancelExecution } from '../../executions/cancel-execution.ts';
import { executeTask } from '../../executions/execute-task.ts';
import { listRuns } from '../../executions/list-runs.ts';
import { getExecution } from '../../executions/read.ts';
import { getRun } from '../../executions/read-run.ts';
import { retryExecution } from '../../executions/retry-execution.ts';
import { ownWebhook } from '../../webhooks/read.ts';
import { redeliver } from '../../webhooks/redeliver.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const runActions = ({ signedIn }: WebActionBuilder) => ({
  listRuns: signedIn('listRuns', async ({ ctx, caller }, input) => listRuns(ctx, caller, input)),

  getRun: signedIn('getRun', async ({ ctx, caller }, { id }) => getRun(ctx, caller, id)),

  retryRun: signedIn('retryRun', async ({ ctx, caller }, { id }) => {
    const { executionId } = await retryExecution(ctx, caller, id);
    return { id: executionId };
  }),

  runAgain: signedIn(
    'runAgain',
    async ({ ctx, caller }, { id }) => {
      const { taskId } = await getExecution(ctx, caller, id);
      const { executionId } = await executeTask(ctx, caller, taskId);
      return { id: executionId };
    },
    { as: 'POST /api/tasks/:id/execute' },
  ),

  cancelRun: signedIn('cancelRun', async ({ ctx, caller }, { id }) => {
    await cancelExecution(ctx, caller, id);
    return null;
  }),

  deliverAgain: signedIn('deliverAgain', async ({ ctx, caller }, { webhookId, deliveryId, isChannel }) => {
    await redeliver(ctx, (isChannel ? ownChannel : ownWebhook)(caller, webhookId), deliveryId);
    return null;
  }),
});
