import { idempotencyKeys, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';
import type { Person } from './people.ts';
import { TASK } from './tasks.ts';

/** Sends a POST with an `Idempotency-Key`. */
export const postWithKey = (
  app: FastifyInstance,
  { headers }: Person,
  url: string,
  key: string,
  payload?: object | string,
) => app.inject({ method: 'POST', url, headers: { ...headers, 'idempotency-key': key }, ...(payload && { payload }) });

export const createTaskWithKey = (app: FastifyInstance, person: Person, key: string, given: object = {}) =>
  postWithKey(app, person, '/api/agent/create-task', key, { ...TASK, ...given });

export const countTasks = (ctx: Context, { id }: Person) => ctx.db.$count(tasks, eq(tasks.userId, id));

/** The claims and answers of a user. */
export const readKeys = (ctx: Context, { id }: Person) =>
  ctx.db.select().from(idempotencyKeys).where(eq(idempotencyKeys.userId, id));
