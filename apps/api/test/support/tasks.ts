import { randomUUID } from 'node:crypto';
import { uploads, uploadTotals } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';
import { createWorker } from '../../src/entry/worker.ts';
import type { Ai, AiOutcome } from '../../src/lib/ai/client.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import type { Person } from './people.ts';

/** A task that is due an hour after `START`. */
export const TASK = {
  name: 'Morning news',
  prompt: 'Tell me what happened overnight.',
  scheduledFor: '2026-11-20T11:00:00.000Z',
  recurrence: 'daily',
  timezone: 'UTC',
};

export const INVALID_IDS = ['0', '-1', '2147483648', '99999999999999999999', '1.5', '1e3', 'abc', 'null', '%00', '%20'];

/** Creates a task by HTTP from `TASK` and `given`, and returns its id. */
export async function postTask(app: FastifyInstance, { headers }: Person, given: object = {}): Promise<number> {
  const payload = { ...TASK, ...given };
  const answer = await app.inject({ method: 'POST', url: '/api/agent/create-task', headers, payload });
  if (answer.statusCode !== 201) throw new Error(answer.body);
  return answer.json().taskId;
}

export const patchTask = (app: FastifyInstance, { headers }: Person, id: number, payload: object) =>
  app.inject({ method: 'PATCH', url: `/api/tasks/${id}`, headers, payload });

/** Inserts the row of an upload without an object in file storage. */
export async function insertUpload(
  ctx: Context,
  { id: userId }: Person,
  url = `https://files.example.com/${randomUUID()}`,
) {
  const id = randomUUID();
  const file = { name: 'a.txt', type: 'text/plain', size: 1, storage: 'blob', storageKey: id } as const;
  await ctx.db.insert(uploads).values({ id, userId, url, ...file, uploadedAt: ctx.now() });
  const { bytes, files } = uploadTotals;
  await ctx.db
    .insert(uploadTotals)
    .values({ userId, bytes: 1, files: 1 })
    .onConflictDoUpdate({ target: uploadTotals.userId, set: { bytes: sql`${bytes} + 1`, files: sql`${files} + 1` } });
  return { id, url };
}

export async function readTask(app: FastifyInstance, { headers }: Person, id: number) {
  return (await app.inject({ url: `/api/tasks/${id}`, headers })).json().task;
}

/** Enqueues due tasks and completes all queued executions. */
export async function runDue(ctx: Context): Promise<void> {
  await enqueueDue(ctx);
  await createWorker(ctx).drain();
}

export const createFixedAi = (outcome: AiOutcome): Ai => ({ ask: async () => outcome, close: async () => {} });

/** A retryable error. */
export const BUSY_OUTCOME: AiOutcome & { ok: false } = {
  ok: false,
  errorCode: 'RATE_LIMIT_EXCEEDED',
  message: 'The provider is busy.',
  retryable: true,
  retryAfterMs: null,
  durationMs: 5,
  usage: null,
};

/** A permanent error. */
export const REFUSED_OUTCOME: AiOutcome = {
  ...BUSY_OUTCOME,
  errorCode: 'INVALID_REQUEST',
  message: 'No such model.',
  retryable: false,
};
