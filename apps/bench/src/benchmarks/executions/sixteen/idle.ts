import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { readDatabaseProcessorSeconds } from '../../../environment/resources.ts';

const REST_MS = { quick: 100, full: 5000 };
const MEASURED_MS = { quick: 2000, full: 30_000 };

export interface IdleCost {
  /** Most transactions are a single statement. */
  transactionsPerSecond: number;
  processorPercent: number;
}

/** What the processes of a database cost while nothing is due. */
export async function measureIdle(db: Db, { quick }: { quick: boolean }): Promise<IdleCost> {
  const size = quick ? 'quick' : 'full';
  await delay(REST_MS[size]);
  const before = await readTotals(db);
  await delay(MEASURED_MS[size]);
  const after = await readTotals(db);
  const seconds = (after.at - before.at) / 1000;
  return {
    transactionsPerSecond: (after.transactions - before.transactions) / seconds,
    processorPercent: ((after.processorSeconds - before.processorSeconds) / seconds) * 100,
  };
}

async function readTotals(db: Db) {
  const [row] = await queryRows<{ transactions: number }>(
    db,
    sql`select (xact_commit + xact_rollback)::float8 as transactions from pg_stat_database where datname = current_database()`,
  );
  const processorSeconds = await readDatabaseProcessorSeconds(db);
  return { at: performance.now(), transactions: row?.transactions ?? Number.NaN, processorSeconds };
}
