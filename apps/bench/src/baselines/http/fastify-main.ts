import type { AddressInfo } from 'node:net';
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import { type Claims, createSessionAndTask, LIMIT, printReady } from './session-and-task.ts';

const { verify, findSession, findTask } = createSessionAndTask();
const app = Fastify();
const date = { type: ['string', 'null'], format: 'date-time' };
const text = { type: ['string', 'null'] };
const integer = { type: 'integer' };
const task = {
  type: 'object',
  properties: {
    id: integer,
    userId: integer,
    name: text,
    description: text,
    prompt: text,
    scheduledFor: date,
    nextExecutionAt: date,
    recurrence: text,
    recurrencePattern: text,
    timezone: text,
    aiModel: text,
    maxTokens: integer,
    temperature: integer,
    status: text,
    executionCount: integer,
    lastExecutionAt: date,
    attachments: { type: 'array', items: { type: 'string' } },
    createdAt: date,
    updatedAt: date,
  },
};
const ok = { type: 'object', properties: { success: { type: 'boolean' }, task } };

await app.register(rateLimit, {
  global: false,
  max: LIMIT.max,
  timeWindow: LIMIT.windowMs,
  hook: 'preHandler',
  keyGenerator: (request) => (request as unknown as { claims: Claims }).claims.sub,
});
app.decorateRequest('claims');
app.get('/hello', { schema: { response: { 200: { type: 'object', properties: { hello: text } } } } }, async () => ({
  hello: 'world',
}));
app.get<{ Params: { id: string } }>(
  '/tasks/:id',
  {
    config: { rateLimit: {} },
    schema: { response: { 200: ok } },
    onRequest: async (request) => {
      (request as unknown as { claims: Claims }).claims = verify(request.headers.authorization);
    },
  },
  async (request, reply) => {
    const { claims } = request as unknown as { claims: Claims };
    const session = await findSession(claims);
    if (!session) return reply.code(401).send();
    const found = await findTask(Number(request.params.id), Number(claims.sub));
    return found ? { success: true, task: found } : reply.code(404).send();
  },
);
await app.listen({ host: '127.0.0.1', port: 0 });
printReady((app.server.address() as AddressInfo).port);
