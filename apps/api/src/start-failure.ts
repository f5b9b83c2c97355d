import { EmbeddedPostgresError } from '@carillon/db/embedded/server';
import { findConnectFailure } from '@carillon/db/errors';
import { type Config, ConfigError } from './config/config.ts';

/**
 * The one line that tells the operator why the start failed and what to do; null for a bug, whose stack is wanted.
 * `config` is null while it could not be read yet.
 */
export function explainStartFailure(error: unknown, config: Config | null): string | null {
  if (error instanceof ConfigError || error instanceof EmbeddedPostgresError) return error.message;
  if (!(error instanceof Error) || !config) return systemLine(error);
  const { code, syscall, hostname } = error as NodeJS.ErrnoException & { hostname?: string };
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && hostname === config.host)) {
    if (code === 'EADDRINUSE') return `Port ${config.port} is taken: stop the other program or set PORT.`;
    if (code === 'EACCES') return `Port ${config.port} is not open to this user: set PORT to 1024 or above.`;
    return `HOST is ${JSON.stringify(config.host)}, which this machine cannot listen at (${code}).`;
  }
  const cause = findConnectFailure(error);
  if (config.databaseUrl && cause) {
    const { host } = new URL(config.databaseUrl);
    const { code, message } = cause;
    return `The database at ${host} cannot be used (${message || code}): correct DATABASE_URL, or unset it for the embedded one.`;
  }
  return systemLine(error);
}

/** Files and folders outside the data folder are only read, and by readers that explain themselves. */
function systemLine(error: unknown): string | null {
  const { path, syscall, message } = (error ?? {}) as NodeJS.ErrnoException;
  return path && syscall ? `${message}: DATA_DIR has to be a folder that this user can write into.` : null;
}
