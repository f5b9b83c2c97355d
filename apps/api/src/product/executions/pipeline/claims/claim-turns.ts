import { randomInt } from 'node:crypto';
import { queryRows } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../../context.ts';

/** More at once start fewer executions each, and wait for the accounts of the same users: see docs/decisions/executions.md. */
const MAX_CLAIMS = 4;

/** Waits while four other claims are in progress, in all processes. The turn lasts until the transaction ends. */
export async function waitForTurn({ db }: Context): Promise<void> {
  await queryRows(
    db,
    sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.claimTurns}, coalesce((
        select turn from generate_series(1, ${MAX_CLAIMS}::int) turn
        where pg_try_advisory_xact_lock(${ADVISORY_LOCKS.claimTurns}, turn) limit 1
      ), ${randomInt(1, MAX_CLAIMS + 1)}::int))`,
  );
}
