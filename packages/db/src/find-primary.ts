import { listServers } from './database-url.ts';
import { SQLSTATE } from './errors.ts';
import { openSingleConnection } from './open-postgres.ts';

/**
 * The URL of the primary among the servers of a `DATABASE_URL`; a single server is not asked. Throws the error of the first
 * server, which is a read-only one for a standby.
 */
export async function findPrimary(databaseUrl: string): Promise<string> {
  const servers = listServers(databaseUrl);
  if (servers.length === 1) return servers[0];
  let failure: unknown;
  for (const server of servers) {
    const client = openSingleConnection(server);
    try {
      const [row] = await client`select pg_is_in_recovery() as is_standby`;
      if (!row?.is_standby) return server;
      failure ??= standbyError();
    } catch (error) {
      failure ??= error;
    } finally {
      await client.end({ timeout: 0 });
    }
  }
  throw failure;
}

const standbyError = (): Error =>
  Object.assign(new Error('The server is a standby, which is read-only.'), { code: SQLSTATE.readOnly });
