import { describeServers } from '@carillon/db/database-url';
import { EmbeddedPostgresError } from '@carillon/db/embedded/server';
import { findConnectFailure } from '@carillon/db/errors';
import { SchemaTooOldError } from '@carillon/db/journal';
import { PoolerError } from '@carillon/db/pool/pooling';
import type { Texts } from '@carillon/texts';
import { type Config, ConfigError } from '../lib/config/config.ts';

const KNOWN = [ConfigError, EmbeddedPostgresError, PoolerError, SchemaTooOldError];

/** Null for a bug, whose stack is needed. `config` is null if loading it failed. */
export function explainStartFailure(error: unknown, config: Config | null, texts: Texts): string | null {
  const { commands } = texts;
  if (KNOWN.some((kind) => error instanceof kind)) return (error as Error).message;
  if (!(error instanceof Error) || !config) return explainFileError(error, texts);
  const { code, syscall, hostname } = error as NodeJS.ErrnoException & { hostname?: string };
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && hostname === config.host)) {
    if (code === 'EADDRINUSE') return commands.portTaken(config.port);
    if (code === 'EACCES') return commands.portClosed(config.port);
    return commands.hostUnusable(JSON.stringify(config.host), String(code));
  }
  const failure = findConnectFailure(error);
  const { databaseUrl, databaseDirectUrl } = config;
  if (databaseUrl && failure) {
    const reason = String(failure.message || failure.code);
    const server = describeServers(databaseUrl);
    return databaseDirectUrl
      ? commands.databasesUnusable(server, describeServers(databaseDirectUrl), reason)
      : commands.databaseUnusable(server, reason);
  }
  return explainFileError(error, texts);
}

/** Other files are only read, and their readers throw their own errors. */
function explainFileError(error: unknown, { commands }: Texts): string | null {
  const { path, syscall, message } = (error ?? {}) as NodeJS.ErrnoException;
  return path && syscall ? commands.folderUnusable(message) : null;
}
