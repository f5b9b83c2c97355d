import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { type Config, loadConfig } from '@carillon/api/config/config';
import { loadEnvFile } from '@carillon/api/config/env-file';
import { explainStartFailure } from '@carillon/api/start-failure';
import { withCachedDrizzleImports } from '@carillon/db/drizzle-imports';
import { readInterval, SettingError } from '@carillon/scheduler/settings';

const stopping = Promise.withResolvers<void>();
let signals = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // The next start takes over, also a database server that still runs.
    if (++signals > 1) process.exit(130);
    console.log('Stopping. Press Ctrl-C again to stop immediately.');
    stopping.resolve();
  });
}

let config: Config | null = null;
try {
  const fileNames = loadEnvFile();
  config = loadConfig(process.env, fileNames);
  // Compiling takes most of a start: modules imported from here on come from the cache of the previous start.
  enableCompileCache(join(config.dataDir, 'compile-cache'));
  const { startCarillon } = await withCachedDrizzleImports(() => import('./start.ts'));
  const { url, close } = await startCarillon(config, readInterval(process.env));
  // With PORT=0 the system chooses the port.
  const baseUrl = config.port === 0 ? url : config.baseUrl;
  if (signals === 0)
    console.log(`\nCarillon runs at ${baseUrl}\nAPI documentation: ${baseUrl}/api/docs\nCtrl-C stops it.\n`);
  await stopping.promise;
  await close();
  console.log('Stopped.');
  process.exit(0);
} catch (error) {
  const line = error instanceof SettingError ? error.message : explainStartFailure(error, config);
  console.error(line ?? error);
  process.exit(1);
}
