import { once } from 'node:events';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { withCachedImports } from '@carillon/runtime/cached-imports';
import { chooseAddress, composeBanner, getTerminalTexts } from './entry/banner.ts';
import { explainStartFailure } from './entry/start-failure.ts';
import { type Config, loadConfig, TERMINAL_LEVEL } from './lib/config/config.ts';
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

let config: Config | null = null;
try {
  const fileNames = loadEnvFile();
  if (process.stdout.isTTY) process.env.LOG_LEVEL ||= TERMINAL_LEVEL;
  config = loadConfig(process.env, fileNames);
  // Compiling takes most of a start; later imports come from the cache.
  enableCompileCache(join(config.dataDir, 'compile-cache'));
  const { startApi } = await withCachedImports(() => import('./entry/serve.ts'));
  const api = await startApi(config, { stopping: stopping.signal });
  if (process.stdout.isTTY) console.log(`\n${composeBanner(config, api, getTerminalTexts(process.env))}\n`);
  // Programs that read the log of a service expect JSON.
  else if (api.setupPath !== null) api.log.info(`no account yet: create it at ${chooseAddress(config, api)}`);
  await stopped;
  await api.close();
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted && error === stopping.signal.reason) process.exit(0);
  console.error(explainStartFailure(error, config, getTerminalTexts(process.env)) ?? error);
  process.exit(1);
}
