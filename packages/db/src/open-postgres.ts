import postgres from 'postgres';
import { parseDatabaseUrl } from './database-url.ts';

/** Opens a client of the driver, which connects with its first statement. Throws a `DatabaseUrlError`. */
export function openPostgres(databaseUrl: string, options: postgres.Options<Record<string, never>>) {
  const { url, ssl } = parseDatabaseUrl(databaseUrl);
  return postgres(url, ssl ? { ...options, ssl } : options);
}
