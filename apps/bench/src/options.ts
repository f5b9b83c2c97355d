import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface Options {
  /** How often each figure is taken; the report shows the median, the least and the most. */
  rounds: number;
  /** Tiny sizes, to see that everything runs: the figures mean nothing. */
  quick: boolean;
  /** The largest table that is filled, in rows. */
  largest: number;
  /** The folder for CPU profiles of the API processes, which are printed too; null: none. */
  profile: string | null;
}

export interface CommandLine extends Options {
  names: string[];
  /** Where the report goes when everything was measured; null: nowhere. */
  report: string | null;
  help: boolean;
}

/** An option that cannot be used; the message says why. */
export class OptionError extends Error {}

const REPORT = fileURLToPath(new URL('../RESULTS.md', import.meta.url));

/** Reads the command line. Throws an `OptionError`. */
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
    rounds: wholeNumber('rounds', values.rounds ?? (quick ? '1' : '5'), 1, 100),
    largest: wholeNumber('largest', values.largest ?? '5000000', 10_000, 50_000_000),
    profile: values.profile === undefined ? null : resolve(values.profile),
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
      profile: { type: 'string' },
      report: { type: 'string' },
      help: { type: 'boolean' },
    },
  });

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new OptionError(`--${name} is ${JSON.stringify(text)}, but takes a whole number from ${least} to ${most}.`);
}
