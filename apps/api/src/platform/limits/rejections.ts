import { type Db, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { createBatcher } from '../../lib/queue/loops.ts';
import { toUtcDay } from './quotas.ts';

/** Whose request was refused, as the usage shows it. */
export interface Rejection {
  userId: number;
  endpoint: string;
}

/** Logs failures instead of throwing, because the answer is 429 either way. */
export async function recordRejection(ctx: Context, bucket: string, rejection?: Rejection): Promise<void> {
  ctx.metrics.rateLimited(bucket);
  if (!rejection) return;
  try {
    await rejectionBatcher(ctx.db)({ ...rejection, at: ctx.now() });
  } catch (error) {
    ctx.log.error({ err: error }, 'a 429 was not recorded');
  }
}

type Batcher = (rejection: Rejection & { at: Date }) => Promise<void>;
const batchers = new WeakMap<Db, Batcher>();

/** Batches writes, so that a flood of rejections stays cheap. */
function rejectionBatcher(db: Db): Batcher {
  const batcher: Batcher = batchers.get(db) ?? createBatcher((rejections) => writeRejections(db, rejections), 500);
  batchers.set(db, batcher);
  return batcher;
}

async function writeRejections(db: Db, rejections: (Rejection & { at: Date })[]): Promise<void> {
  const sums = new Map<string, { userId: number; day: string; endpoint: string; hits: number; lastHit: string }>();
  for (const { userId, endpoint, at } of rejections) {
    const day = toUtcDay(at);
    const key = `${userId} ${day} ${endpoint}`;
    const hits = (sums.get(key)?.hits ?? 0) + 1;
    sums.set(key, { userId, day, endpoint, hits, lastHit: at.toISOString() });
  }
  // Sorted, so that two processes cannot deadlock; the join leaves out users deleted meanwhile.
  await db.execute(sql`
    insert into rate_hits as r (user_id, day, endpoint, hits, last_hit)
    select h.user_id, h.day, h.endpoint, h.hits, h.last_hit
    from ${recordset('h', [...sums.values()], {
      userId: 'int',
      day: 'date',
      endpoint: 'text',
      hits: 'int',
      lastHit: 'timestamptz',
    })}
    join users u on u.id = h.user_id
    order by h.user_id, h.day, h.endpoint
    for key share of u
    on conflict (user_id, day, endpoint) do update
      set hits = r.hits + excluded.hits, last_hit = greatest(r.last_hit, excluded.last_hit)`);
}
