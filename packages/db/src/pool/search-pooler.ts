import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { openSingleConnection } from '../open-postgres.ts';

/** How the statements of a connection reach the server. */
export interface Pooling {
  /** `transaction`: a pooler gives each transaction any connection to the server, so nothing may be left in a session. */
  kind: 'direct' | 'session' | 'transaction';
  /** Whether a prepared statement is found again. */
  keepsStatements: boolean;
}

/** More idle connections of the pooler than this may hide that it changes them. */
const MAX_OTHERS = 8;
/** A pooler without a free connection lets its client wait. */
const MAX_WAIT_MS = 100;
/** The connection of the first client is held by another. */
const MAX_ANSWER_MS = 1000;
const UNREF = { ref: false };

/**
 * Finds out whether a pooler gives each transaction any connection to the server: while other transactions hold the one of
 * the first client, its statement runs on another, where it is found or lost, or waits. The first client is `given`, because a
 * pooler may have no other connection left.
 */
export async function searchPooler(url: string, given?: postgres.Sql): Promise<Pooling> {
  const opened: postgres.Sql[] = [];
  const open = () => {
    const client = openSingleConnection(url, { prepare: true });
    opened.push(client);
    return client;
  };
  try {
    const own = given ?? open();
    const first = await askServer(own);
    if (first.serverPid === first.clientPid) return { kind: 'direct', keepsStatements: true };
    for (let others = 0; others < MAX_OTHERS; others++) {
      const begun = open().unsafe('begin; select 1');
      await Promise.race([begun.catch(() => {}), delay(MAX_WAIT_MS, undefined, UNREF)]);
      const asking = askServer(own);
      const next = await Promise.race([asking, delay(MAX_ANSWER_MS, undefined, UNREF)]);
      if (!next) {
        // With so few connections, nothing tells whether others keep the statement. It ends before the next one is sent.
        await closeAll(opened.filter((client) => client !== own));
        await asking;
        return { kind: 'transaction', keepsStatements: false };
      }
      if (next.isLost || next.serverPid !== first.serverPid)
        return { kind: 'transaction', keepsStatements: !next.isLost };
    }
    return { kind: 'session', keepsStatements: true };
  } finally {
    await closeAll(opened);
  }
}

const closeAll = (clients: readonly postgres.Sql[]) => Promise.all(clients.map((client) => client.end({ timeout: 0 })));

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
