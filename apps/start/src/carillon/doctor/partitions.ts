import { HISTORY } from '@carillon/api/retention/partitions/execution-partitions';
import { MONTHLY_TABLES } from '@carillon/api/retention/partitions/month-partitions';
import { MAX_ID } from '@carillon/contract/primitives';
import { type Db, queryRows } from '@carillon/db';
import { listPartitions } from '@carillon/db/partitions/partitions';
import { sql } from 'drizzle-orm';
import { type Finding, findingsFor } from './finding.ts';

const { ok, warning, problem } = findingsFor('partitions');
/** A running API process makes partitions within a minute, unless long statements keep the table in use. */
const LATE_MS = 3_600_000;
const WARNING_IDS = 0.7 * MAX_ID;
const PROBLEM_IDS = 0.95 * MAX_ID;

/** Checks that the partitions of this month and the next exist, and that ids for executions are left. */
export async function checkPartitions(db: Db, now: Date): Promise<Finding[]> {
  if (!(await arePartitioned(db))) return [];
  const missing = [...(await findTablesWithoutNextMonth(db, now)), ...(await findFullExecutions(db))];
  const ids = await checkIds(db);
  if (missing.length > 0) return [...missing.map(describeMissing), ...ids];
  return ids.length > 0 ? ids : [ok('the partitions of this month and the next exist')];
}

/** False before the migration that divides them. */
async function arePartitioned(db: Db): Promise<boolean> {
  const names = [...MONTHLY_TABLES, HISTORY].map(({ name }) => name);
  const found = await queryRows(
    db,
    sql`select from pg_class where relkind = 'p' and relname = any(${`{${names.join(',')}}`}::text[])`,
  );
  return found.length === names.length;
}

async function findTablesWithoutNextMonth(db: Db, now: Date): Promise<string[]> {
  const since = new Date(now.getTime() - LATE_MS);
  const end = Date.UTC(since.getUTCFullYear(), since.getUTCMonth() + 2);
  const missing: string[] = [];
  for (const table of MONTHLY_TABLES) {
    const last = (await listPartitions(db, table)).at(-1);
    if (last?.from && Date.parse(last.from) < end) missing.push(table.name);
  }
  return missing;
}

/** Executions whose ids are beyond the partitions made ahead. */
async function findFullExecutions(db: Db): Promise<string[]> {
  const last = (await listPartitions(db, HISTORY)).at(-1);
  return last?.from && (await readLastId(db)) >= Number(last.from) ? ['executions'] : [];
}

const describeMissing = (table: string): Finding =>
  warning(
    `${table} has no partition for new rows, which are stored in ${table}_later.`,
    'Start an API process, which makes it, or run pnpm carillon prune. If one runs, its log says which table is in use.',
  );

async function checkIds(db: Db): Promise<Finding[]> {
  const used = await readLastId(db);
  if (used < WARNING_IDS) return [];
  const percent = Math.floor((used / MAX_ID) * 100);
  const report = used < PROBLEM_IDS ? warning : problem;
  return [
    report(
      `${percent} % of the ids of executions are used, and none is used twice.`,
      'Plan a further installation: see "Cells of users" in docs/operating/scaling.md.',
    ),
  ];
}

/** 0 before the first, and without the privilege to read it. */
async function readLastId(db: Db): Promise<number> {
  const [row] = await queryRows<{ id: number | null }>(
    db,
    sql`select last_value::float8 as id from pg_sequences where sequencename = 'executions_id_seq'`,
  );
  return row?.id ?? 0;
}
