import { apiKeys, type Db, sessions, settings, users } from '@carillon/db';
import { and, eq, gt, isNull, or, type SQL, type Subquery, sql } from 'drizzle-orm';
import { buildCounts, type RateWindow } from '../../limits/windows.ts';
import type { OwnedRow } from '../../queries/owned-row.ts';
import { type FoundRow, type Kind, keyCallerFields, sessionCallerFields } from './caller-queries.ts';

export interface BatchRow extends Omit<FoundRow, 'counted'> {
  asked: {
    /** Of the request in the batch, from 1 on. */
    position: number;
    /** Requests behind it that were counted in the same window. */
    later: number;
  };
  /** After all requests of the batch. */
  counted: RateWindow | null;
}

export interface BatchQuery {
  execute(values: Record<string, unknown>): Promise<BatchRow[]>;
}

const array = (name: string, type: 'text' | 'uuid' | 'int') => sql`${sql.placeholder(name)}::${sql.raw(type)}[]`;
const now = sql<Date>`${sql.placeholder('now')}::timestamptz`;

const asked = (credential: 'text' | 'uuid'): SQL => sql`unnest(${array('credentials', credential)},
  ${array('userIds', 'int')}, ${array('rowIds', 'int')}, ${array('countKeys', 'text')})
  with ordinality asked(credential, user_id, row_id, count_key, n)`;

const askedFields = {
  position: sql<number>`asked.n::int`.as('position'),
  rowId: sql<number | null>`asked.row_id`.as('row_id'),
  countKey: sql<string | null>`asked.count_key || ${users.id}`.as('count_key'),
  later: sql<number>`(count(*) over (partition by asked.count_key || ${users.id})
    - row_number() over (partition by asked.count_key || ${users.id} order by asked.n))::int`.as('later'),
};

const bySession = (db: Db) =>
  db.$with('caller').as(
    db
      .select({ ...sessionCallerFields(db), ...askedFields })
      .from(asked('uuid'))
      .innerJoin(
        sessions,
        and(
          sql`${sessions.id} = asked.credential`,
          sql`${sessions.userId} = asked.user_id`,
          gt(sessions.expiresAt, now),
        ),
      )
      .innerJoin(users, and(eq(users.id, sessions.userId), eq(users.isActive, true))),
  );

const byApiKey = (db: Db) =>
  db.$with('caller').as(
    db
      .select({ ...keyCallerFields(db), ...askedFields })
      .from(asked('text'))
      .innerJoin(
        apiKeys,
        and(sql`${apiKeys.secretHash} = asked.credential`, or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now))),
      )
      .innerJoin(users, and(eq(users.id, apiKeys.userId), eq(users.isActive, true))),
  );

/** Does for several requests what `prepareCallerQuery` does for one. */
export function prepareBatchQuery(db: Db, kind: Kind, loads: OwnedRow | null): BatchQuery {
  const caller = kind === 'session' ? bySession(db) : byApiKey(db);
  const counted = db.$with('counted').as(buildCounts(db, caller, caller.countKey));
  const mode = db.$with('mode').as(db.select({ maintenance: settings.maintenanceMode }).from(settings));
  const parts = {
    asked: columnsOf(caller, ['position', 'later']),
    caller: columnsOf(caller, Object.keys(kind === 'session' ? sessionCallerFields(db) : keyCallerFields(db))),
    counted: columnsOf(counted, ['count', 'endsAt']),
    mode: columnsOf(mode, ['maintenance']),
  };
  const select = db
    .with(caller, counted, mode)
    .select(loads ? { ...parts, row: loads.fields } : parts)
    .from(caller)
    .leftJoin(counted, eq(counted.key, caller.countKey))
    .innerJoin(mode, sql`true`);
  if (!loads) return select.prepare(`find_callers_by_${kind}`) as unknown as BatchQuery;
  const { table } = loads;
  return select
    .leftJoin(table, and(eq(table.id, caller.rowId), eq(table.userId, caller.id)))
    .prepare(`find_callers_and_rows_by_${kind}`) as unknown as BatchQuery;
}

const columnsOf = (subquery: Subquery, names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [name, (subquery as unknown as Record<string, SQL.Aliased>)[name] as SQL.Aliased]),
  );
