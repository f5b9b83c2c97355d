import { once } from 'node:events';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { chooseAddress, composeBanner, getTerminalTexts } from '@carillon/api/entry/banner';
import { explainStartFailure } from '@carillon/api/entry/start-failure';
import { type Config, loadConfig, TERMINAL_LEVEL } from '@carillon/api/lib/config/config';
import { loadEnvFile } from '@carillon/api/lib/config/env-file';
import { withCachedImports } from '@carillon/runtime/cached-imports';
import { readInterval, SettingError } from '@carillon/scheduler/settings';
import { listenForKey } from './open-key.ts';
import { watchRunners } from './package-runners.ts';

/** One Ctrl-C arrives several times: npx and pnpm each pass it on. */
const SAME_SIGNAL_MS = 500;

const texts = getTerminalTexts(process.env);
const stopping = new AbortController();
const stopped = once(stopping.signal, 'abort');
let stoppingSince = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (!stopping.signal.aborted) {
      console.log(texts.terminal.stopping);
      return stop();
    }
    // A window that closes sends SIGHUP several times: through its shell and by itself.
    if (signal !== 'SIGHUP' && performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(130);
  });
}
watchRunners(stop);
// The reader may have ended with npx.
process.stdout.on('error', () => {});

function stop() {
  stoppingSince = performance.now();
  stopping.abort();
}

let config: Config | null = null;
try {
  const fileNames = loadEnvFile();
  const isTerminal = process.stdout.isTTY === true;
  if (isTerminal) process.env.LOG_LEVEL ||= TERMINAL_LEVEL;
  config = loadConfig(process.env, fileNames);
  // Compiling takes most of a start: modules imported from here on come from the cache of the previous start.
  enableCompileCache(join(config.dataDir, 'compile-cache'));
  const { startCarillon } = await withCachedImports(() => import('./start.ts'));
  const { close, ...started } = await startCarillon(config, readInterval(process.env), { stopping: stopping.signal });
  if (!stopping.signal.aborted) {
    const listens = isTerminal && listenForKey(chooseAddress(config, started), stopping.signal);
    const { opensAndStops, stops } = texts.terminal;
    console.log(`\n${composeBanner(config, started, texts)}\n\n${listens ? opensAndStops : stops}\n`);
  }
  await stopped;
  await close();
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted && error === stopping.signal.reason) process.exit(0);
  const line = error instanceof SettingError ? error.message : explainStartFailure(error, config, texts);
  console.error(line ?? error);
  process.exit(1);
}
