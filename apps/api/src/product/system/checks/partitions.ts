import { MAX_ID } from '@carillon/contract/primitives';
import { type Db, queryRows } from '@carillon/db';
import { listPartitions, type Partition } from '@carillon/db/partitions';
import { sql } from 'drizzle-orm';
import { HISTORY, readLastId } from '../../retention/partitions/execution-partitions.ts';
import { findMissingMonth, MONTHLY_TABLES } from '../../retention/partitions/month-partitions.ts';
import { type DoctorTexts, type Finding, findingsFor } from './finding.ts';

const { ok, warning, problem } = findingsFor('partitions');
/** A running API process makes partitions within a minute, unless long statements keep the table in use. */
const LATE_MS = 3_600_000;
const WARNING_IDS = 0.7 * MAX_ID;
const PROBLEM_IDS = 0.95 * MAX_ID;

/** Checks that the partitions of this month and the next exist, and that ids for executions are left. */
export async function checkPartitions(db: Db, now: Date, texts: DoctorTexts): Promise<Finding[]> {
  if (!(await canCheck(db))) return [];
  const lastId = await readLastId(db);
  const missing = await findTablesWithoutNextMonth(db, now);
  const { from } = (await listPartitions(db, HISTORY)).at(-1) as Partition;
  if (lastId >= Number(from)) missing.push('executions');
  const found = [
    ...missing.map((table) => warning(texts.noPartition(table), texts.makePartition)),
    ...checkIds(lastId, texts),
  ];
  return found.length > 0 ? found : [ok(texts.partitionsExist)];
}

/** False before the migration that divides the tables, and for a user who may not read the last id. */
async function canCheck(db: Db): Promise<boolean> {
  const names = [...MONTHLY_TABLES, HISTORY].map(({ name }) => name);
  const found = await queryRows(
    db,
    sql`select from pg_class where relkind = 'p' and relname = any(${`{${names.join(',')}}`}::text[])
      and has_sequence_privilege('executions_id_seq', 'select')`,
  );
  return found.length === names.length;
}

async function findTablesWithoutNextMonth(db: Db, now: Date): Promise<string[]> {
  const since = new Date(now.getTime() - LATE_MS);
  const missing: string[] = [];
  for (const table of MONTHLY_TABLES) if (await findMissingMonth(db, table, since)) missing.push(table.name);
  return missing;
}

function checkIds(lastId: number, texts: DoctorTexts): Finding[] {
  if (lastId < WARNING_IDS) return [];
  const percent = Math.floor((lastId / MAX_ID) * 100);
  const report = lastId < PROBLEM_IDS ? warning : problem;
  return [report(texts.idsUsed(percent), texts.planInstallation)];
}
