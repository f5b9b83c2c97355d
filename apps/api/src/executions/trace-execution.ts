import { toInstant } from '@carillon/db';
import type { Context } from '../context.ts';
import type { Span } from '../telemetry/tracing.ts';
import type { ClaimedExecution } from './select-runnable.ts';

/**
 * Makes a span of an execution, a trace of its own, with a link to the request or the tick that queued it where that was
 * in this process.
 */
export function traceExecution<T>(ctx: Context, run: ClaimedExecution, work: (span: Span) => Promise<T>): Promise<T> {
  const { id, taskId, attempt, trigger, runAt } = run;
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
  const begun = (span: Span) => {
    ctx.trace.mark(key);
    return work(span);
  };
  return ctx.trace.span('run execution', attributes, begun, { causedBy: key });
}
