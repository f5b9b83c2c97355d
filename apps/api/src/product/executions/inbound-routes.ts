import * as contract from '@carillon/contract/webhooks/inbound';
import type { FastifyRequest } from 'fastify';
import { registerRawParser } from '../../platform/http/bodies.ts';
import { assertStorable, type Routes, success } from '../../platform/http/validation.ts';
import { authenticateInbound, getInbound, type InboundPath, triggerInbound } from './inbound.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the signature was verified. */
    inboundUserId: number;
  }
}

export const inboundRoutes: Routes = async (app) => {
  const config = { access: 'public', shape: 'bare' } as const;
  const parse = registerRawParser(app);
  app.decorateRequest('inboundUserId', 0);

  app.get('/api/webhooks/:userId/:secret', { schema: contract.showInbound, config }, async ({ ctx, params }) => {
    const webhook = await getInbound(ctx, params);
    return {
      message: 'This webhook is active. Send signed JSON by POST.',
      userId: String(webhook.userId),
      webhookId: webhook.id,
      acceptedEvents: webhook.events,
      isActive: webhook.isActive,
    };
  });

  app.post(
    '/api/webhooks/:userId/:secret',
    { schema: contract.receiveInbound, config, preValidation: verifyAndParse },
    async ({ ctx, body, inboundUserId }, reply) => {
      const executionId = await triggerInbound(ctx, inboundUserId, body);
      if (executionId === null) return { success, received: true as const };
      return reply.code(201).header('location', `/api/executions/${executionId}`).send({ success, executionId });
    },
  );

  /** Verifies the signature of the raw bytes before it parses them. */
  async function verifyAndParse(request: FastifyRequest) {
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const signature = request.headers['x-webhook-signature'];
    request.inboundUserId = await authenticateInbound(request.ctx, request.params as InboundPath, bytes, signature);
    request.body = await parse(request, bytes);
    await assertStorable(request);
  }
};
