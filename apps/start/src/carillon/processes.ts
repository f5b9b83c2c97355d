import { InvalidArgumentError } from 'commander';
import type { AddCommand } from './command.ts';

/** Each handles signals and reads `.env` by itself, and is loaded without the other commands, which take memory. */
const PROCESSES = {
  start: () => import('../main.ts'),
  api: () => import('@carillon/api/main'),
  scheduler: () => import('@carillon/scheduler/main'),
  demo: () => import('../demo.ts'),
};

type ProcessName = keyof typeof PROCESSES;

const names = Object.keys(PROCESSES) as ProcessName[];

/** Returns what starts the process that the arguments name; undefined for a command, for `--help` and for wrong arguments. */
export function findProcess(args: readonly string[]): (() => Promise<unknown>) | undefined {
  const [name] = args.length === 1 ? names.filter((known) => known === args[0]) : [];
  return name && PROCESSES[name];
}

/** Takes `--data <folder>`, which all commands have, out of the arguments. An incomplete one stays, and is reported. */
export function takeDataOption(given: readonly string[]): { args: string[]; dataDir: string | null } {
  const args: string[] = [];
  let dataDir: string | null = null;
  for (let at = 0; at < given.length; at++) {
    const [argument = '', next] = [given[at], given[at + 1]];
    const [, value] = /^--data=(.+)$/.exec(argument) ?? [];
    if (argument === '--') return { args: [...args, ...given.slice(at)], dataDir };
    if (value !== undefined) dataDir = value;
    else if (argument === '--data' && next && !next.startsWith('-')) {
      dataDir = next;
      at += 1;
    } else args.push(argument);
  }
  return { args, dataDir };
}

/** For the help, and for wrong arguments. */
export const addProcesses: AddCommand = (program, { texts: { help } }) => {
  // A complete one was taken before.
  program.option('--data <folder>', help.data, () => {
    throw new InvalidArgumentError(help.dataTakes);
  });
  for (const name of names) {
    program.command(name).summary(help.processes[name].summary).description(help.processes[name].description);
  }
};
