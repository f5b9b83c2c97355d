import { Readable } from 'node:stream';
import * as contract from '@carillon/contract/events';
import type { FastifyPluginAsync, FastifyRequest, RawServerDefault } from 'fastify';
import type { Context } from '../../context.ts';
import { sendEventStream, wantsEvents } from '../http/event-stream.ts';
import { type ContractTypes, success } from '../http/validation.ts';
import { createLiveStreams, type LiveStreamsOptions } from './live-streams.ts';
import { listEvents, parseFilter } from './read.ts';

interface Options extends LiveStreamsOptions {
  ctx: Context;
}

export const eventsRoutes: FastifyPluginAsync<Options, RawServerDefault, ContractTypes> = async (
  app,
  { ctx: processContext, ...options },
) => {
  const streams = createLiveStreams(processContext, options);
  app.addHook('preClose', async () => streams.endAll());
  app.addHook('onClose', () => streams.stop());

  app.get(
    '/api/events',
    { schema: contract.listEvents, config: { access: 'user', scope: 'events:read' } },
    async (request, reply) => {
      const { ctx, caller, query, headers } = request;
      if (!wantsEvents(headers.accept)) return { success, ...(await listEvents(ctx, caller, query)) };
      const filter = parseFilter(query);
      if (request.method === 'HEAD') return sendEventStream(reply, Readable.from([]));
      const body = await streams.open(ctx, caller, { after: findAfter(request, query.after), filter });
      request.streamBeganAfterMs = reply.elapsedTime;
      return sendEventStream(reply, body);
    },
  );
};

/** Null for a header that is not an id. */
function findAfter({ headers }: FastifyRequest, after: string | undefined): number | null {
  const given = headers['last-event-id'] || after;
  return typeof given === 'string' && /^[0-9]{1,15}$/.test(given) ? Number(given) : null;
}
