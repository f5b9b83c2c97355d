import type { Config } from '@carillon/api/lib/config/config';
import { type DoctorTexts, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { connect, type Db, queryRows } from '@carillon/db';
import { findPrimary } from '@carillon/db/find-primary';
import { findPooling, type Pooling } from '@carillon/db/pool/pooling';
import { sql } from 'drizzle-orm';
import { explainDatabaseError } from './database-errors.ts';

const { ok, warning, problem } = findingsFor('database');

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
  texts: DoctorTexts,
): Promise<Finding[]> {
  const { kind, keepsStatements } = pooling;
  const findings = [ok(kind === 'direct' ? texts.reachedDirectly : texts.reachedByPooler(kind, keepsStatements))];
  if (databasePrepare === 'false' && keepsStatements) {
    findings.push(warning(texts.notPrepared, texts.prepare));
  }
  if (kind === 'transaction') findings.push(...(await checkTimeouts(db, texts)));
  if (databaseDirectUrl !== null) return [...findings, ...(await checkDirect(db, databaseDirectUrl, texts))];
  if (kind !== 'transaction') return findings;
  return [...findings, warning(texts.noDirectUrl, texts.setDirectUrl)];
}

async function checkTimeouts(db: Db, texts: DoctorTexts): Promise<Finding[]> {
  const [row] = await queryRows<{ timeout: string }>(db, sql`select current_setting('statement_timeout') as timeout`);
  if (row?.timeout !== '0') return [];
  return [warning(texts.noStatementTimeout, texts.setStatementTimeout)];
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

async function checkDirect(db: Db, url: string, texts: DoctorTexts): Promise<Finding[]> {
  try {
    const pooling = await findPooling(await findPrimary(url), 'auto');
    const { db: direct, close } = connect(url, { max: 1, applicationName: 'carillon doctor' });
    try {
      if ((await readIdentity(direct)) !== (await readIdentity(db))) {
        return [problem(texts.directToOther, texts.correctDirect)];
      }
    } finally {
      await close();
    }
    if (pooling.kind === 'transaction') {
      return [problem(texts.directToPooler, texts.useServerItself)];
    }
    return [ok(texts.directSame)];
  } catch (error) {
    const { message, ...finding } = explainDatabaseError(error, texts);
    return [{ ...finding, message: `DATABASE_DIRECT_URL: ${message}` }];
  }
}
