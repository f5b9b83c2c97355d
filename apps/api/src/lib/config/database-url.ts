import { DatabaseUrlError, listReadServers, listServers, parseDatabaseUrl } from '@carillon/db/database-url';
import { ConfigError, type Environment, readVariable } from './environment.ts';

interface DatabaseUrls {
  /** Null for the embedded database. */
  databaseUrl: string | null;
  /** Past the pooler of `databaseUrl`; null if there is none, or no other address. */
  databaseDirectUrl: string | null;
  /** Of standbys; null if there are none. */
  databaseReadUrl: string | null;
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
  const databaseReadUrl = readUrl(env, 'DATABASE_READ_URL');
  if (databaseReadUrl !== null && databaseUrl === null) {
    throw new ConfigError('DATABASE_READ_URL is set, but DATABASE_URL is not: it leads to standbys of that database.');
  }
  return { databaseUrl, databaseDirectUrl, databaseReadUrl };
}

function readUrl(env: Environment, name: 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATABASE_READ_URL'): string | null {
  const url = readVariable(env, name);
  if (url === null) return null;
  const list = name === 'DATABASE_READ_URL' ? listReadServers : listServers;
  try {
    for (const server of list(url)) parseDatabaseUrl(server);
    return url;
  } catch (error) {
    if (error instanceof DatabaseUrlError) throw new ConfigError(error.message.replace('DATABASE_URL', name));
    throw error;
  }
}
