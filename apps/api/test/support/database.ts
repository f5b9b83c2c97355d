import { DatabaseUnavailable, type Db, databaseErrorCode, queryRows, SQLSTATE } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import { until } from './until.ts';

/** All but the one that reads the list of providers, which is repeated after two seconds. */
const IS_TIMELESS = /^(?!select .* from "providers" order by)/s;

/** Counts the statements sent over `db` outside of transactions, until the returned function is called. */
export function countStatements(db: Db, which = IS_TIMELESS): () => number {
  let count = 0;
  const restores = [db, db.onSharedConnection].map((one) => {
    const client = Reflect.get(one as object, '$client') as { unsafe(...given: unknown[]): unknown };
    const { unsafe } = client;
    client.unsafe = (...given) => {
      if (which.test(String(given[0]))) count += 1;
      return unsafe.call(client, ...given);
    };
    return () => {
      client.unsafe = unsafe;
    };
  });
  return () => {
    for (const restore of restores) restore();
    return count;
  };
}

/** Counts the statements sent in transactions of `db`, until the returned function is called. */
export function countStatementsInTransactions(db: Db): () => number {
  type Send = (...given: unknown[]) => unknown;
  type Begin = (work: (client: { unsafe: Send }) => unknown) => unknown;
  let count = 0;
  const client = Reflect.get(db as object, '$client') as { begin: Begin };
  const { begin } = client;
  client.begin = (work) =>
    begin.call(client, (transaction) => {
      const { unsafe } = transaction;
      transaction.unsafe = (...given) => {
        if (IS_TIMELESS.test(String(given[0]))) count += 1;
        return unsafe.call(transaction, ...given);
      };
      return work(transaction);
    });
  return () => {
    client.begin = begin;
    return count;
  };
}

/** Resolves when `count` statements of this database wait for locks. Throws after a minute. */
export function untilBlocked(db: Db, count = 1): Promise<void> {
  const blocked = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return until(async () => (await queryRows(db, blocked)).length >= count);
}

/** Collects the deadlocks of the transactions of `ctx`, which are retried without a trace. */
export function recordDeadlocks(ctx: Context): unknown[] {
  const seen: unknown[] = [];
  const { db } = ctx;
  const transaction = db.transaction.bind(db);
  db.transaction = (...given) =>
    transaction(...given).catch((error: unknown) => {
      if (databaseErrorCode(error) === SQLSTATE.deadlock) seen.push(error);
      throw error;
    }) as never;
  return seen;
}

export type Interfere = (transact: () => Promise<unknown>) => Promise<unknown>;

/** A database whose transactions go through `interfere` once `armed`. */
export function interruptTransactions(db: Db, interfere: Interfere) {
  const state = { armed: false };
  const interrupted = new Proxy(db, {
    get(target, name, self) {
      if (name !== 'transaction' || !state.armed) return Reflect.get(target, name, self);
      return (...given: Parameters<Db['transaction']>) => interfere(() => target.transaction(...given));
    },
  });
  return { db: interrupted, state };
}

export const connectionLost = () => new DatabaseUnavailable('CONNECTION_CLOSED', 'The connection broke.');
