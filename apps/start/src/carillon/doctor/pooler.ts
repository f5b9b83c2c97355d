import type { Config } from '@carillon/api/lib/config/config';
import { type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { connect, type Db, queryRows } from '@carillon/db';
import { findPrimary } from '@carillon/db/find-primary';
import { describePooling, findPooling, type Pooling } from '@carillon/db/pool/pooling';
import { sql } from 'drizzle-orm';
import { explainDatabaseError } from './database-errors.ts';

const { ok, warning, problem } = findingsFor('database');
const SEE = 'see "Poolers" in docs/operating/postgresql.md';

/** What is between the processes and the server at `url`. Throws a `PoolerError`. */
export async function findPoolingOf(
  { databasePrepare }: Pick<Config, 'databasePrepare'>,
  url: string,
): Promise<Pooling> {
  return findPooling(await findPrimary(url), databasePrepare === 'true' ? 'true' : 'auto');
}

/** Checks `DATABASE_DIRECT_URL`, and what a pooler in transaction mode needs. */
export async function checkPooler(
  db: Db,
  pooling: Pooling,
  { databaseDirectUrl, databasePrepare }: Pick<Config, 'databaseDirectUrl' | 'databasePrepare'>,
): Promise<Finding[]> {
  const findings = [ok(`it is reached ${describePooling(pooling)}`)];
  if (databasePrepare === 'false' && pooling.keepsStatements) {
    findings.push(warning('No statement is prepared, although they could be.', 'Remove DATABASE_PREPARE=false.'));
  }
  if (pooling.kind === 'transaction') findings.push(...(await checkTimeouts(db)));
  if (databaseDirectUrl !== null) return [...findings, ...(await checkDirect(db, databaseDirectUrl))];
  if (pooling.kind !== 'transaction') return findings;
  return [
    ...findings,
    warning(
      'DATABASE_DIRECT_URL is not set: migrations and backups hold a connection of the pooler, and wake-ups of other programs are not heard.',
      `Set it to the address of PostgreSQL itself: ${SEE}.`,
    ),
  ];
}

async function checkTimeouts(db: Db): Promise<Finding[]> {
  const [row] = await queryRows<{ timeout: string }>(db, sql`select current_setting('statement_timeout') as timeout`);
  if (row?.timeout !== '0') return [];
  return [
    warning(
      'Its role has no statement_timeout, so statements that were given up keep running on the server.',
      `Set it with alter role: ${SEE}.`,
    ),
  ];
}

/** The start of the server and the database, which no two have in common. */
async function readIdentity(db: Db): Promise<string | undefined> {
  const [row] = await queryRows<{ id: string }>(
    db,
    sql`select extract(epoch from pg_postmaster_start_time())::text || ' ' || oid as id
      from pg_database where datname = current_database()`,
  );
  return row?.id;
}

async function checkDirect(db: Db, url: string): Promise<Finding[]> {
  try {
    const pooling = await findPooling(await findPrimary(url), 'auto');
    const { db: direct, close } = connect(url, { max: 1, applicationName: 'carillon doctor' });
    try {
      if ((await readIdentity(direct)) !== (await readIdentity(db))) {
        return [problem('DATABASE_DIRECT_URL leads to another database.', 'Correct its address or the name.')];
      }
    } finally {
      await close();
    }
    if (pooling.kind === 'transaction') {
      return [
        problem(
          'DATABASE_DIRECT_URL leads to a pooler in transaction mode.',
          'Set it to the address of PostgreSQL itself.',
        ),
      ];
    }
    return [ok('DATABASE_DIRECT_URL leads to the same database')];
  } catch (error) {
    const { message, ...finding } = explainDatabaseError(error);
    return [{ ...finding, message: `DATABASE_DIRECT_URL: ${message}` }];
  }
}
