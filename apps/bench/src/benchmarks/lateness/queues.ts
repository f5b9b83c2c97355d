import { resolveProgram, SERVER_CORE, startProcess } from '../../../../../test/system/processes.ts';
import type { Environment } from '../../benchmark.ts';
import { connectDatabase } from '../../environment/installation.ts';
import { vacuumAndCheckpoint } from '../due-tasks.ts';
import { readWallClockOffset, toLateness } from './arrivals.ts';
import type { Lateness, Tasks } from './carillon.ts';

/** From the last due instant on. */
const TIMEOUT_MS = 30_000;

export interface QueueOptions extends Tasks {
  /** Of the program in `baselines/delayed`. */
  name: string;
  /** From the insertion of the jobs to the first due instant. */
  leadMs: number;
  redisPort?: number;
}

/** Returns a function that starts a new process of the queue, which adds and runs `count` jobs. */
export async function prepareQueue(
  stack: AsyncDisposableStack,
  { server }: Environment,
  { name, ai, count, intervalMs, leadMs, redisPort = 0 }: QueueOptions,
): Promise<() => Promise<Lateness>> {
  const databaseUrl = await server.newDatabase();
  const db = connectDatabase(stack, databaseUrl);
  return async () => {
    await vacuumAndCheckpoint(db);
    await ai.takeArrivals();
    const offset = readWallClockOffset();
    const { stop } = await startProcess(stack, {
      name: `delayed-${name}`,
      file: resolveProgram(`bench/src/baselines/delayed/${name}-main.ts`),
      folder: server.folder,
      core: SERVER_CORE,
      env: {
        DATABASE_URL: databaseUrl,
        AI_URL: ai.url,
        REDIS_PORT: String(redisPort),
        COUNT: String(count),
        INTERVAL_MS: String(intervalMs),
        LEAD_MS: String(leadMs),
      },
      ready: /^(done)$/m,
      timeoutMs: leadMs + count * intervalMs + TIMEOUT_MS,
    });
    await stop();
    const arrivedMs = toLateness(await ai.takeArrivals(), (prompt) => Number(prompt.slice('due at '.length)), offset);
    if (arrivedMs.length !== count)
      throw new Error(`${arrivedMs.length} of ${count} jobs of ${name} reached the AI server.`);
    return { arrivedMs };
  };
}
