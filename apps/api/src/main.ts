import { once } from 'node:events';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { withCachedImports } from '@carillon/runtime/cached-imports';
import { describeAddress } from './entry/describe-address.ts';
import { explainStartFailure } from './entry/start-failure.ts';
import { type Config, loadConfig } from './lib/config/config.ts';
import { loadEnvFile } from './lib/config/env-file.ts';

/** Requests and executions get 20 s, plus time to store results. */
const STOP_TIMEOUT_MS = 30_000;

const stopping = new AbortController();
const stopped = once(stopping.signal, 'abort');
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) {
      exitNow('Stopped immediately. Other processes take over its work when the leases expire.');
    }
    setTimeout(
      () => exitNow('Stopping took too long: other processes take over its leases when they expire.'),
      STOP_TIMEOUT_MS,
    ).unref();
    stopping.abort();
  });
}

function exitNow(reason: string): never {
  console.error(reason);
  process.exit(1);
}

const NO_ACCOUNT =
  'there is no account yet: make the first admin by pnpm carillon setup-link, or by pnpm carillon create-admin';

let config: Config | null = null;
try {
  const fileNames = loadEnvFile();
  config = loadConfig(process.env, fileNames);
  // Compiling takes most of a start; later imports come from the cache.
  enableCompileCache(join(config.dataDir, 'compile-cache'));
  const { startApi } = await withCachedImports(() => import('./entry/serve.ts'));
  const api = await startApi(config, { stopping: stopping.signal });
  if (api.setupPath !== null) {
    // Programs that read the log of a service expect JSON.
    if (config.production && !process.stdout.isTTY) api.log.warn(NO_ACCOUNT);
    else console.log(describeAddress(config, api));
  }
  await stopped;
  await api.close();
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted && error === stopping.signal.reason) process.exit(0);
  console.error(explainStartFailure(error, config) ?? error);
  process.exit(1);
}
