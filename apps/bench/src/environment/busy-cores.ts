import { availableParallelism } from 'node:os';
import { resolveProgram, startProcess } from '../../../../test/system/processes.ts';

const PERIOD_MS = 10;
const MAX_MS = 60 * 60_000;

/** Keeps each core busy for `share` of each 10 ms with one process, until `stack` is disposed of. */
export async function keepCoresBusy(stack: AsyncDisposableStack, folder: string, share: number): Promise<void> {
  for (let core = 0; core < availableParallelism(); core++) {
    await startProcess(stack, {
      name: 'busy-core',
      file: resolveProgram('bench/src/environment/busy-core-main.ts'),
      folder,
      core,
      env: { BUSY_MS: String(PERIOD_MS * share), PERIOD_MS: String(PERIOD_MS), MAX_MS: String(MAX_MS) },
      ready: /^(ready)$/m,
    });
  }
}
