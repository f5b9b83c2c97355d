import type { AddressInfo } from 'node:net';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { createSessionAndTask, LIMIT, printReady } from './session-and-task.ts';

const { verify, findSession, findTask } = createSessionAndTask();
const app = express();
app.disable('x-powered-by');
app.get(
  '/tasks/:id',
  (request, response, next) => {
    response.locals.claims = verify(request.headers.authorization);
    next();
  },
  rateLimit({
    windowMs: LIMIT.windowMs,
    limit: LIMIT.max,
    keyGenerator: (_request, response) => response.locals.claims.sub,
  }),
  async (request, response) => {
    const { claims } = response.locals as { claims: { sub: string; sid: string } };
    const session = await findSession(claims);
    if (!session) return void response.sendStatus(401);
    const task = await findTask(Number(request.params.id), Number(claims.sub));
    if (task) response.json({ success: true, task });
    else response.sendStatus(404);
  },
);
const server = app.listen(0, '127.0.0.1', () => printReady((server.address() as AddressInfo).port));
