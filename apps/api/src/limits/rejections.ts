import { recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { createBatcher } from '../queue/batcher.ts';
import { toUtcDay } from './quotas.ts';

interface LimitHit {
  userId: number;
  endpoint: string;
  at: Date;
}

/**
 * Returns a function that records a user's 429 under its endpoint and UTC day, for `rateLimits` of `GET /api/usage`
 * (decisions §10). A flood of them is written a batch at a time, so that being refused costs no more than being served.
 */
export const createRejectionRecorder = (ctx: Context) => createBatcher((hits: LimitHit[]) => writeHits(ctx, hits), 500);

async function writeHits({ db }: Context, hits: LimitHit[]): Promise<void> {
  const sums = new Map<string, { user_id: number; day: string; endpoint: string; hits: number; last_hit: string }>();
  for (const { userId, endpoint, at } of hits) {
    const day = toUtcDay(at);
    const key = `${userId} ${day} ${endpoint}`;
    sums.set(key, { user_id: userId, day, endpoint, hits: (sums.get(key)?.hits ?? 0) + 1, last_hit: at.toISOString() });
  }
  // In one order, so that two processes never wait for each other; and only for users who are not gone meanwhile.
  await db.execute(sql`
    insert into rate_hits as r (user_id, day, endpoint, hits, last_hit)
    select h.user_id, h.day, h.endpoint, h.hits, h.last_hit
    from jsonb_to_recordset(${recordset([...sums.values()])}::jsonb)
      as h(user_id int, day date, endpoint text, hits int, last_hit timestamptz)
    join users u on u.id = h.user_id
    order by h.user_id, h.day, h.endpoint
    for key share of u
    on conflict (user_id, day, endpoint) do update
      set hits = r.hits + excluded.hits, last_hit = greatest(r.last_hit, excluded.last_hit)`);
}
