import { randomInt } from 'node:crypto';
import { executions, occurrences, tasks, users } from '@carillon/db';
import type { Context } from '../context.ts';
import { claimExecutions } from '../executions/pipeline/claims/claim.ts';
import { completeAndClaim } from '../executions/pipeline/claims/complete-and-claim.ts';
import { enqueueDue } from '../executions/pipeline/enqueue.ts';
import { toUtcDay } from '../limits/quotas.ts';
import { NO_METRICS } from '../telemetry/metrics.ts';
import { NO_TRACE } from '../telemetry/tracing.ts';

/** Statements are prepared on each connection, and a tick and a claim use two at the same time. */
const CONNECTIONS = 2;
/** The other connections of a start are still in use during the first one. */
const REPEATS = 2;
/** Earlier than all tasks, so that only the made-up one is due. */
const PLANNED_AT = new Date('2000-01-01T00:00:00Z');

/**
 * Loads what the first run needs, and has its statements prepared by a made-up task, of which nothing is stored: only ids of
 * usage records are skipped. Calls no provider. Logs errors, because a process works without it.
 */
export async function warmUp(ctx: Context): Promise<void> {
  try {
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      await Promise.all(Array.from({ length: CONNECTIONS }, () => runMadeUpTask(ctx)));
    }
    // Last, because it occupies the thread for some 20 ms, and health checks are answered meanwhile.
    await import('../ai/provider-call.ts');
  } catch (error) {
    ctx.log.warn({ err: error }, 'the warm-up failed: the first runs take longer');
  }
}

class RolledBack extends Error {}

async function runMadeUpTask(ctx: Context): Promise<void> {
  const worker = { ...ctx.worker, wakeExecutions() {}, wakeDeliveries() {} };
  const silent = { ...ctx, now: () => PLANNED_AT, worker, metrics: NO_METRICS, trace: NO_TRACE };
  // Without `inTransaction`, which commits: here, nothing but the error can end the transaction.
  const rollingBack = ctx.db.transaction(async (db) => {
    const lastWrites: NonNullable<Context['beforeCommit']> = new Map();
    const tx: Context = { ...silent, db, beforeCommit: lastWrites, onCommit: [] };
    const userId = await insertMadeUpTask(tx);
    // Its occurrence is known, so that no execution takes an id: the first one of an installation should be 1.
    await enqueueDue(tx);
    // All other users have higher ids and come later. The second claim has no free slot for them.
    const { started } = await claimExecutions(tx, { limit: 1, after: userId - 1 });
    const results = started.map(({ id, claimToken }) => ({ id, claimToken, ...ANSWER }));
    if (results.length > 0) await completeAndClaim(tx, results, { limit: 0, after: userId });
    for (const [write, items] of lastWrites) await write(tx, items as never[]);
    throw new RolledBack();
  });
  await rollingBack.catch((error) => {
    if (!(error instanceof RolledBack)) throw error;
  });
}

/** A due task with a queued execution, with negative ids, which no stored row has. Returns the user's id. */
async function insertMadeUpTask({ db }: Context): Promise<number> {
  const id = -randomInt(1, 2 ** 31 - 1);
  const name = `warm-up ${id}`;
  await db.insert(users).overridingSystemValue().values({ id, identityUserId: name, email: name, name, plan: 'pro' });
  await db.insert(tasks).overridingSystemValue().values({
    id,
    userId: id,
    name,
    prompt: name,
    scheduledFor: PLANNED_AT,
    nextExecutionAt: PLANNED_AT,
    recurrence: 'daily',
    timezone: 'UTC',
    aiModel: name,
    maxTokens: 1,
    temperature: 0,
    createdAt: PLANNED_AT,
    updatedAt: PLANNED_AT,
  });
  await db.insert(occurrences).values({ taskId: id, plannedFor: PLANNED_AT, fate: 'ran', recordedAt: PLANNED_AT });
  await db
    .insert(executions)
    .overridingSystemValue()
    .values({
      id,
      taskId: id,
      userId: id,
      status: 'pending',
      trigger: 'schedule',
      plannedFor: PLANNED_AT,
      runAt: PLANNED_AT,
      queuedAt: PLANNED_AT,
      usageDay: toUtcDay(PLANNED_AT),
      createdAt: PLANNED_AT,
    });
  return id;
}

const USAGE = { model: 'warm-up', inputTokens: 1, outputTokens: 1, estimated: false, costUsd: 0 };
const ANSWER = { ok: true, text: 'warm', output: null, comparison: null, usage: USAGE, durationMs: 1 } as const;
