import type { AddressInfo } from 'node:net';
import { verify } from '@node-rs/argon2';
import Fastify from 'fastify';
import { printReady } from './http/server.ts';

// One hash for all accounts, and no database. UV_THREADPOOL_SIZE limits how many verifications run at once.
const { HASH = '' } = process.env;
const app = Fastify();
const body = {
  type: 'object',
  required: ['email', 'password'],
  properties: { email: { type: 'string' }, password: { type: 'string' } },
};
app.post<{ Body: { password: string } }>('/api/auth/login', { schema: { body } }, async (request, reply) =>
  (await verify(HASH, request.body.password)) ? { success: true } : reply.code(401).send({ success: false }),
);
await app.listen({ host: '127.0.0.1', port: 0 });
printReady((app.server.address() as AddressInfo).port);
