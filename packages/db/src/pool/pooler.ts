import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { openPostgres } from '../open-postgres.ts';

/** More idle connections of the pooler than this may hide a loss, which then shows as refused requests. */
const MAX_OTHERS = 8;
/** A pooler without a free connection lets its client wait. */
const MAX_WAIT_MS = 2000;

/** A pooler that cannot be used; the message is one line for the operator. */
export class PoolerError extends Error {}

export const POOLER_FIX = 'set pool_mode = session in PgBouncer, or connect to PostgreSQL directly';

/**
 * Throws a `PoolerError` if a pooler before the database loses prepared statements: one that gives each transaction any
 * server connection. While other transactions hold the server connection of the first, its statement runs on another.
 */
export async function assertStatementsKept(url: string): Promise<void> {
  const clients: postgres.Sql[] = [];
  const open = () => {
    const client = openPostgres(url, { max: 1, fetch_types: false, onnotice: () => {}, connect_timeout: 5 });
    clients.push(client);
    return client;
  };
  try {
    const own = open();
    const { serverPid, clientPid } = await askServer(own);
    // A pooler gives its clients process ids of its own.
    if (serverPid === clientPid) return;
    const waiting = new AbortController();
    const search = async () => {
      for (let others = 0; others < MAX_OTHERS; others++) {
        const other = open();
        await other.unsafe('begin');
        await askServer(other);
        if ((await askServer(own)).isLost) throw lostStatements(url);
      }
    };
    const timeout = delay(MAX_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => {});
    const searching = search();
    // It ends with an error when the clients are closed.
    searching.catch(() => {});
    await Promise.race([searching, timeout]).finally(() => waiting.abort());
  } finally {
    await Promise.all(clients.map((client) => client.end({ timeout: 0 })));
  }
}

async function askServer(client: postgres.Sql) {
  // The driver remembers only statements with parameters.
  const text = 'select pg_backend_pid() as pid, $1::int';
  const query = client.unsafe<{ pid: number }[]>(text, [1], { prepare: true });
  const answer = await query;
  // The driver prepares a lost statement again, and leaves the error here.
  const { retried } = query as { retried?: Error };
  const isLost = retried !== undefined && retried !== null;
  return { serverPid: answer[0]?.pid, clientPid: (answer as { state?: { pid: number } }).state?.pid, isLost };
}

const lostStatements = (url: string) =>
  new PoolerError(`The pooler at ${new URL(url).host} loses prepared statements: ${POOLER_FIX}.`);
