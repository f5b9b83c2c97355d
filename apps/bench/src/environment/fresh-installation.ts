import { randomBytes } from 'node:crypto';
import type { Db } from '@carillon/db';
import type { Environment } from '../benchmark.ts';
import { connectDatabase, type Installation, type InstallationOptions, install } from './installation.ts';

export interface FreshInstallation {
  db: Db;
  databaseUrl: string;
  jwtSecret: string;
  /** Starts API processes and the scheduler, which calls the first, and waits until they are ready. Stops them with `stack`. */
  start(stack: AsyncDisposableStack, options?: StartOptions): Promise<[Installation, ...Installation[]]>;
  /** Starts API processes (default: one), measures and stops them. */
  measure<T>(measure: (first: Installation) => Promise<T>, processes?: number): Promise<T>;
}

export interface StartOptions {
  /** How many API processes. Default: 1. */
  processes?: number;
  apiEnv?: Record<string, string>;
}

/** A database with Carillon's processes started anew for each measurement, because baselines are new in each round too. */
export async function prepareFreshInstallation(
  stack: AsyncDisposableStack,
  environment: Environment,
  options: Omit<InstallationOptions, 'databaseUrl'>,
): Promise<FreshInstallation> {
  const databaseUrl = await environment.server.newDatabase();
  const secret = () => randomBytes(32).toString('base64');
  const [jwtSecret, encryptionKey] = [secret(), secret()];
  const start: FreshInstallation['start'] = async (round, { processes = 1, apiEnv } = {}) => {
    const secrets = { JWT_SECRET: jwtSecret, ENCRYPTION_KEY: encryptionKey };
    const common = { ...options, databaseUrl, apiEnv: { ...options.apiEnv, ...apiEnv, ...secrets } };
    const first = await install(round, environment, common);
    const others: Installation[] = [];
    for (let n = 1; n < processes; n++) {
      others.push(await install(round, environment, { ...common, ai: first.ai, scheduler: false }));
    }
    return [{ ...first, jwtSecret }, ...others];
  };
  return {
    db: connectDatabase(stack, databaseUrl),
    databaseUrl,
    jwtSecret,
    start,
    async measure(measure, processes) {
      await using round = new AsyncDisposableStack();
      const [first] = await start(round, { processes });
      return await measure(first);
    },
  };
}
