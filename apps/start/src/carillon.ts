import { existsSync } from 'node:fs';
import { withCachedImports } from '@carillon/runtime/cached-imports';
import { findProcess, takeDataOption } from './carillon/processes.ts';

/** `carillon <command>`: the processes of the service, and commands for operators. */
const { args, dataDir } = takeDataOption(process.argv.slice(2));
if (dataDir !== null) process.env.DATA_DIR = dataDir;

const load = findProcess(args);
if (load) await load();
else process.exitCode = await runCommand();

async function runCommand(): Promise<number> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // The next start cleans up after this.
      if (stopping.signal.aborted) process.exit(130);
      stopping.abort();
    });
  }
  if (existsSync('.env')) process.loadEnvFile('.env');
  const { runCarillon } = await withCachedImports(() => import('./carillon/cli.ts'));
  return await runCarillon(args, process.env, stopping.signal);
}
