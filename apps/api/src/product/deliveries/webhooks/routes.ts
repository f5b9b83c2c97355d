import * as deliveries from '@carillon/contract/webhooks/deliveries';
import * as contract from '@carillon/contract/webhooks/webhooks';
import { createETag, readIfMatch, sendTagged } from '../../../platform/http/etag.ts';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { listDeliveries } from '../queue/log.ts';
import { redeliver, redeliverSince } from '../queue/redeliver.ts';
import { getDeliveryAttempt, getWebhook, listWebhooks, ownWebhook } from './read.ts';
import { changeWebhook, createWebhook, deleteWebhook, rotateSecret, testWebhook } from './write.ts';

const buildETag = createETag(contract.Webhook);

export const webhooksRoutes: Routes = async (app) => {
  const read = { access: 'user', scope: 'webhooks:read' } as const;
  const write = { access: 'user', scope: 'webhooks:write' } as const;

  app.post('/api/webhooks', { schema: contract.createWebhook, config: write }, async ({ ctx, caller, body }, reply) => {
    const webhook = await createWebhook(ctx, caller, body);
    reply.code(201).header('location', `/api/webhooks/${webhook.id}`);
    return { success, webhook };
  });

  app.get('/api/webhooks', { schema: contract.listWebhooks, config: read }, async ({ ctx, caller, query }) => ({
    success,
    ...(await listWebhooks(ctx, caller, query)),
  }));

  app.get('/api/webhooks/:id', { schema: contract.getWebhook, config: read }, async (request, reply) => {
    const webhook = await getWebhook(request.ctx, request.caller, request.params.id);
    return sendTagged(request, reply, buildETag(webhook, webhook), { success, webhook });
  });

  app.patch('/api/webhooks/:id', { schema: contract.changeWebhook, config: write }, async (request, reply) => {
    const { ctx, caller, params, body } = request;
    const webhook = await changeWebhook(ctx, caller, params.id, body, readIfMatch(request, params.id.toLowerCase()));
    reply.header('etag', buildETag(webhook, webhook));
    return { success, webhook };
  });

  app.delete('/api/webhooks/:id', { schema: contract.deleteWebhook, config: write }, async (request) => {
    const { ctx, caller, params } = request;
    await deleteWebhook(ctx, caller, params.id, readIfMatch(request, params.id.toLowerCase()));
    return { success, message: 'The webhook is deleted.' };
  });

  app.post(
    '/api/webhooks/:id/rotate-secret',
    { schema: contract.rotateSecret, config: write },
    async ({ ctx, caller, params }) => ({ success, webhook: await rotateSecret(ctx, caller, params.id) }),
  );

  app.post(
    '/api/webhooks/:id/test',
    { schema: deliveries.testWebhook, config: { ...write, idempotency: 'reads' } },
    async ({ ctx, caller, params }) => testWebhook(ctx, caller, params.id),
  );

  app.get(
    '/api/webhooks/:id/logs',
    { schema: deliveries.listDeliveries, config: read },
    async ({ ctx, caller, params, query }) => ({
      success,
      ...(await listDeliveries(ctx, ownWebhook(caller, params.id), query)),
    }),
  );

  app.get(
    '/api/webhooks/:id/logs/:logId',
    { schema: deliveries.getDeliveryAttempt, config: read },
    async ({ ctx, caller, params }) => ({ success, log: await getDeliveryAttempt(ctx, caller, params) }),
  );

  app.post(
    '/api/webhooks/:id/logs/:deliveryId/redeliver',
    { schema: deliveries.redeliver, config: write },
    async ({ ctx, caller, params }, reply) => {
      const deliveryId = await redeliver(ctx, ownWebhook(caller, params.id), params.deliveryId);
      reply.code(201);
      return { success, deliveryId };
    },
  );

  app.post(
    '/api/webhooks/:id/redeliver',
    { schema: deliveries.redeliverSince, config: write },
    async ({ ctx, caller, params, body }) => ({
      success,
      count: await redeliverSince(ctx, ownWebhook(caller, params.id), new Date(body.since)),
    }),
  );
};
