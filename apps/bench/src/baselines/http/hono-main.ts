import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import { type Claims, LIMIT, printReady } from './server.ts';
import { createSessionAndTask } from './session-and-task.ts';

const { verify, find } = await createSessionAndTask();
type Variables = { claims: Claims };
const app = new Hono<{ Variables: Variables }>();
app.get(
  '/tasks/:id',
  async (c, next) => {
    c.set('claims', verify(c.req.header('authorization')));
    await next();
  },
  rateLimiter<{ Variables: Variables }>({
    windowMs: LIMIT.windowMs,
    limit: LIMIT.max,
    keyGenerator: (c) => c.get('claims').sub,
  }),
  async (c) => {
    const { session, task } = await find(c.get('claims'), Number(c.req.param('id')));
    if (!session) return c.body(null, 401);
    return task ? c.json({ success: true, task }) : c.body(null, 404);
  },
);
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => printReady(port));
