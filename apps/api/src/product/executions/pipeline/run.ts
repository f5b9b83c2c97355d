import { toInstant } from '@carillon/db';
import type { Context } from '../../../context.ts';
import type { Span } from '../../../lib/telemetry/tracing.ts';
import { decideOutcome } from '../result/decide-outcome.ts';
import { compareWithLastSuccess } from '../result/last-success.ts';
import { readSourcesOf } from '../sources/before-run.ts';
import { askModels, type ModelsOutcome } from './ask-models.ts';
import { type AttachmentLimits, withAttachments } from './attachments.ts';
import type { ExecutionResult } from './execution-result.ts';
import type { ClaimedExecution } from './select-candidates.ts';

/** Reads the sources and calls the model, without a transaction or connection. */
export async function runExecution(
  ctx: Context,
  claimed: ClaimedExecution,
  signal: AbortSignal,
  limits?: AttachmentLimits,
): Promise<ExecutionResult> {
  const { id, claimToken } = claimed;
  const read = await readSourcesOf(ctx, claimed, signal);
  if (!read.ok) return { id, claimToken, usage: null, durationMs: null, ...read };
  const { execution, areAllFailed } = read;
  const answered = await withAttachments<ModelsOutcome>(
    ctx,
    execution,
    signal,
    (attachments) => askModels(ctx, execution, attachments, signal),
    limits,
  );
  if (!answered.ok) return { id, claimToken, ...answered };
  const [comparison, decided] = await Promise.all([
    compareWithLastSuccess(ctx, execution, answered, signal),
    decideOutcome(ctx, execution, { ...answered, areAllFailed }, signal),
  ]);
  const { outcome, reason: outcomeReason, secondCall } = decided;
  return { id, claimToken, ...answered, comparison, outcome, outcomeReason, ...(secondCall && { secondCall }) };
}

/** Runs `work` in a new trace, linked to the request or tick that queued the execution. */
export function traceExecution<T>(
  ctx: Context,
  { id, taskId, attempt, trigger, runAt }: ClaimedExecution,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const dueAt = toInstant(runAt);
  const key = `execution ${id}`;
  const attributes = {
    'carillon.execution.id': id,
    'carillon.task.id': taskId,
    'carillon.attempt': attempt,
    'carillon.trigger': trigger,
    'carillon.due_at': dueAt.toISOString(),
    'carillon.lateness_ms': ctx.now().getTime() - dueAt.getTime(),
  };
  const traced = (span: Span) => {
    // Deliveries of the execution link to this span.
    ctx.trace.mark(key);
    return work(span);
  };
  return ctx.trace.span('run execution', attributes, traced, { causedBy: key });
}
