import { type Config, loadConfig } from '@carillon/api/config/config';
import type { Environment } from '@carillon/api/config/environment';
import { explainStartFailure } from '@carillon/api/start-failure';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import { databaseErrorCode, SQLSTATE } from '@carillon/db/errors';
import type { Command } from 'commander';

export interface Surroundings {
  env: Environment;
  /** Aborted when the operator wants the command to end. */
  signal: AbortSignal;
  /** Sets the exit code of a command that did what it should: 0 unless told. */
  endWith(code: number): void;
}

/** Adds a command to the program. */
export type AddCommand = (program: Command, surroundings: Surroundings) => void;

/** Ends the command with a line for its operator. */
export class CommandFailure extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Calls `work` with the settings. What goes wrong becomes a `CommandFailure`, whose one line says what to do where that
 * can be told. `exitCode` is what it ends with.
 */
export async function withConfig<T>(
  { env }: Surroundings,
  work: (config: Config) => Promise<T>,
  exitCode = 1,
): Promise<T> {
  let config: Config | null = null;
  try {
    config = loadConfig(env);
    return await work(config);
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(lineOf(error, config), exitCode);
  }
}

function lineOf(error: unknown, config: Config | null): string {
  const hasNoTables = databaseErrorCode(error) === SQLSTATE.undefinedTable;
  if (hasNoTables) return 'The database has no tables yet: start Carillon first.';
  const explained = explainStartFailure(error, config);
  if (explained) return explained;
  // Drizzle's own message holds the whole statement, with what people have saved.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s*\n\s*/g, ' ');
}

/** Calls `work` with the address of the database, an embedded one where none is set, which is started for it. */
export async function withDatabase<T>(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  work: (url: string) => Promise<T>,
): Promise<T> {
  if (databaseUrl !== null) return work(databaseUrl);
  const { url, stop } = await startEmbeddedPostgres({ dataDir });
  try {
    return await work(url);
  } finally {
    await stop();
  }
}
