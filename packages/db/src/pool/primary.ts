import { listServers } from '../database-url.ts';
import { type Connection, type ConnectionSettings, openConnection } from './connection.ts';

/** The rest of the deadline is for the statement that waits for the connection. */
const CONNECT_SHARE = 0.75;

/** The servers of one database, of which one is the primary. */
export interface Servers {
  readonly urls: readonly string[];
  /** The index of the server that accepted the latest connection. */
  latest: number;
}

/** Throws a `DatabaseUrlError`. */
export const createServers = (databaseUrl: string): Servers => ({ urls: listServers(databaseUrl), latest: 0 });

/**
 * Opens a connection to the primary, beginning with the latest server. Of several servers, standbys are skipped. Rejects with
 * the `DatabaseUnavailable` of the server that was tried first.
 */
export async function openPrimaryConnection(
  servers: Servers,
  settings: ConnectionSettings,
  onLost: (error: Error) => void,
): Promise<Connection> {
  const { urls, latest } = servers;
  const connectMs = (settings.deadlineMs * CONNECT_SHARE) / urls.length;
  let failure: unknown;
  for (let tried = 0; tried < urls.length; tried++) {
    const index = (latest + tried) % urls.length;
    let connection: Connection | undefined;
    try {
      const server = { url: urls[index] as string, connectMs, mustBePrimary: urls.length > 1 };
      connection = await openConnection(server, settings, (error) => connection && onLost(error));
      servers.latest = index;
      return connection;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}
