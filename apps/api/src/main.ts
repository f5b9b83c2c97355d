import { existsSync } from 'node:fs';
import { ConfigError, loadConfig } from './config.ts';
import { startApi } from './serve.ts';

/** The API process for production: one of any number behind a reverse proxy (decisions §2, `pnpm api`). */
try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const api = await startApi(loadConfig(process.env));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await api.close();
      process.exit(0);
    });
  }
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(1);
}
