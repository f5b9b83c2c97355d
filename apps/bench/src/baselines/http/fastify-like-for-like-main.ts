import { hash, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { getTask, Task } from '@carillon/contract/tasks';
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { logRequests, openLog } from './request-log.ts';
import { createTokenCheck, LIMIT, openDatabase, printReady, type Row } from './server.ts';
import { COUNT, SESSION, WHOLE_TASK } from './statements.ts';

// Answers as Carillon does, headers included, with three statements at once.
const WINDOW_SECONDS = LIMIT.windowMs / 1000;
const HEADERS = {
  'content-security-policy': "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'Origin',
  'cache-control': 'private, no-cache',
};

const query = await openDatabase();
const verify = createTokenCheck();
const app = Fastify({
  loggerInstance: openLog() as FastifyBaseLogger,
  logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
  genReqId: () => randomUUID(),
});
app.addSchema(Task);
app.decorateRequest('userId');
logRequests(app, (request) => (request as { userId?: number }).userId);

app.get<{ Params: { id: string } }>(
  '/tasks/:id',
  { schema: { response: { 200: getTask.response[200] } } },
  async (request, reply) => {
    const { sub, sid } = verify(request.headers.authorization);
    const userId = Number(sub);
    Object.assign(request, { userId });
    const [[session], [counted], [found]] = await Promise.all([
      query<Row>(SESSION, [sid, userId]),
      query<{ count: number; endsAt: Date }>(COUNT, [`GET /tasks/:id ${sub}`, WINDOW_SECONDS]),
      query<Row>(WHOLE_TASK, [Number(request.params.id), userId]),
    ]);
    if (!counted) throw new Error('The upsert has returned no row.');
    const { count, endsAt } = counted;
    reply.headers({
      ...HEADERS,
      'x-request-id': request.id,
      'x-ratelimit-limit': LIMIT.max,
      'x-ratelimit-remaining': Math.max(0, LIMIT.max - count),
      'x-ratelimit-reset': endsAt.getTime(),
      'x-ratelimit-window': WINDOW_SECONDS,
      'x-ratelimit-policy': 'user',
    });
    if (!session) return reply.code(401).send();
    if (count > LIMIT.max) return reply.code(429).send();
    if (!found) return reply.code(404).send();
    const { revision, ...task } = found;
    const digest = hash('sha256', JSON.stringify(task), 'base64url').slice(0, 11);
    reply.header('etag', `"${digest}-${task.id}-${revision}"`);
    return { success: true, task };
  },
);
await app.listen({ host: '127.0.0.1', port: 0 });
printReady((app.server.address() as AddressInfo).port);
