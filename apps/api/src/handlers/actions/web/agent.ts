import { listChannelChoices } from '../../../platform/queries/channel-choices.ts';
import { type AnswerOptions, processMessage } from '../../../product/agent/process.ts';
import { confirmTask } from '../../../product/agent/proposals/confirm.ts';
import { getProposal } from '../../../product/agent/proposals/read.ts';
import type { Call } from '../mappings.ts';
import type { WebActionBuilder } from './create-web-action.ts';

/** How a model answers: as a stream where a page shows one. */
export function toAnswerOptions({ ctx, stream }: Call): AnswerOptions {
  const { stopping } = ctx.worker;
  if (!stream) return { signal: stopping };
  return { signal: AbortSignal.any([stopping, stream.signal]), onContent: stream.onText };
}

export const agentActions = ({ signedIn }: WebActionBuilder) => ({
  askAgent: signedIn(
    'askAgent',
    async (call, input) => processMessage(call.ctx, call.caller, input, { ...toAnswerOptions(call), proposes: true }),
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
