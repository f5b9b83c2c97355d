import { ownChannel } from '../../channels/read.ts';
import { executionNotFound } from '../../errors.ts';
import { cancelExecution } from '../../executions/cancel-execution.ts';
import { executeTask } from '../../executions/execute-task.ts';
import { listRuns } from '../../executions/list-runs.ts';
import { executionRow } from '../../executions/read.ts';
import { getRun } from '../../executions/read-run.ts';
import { retryExecution } from '../../executions/retry-execution.ts';
import { findOwnedRow } from '../../queries/owned-row.ts';
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
      const run = await findOwnedRow(ctx, caller, executionRow, id);
      if (!run) throw executionNotFound();
      const { executionId } = await executeTask(ctx, caller, run.taskId);
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
