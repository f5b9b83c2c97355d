import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface Options {
  /** How often each figure is measured; the report shows median, minimum and maximum. */
  rounds: number;
  /** Tiny sizes that only prove that everything runs. */
  quick: boolean;
  /** The size of the largest table in rows. */
  largest: number;
  /** How long the soak lasts. */
  minutes: number;
  /** The folder for CPU profiles of the API processes, or null. */
  profile: string | null;
  /** The folder to which the log files of all processes are copied at the end, or null. */
  logs: string | null;
}

export interface CommandLine extends Omit<Options, 'rounds'> {
  names: string[];
  /** Null if the command line names none. */
  rounds: number | null;
  /** The path of the report, or null. */
  report: string | null;
  help: boolean;
}

export class OptionError extends Error {}

const REPORT = fileURLToPath(new URL('../RESULTS.md', import.meta.url));

/** Throws an `OptionError`. */
export function readOptions(args: readonly string[]): CommandLine {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args.filter((argument) => argument !== '--'));
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
  const { values, positionals } = parsed;
  const quick = values.quick ?? false;
  return {
    names: positionals,
    quick,
    rounds: values.rounds === undefined ? null : wholeNumber('rounds', values.rounds, 1, 100),
    largest: wholeNumber('largest', values.largest ?? '5000000', 10_000, 50_000_000),
    minutes: wholeNumber('minutes', values.minutes ?? '120', 10, 1440),
    profile: values.profile === undefined ? null : resolve(values.profile),
    logs: values.logs === undefined ? null : resolve(values.logs),
    report: values.report ?? (quick ? null : REPORT),
    help: values.help ?? false,
  };
}

const parse = (args: string[]) =>
  parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean' },
      largest: { type: 'string' },
      minutes: { type: 'string' },
      profile: { type: 'string' },
      logs: { type: 'string' },
      report: { type: 'string' },
      help: { type: 'boolean' },
    },
  });

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new OptionError(`--${name} is ${JSON.stringify(text)}, not a whole number from ${min} to ${max}.`);
}
