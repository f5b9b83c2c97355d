import { describeServers } from '@carillon/db/database-url';
import { EmbeddedPostgresError } from '@carillon/db/embedded/server';
import { findConnectFailure } from '@carillon/db/errors';
import { SchemaTooOldError } from '@carillon/db/journal';
import { PoolerError } from '@carillon/db/pool/pooling';
import { type Config, ConfigError } from '../lib/config/config.ts';

const KNOWN = [ConfigError, EmbeddedPostgresError, PoolerError, SchemaTooOldError];

/** Null for a bug, whose stack is needed. `config` is null if loading it failed. */
export function explainStartFailure(error: unknown, config: Config | null): string | null {
  if (KNOWN.some((kind) => error instanceof kind)) return (error as Error).message;
  if (!(error instanceof Error) || !config) return explainFileError(error);
  const { code, syscall, hostname } = error as NodeJS.ErrnoException & { hostname?: string };
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && hostname === config.host)) {
    if (code === 'EADDRINUSE') return `Port ${config.port} is taken: stop the other program or set PORT.`;
    if (code === 'EACCES') return `Port ${config.port} is not open to this user: set PORT to 1024 or above.`;
    return `HOST is ${JSON.stringify(config.host)}, which this machine cannot listen at (${code}).`;
  }
  const failure = findConnectFailure(error);
  const { databaseUrl, databaseDirectUrl } = config;
  if (databaseUrl && failure) {
    const cause = `cannot be used (${failure.message || failure.code})`;
    return databaseDirectUrl
      ? `The database at ${describeServers(databaseUrl)}, or at ${describeServers(databaseDirectUrl)}, ${cause}: correct DATABASE_URL or DATABASE_DIRECT_URL.`
      : `The database at ${describeServers(databaseUrl)} ${cause}: correct DATABASE_URL, or unset it for the embedded one.`;
  }
  return explainFileError(error);
}

/** Other files are only read, and their readers throw their own errors. */
function explainFileError(error: unknown): string | null {
  const { path, syscall, message } = (error ?? {}) as NodeJS.ErrnoException;
  return path && syscall ? `${message}: DATA_DIR has to be a folder that this user can write into.` : null;
}
