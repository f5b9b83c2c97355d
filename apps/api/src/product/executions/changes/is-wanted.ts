import type { CompletedExecution } from '../pipeline/execution-result.ts';

/** Whether the task's own webhook and mail get the result. The first success of a task is what later ones are compared with. */
export function isWanted({ result, notify }: Pick<CompletedExecution, 'result' | 'notify'>): boolean {
  if (!result.ok || notify === 'always') return true;
  return notify === 'change' && result.comparison?.changed === true;
}
