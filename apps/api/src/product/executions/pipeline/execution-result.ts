import type {
  AlertRules,
  ModelAttempt,
  NOTIFY_WHEN,
  OUTCOMES,
  OutputChange,
  SourceStates,
  USAGE_SOURCES,
} from '@carillon/db';
import type { Reader } from '@carillon/texts';
import type { ErrorCode } from '../../../lib/ai/errors.ts';
import type { Citation } from '../../../lib/ai/request.ts';
import type { AiUsage } from '../../../lib/ai/usage.ts';
import type { Budget } from '../budget/budget.ts';

/** The model's answer, or the failure. */
export type ExecutionResult = {
  id: number;
  /** Null if it never started. */
  claimToken: string | null;
  /** Of the call that answered, or of the last one. */
  usage: AiUsage | null;
  durationMs: number | null;
  /** Left out if no model was asked. */
  attempts?: ModelAttempt[];
  /** The cost of the calls that are in the ledger before the run ends. */
  recordedUsd?: number;
} & (
  | {
      ok: true;
      text: string;
      isCut?: true;
      output: unknown;
      comparison: Comparison | null;
      citations?: Citation[];
      outcome: (typeof OUTCOMES)[number] | null;
      outcomeReason: string | null;
      /** The call that has decided the outcome: then `usage` is in the ledger before the run ends. */
      secondCall?: { usage: AiUsage | null };
    }
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

/** The call of a run that is stored with its end. */
export function getLastCall(result: ExecutionResult): {
  source: (typeof USAGE_SOURCES)[number];
  usage: AiUsage | null;
} {
  if (result.ok && result.secondCall) return { source: 'outcome', usage: result.secondCall.usage };
  return { source: 'execution', usage: result.usage };
}

/** The cost of all calls of a run. */
export const getTotalUsd = (result: ExecutionResult): number =>
  (result.recordedUsd ?? 0) +
  (getLastCall(result).usage?.costUsd ?? 0) +
  (result.ok && result.secondCall ? (result.usage?.costUsd ?? 0) : 0);

export const isNotDone = (result: ExecutionResult): boolean => result.ok && result.outcome === 'not_done';

/** Whether another model than the first has answered. */
export const isFallback = ({ ok, attempts = [] }: Pick<ExecutionResult, 'ok' | 'attempts'>): boolean =>
  ok && attempts.length > 0 && attempts[0]?.model !== attempts.at(-1)?.model;

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
  owner: Reader;
  taskStatus: TaskStatus;
  recurrence: 'once' | 'daily' | 'weekly' | 'monthly';
  consecutiveFailures: number;
  waitingFailures: number;
  notDoneInRow: number;
  fallbacksInRow: number;
  notificationEmail: string | null;
  hasWebhook: boolean;
  notify: (typeof NOTIFY_WHEN)[number];
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
  /** What it has read of its sources. */
  sourceStates: SourceStates | null;
}

export type TaskStatus = 'active' | 'paused' | 'completed' | 'failed';
