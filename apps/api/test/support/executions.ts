import type { ExecutionResult } from '../../src/product/executions/pipeline/execution-result.ts';
import type { ClaimedExecution } from '../../src/product/executions/pipeline/select-candidates.ts';

/** Builds the result of a successful execution. Default: without usage. */
export function buildResult(
  { id, claimToken }: Pick<ClaimedExecution, 'id' | 'claimToken'>,
  { text = 'Done.', usage = null }: { text?: string; usage?: ExecutionResult['usage'] } = {},
): ExecutionResult {
  const rest = { output: null, comparison: null, outcome: null, outcomeReason: null };
  return { id, claimToken, usage, durationMs: 1, ok: true, text, ...rest };
}
