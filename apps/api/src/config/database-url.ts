import { DatabaseUrlError, listServers, parseDatabaseUrl } from '@carillon/db/database-url';
import { ConfigError, type Environment, readVariable } from './environment.ts';

/** The URL of the database, null for the embedded one. Throws for one that cannot be used. */
export function readDatabaseUrl(env: Environment): string | null {
  const url = readVariable(env, 'DATABASE_URL');
  if (url === null) return null;
  try {
    for (const server of listServers(url)) parseDatabaseUrl(server);
    return url;
  } catch (error) {
    if (error instanceof DatabaseUrlError) throw new ConfigError(error.message);
    throw error;
  }
}
