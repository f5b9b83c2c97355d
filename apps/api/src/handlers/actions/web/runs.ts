import { askAboutRun } from '../../../product/agent/questions/ask.ts';
import { getQuestion } from '../../../product/agent/questions/read.ts';
import { ownChannel } from '../../../product/deliveries/channels/read.ts';
import { redeliver } from '../../../product/deliveries/queue/redeliver.ts';
import { ownWebhook } from '../../../product/deliveries/webhooks/read.ts';
import { cancelExecution } from '../../../product/executions/cancel.ts';
import { getRun, listMissedRuns, listRuns } from '../../../product/executions/dashboard.ts';
import { getExecution } from '../../../product/executions/read.ts';
import { seeExecution, seeExecutions } from '../../../product/executions/seen.ts';
import { executeTask, retryExecution } from '../../../product/executions/start.ts';
import { toAnswerOptions } from './agent.ts';
import type { WebActionBuilder } from './create-web-action.ts';
import { RUN_MS, runOnce } from './run-once.ts';

export const runActions = ({ signedIn }: WebActionBuilder) => ({
  listRuns: signedIn('listRuns', async ({ ctx, caller }, input) => listRuns(ctx, caller, input)),

  listMissedRuns: signedIn('listMissedRuns', ({ ctx, caller }, input) => listMissedRuns(ctx, caller, input)),

  seeRuns: signedIn('seeRuns', async ({ ctx, caller }, input) => ({ seen: await seeExecutions(ctx, caller, input) })),

  /** Opening a run that has ended sees it. */
  getRun: signedIn('getRun', async ({ ctx, caller }, { id, against }) => {
    const found = await getRun(ctx, caller, id, against);
    const { completedAt, seenAt } = found.run.execution;
    if (completedAt !== null && seenAt === null) await seeExecution(ctx, caller, id);
    return found;
  }),

  askRun: signedIn(
    'askRun',
    async (call, { id, message }) => {
      await askAboutRun(call.ctx, call.caller, id, { message }, toAnswerOptions(call));
      return null;
    },
    { as: 'POST /api/agent/process' },
  ),

  getQuestion: signedIn('getQuestion', ({ ctx, caller }, { id }) => getQuestion(ctx, caller, id)),

  retryRun: signedIn('retryRun', async ({ ctx, caller }, { id }) => {
    const { executionId } = await retryExecution(ctx, caller, id);
    return { id: executionId };
  }),

  runAgain: signedIn(
    'runAgain',
    async (call, { id, attempt }) => {
      const { ctx, caller } = call;
      const { taskId } = await getExecution(ctx, caller, id);
      return runOnce(call, { action: 'runAgain', attempt, input: id, leaseMs: RUN_MS }, async () => {
        const { executionId } = await executeTask(ctx, caller, taskId);
        return { id: executionId };
      });
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
