import type { ExecutionStatus } from '@carillon/contract/executions';
import type { TaskStatus } from '@carillon/contract/tasks';
import { AppError } from '../errors.ts';

/** Specification "Execution status": the names in-process. */
export const RUN_STATES = {
  pending: 'PENDING',
  running: 'RUNNING',
  completed: 'SUCCESS',
  failed: 'FAILED',
} as const satisfies Record<ExecutionStatus, string>;

/** The status that each of these names stands for. */
export const STATUSES = {
  PENDING: 'pending',
  RUNNING: 'running',
  SUCCESS: 'completed',
  FAILED: 'failed',
} as const satisfies Record<(typeof RUN_STATES)[ExecutionStatus], ExecutionStatus>;

export const TASK_STATES = {
  active: 'ACTIVE',
  paused: 'PAUSED',
  completed: 'COMPLETED',
  failed: 'FAILED',
} as const satisfies Record<TaskStatus, string>;

/** An instant as the actions tell it, if there is one. */
export const toText = (at: Date | null): string | null => at?.toISOString() ?? null;

/** Runs a verb whose fields have other names than those of the action, which `details` is to use. */
export async function naming<T>(names: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'invalid') throw error;
    const details = Object.entries(error.details ?? {}).map(([field, messages]) => [names[field] ?? field, messages]);
    throw new AppError('invalid', error.message, Object.fromEntries(details));
  }
}
