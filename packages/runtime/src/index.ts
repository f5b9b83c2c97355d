import { isatty } from 'node:tty';
import { createLogDestination, type LogDestination } from './destination.ts';

export type { LogDestination } from './destination.ts';

const STDOUT = 1;

let opening: Promise<LogDestination> | undefined;
let opened: LogDestination | undefined;

/** The log of this process on standard output: readable lines on a terminal, JSON lines elsewhere. */
export function openLogDestination(): Promise<LogDestination> {
  opening ??= open();
  return opening;
}

/** Lines of the log of this process that could not be written. */
export const countDroppedLines = (): number => opened?.droppedLines ?? 0;

async function open(): Promise<LogDestination> {
  opened = isatty(STDOUT) ? await openTerminal() : createLogDestination();
  return opened;
}

async function openTerminal(): Promise<LogDestination> {
  // Loading it would delay every start that needs no readable lines.
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', singleLine: true });
  return createLogDestination({ format, flushMs: 0 });
}
