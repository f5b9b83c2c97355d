import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { importingDrizzle } from '@carillon/db/drizzle-imports';
import { type Config, loadConfig } from './config/config.ts';
import { explainStartFailure } from './start-failure.ts';

/** The API process for production: one of any number behind a reverse proxy (decisions §2, `pnpm api`). */
const stopping = Promise.withResolvers<void>();
/** Requests and executions get 20 s, and their ends are then stored; what takes longer hangs. */
const LONGEST_STOP_MS = 30_000;
let signals = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    signals += 1;
    // What is cut off here is taken up by another process once its leases have ended.
    if (signals > 1) giveUp('Stopped at once: what was running is left to its leases.');
    setTimeout(
      () => giveUp('Stopping took too long: what was running is left to its leases.'),
      LONGEST_STOP_MS,
    ).unref();
    stopping.resolve();
  });
}

function giveUp(why: string): never {
  console.error(why);
  process.exit(1);
}

let config: Config | null = null;
try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  config = loadConfig(process.env);
  // Loaded from now on, with what the start before has compiled: that is most of a start.
  enableCompileCache(join(config.dataDir, 'compile-cache'));
  const { startApi } = await importingDrizzle(() => import('./serve.ts'));
  const api = await startApi(config);
  await stopping.promise;
  await api.close();
  process.exit(0);
} catch (error) {
  console.error(explainStartFailure(error, config) ?? error);
  process.exit(1);
}
