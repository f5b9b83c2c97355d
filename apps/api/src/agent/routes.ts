import * as contract from '@carillon/contract/agent';
import type { FastifyPluginAsync, RawServerDefault } from 'fastify';
import type { Context } from '../context.ts';
import { toErrorBody } from '../http/error-handler.ts';
import { abortOnHangUp, openEventStream, wantsEvents } from '../http/event-stream.ts';
import type { ContractTypes } from '../http/validation.ts';
import { processMessage } from './process.ts';

const success = true as const;

interface Options {
  ctx: Context;
  /** How often a stream that is silent says that it lives. */
  keepAliveMs?: number;
  /** How long calls under way may go on once the service stops: less than the 20 s after which it cuts connections. */
  graceMs?: number;
}

/** Specification "Tasks, executions, agent mode"; decisions §7. */
export const agentRoutes: FastifyPluginAsync<Options, RawServerDefault, ContractTypes> = async (
  app,
  { keepAliveMs = 15_000, graceMs = 15_000 },
) => {
  const underWay = new Map<AbortController, Promise<unknown>>();
  const giveUp = () => {
    for (const abort of underWay.keys()) abort.abort();
  };
  let stopping: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    stopping = setTimeout(giveUp, graceMs);
  });
  // The call of a client that has hung up is awaited by nobody else, and has yet to be booked.
  app.addHook('onClose', async () => {
    clearTimeout(stopping);
    giveUp();
    await Promise.allSettled(underWay.values());
  });

  app.post(
    '/api/agent/process',
    { schema: contract.processMessage, config: { access: 'user' } },
    async (request, reply) => {
      const { ctx, caller, body } = request;
      const abort = abortOnHangUp(reply);
      const process = async (onContent?: (text: string) => void) => {
        const call = processMessage(ctx, caller, body, { signal: abort.signal, ...(onContent && { onContent }) });
        underWay.set(abort, call);
        try {
          return { success, ...(await call) };
        } finally {
          underWay.delete(abort);
        }
      };
      if (!wantsEvents(request.headers.accept)) return process();

      const events = openEventStream({ keepAliveMs });
      const ended = process(events.addContent).then(
        (answer) => events.end('done', answer),
        (error) => {
          if (events.hasBegun) return events.end('error', toErrorBody(error, request));
          events.drop();
          throw error;
        },
      );
      await Promise.race([ended, events.begun]);
      return events.answer(reply);
    },
  );
};
