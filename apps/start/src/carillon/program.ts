import { VERSION } from '@carillon/api/config/config';
import { Command, CommanderError } from 'commander';
import { backupCommand } from './backup.ts';
import { CommandFailure, type Surroundings } from './command.ts';
import { createAdminCommand } from './create-admin.ts';
import { doctorCommand } from './doctor.ts';
import { pruneCommand } from './prune.ts';
import { restoreCommand } from './restore.ts';
import { secretsCommand } from './secrets-rotate.ts';
import { usageCommand } from './usage-verify.ts';

const WRONG_USAGE = 2;

/**
 * Runs what the arguments say and tells the exit code: 0 when it is done, 1 when it failed, in one line, or found what
 * it looks for, 2 for arguments that it does not take. `usage verify` and `secrets rotate` end with 2 when they cannot tell.
 */
export async function runCarillon(args: string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  let exitCode = 0;
  const surroundings: Surroundings = {
    env,
    signal,
    endWith: (code) => {
      exitCode = code;
    },
  };
  const program = new Command('carillon')
    .description('Runs and repairs an installation of Carillon. Settings come from the environment and from .env.')
    .version(VERSION)
    .showHelpAfterError('Add --help for what it takes.')
    .exitOverride();
  for (const add of [
    doctorCommand,
    createAdminCommand,
    backupCommand,
    restoreCommand,
    pruneCommand,
    usageCommand,
    secretsCommand,
  ])
    add(program, surroundings);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    if (!(error instanceof CommandFailure)) throw error;
    console.error(error.message);
    return error.exitCode;
  }
}
