import { type Db, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { ApiKeyUse } from '../../../context.ts';

interface Used {
  keyId: string;
  period: string;
  requests: number;
  at: Date;
}

export function createApiKeyUse(db: Db): ApiKeyUse {
  let pending = new Map<string, Used>();

  function add({ keyId, period, requests, at }: Used) {
    const id = `${keyId} ${period}`;
    const known = pending.get(id);
    if (!known) pending.set(id, { keyId, period, requests, at });
    else {
      known.requests += requests;
      if (at > known.at) known.at = at;
    }
  }

  return {
    count: (keyId, at) => add({ keyId, period: at.toISOString().slice(0, 'YYYY-MM'.length), requests: 1, at }),
    async flush() {
      if (pending.size === 0) return;
      const used = pending;
      pending = new Map();
      try {
        await record(db, [...used.values()]);
      } catch (error) {
        for (const one of used.values()) add(one);
        throw error;
      }
    },
  };
}

/** Keys that were deleted meanwhile are left out. Locks keys in the order of their ids, as other processes do. */
async function record(db: Db, used: readonly Used[]): Promise<void> {
  const columns = { keyId: 'uuid', period: 'text', requests: 'int', at: 'timestamptz' };
  await db.execute(sql`
    with used as materialized (
      select k.id, r.period, r.requests, r.at
      from ${recordset('r', used, columns)} join api_keys k on k.id = r.key_id
      order by k.id for no key update of k
    ), touched as (
      update api_keys k set last_used_at = greatest(k.last_used_at, u.at)
      from (select id, max(at) as at from used group by id) u where k.id = u.id
    )
    insert into api_key_usage as known (key_id, period, requests) select id, period, requests from used
    on conflict (key_id, period) do update set requests = known.requests + excluded.requests`);
}
