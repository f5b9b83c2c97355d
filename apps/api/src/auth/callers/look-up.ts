import { type Db, preparedQuery } from '@carillon/db';
import { type CountedRequest, countValues } from '../../limits/windows.ts';
import type { OwnedRow } from '../../queries/owned-row.ts';
import { batchByTurn } from './batch-by-turn.ts';
import { type BatchQuery, prepareBatchQuery } from './batch-query.ts';
import {
  type CallerQuery,
  type Credentials,
  type FoundRow,
  type Kind,
  kindOf,
  prepareCallerQuery,
} from './caller-queries.ts';

export interface LookUp {
  credentials: Credentials;
  count: CountedRequest | null;
  load: { from: OwnedRow; id: number } | null;
  now: Date;
}

type Find = (asked: LookUp) => Promise<FoundRow | null>;

const MAX_BATCH = 50;

/** By what is read with the caller. */
const finders = {
  session: new WeakMap<Db, Map<OwnedRow | null, Find>>(),
  apiKey: new WeakMap<Db, Map<OwnedRow | null, Find>>(),
};

/**
 * Finds a caller, together with those of requests that arrive at the same time: with 20 callers in one statement, PostgreSQL
 * needs 25 µs for each instead of 87. Returns null if there is none.
 */
export function lookUp(db: Db, asked: LookUp): Promise<FoundRow | null> {
  const kind = kindOf(asked.credentials);
  const loads = asked.load?.from ?? null;
  const known = finders[kind].get(db) ?? new Map<OwnedRow | null, Find>();
  finders[kind].set(db, known);
  const find = known.get(loads) ?? createFinder(db, kind, loads);
  known.set(loads, find);
  return find(asked);
}

function createFinder(db: Db, kind: Kind, loads: OwnedRow | null): Find {
  const prepare = <Query extends object>(build: (db: Db, kind: Kind, loads: OwnedRow | null) => Query) =>
    preparedQuery((db) => build(db, kind, loads), { connection: 'shared' })(db);
  const single = prepare(prepareCallerQuery);
  const batched = prepare(prepareBatchQuery);
  return batchByTurn(async (batch: LookUp[]) => {
    const [only] = batch;
    return only && batch.length === 1 ? [await findOne(single, only)] : findSeveral(batched, batch);
  }, MAX_BATCH);
}

async function findOne(query: CallerQuery, { credentials, count, load, now }: LookUp): Promise<FoundRow | null> {
  const values = { ...credentials, ...countValues(count), now: now.toISOString(), rowId: load?.id };
  const [found] = await query.execute(values);
  return found ?? null;
}

async function findSeveral(query: BatchQuery, batch: readonly LookUp[]): Promise<(FoundRow | null)[]> {
  const column = (toElement: (asked: LookUp) => string | number | null | undefined) =>
    `{${batch.map((asked) => toElement(asked) ?? 'null').join(',')}}`;
  const found = await query.execute({
    now: latest(batch.map(({ now }) => now)),
    credentials: column(({ credentials }) => ('keyHash' in credentials ? credentials.keyHash : credentials.sessionId)),
    userIds: column(({ credentials }) => ('keyHash' in credentials ? null : credentials.userId)),
    rowIds: column(({ load }) => load?.id),
    countKeys: column(({ count }) => count && `"${count.key}"`),
    countAt: latest(batch.flatMap(({ count }) => count?.at ?? [])),
    countEndsAt: latest(batch.flatMap(({ count }) => (count ? new Date(count.at.getTime() + count.windowMs) : []))),
  });
  const results: (FoundRow | null)[] = batch.map(() => null);
  for (const { asked, counted, ...row } of found) {
    const window = counted && { count: counted.count - asked.later, endsAt: counted.endsAt };
    results[asked.position - 1] = { ...row, counted: window };
  }
  return results;
}

const latest = (instants: readonly Date[]): string | null =>
  instants.length === 0 ? null : new Date(Math.max(...instants.map(Number))).toISOString();
