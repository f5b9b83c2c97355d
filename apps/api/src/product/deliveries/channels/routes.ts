import * as contract from '@carillon/contract/channels/channels';
import * as deliveries from '@carillon/contract/channels/deliveries';
import { createETag, readIfMatch, sendTagged } from '../../../platform/http/etag.ts';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { redeliver } from '../queue/redeliver.ts';
import { deleteChannel } from './delete.ts';
import { getChannel, listChannelLogs, listChannels, ownChannel } from './read.ts';
import { testChannel } from './test-channel.ts';
import { changeChannel, createChannel } from './write.ts';

const buildETag = createETag(contract.Channel);

export const channelsRoutes: Routes = async (app) => {
  const read = { access: 'user', scope: 'webhooks:read' } as const;
  const write = { access: 'user', scope: 'webhooks:write' } as const;

  app.post('/api/channels', { schema: contract.createChannel, config: write }, async ({ ctx, caller, body }, reply) => {
    const channel = await createChannel(ctx, caller, body);
    reply.code(201).header('location', `/api/channels/${channel.id}`);
    return { success, channel };
  });

  app.get('/api/channels', { schema: contract.listChannels, config: read }, async ({ ctx, caller, query }) => ({
    success,
    ...(await listChannels(ctx, caller, query)),
  }));

  app.get('/api/channels/:id', { schema: contract.getChannel, config: read }, async (request, reply) => {
    const channel = await getChannel(request.ctx, request.caller, request.params.id);
    return sendTagged(request, reply, buildETag(channel, channel), { success, channel });
  });

  app.patch('/api/channels/:id', { schema: contract.changeChannel, config: write }, async (request, reply) => {
    const { ctx, caller, params, body } = request;
    const channel = await changeChannel(ctx, caller, params.id, body, readIfMatch(request, params.id.toLowerCase()));
    reply.header('etag', buildETag(channel, channel));
    return { success, channel };
  });

  app.delete('/api/channels/:id', { schema: contract.deleteChannel, config: write }, async (request) => {
    const { ctx, caller, params } = request;
    await deleteChannel(ctx, caller, params.id, readIfMatch(request, params.id.toLowerCase()));
    return { success, message: 'The channel is deleted.' };
  });

  app.post(
    '/api/channels/:id/test',
    { schema: deliveries.testChannel, config: { ...write, idempotency: 'reads' } },
    async ({ ctx, caller, params }) => testChannel(ctx, caller, params.id),
  );

  app.get(
    '/api/channels/:id/logs',
    { schema: deliveries.listChannelLogs, config: read },
    async ({ ctx, caller, params, query }) => ({ success, ...(await listChannelLogs(ctx, caller, params.id, query)) }),
  );

  app.post(
    '/api/channels/:id/logs/:deliveryId/redeliver',
    { schema: deliveries.redeliverMessage, config: write },
    async ({ ctx, caller, params }, reply) => {
      const deliveryId = await redeliver(ctx, ownChannel(caller, params.id), params.deliveryId);
      reply.code(201);
      return { success, deliveryId };
    },
  );
};
