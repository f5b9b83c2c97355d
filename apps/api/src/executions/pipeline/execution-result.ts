import type { ErrorCode } from '../../ai/errors.ts';
import type { AiUsage } from '../../ai/usage.ts';

/** What came out of an execution: the model's answer, or why there is none. Failure is a value. */
export type ExecutionResult = {
  id: number;
  /** The claim under which it ran; null if it never started. */
  claimToken: string | null;
  usage: AiUsage | null;
  durationMs: number | null;
} & (
  | { ok: true; text: string }
  | { ok: false; errorCode: ErrorCode; message: string; retryable: boolean; retryAfterMs: number | null }
);

export const permanentFailure = (errorCode: ErrorCode, message: string) =>
  ({ ok: false, errorCode, message, retryable: false, retryAfterMs: null }) as const;

/** An execution whose result has been written, with its task as it was then. The task's row is locked. */
export interface CompletedExecution {
  id: number;
  result: ExecutionResult;
  taskId: number;
  userId: number;
  trigger: 'schedule' | 'manual' | 'inbound' | 'retry';
  viaWebhook: boolean;
  attempt: number;
  plannedFor: Date | null;
  startedAt: Date | null;
  completedAt: Date;
  /** The UTC day on which it was counted; null if no quota counted it. */
  usageDay: string | null;
  tokensReserved: number;
  taskName: string;
  taskStatus: TaskStatus;
  recurrence: 'once' | 'daily' | 'weekly' | 'monthly';
  hasNext: boolean;
  consecutiveFailures: number;
  notificationEmail: string | null;
}

export type TaskStatus = 'active' | 'paused' | 'completed' | 'failed';
