import type postgres from 'postgres';
import { type Pooling, searchPooler } from './search-pooler.ts';

export type { Pooling } from './search-pooler.ts';

/** `auto`: find out; `true`: throw a `PoolerError` if they are lost; `false`: use nothing of a session, and prepare none. */
export type PrepareSetting = 'auto' | 'true' | 'false';

/** A pooler that cannot be used; the message is one line for the operator. */
export class PoolerError extends Error {}

const UNKNOWN_POOLER: Pooling = { kind: 'transaction', keepsStatements: false };

/** Of the servers that this process has connected to, by their URLs. */
const found = new Map<string, Pooling>();
const searches = new Map<string, Promise<Pooling>>();

/** Asks the server of `url` over `client` or a connection of its own, once in a process. Throws a `PoolerError`. */
export async function findPooling(url: string, prepare: PrepareSetting, client?: postgres.Sql): Promise<Pooling> {
  if (prepare === 'false') return UNKNOWN_POOLER;
  const pooling = found.get(url) ?? (await search(url, client));
  found.set(url, pooling);
  if (prepare === 'true' && !pooling.keepsStatements) throw lostStatements(url);
  return pooling;
}

/** After a statement was lost: the pooler is another one, or has other settings. */
export const forgetPooling = (url: string): boolean => found.delete(url);

/** How the server is reached, for operators. */
export function describePooling({ kind, keepsStatements }: Pooling): string {
  if (kind === 'direct') return 'without a pooler';
  return `through a pooler in ${kind} mode, ${keepsStatements ? 'with' : 'without'} prepared statements`;
}

/** One search at a time: its transactions would hold the connections of another. */
function search(url: string, client?: postgres.Sql): Promise<Pooling> {
  const running = searches.get(url) ?? searchPooler(url, client).finally(() => searches.delete(url));
  searches.set(url, running);
  return running;
}

const lostStatements = (url: string) =>
  new PoolerError(
    `The pooler at ${new URL(url).host} loses prepared statements: remove DATABASE_PREPARE=true, or set max_prepared_statements in PgBouncer 1.21 or newer.`,
  );
