import type { AnswerStream } from '@carillon/contract/actions/web/index';
import type { ExecutionStatus } from '@carillon/contract/executions';
import type { Caller, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';

export const EXECUTION_STATES = {
  pending: 'PENDING',
  running: 'RUNNING',
  completed: 'SUCCESS',
  failed: 'FAILED',
} as const satisfies Record<ExecutionStatus, string>;

export const EXECUTION_STATUSES = {
  PENDING: 'pending',
  RUNNING: 'running',
  SUCCESS: 'completed',
  FAILED: 'failed',
} as const satisfies Record<(typeof EXECUTION_STATES)[ExecutionStatus], ExecutionStatus>;

export const toIsoText = (at: Date | null): string | null => at?.toISOString() ?? null;

/** For fields of `readInput` with a URL that Carillon sends requests to. */
export const checkUrl = (url: string, { ctx }: Call) => ctx.http.checkAddress(url);

/** Runs a service function and renames the fields in the `details` of a validation error to those of the action. */
export async function renameErrorFields<T>(
  names: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'invalid') throw error;
    const details = Object.entries(error.details ?? {}).map(([field, messages]) => [names[field] ?? field, messages]);
    throw new AppError('invalid', error.message, Object.fromEntries(details));
  }
}

export interface Call {
  /** Its request id is of this call, for logs, events and the audit log. */
  ctx: Context;
  caller: Caller;
  /** Of a page that shows an answer as it arrives. */
  stream?: AnswerStream;
}
