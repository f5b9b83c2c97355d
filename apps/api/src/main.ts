import { existsSync } from 'node:fs';
import { type Config, loadConfig } from './config.ts';
import { startApi } from './serve.ts';
import { explainStartFailure } from './start-failure.ts';

/** The API process for production: one of any number behind a reverse proxy (decisions §2, `pnpm api`). */
const stopping = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.resolve());

let config: Config | null = null;
try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  config = loadConfig(process.env);
  const api = await startApi(config);
  await stopping.promise;
  await api.close();
  process.exit(0);
} catch (error) {
  console.error(explainStartFailure(error, config) ?? error);
  process.exit(1);
}
