import type { AddressInfo } from 'node:net';
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import { type Claims, LIMIT, printReady } from './server.ts';
import { createSessionAndTask } from './session-and-task.ts';
import { taskResponse } from './task-schema.ts';

const { verify, find } = await createSessionAndTask();
const app = Fastify();
const claimsOf = (request: object) => (request as { claims: Claims }).claims;

await app.register(rateLimit, {
  global: false,
  max: LIMIT.max,
  timeWindow: LIMIT.windowMs,
  hook: 'preHandler',
  keyGenerator: (request) => claimsOf(request).sub,
});
app.decorateRequest('claims');
app.get<{ Params: { id: string } }>(
  '/tasks/:id',
  {
    config: { rateLimit: {} },
    schema: { response: { 200: taskResponse } },
    onRequest: (request, _reply, done) => {
      Object.assign(request, { claims: verify(request.headers.authorization) });
      done();
    },
  },
  async (request, reply) => {
    const { session, task } = await find(claimsOf(request), Number(request.params.id));
    if (!session) return reply.code(401).send();
    return task ? { success: true, task } : reply.code(404).send();
  },
);
await app.listen({ host: '127.0.0.1', port: 0 });
printReady((app.server.address() as AddressInfo).port);
