import type { Db } from '@carillon/db';
import type { SessionClaims } from '../../context.ts';
import { type CountedRequest, countValues } from '../../limits/windows.ts';
import type { OwnedRow } from '../../queries/owned-row.ts';
import { batchByTurn } from '../../queue/turn-batches.ts';
import { batchQuery } from './batch-query.ts';
import { callerQuery, type FoundRow, type Kind } from './caller-queries.ts';

export interface LookUp {
  credentials: SessionClaims | { keyHash: string };
  count: CountedRequest | null;
  load: { from: OwnedRow; id: number } | null;
  now: Date;
}

type Find = (lookUp: LookUp) => Promise<FoundRow | null>;

const MAX_BATCH = 50;

const finders = new WeakMap<Db, Map<string, Map<OwnedRow | null, Find>>>();

/**
 * Finds a caller, together with those of requests that arrive at the same time: with 20 callers in a statement, each costs the
 * database 25 µs instead of 87, and the process a third of its time for statements. Returns null if there is none.
 */
export function lookUp(db: Db, asked: LookUp): Promise<FoundRow | null> {
  const kind = 'keyHash' in asked.credentials ? 'apiKey' : 'session';
  return getFinder(db, kind, asked.load?.from ?? null)(asked);
}

function getFinder(db: Db, kind: Kind, loads: OwnedRow | null): Find {
  const ofDatabase = finders.get(db) ?? new Map<string, Map<OwnedRow | null, Find>>();
  finders.set(db, ofDatabase);
  const ofKind = ofDatabase.get(kind) ?? new Map<OwnedRow | null, Find>();
  ofDatabase.set(kind, ofKind);
  const find = ofKind.get(loads) ?? createFinder(db, kind, loads);
  ofKind.set(loads, find);
  return find;
}

function createFinder(db: Db, kind: Kind, loads: OwnedRow | null): Find {
  return batchByTurn(async (batch: LookUp[]) => {
    const [only] = batch;
    return only && batch.length === 1 ? [await findOne(db, kind, loads, only)] : findSeveral(db, kind, loads, batch);
  }, MAX_BATCH);
}

async function findOne(db: Db, kind: Kind, loads: OwnedRow | null, { credentials, count, load, now }: LookUp) {
  const [found] = await callerQuery(
    kind,
    loads,
  )(db).execute({ ...credentials, ...countValues(count), now: now.toISOString(), rowId: load?.id });
  return found ?? null;
}

async function findSeveral(db: Db, kind: Kind, loads: OwnedRow | null, batch: readonly LookUp[]) {
  const column = (toElement: (asked: LookUp) => string | number | null | undefined) =>
    `{${batch.map((asked) => toElement(asked) ?? 'null').join(',')}}`;
  const found = await batchQuery(
    kind,
    loads,
  )(db).execute({
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
