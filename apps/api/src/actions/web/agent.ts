import { processMessage } from '../../agent/process.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const agentActions = ({ signedIn }: WebActionBuilder) => ({
  askAgent: signedIn(
    'askAgent',
    async ({ ctx, caller }, input) => processMessage(ctx, caller, input, { signal: ctx.worker.stopping }),
    { as: 'POST /api/agent/process' },
  ),
});
