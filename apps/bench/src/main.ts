import { loadavg } from 'node:os';
import { join } from 'node:path';
import { closeAll, isShuttingDown } from '../../../test/system/shutdown.ts';
import type { Benchmark } from './benchmark.ts';
import { BENCHMARKS, listDefault } from './benchmarks.ts';
import { startDatabaseServer } from './environment/servers/database-server.ts';
import { OptionError, readOptions } from './options.ts';
import { type Outcome, toCells, writeReport } from './report.ts';

/** Beside the minutes of the soak. */
const MAX_MINUTES = 90;
const ROUNDS = 5;

const abort = async (reason: unknown, code: number) => {
  console.error(reason);
  await closeAll();
  process.exit(code);
};

function usage(): void {
  console.log(`pnpm bench [name…] [--rounds N] [--quick] [--largest ROWS] [--profile FOLDER] [--logs FOLDER]
           [--report FILE] [--minutes N]

Without a name, all benchmarks but the soak are measured and the report is written. A quick run writes it only with --report.
`);
  for (const [name, { about }] of Object.entries(BENCHMARKS)) console.log(`  ${name.padEnd(18)} ${about}`);
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  const unknown = options.names.find((name) => !Object.hasOwn(BENCHMARKS, name));
  if (options.help || unknown) {
    if (unknown) console.error(`No benchmark is named ${JSON.stringify(unknown)}.`);
    usage();
    return unknown ? 1 : 0;
  }
  const rounds = options.rounds ?? (options.quick ? 1 : ROUNDS);
  const names = options.names.length > 0 ? options.names : listDefault(options);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => abort('Interrupted.', 130));
  process.once('uncaughtException', (error) => abort(error, 1));

  await using stack = new AsyncDisposableStack();
  const at = new Date();
  console.log(`Load average before the run: ${loadavg()[0]?.toFixed(1)}`);
  const server = await startDatabaseServer(stack, options);
  // A quick run spends most of its time compiling the programs.
  if (options.quick) process.env.NODE_COMPILE_CACHE = join(server.folder, 'compile-cache');
  const outcomes: Outcome[] = [];
  for (const name of names) outcomes.push(await measure(name, BENCHMARKS[name] as Benchmark));
  if (options.names.length === 0 && options.report !== null) {
    writeReport(options.report, { ...options, rounds, at, postgres: server.version, outcomes });
    console.log(`\nThe report is written to ${options.report}.`);
  }
  return outcomes.some((outcome) => 'failed' in outcome) ? 1 : 0;

  async function measure(name: string, { about, run }: Benchmark): Promise<Outcome> {
    console.log(`\n${name}: ${about}`);
    const minutes = MAX_MINUTES + (name === 'soak' ? options.minutes : 0);
    const limit = setTimeout(() => abort(`${name} took longer than ${minutes} minutes.`, 1), minutes * 60_000);
    try {
      await using stack = new AsyncDisposableStack();
      const comparisons = await run(stack, { ...options, rounds, server });
      for (const comparison of comparisons) console.log(`  ${toCells(comparison).join(' | ')}`);
      return { name, about, comparisons };
    } catch (error) {
      if (isShuttingDown()) throw error;
      console.error(error);
      return { name, about, failed: (error as Error).message };
    } finally {
      clearTimeout(limit);
    }
  }
}

try {
  process.exit(await main());
} catch (error) {
  if (!isShuttingDown()) await abort(error instanceof OptionError ? error.message : error, 1);
}
