import { explainStartFailure } from '@carillon/api/entry/start-failure';
import { type Config, loadConfig } from '@carillon/api/lib/config/config';
import type { Environment } from '@carillon/api/lib/config/environment';
import { BackupError } from '@carillon/db/backup/snapshot';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import { databaseErrorCode, SQLSTATE } from '@carillon/db/errors';
import type { Texts } from '@carillon/texts';
import type { Command } from 'commander';

export interface CommandContext {
  env: Environment;
  /** Aborted when the operator presses Ctrl-C. */
  signal: AbortSignal;
  /** In the language of the terminal. */
  texts: Texts;
  /** For a command that ran to its end. Default: 0. */
  setExitCode(code: number): void;
}

export type AddCommand = (program: Command, context: CommandContext) => void;

/** Ends the command; the message is the line that the operator sees. */
export class CommandFailure extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Loads the settings and calls `work`. Throws any error as a `CommandFailure` of one line with this exit code. */
export async function withConfig<T>(
  { env, texts }: CommandContext,
  work: (config: Config) => Promise<T>,
  exitCode = 1,
): Promise<T> {
  let config: Config | null = null;
  try {
    config = loadConfig(env);
    return await work(config);
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(explainFailure(error, config, texts), exitCode);
  }
}

function explainFailure(error: unknown, config: Config | null, texts: Texts): string {
  if (databaseErrorCode(error) === SQLSTATE.undefinedTable) {
    return texts.commands.noTables;
  }
  if (error instanceof BackupError) return texts.commands.backupProblems[error.problem](error.detail);
  const explained = explainStartFailure(error, config, texts);
  if (explained) return explained;
  // Drizzle's message quotes the statement with its parameters, so only its cause is shown.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s*\n\s*/g, ' ');
}

/** Calls `work` with the URL of the database, past its pooler. Starts and stops the embedded one if no URL is set. */
export async function withDatabase<T>(
  { databaseUrl, databaseDirectUrl, dataDir }: Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'dataDir'>,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const given = databaseDirectUrl ?? databaseUrl;
  if (given !== null) return work(given);
  const { url, stop } = await startEmbeddedPostgres({ dataDir });
  try {
    return await work(url);
  } finally {
    await stop();
  }
}
