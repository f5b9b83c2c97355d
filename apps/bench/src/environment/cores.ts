import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Whether a process can be told on which core it runs: `taskset` is there, and more than one core. */
export const canPin: boolean =
  availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true'], { stdio: 'ignore' }).status === 0;

/** The server that is measured. Load, providers and receivers are on the other one, and PostgreSQL wherever it likes. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** A command line as it is run on `core`; null: wherever the system likes. The process has the same id either way. */
export const pinned = (words: readonly string[], core: number | null): string[] =>
  core !== null && canPin ? ['taskset', '-c', String(core), ...words] : [...words];
