import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { MixedLoadOptions } from '../../../../../test/system/mixed-load.ts';
import { LOAD_CORE, resolveProgram, startProcess } from '../../../../../test/system/processes.ts';
import type { LoadRequest } from '../../environment/load.ts';

const GRACE_MS = 30_000;
const SAMPLE_MS = 1000;

export interface SteadyLoad {
  url: string;
  minutes: number;
  /** Shorter in quick runs. */
  minuteMs: number;
  connections: number;
  /** The requests of each connection, repeated as fast as they are answered. */
  reads: LoadRequest[][];
  /** Sent at an even rate meanwhile. */
  others: Omit<MixedLoadOptions, 'url' | 'onSent'>[];
}

/** What one minute of reads came to. */
export interface LoadedMinute {
  requestsPerSecond: number;
  p99Ms: number;
}

/** Calls `sample` each second with the minute, counted from 0. Throws if a request fails. */
export async function sendSteadyLoad(
  stack: AsyncDisposableStack,
  { folder, load, sample }: { folder: string; load: SteadyLoad; sample: (minute: number) => void },
): Promise<LoadedMinute[]> {
  const path = join(folder, 'steady-load.json');
  writeFileSync(path, JSON.stringify(load));
  const generator = await startProcess(stack, {
    name: 'steady-load',
    file: resolveProgram('bench/src/benchmarks/capacity/steady-load-main.ts'),
    folder,
    core: LOAD_CORE,
    env: { LOAD: path },
    ready: /^(sending)$/m,
  });
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  let hasExited = false;
  void generator.exited.then(() => {
    hasExited = true;
  });
  while (!hasExited) {
    const minute = Math.floor(elapsedMs() / load.minuteMs);
    if (minute < load.minutes) sample(minute);
    if (elapsedMs() > load.minutes * load.minuteMs + GRACE_MS) throw new Error('The load did not end in time.');
    await delay(Math.min(SAMPLE_MS, load.minuteMs / 10));
  }
  const [, result] = /^done: (.+)$/m.exec(generator.output()) ?? [];
  if (result === undefined) throw new Error(`The load failed: ${generator.output().slice(-1000)}`);
  return JSON.parse(result);
}
