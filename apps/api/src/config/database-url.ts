import { DatabaseUrlError, listServers, parseDatabaseUrl } from '@carillon/db/database-url';
import { ConfigError, type Environment, readVariable } from './environment.ts';

export interface DatabaseUrls {
  /** Null for the embedded database. */
  databaseUrl: string | null;
  /** Past the pooler of `databaseUrl`; null if there is none, or no other address. */
  databaseDirectUrl: string | null;
}

/** Throws for a URL that cannot be used. */
export function readDatabaseUrls(env: Environment): DatabaseUrls {
  const databaseUrl = readUrl(env, 'DATABASE_URL');
  const databaseDirectUrl = readUrl(env, 'DATABASE_DIRECT_URL');
  if (databaseDirectUrl !== null && databaseUrl === null) {
    throw new ConfigError(
      'DATABASE_DIRECT_URL is set, but DATABASE_URL is not: both lead to the same database, one past its pooler.',
    );
  }
  return { databaseUrl, databaseDirectUrl };
}

function readUrl(env: Environment, name: 'DATABASE_URL' | 'DATABASE_DIRECT_URL'): string | null {
  const url = readVariable(env, name);
  if (url === null) return null;
  try {
    for (const server of listServers(url)) parseDatabaseUrl(server);
    return url;
  } catch (error) {
    if (error instanceof DatabaseUrlError) throw new ConfigError(error.message.replace('DATABASE_URL', name));
    throw error;
  }
}
