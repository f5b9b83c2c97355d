import { getTerminalTexts } from '@carillon/api/entry/banner';
import { VERSION } from '@carillon/api/lib/config/config';
import { Command, CommanderError } from 'commander';
import { addBackupCommand } from './backup.ts';
import { type CommandContext, CommandFailure } from './command.ts';
import { addCreateAdminCommand } from './create-admin.ts';
import { addDoctorCommand } from './doctor.ts';
import { addKeysCommand } from './keys.ts';
import { addProcesses } from './processes.ts';
import { addPruneCommand } from './prune.ts';
import { addResetFactorsCommand } from './reset-factors.ts';
import { addRestoreCommand } from './restore.ts';
import { addSecretsCommand } from './secrets-rotate.ts';
import { addSetupLinkCommand } from './setup-link.ts';
import { addTasksCommand } from './tasks.ts';
import { addUpgradeCommand } from './upgrade-check.ts';
import { addUsageCommand } from './usage-verify.ts';

const USAGE_ERROR = 2;

/**
 * Runs the command of `args` and returns the exit code: 0 for success, 1 for a failure (reported in one line) or a
 * negative result, 2 for invalid arguments. `usage verify` and `secrets rotate` return 2 for a failure.
 */
export async function runCarillon(args: string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  let exitCode = 0;
  const texts = getTerminalTexts(env);
  const { help } = texts;
  const titles: Record<string, string> = help.titles;
  const context: CommandContext = {
    env,
    signal,
    texts,
    setExitCode: (code) => {
      exitCode = code;
    },
  };
  const program = new Command('carillon')
    .description(help.program)
    .version(VERSION, '-V, --version', help.version)
    .helpOption('-h, --help', help.helpOption)
    .helpCommand('help [command]', help.helpOption)
    .configureHelp({
      styleTitle: (title) => titles[title] ?? title,
      styleOptionDescription: (text) =>
        text.replace(/\(default: (.*)\)$/, (_, value: string) => help.defaultValue(value)),
    })
    .showHelpAfterError(help.seeHelp)
    .exitOverride();
  addProcesses(program, context);
  addDoctorCommand(program, context);
  addCreateAdminCommand(program, context);
  addResetFactorsCommand(program, context);
  addSetupLinkCommand(program, context);
  addBackupCommand(program, context);
  addRestoreCommand(program, context);
  addUpgradeCommand(program, context);
  addKeysCommand(program, context);
  addTasksCommand(program, context);
  addPruneCommand(program, context);
  addUsageCommand(program, context);
  addSecretsCommand(program, context);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR;
    if (!(error instanceof CommandFailure)) throw error;
    console.error(signal.aborted ? texts.commands.stopped : error.message);
    return error.exitCode;
  }
}
