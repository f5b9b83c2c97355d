import { setTimeout as delay } from 'node:timers/promises';
import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { hasExpiredLease } from '../../lib/queue/leases.ts';
import type { Span } from '../../lib/telemetry/tracing.ts';
import { inTransaction } from '../../transaction.ts';
import { findNextDueAt } from '../executions/pipeline/enqueue.ts';
import { pipeline } from '../executions/pipeline.ts';

/** The executions continue after the answer. */
const MAX_WAIT_MS = 50_000;
const POLL_MS = 50;

interface TickOptions {
  /** Otherwise all queued executions count as processed. */
  wait: boolean;
}

/** Ticks may overlap; each counts only what it queued. */
export function tick(ctx: Context, options: TickOptions) {
  return ctx.trace.span('scheduler tick', { 'carillon.tick.wait': options.wait }, (span) =>
    runTick(ctx, options, span),
  );
}

async function runTick(ctx: Context, { wait }: TickOptions, span: Span) {
  const { queued, refused } = await pipeline.enqueue(ctx);
  const rescued = (await inTransaction(ctx, isAnyExpired)) ? await ctx.worker.rescue() : [];
  span.set({
    'carillon.tick.queued': queued.length,
    'carillon.tick.refused': refused.length,
    'carillon.tick.rescued': rescued.length,
  });
  const ids = [...queued, ...rescued];
  const ended = wait ? await waitUntilEnded(ctx, ids) : { processed: ids.length, failed: 0 };
  return {
    processed: ended.processed + refused.length,
    failed: ended.failed + refused.length,
    nextDueAt: await inTransaction(ctx, findNextDueAt),
  };
}

/** Cheaper than the transaction of a rescue at every tick. Plan: `executions_running`. */
async function isAnyExpired({ db }: Context): Promise<boolean> {
  const [row] = await queryRows<{ found: boolean }>(
    db,
    sql`select exists (select from executions_live e where e.status = 'running' and ${hasExpiredLease('e')}) as found`,
  );
  return row?.found ?? false;
}

/** Polls, since any process may run them. Deleted executions count as ended. */
async function waitUntilEnded(ctx: Context, ids: readonly number[]) {
  if (ids.length === 0) return { processed: 0, failed: 0 };
  const deadline = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const [row] = await queryRows<{ processed: number; failed: number; open: number }>(
      ctx.db,
      sql`
      select count(*) filter (where status in ('completed', 'failed'))::int as processed,
        count(*) filter (where status = 'failed')::int as failed,
        count(*) filter (where status in ('pending', 'running'))::int as open
      from executions where id = any(${`{${ids.join(',')}}`}::int[])`,
    );
    const { processed = 0, failed = 0, open = 0 } = row ?? {};
    if (open === 0 || performance.now() >= deadline || ctx.worker.stopping.aborted) return { processed, failed };
    await delay(POLL_MS);
  }
}
