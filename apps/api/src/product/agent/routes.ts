import * as contract from '@carillon/contract/agent';
import type { FastifyPluginAsync, RawServerDefault } from 'fastify';
import type { Context } from '../../context.ts';
import { abortOnHangUp, streamAnswer, wantsEvents } from '../../platform/http/event-stream.ts';
import { createResponseStore } from '../../platform/http/idempotency/register.ts';
import { LARGE_BODY_LIMIT } from '../../platform/http/server.ts';
import { type ContractTypes, success } from '../../platform/http/validation.ts';
import { processMessage } from './process.ts';
import { confirmTask } from './proposals/confirm.ts';

interface Options {
  ctx: Context;
  keepAliveMs?: number;
  /** Less than the 20 s after which a shutdown closes connections. */
  graceMs?: number;
}

/** Beyond the longest call: for its transactions. */
const CLAIM_MARGIN_MS = 30_000;

export const agentRoutes: FastifyPluginAsync<Options, RawServerDefault, ContractTypes> = async (
  app,
  { ctx: { config }, keepAliveMs = 15_000, graceMs = 15_000 },
) => {
  const leaseMs = config.ai.timeoutMs + CLAIM_MARGIN_MS;
  const idempotency = { transactions: 'own', leaseMs, streams: true } as const;
  const running = new Map<AbortController, Promise<unknown>>();
  const abortAll = () => {
    for (const abort of running.keys()) abort.abort();
  };
  let stopping: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    stopping = setTimeout(abortAll, graceMs);
  });
  // A call whose client has disconnected still has to record its usage.
  app.addHook('onClose', async () => {
    clearTimeout(stopping);
    abortAll();
    await Promise.allSettled(running.values());
  });

  app.post(
    '/api/agent/process',
    { schema: contract.processMessage, config: { access: 'user', scope: 'agent:run', idempotency } },
    async (request, reply) => {
      const { ctx, caller, query, body } = request;
      const abort = abortOnHangUp(reply);
      const process = async (onContent?: (text: string) => void) => {
        const store = createResponseStore(request, reply);
        const call = processMessage(ctx, caller, body, {
          signal: abort.signal,
          proposes: query.propose === true,
          ...(onContent && { onContent }),
          store: (tx, answer) => store(tx, { success, ...answer }),
        });
        running.set(abort, call);
        try {
          return { success, ...(await call) };
        } finally {
          running.delete(abort);
        }
      };
      if (!wantsEvents(request.headers.accept)) return process();
      return streamAnswer(request, reply, { keepAliveMs }, process);
    },
  );

  app.post(
    '/api/agent/confirm-task',
    { schema: contract.confirmTask, config: { access: 'user', scope: 'tasks:write' }, bodyLimit: LARGE_BODY_LIMIT },
    async ({ ctx, caller, body }, reply) => {
      const taskId = await confirmTask(ctx, caller, body);
      reply.code(201).header('location', `/api/tasks/${taskId}`);
      return { success, taskId };
    },
  );
};
