import { setTimeout as delay } from 'node:timers/promises';
import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { enqueueDue, findNextDueAt } from '../executions/enqueue.ts';
import type { Span } from '../telemetry/tracing.ts';

/** The answer comes at the latest after so long; what is left goes on (decisions §6). */
const LONGEST_WAIT_MS = 50_000;
const LOOK_EVERY_MS = 50;

export interface TickOptions {
  /** Waits until what was claimed has ended; otherwise the counts are those of the claims. */
  wait: boolean;
}

/**
 * One call of the scheduler trigger: takes up all that is due, and what dead processes left behind (decisions §6).
 * Ticks may overlap; each counts what it took up itself.
 */
export function tick(ctx: Context, options: TickOptions) {
  return ctx.trace.span('scheduler tick', { 'carillon.tick.wait': options.wait }, (span) => takeUp(ctx, options, span));
}

async function takeUp(ctx: Context, { wait }: TickOptions, span: Span) {
  // What is due first: it has an instant to be on time for.
  const { queued, refused } = await enqueueDue(ctx);
  const rescued = (await hasAbandoned(ctx)) ? await ctx.worker.rescue() : [];
  span.set({
    'carillon.tick.queued': queued.length,
    'carillon.tick.refused': refused.length,
    'carillon.tick.rescued': rescued.length,
  });
  const claimed = [...queued, ...rescued];
  const ended = wait ? await waitUntilEnded(ctx, claimed) : { processed: claimed.length, failed: 0 };
  return {
    processed: ended.processed + refused.length,
    failed: ended.failed + refused.length,
    nextDueAt: await findNextDueAt(ctx),
  };
}

/** Whether a lease has ended: one statement, where taking over would be a transaction in each tick. */
async function hasAbandoned(ctx: Context): Promise<boolean> {
  const [row] = await queryRows<{ found: boolean }>(
    ctx.db,
    sql`
    select exists (
      select from executions where status = 'running' and lease_until < ${ctx.now().toISOString()}
    ) as found`,
  );
  return row?.found ?? false;
}

/** The executions may run in any process, so the database is asked. One that was deleted has ended uncounted. */
async function waitUntilEnded(ctx: Context, ids: readonly number[]) {
  if (ids.length === 0) return { processed: 0, failed: 0 };
  const deadline = performance.now() + LONGEST_WAIT_MS;
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
    await delay(LOOK_EVERY_MS);
  }
}
