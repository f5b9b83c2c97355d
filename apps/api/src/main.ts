import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { withCachedDrizzleImports } from '@carillon/db/drizzle-imports';
import { type Config, loadConfig } from './config/config.ts';
import { loadEnvFile } from './config/env-file.ts';
import { explainStartFailure } from './start-failure.ts';

/** Requests and executions get 20 s, plus time to store results. */
const STOP_TIMEOUT_MS = 30_000;

const stopping = Promise.withResolvers<void>();
let signals = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    signals += 1;
    if (signals > 1) exitNow('Stopped immediately. Other processes take over its work when the leases expire.');
    setTimeout(
      () => exitNow('Stopping took too long: other processes take over its leases when they expire.'),
      STOP_TIMEOUT_MS,
    ).unref();
    stopping.resolve();
  });
}

function exitNow(reason: string): never {
  console.error(reason);
  process.exit(1);
}

let config: Config | null = null;
try {
  const fileNames = loadEnvFile();
  config = loadConfig(process.env, fileNames);
  // Compiling takes most of a start; later imports come from the cache.
  enableCompileCache(join(config.dataDir, 'compile-cache'));
  const { startApi } = await withCachedDrizzleImports(() => import('./serve.ts'));
  const api = await startApi(config);
  await stopping.promise;
  await api.close();
  process.exit(0);
} catch (error) {
  console.error(explainStartFailure(error, config) ?? error);
  process.exit(1);
}
