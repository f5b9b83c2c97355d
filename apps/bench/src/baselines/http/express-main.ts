import type { AddressInfo } from 'node:net';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { type Claims, LIMIT, printReady } from './server.ts';
import { createSessionAndTask } from './session-and-task.ts';

const { verify, find } = await createSessionAndTask();
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
    const { session, task } = await find(response.locals.claims as Claims, Number(request.params.id));
    if (!session) response.sendStatus(401);
    else if (task) response.json({ success: true, task });
    else response.sendStatus(404);
  },
);
const server = app.listen(0, '127.0.0.1', () => printReady((server.address() as AddressInfo).port));
