import { existsSync } from 'node:fs';
import { withCachedImports } from '@carillon/runtime/cached-imports';

/** `pnpm carillon <command>`: commands for operators. */
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
process.exitCode = await runCarillon(process.argv.slice(2), process.env, stopping.signal);
