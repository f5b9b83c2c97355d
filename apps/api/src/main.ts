import { existsSync } from 'node:fs';
import { ConfigError, loadConfig } from './config.ts';
import { startApi } from './serve.ts';

/** The API process for production: one of any number behind a reverse proxy (decisions §2, `pnpm api`). */
try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const starting = startApi(loadConfig(process.env));
  // From the first moment: cut off in its start, it would leave its embedded PostgreSQL behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      const { close } = await starting;
      await close();
      process.exit(0);
    });
  }
  await starting;
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(1);
}
