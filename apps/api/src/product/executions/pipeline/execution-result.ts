import type { AlertRules, OutputChange } from '@carillon/db';
import type { ErrorCode } from '../../../lib/ai/errors.ts';
import type { Citation } from '../../../lib/ai/request.ts';
import type { AiUsage } from '../../../lib/ai/usage.ts';
import type { Budget } from '../budget/budget.ts';

/** The model's answer, or the failure. */
export type ExecutionResult = {
  id: number;
  /** Null if it never started. */
  claimToken: string | null;
  usage: AiUsage | null;
  durationMs: number | null;
} & (
  | { ok: true; text: string; isCut?: true; output: unknown; comparison: Comparison | null; citations?: Citation[] }
  | {
      ok: false;
      errorCode: ErrorCode;
      message: string;
      retryable: boolean;
      retryAfterMs: number | null;
      /** Refused, because it might exceed the monthly budget of its task. */
      isOverBudget?: boolean;
    }
);

/** How the answer differs from that of the last success. */
export interface Comparison {
  againstId: number;
  changed: boolean;
  changes: OutputChange[];
}

export const permanentFailure = (errorCode: ErrorCode, message: string) =>
  ({ ok: false, errorCode, message, retryable: false, retryAfterMs: null }) as const;

export const isCancelled = (result: ExecutionResult): boolean => !result.ok && result.errorCode === 'CANCELLED';

export const isOverBudget = (result: ExecutionResult): boolean => !result.ok && result.isOverBudget === true;

/** A completed execution with its task, whose row is locked. */
export interface CompletedExecution {
  id: number;
  result: ExecutionResult;
  taskId: number;
  userId: number;
  trigger: 'schedule' | 'manual' | 'inbound' | 'retry' | 'backfill';
  viaWebhook: boolean;
  attempt: number;
  plannedFor: Date | null;
  requestedAt: Date;
  startedAt: Date | null;
  completedAt: Date;
  /** The UTC day; null if no quota counted it. */
  usageDay: string | null;
  tokensReserved: number;
  taskName: string;
  taskStatus: TaskStatus;
  recurrence: 'once' | 'daily' | 'weekly' | 'monthly';
  consecutiveFailures: number;
  waitingFailures: number;
  notificationEmail: string | null;
  hasWebhook: boolean;
  notify: 'always' | 'change' | 'failure';
  /** Whether its events say what changed. */
  reportsChanges: boolean;
  hasTools: boolean;
  maxRetries: number;
  /** Null for the default rules. */
  alerts: AlertRules | null;
  alertingSince: Date | null;
  /** Whether this row of failures was alerted. */
  isFailingAlerted: boolean;
  nextExecutionAt: Date | null;
  /** Whether its schedule has ended, or its account is suspended. */
  hasNoFurtherRun: boolean;
  budget: Budget | null;
}

export type TaskStatus = 'active' | 'paused' | 'completed' | 'failed';
