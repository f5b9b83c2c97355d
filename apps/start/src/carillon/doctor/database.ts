import type { Config } from '@carillon/api/lib/config/config';
import { type DoctorTexts, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { type Db, queryRows, toInstant } from '@carillon/db';
import { isBeforeFirst, readJournal } from '@carillon/db/journal';
import type { Pooling } from '@carillon/db/pool/pooling';
import { sql } from 'drizzle-orm';
import { explainDatabaseError } from './database-errors.ts';

const { ok, warning, problem } = findingsFor('database');
const MIN_VERSION = 150_000;
/** Tasks are due by the clocks of the API processes. */
const CLOCK_WARNING_MS = 2000;
const CLOCK_PROBLEM_MS = 15_000;
/** Of tables in a sentence. */
const MAX_NAMES = 3;

interface Facts {
  version: number;
  versionName: string;
  clock: string;
  encoding: string;
  standby: boolean;
  readOnly: boolean;
  canCreate: boolean;
  slots: number;
  used: number;
  ours: number;
  newest: string | null;
  withheld: string[];
  foreign: string[];
}

export interface DatabaseCheckOptions {
  config: Pick<Config, 'databasePool'>;
  /** Number of API processes that share the database. */
  processes: number;
  now: () => Date;
  pooling: Pooling;
  texts: DoctorTexts;
}

/** Checks server, privileges, connections and schema. `readable` is whether the tables can be read. */
export async function checkDatabase(
  db: Db,
  options: DatabaseCheckOptions,
): Promise<{ findings: Finding[]; readable: boolean }> {
  const { texts } = options;
  try {
    await queryRows(db, sql`select 1`);
    const before = options.now().getTime();
    const facts = await readFacts(db);
    const middle = (before + options.now().getTime()) / 2;
    const findings = [
      ...checkServer(facts, toInstant(facts.clock).getTime() - middle, texts),
      ...checkPrivileges(facts, texts),
      ...checkConnections(facts, options),
    ];
    const schema = checkSchema(facts, texts);
    const isKnown = facts.newest !== null && !isBeforeFirst({ when: Number(facts.newest) });
    return { findings: [...findings, schema], readable: isKnown && facts.withheld.length === 0 };
  } catch (error) {
    return { findings: [explainDatabaseError(error, texts)], readable: false };
  }
}

async function readFacts(db: Db): Promise<Facts> {
  const [facts] = await queryRows<Facts>(
    db,
    sql`
    with tables as (
      select oid, relname, relowner from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p'))
    select current_setting('server_version_num')::int as version, current_setting('server_version') as version_name,
      clock_timestamp() as clock, pg_encoding_to_char(d.encoding) as encoding,
      pg_is_in_recovery() as standby, current_setting('default_transaction_read_only')::bool as read_only,
      has_database_privilege(d.oid, 'create') and has_schema_privilege('public', 'create') as can_create,
      least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0),
        nullif(d.datconnlimit, -1), (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as slots,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
      (select count(*)::int from pg_stat_activity where datname = current_database() and application_name = 'carillon') as ours,
      coalesce((select json_agg(relname order by relname) from tables where not (has_table_privilege(oid, 'select')
        and has_table_privilege(oid, 'insert') and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))), '[]') as withheld,
      coalesce((select json_agg(relname order by relname) from tables where not pg_has_role(relowner, 'usage')), '[]') as foreign,
      null as newest
    from pg_database d where d.datname = current_database()`,
  );
  if (!facts) throw new Error('The statement returned no row.');
  return { ...facts, newest: await readNewestMigration(db) };
}

async function readNewestMigration(db: Db): Promise<string | null> {
  const [found] = await queryRows<{ exists: boolean }>(
    db,
    sql`select to_regclass('drizzle.__drizzle_migrations') is not null as exists`,
  );
  if (!found?.exists) return null;
  const [row] = await queryRows<{ newest: string | null }>(
    db,
    sql`select max(created_at)::text as newest from drizzle.__drizzle_migrations`,
  );
  return row?.newest ?? null;
}

function checkServer(
  { version, versionName, encoding, standby, readOnly }: Facts,
  clockMs: number,
  texts: DoctorTexts,
): Finding[] {
  const findings: Finding[] = [];
  if (version < MIN_VERSION) findings.push(problem(texts.postgresTooOld(versionName), texts.upgradePostgres));
  else findings.push(ok(texts.postgresAnswers(versionName)));
  if (encoding !== 'UTF8') findings.push(problem(texts.wrongEncoding(encoding), texts.useUtf8));
  if (standby) {
    findings.push(problem(texts.isStandby, texts.usePrimary));
  } else if (readOnly) {
    findings.push(problem(texts.readOnly, texts.endReadOnly));
  }
  const seconds = (Math.abs(clockMs) / 1000).toFixed(1);
  const report = Math.abs(clockMs) >= CLOCK_PROBLEM_MS ? problem : warning;
  if (Math.abs(clockMs) >= CLOCK_WARNING_MS) {
    findings.push(report(texts.databaseClock(seconds, clockMs > 0), texts.synchroniseClocks));
  }
  return findings;
}

function checkPrivileges({ canCreate, withheld, foreign, newest }: Facts, texts: DoctorTexts): Finding[] {
  if (withheld.length > 0) {
    return [
      problem(
        texts.tablesWithheld(withheld.slice(0, MAX_NAMES), Math.max(withheld.length - MAX_NAMES, 0)),
        texts.grantTables,
      ),
    ];
  }
  if (!canCreate || (newest !== null && foreign.length > 0)) {
    return [problem(texts.schemaFixed, texts.ownDatabase)];
  }
  return [];
}

function checkSchema({ newest }: Facts, texts: DoctorTexts): Finding {
  const { entries } = readJournal();
  if (newest === null) return warning(texts.noTables, texts.createdAtStart);
  if (isBeforeFirst({ when: Number(newest) })) {
    return problem(texts.schemaTooOld, texts.runUpgradeScript);
  }
  const at = entries.findIndex(({ when }) => when === Number(newest));
  const last = entries.length - 1;
  if (at === last) return ok(texts.schemaNewest(String(entries[last]?.tag)));
  const since = entries.filter(({ when }) => when > Number(newest)).length;
  if (since === 0) return problem(texts.schemaTooNew, texts.useNewerVersion);
  return warning(texts.migrationsMissing(since), texts.appliedAtStart);
}

function checkConnections(facts: Facts, { config, processes, pooling, texts }: DatabaseCheckOptions): Finding[] {
  const { slots, used, ours } = facts;
  // Behind a pooler in transaction mode a process listens past it, or not at all.
  const needed = (config.databasePool + (pooling.kind === 'transaction' ? 0 : 1)) * processes;
  const others = used - ours;
  const need = texts.connections(processes, config.databasePool, needed);
  if (pooling.kind === 'transaction') return [ok(texts.ofPooler(need))];
  if (needed > slots) return [problem(texts.moreThanAllowed(need, slots), texts.raiseConnections)];
  if (needed + others > slots) {
    return [warning(texts.othersUseConnections(need, others, slots), texts.raiseConnections)];
  }
  return [ok(texts.ofAllowed(need, slots))];
}
