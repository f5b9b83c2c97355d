import type { Config } from '@carillon/api/config/config';
import { type Db, queryRows, toInstant } from '@carillon/db';
import { readJournal } from '@carillon/db/journal';
import { sql } from 'drizzle-orm';
import { type Finding, findingsOf } from './finding.ts';
import { unusable } from './unusable.ts';

const { ok, warning, fault } = findingsOf('database');
const LEAST_VERSION = 150_000;
/** Leases and schedules are compared between machines. */
const CLOCK_WARNING_MS = 2000;
const CLOCK_FAULT_MS = 15_000;

interface Facts {
  version: number;
  versionName: string;
  clock: string;
  encoding: string;
  readOnly: boolean;
  canCreate: boolean;
  slots: number;
  used: number;
  ours: number;
  newest: string | null;
  withheld: string[];
  foreign: string[];
}

export interface DatabaseMeans {
  config: Pick<Config, 'databasePool'>;
  /** How many API processes are to share the database. */
  processes: number;
  now: () => Date;
}

/** What keeps the service from using a database, or will. `readable` tells whether its tables can be looked at. */
export async function examineDatabase(
  db: Db,
  means: DatabaseMeans,
): Promise<{ findings: Finding[]; readable: boolean }> {
  try {
    await queryRows(db, sql`select 1`);
    const before = means.now().getTime();
    const facts = await readFacts(db);
    const middle = (before + means.now().getTime()) / 2;
    const findings = [
      ...ofServer(facts, toInstant(facts.clock).getTime() - middle),
      ...ofPrivileges(facts),
      ...ofConnections(facts, means),
    ];
    const schema = ofSchema(facts);
    return { findings: [...findings, schema], readable: facts.newest !== null && facts.withheld.length === 0 };
  } catch (error) {
    return { findings: [unusable(error)], readable: false };
  }
}

async function readFacts(db: Db): Promise<Facts> {
  const [facts] = await queryRows<Facts>(
    db,
    sql`
    with tables as (
      select oid, relname, relowner from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r')
    select current_setting('server_version_num')::int as version, current_setting('server_version') as "versionName",
      clock_timestamp() as clock, pg_encoding_to_char(d.encoding) as encoding,
      pg_is_in_recovery() or current_setting('default_transaction_read_only')::bool as "readOnly",
      has_database_privilege(d.oid, 'create') and has_schema_privilege('public', 'create') as "canCreate",
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
  if (!facts) throw new Error('The database told nothing of itself.');
  return { ...facts, newest: await newestOf(db) };
}

async function newestOf(db: Db): Promise<string | null> {
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

function ofServer({ version, versionName, encoding, readOnly }: Facts, clockMs: number): Finding[] {
  const findings: Finding[] = [];
  if (version < LEAST_VERSION)
    findings.push(fault(`PostgreSQL is ${versionName}, but has to be 15 or newer.`, 'Upgrade it.'));
  else findings.push(ok(`PostgreSQL ${versionName} answers`));
  if (encoding !== 'UTF8')
    findings.push(fault(`Its encoding is ${encoding}.`, 'Create the database anew with the encoding UTF8.'));
  if (readOnly) findings.push(fault('It is read-only, as a standby is.', 'Set DATABASE_URL to the primary server.'));
  const seconds = (Math.abs(clockMs) / 1000).toFixed(1);
  const say = Math.abs(clockMs) >= CLOCK_FAULT_MS ? fault : warning;
  if (Math.abs(clockMs) >= CLOCK_WARNING_MS) {
    findings.push(
      say(
        `Its clock is ${seconds} s ${clockMs > 0 ? 'ahead of' : 'behind'} this machine's.`,
        'Keep both in time by NTP.',
      ),
    );
  }
  return findings;
}

function ofPrivileges({ canCreate, withheld, foreign, newest }: Facts): Finding[] {
  if (withheld.length > 0) {
    return [
      fault(
        `This user may not read and write ${listed(withheld)}.`,
        'Grant all privileges on the tables, or make the user their owner.',
      ),
    ];
  }
  if (!canCreate || (newest !== null && foreign.length > 0)) {
    return [
      fault(
        'This user may not change the schema: no migration can be applied.',
        'Make the user the owner of the database and its tables.',
      ),
    ];
  }
  return [];
}

const listed = (names: readonly string[]) =>
  names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more tables` : '');

function ofSchema({ newest }: Facts): Finding {
  const { entries } = readJournal();
  if (newest === null) return warning('It has no tables yet.', 'They are made at the first start.');
  const at = entries.findIndex(({ when }) => when === Number(newest));
  const last = entries.length - 1;
  if (at === last) return ok(`its schema is the newest, ${entries[last]?.tag}`);
  const since = entries.filter(({ when }) => when > Number(newest)).length;
  if (since === 0)
    return fault(
      'Its schema is of a newer Carillon than this one.',
      'Run that version, or restore a backup of this one.',
    );
  return warning(`${since} migrations are not applied yet.`, 'They are at the next start, or by pnpm db:migrate.');
}

function ofConnections({ slots, used, ours }: Facts, { config, processes }: DatabaseMeans): Finding[] {
  const needed = config.databasePool * processes;
  const others = used - ours;
  const what = `${processes} API processes with DATABASE_POOL=${config.databasePool} need up to ${needed} connections`;
  if (needed > slots)
    return [fault(`${what}, but the server has ${slots} for them.`, 'Raise max_connections, or lower DATABASE_POOL.')];
  if (needed + others > slots) {
    return [
      warning(
        `${what}, and ${others} of the ${slots} that there are belong to others.`,
        'Raise max_connections, or lower DATABASE_POOL.',
      ),
    ];
  }
  return [ok(`${what}, of ${slots}`)];
}
