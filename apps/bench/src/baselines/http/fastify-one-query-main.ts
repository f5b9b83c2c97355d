import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { createTokenCheck, openDatabase, printReady, type Row } from './server.ts';
import { TASK } from './statements.ts';
import { taskResponse } from './task-schema.ts';

// No session, no rate limit and no log: a token is valid until it expires.
const query = await openDatabase();
const verify = createTokenCheck();
const app = Fastify();
app.get<{ Params: { id: string } }>(
  '/tasks/:id',
  { schema: { response: { 200: taskResponse } } },
  async ({ params, headers }, reply) => {
    const [task] = await query<Row>(TASK, [Number(params.id), Number(verify(headers.authorization).sub)]);
    return task ? { success: true, task } : reply.code(404).send();
  },
);
await app.listen({ host: '127.0.0.1', port: 0 });
printReady((app.server.address() as AddressInfo).port);
