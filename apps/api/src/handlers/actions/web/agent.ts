import { listChannelChoices } from '../../../platform/queries/channel-choices.ts';
import { processMessage } from '../../../product/agent/process.ts';
import { confirmTask } from '../../../product/agent/proposals/confirm.ts';
import { getProposal } from '../../../product/agent/proposals/read.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const agentActions = ({ signedIn }: WebActionBuilder) => ({
  askAgent: signedIn(
    'askAgent',
    async ({ ctx, caller, stream }, input) => {
      const { stopping } = ctx.worker;
      const signal = stream ? AbortSignal.any([stopping, stream.signal]) : stopping;
      return processMessage(ctx, caller, input, {
        signal,
        proposes: true,
        ...(stream && { onContent: stream.onText }),
      });
    },
    { as: 'POST /api/agent/process' },
  ),

  getProposal: signedIn('getProposal', async ({ ctx, caller }, { id }) => {
    const proposal = await getProposal(ctx, caller, id);
    return { ...proposal, channels: await listChannelChoices(ctx, caller, proposal.task.channels ?? []) };
  }),

  confirmProposal: signedIn(
    'confirmProposal',
    async ({ ctx, caller }, { id: proposalId, changes }) => ({
      taskId: await confirmTask(ctx, caller, { proposalId, ...(changes && { changes }) }),
    }),
    { as: 'POST /api/agent/confirm-task' },
  ),
});
