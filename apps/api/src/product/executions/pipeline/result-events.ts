import type { EventData } from '@carillon/contract/webhooks/events';
import type { Event } from '../../../platform/events/outbox.ts';
import { isWanted } from '../result/last-success.ts';
import { isCancelled } from './execution-result.ts';
import type { FollowUp } from './follow-up-rows.ts';

/** The events of the end of an execution. */
export function buildEvents({ completed, retryAt, taskStatus, alerts }: FollowUp): Event[] {
  const { id, userId, viaWebhook, taskId, taskName, result, startedAt, completedAt, reportsChanges, hasTools } =
    completed;
  const task = { id: taskId, name: taskName, status: taskStatus };
  const processingTimeMs = result.durationMs === null ? null : Math.round(result.durationMs);
  if (result.ok) {
    const input = result.usage?.inputTokens ?? 0;
    const output = result.usage?.outputTokens ?? 0;
    const { comparison } = result;
    const difference = comparison && { changed: comparison.changed, changes: comparison.changes };
    const build = (reported: typeof difference): EventData<'task.completed'> => ({
      task,
      execution: {
        id,
        status: 'completed',
        result: result.text,
        tokensUsed: { input, output, total: input + output },
        processingTimeMs: processingTimeMs ?? 0,
        startedAt: (startedAt ?? completedAt).toISOString(),
        completedAt: completedAt.toISOString(),
        ...(hasTools && { citations: result.citations ?? [], toolUses: result.usage?.toolUses ?? 0 }),
        ...(result.output !== null && { output: result.output }),
        ...(result.outcome !== null && { outcome: result.outcome }),
        ...(result.outcomeReason !== null && { outcomeReason: result.outcomeReason }),
        ...reported,
      },
    });
    const data = build(reportsChanges ? difference : null);
    const event = { userId, taskId, viaWebhook, skipsTaskWebhook: !isWanted(completed), isCut: result.isCut === true };
    const completions = (['task.completed', 'execution.completed'] as const).map((kind) => ({ ...event, kind, data }));
    if (!difference?.changed) return completions;
    return [...completions, { ...event, kind: 'task.changed', data: reportsChanges ? data : build(difference) }];
  }
  const data: EventData<'task.failed'> = {
    task,
    execution: {
      id,
      status: 'failed',
      error: result.message,
      errorCode: result.errorCode,
      startedAt: startedAt?.toISOString() ?? null,
      failedAt: completedAt.toISOString(),
      processingTimeMs,
    },
    retryScheduled: retryAt !== null,
    nextRetryAt: retryAt?.toISOString() ?? null,
  };
  // An alert of this failure tells the channels of the task the same, and more.
  const isAlerted = !viaWebhook && alerts.some(({ kind }) => kind === 'task.failing');
  const skipsChannels = retryAt !== null || isCancelled(result) || isAlerted;
  return [
    { kind: 'task.failed', userId, taskId, viaWebhook, data, skipsChannels },
    { kind: 'execution.failed', userId, taskId, viaWebhook, data, skipsChannels },
  ];
}
