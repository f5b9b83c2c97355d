import type { ErrorCode } from '../../ai/errors.ts';
import type { AiUsage } from '../../ai/usage.ts';

/** The model's answer, or the failure. */
export type ExecutionResult = {
  id: number;
  /** Null if it never started. */
  claimToken: string | null;
  usage: AiUsage | null;
  durationMs: number | null;
} & (
  | { ok: true; text: string }
  | { ok: false; errorCode: ErrorCode; message: string; retryable: boolean; retryAfterMs: number | null }
);

export const permanentFailure = (errorCode: ErrorCode, message: string) =>
  ({ ok: false, errorCode, message, retryable: false, retryAfterMs: null }) as const;

/** A completed execution with its task, whose row is locked. */
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
  /** The UTC day; null if no quota counted it. */
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
