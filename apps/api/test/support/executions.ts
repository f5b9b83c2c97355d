import type { ExecutionResult } from '../../src/executions/pipeline/execution-result.ts';
import type { ClaimedExecution } from '../../src/executions/pipeline/select-runnable.ts';

/** The result of a claimed execution that the model answered, without usage unless given. */
export function buildResult(
  { id, claimToken }: Pick<ClaimedExecution, 'id' | 'claimToken'>,
  { text = 'Done.', usage = null }: { text?: string; usage?: ExecutionResult['usage'] } = {},
): ExecutionResult {
  return { id, claimToken, usage, durationMs: 1, ok: true, text };
}
