import { existsSync } from 'node:fs';
import { runCarillon } from './carillon/program.ts';

/** `pnpm carillon <command>`: what an operator does besides running the service. */
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // What is cut off here is cleaned up by the next start.
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort(new Error('Stopped.'));
  });
}

if (existsSync('.env')) process.loadEnvFile('.env');
process.exitCode = await runCarillon(process.argv.slice(2), process.env, stopping.signal);
