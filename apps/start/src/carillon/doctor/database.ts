import type { Config } from '@carillon/api/lib/config/config';
import { type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { type Db, queryRows, toInstant } from '@carillon/db';
import { isBeforeFirst, readJournal } from '@carillon/db/journal';
import type { Pooling } from '@carillon/db/pool/pooling';
import { sql } from 'drizzle-orm';
import { formatCount } from '../formatting.ts';
import { explainDatabaseError } from './database-errors.ts';

const { ok, warning, problem } = findingsFor('database');
const MIN_VERSION = 150_000;
/** Tasks are due by the clocks of the API processes. */
const CLOCK_WARNING_MS = 2000;
const CLOCK_PROBLEM_MS = 15_000;

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
}

/** Checks server, privileges, connections and schema. `readable` is whether the tables can be read. */
export async function checkDatabase(
  db: Db,
  options: DatabaseCheckOptions,
): Promise<{ findings: Finding[]; readable: boolean }> {
  try {
    await queryRows(db, sql`select 1`);
    const before = options.now().getTime();
    const facts = await readFacts(db);
    const middle = (before + options.now().getTime()) / 2;
    const findings = [
      ...checkServer(facts, toInstant(facts.clock).getTime() - middle),
      ...checkPrivileges(facts),
      ...checkConnections(facts, options),
    ];
    const schema = checkSchema(facts);
    const isKnown = facts.newest !== null && !isBeforeFirst({ when: Number(facts.newest) });
    return { findings: [...findings, schema], readable: isKnown && facts.withheld.length === 0 };
  } catch (error) {
    return { findings: [explainDatabaseError(error)], readable: false };
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

function checkServer({ version, versionName, encoding, standby, readOnly }: Facts, clockMs: number): Finding[] {
  const findings: Finding[] = [];
  if (version < MIN_VERSION)
    findings.push(problem(`PostgreSQL is ${versionName}, but must be 15 or newer.`, 'Upgrade it.'));
  else findings.push(ok(`PostgreSQL ${versionName} answers`));
  if (encoding !== 'UTF8')
    findings.push(problem(`Its encoding is ${encoding}.`, 'Create the database again with the encoding UTF8.'));
  if (standby) {
    findings.push(problem('It is a standby, which is read-only.', 'Set DATABASE_URL to the primary server.'));
  } else if (readOnly) {
    findings.push(
      problem('It is read-only: default_transaction_read_only is on.', 'Switch it off for the database and the user.'),
    );
  }
  const seconds = (Math.abs(clockMs) / 1000).toFixed(1);
  const report = Math.abs(clockMs) >= CLOCK_PROBLEM_MS ? problem : warning;
  if (Math.abs(clockMs) >= CLOCK_WARNING_MS) {
    findings.push(
      report(
        `Its clock is ${seconds} s ${clockMs > 0 ? 'ahead of' : 'behind'} this machine's.`,
        'Synchronise both clocks by NTP.',
      ),
    );
  }
  return findings;
}

function checkPrivileges({ canCreate, withheld, foreign, newest }: Facts): Finding[] {
  if (withheld.length > 0) {
    return [
      problem(
        `This user cannot read and write ${formatTables(withheld)}.`,
        'Grant all privileges on the tables, or make the user their owner.',
      ),
    ];
  }
  if (!canCreate || (newest !== null && foreign.length > 0)) {
    return [
      problem(
        'This user cannot change the schema, so no migration can be applied.',
        'Make the user the owner of the database and its tables.',
      ),
    ];
  }
  return [];
}

const formatTables = (names: readonly string[]) =>
  names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more tables` : '');

function checkSchema({ newest }: Facts): Finding {
  const { entries } = readJournal();
  if (newest === null) return warning('It has no tables yet.', 'They are created at the first start.');
  if (isBeforeFirst({ when: Number(newest) })) {
    return problem('Its schema is from before 0000_initial.', 'Run the script in docs/operating/upgrade.md once.');
  }
  const at = entries.findIndex(({ when }) => when === Number(newest));
  const last = entries.length - 1;
  if (at === last) return ok(`its schema is the newest, ${entries[last]?.tag}`);
  const since = entries.filter(({ when }) => when > Number(newest)).length;
  if (since === 0)
    return problem(
      'Its schema belongs to a newer version of Carillon.',
      'Run that version, or restore a backup of this version.',
    );
  return warning(`Migrations not applied yet: ${since}.`, 'They are applied at the next start, or by pnpm db:migrate.');
}

function checkConnections(facts: Facts, { config, processes, pooling }: DatabaseCheckOptions): Finding[] {
  const { slots, used, ours } = facts;
  // Behind a pooler in transaction mode a process listens past it, or not at all.
  const needed = (config.databasePool + (pooling.kind === 'transaction' ? 0 : 1)) * processes;
  const others = used - ours;
  const need = `${formatCount(processes, 'API process', 'API processes')} with DATABASE_POOL=${config.databasePool} can use ${needed} connections`;
  if (pooling.kind === 'transaction') return [ok(`${need} of the pooler, whose limit is max_client_conn`)];
  if (needed > slots)
    return [problem(`${need}, but the server allows ${slots}.`, 'Raise max_connections, or lower DATABASE_POOL.')];
  if (needed + others > slots) {
    return [
      warning(
        `${need}, and others use ${others} of the ${slots} that the server allows.`,
        'Raise max_connections, or lower DATABASE_POOL.',
      ),
    ];
  }
  return [ok(`${need} of the ${slots} that the server allows`)];
}
