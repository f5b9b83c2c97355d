import { ACTION_INPUTS, type ActionData } from '@carillon/contract/actions';
import { parseId } from '@carillon/contract/primitives';
import { getExecutionDetails, listExecutions } from '../executions/read.ts';
import { retryExecution } from '../executions/retry-execution.ts';
import type { ActionBuilder } from './create-action.ts';
import { readId, readOptional } from './input.ts';
import { RUN_STATES, STATUSES, toText } from './words.ts';

/** Specification "Server actions": those of executions. */
export const executionActions = ({ user }: ActionBuilder) => ({
  getExecutions: user('getExecutions', [readOptional(ACTION_INPUTS.getExecutions)], async ({ ctx, caller }, input) => {
    const { status, limit = 20, offset = 0, startDate, endDate } = input;
    const taskId = input.taskId === undefined ? undefined : parseId(input.taskId);
    // As for a task that there is not.
    if (taskId === null) return { executions: [], total: 0, hasMore: false };
    const query = { taskId, status: status && STATUSES[status], startDate, endDate, limit, offset };
    const { executions, pagination } = await listExecutions(ctx, caller, query);
    const { total, hasMore } = pagination;
    // It is null on pages by cursor only.
    return { executions: executions.map(showExecution), total: total ?? 0, hasMore };
  }),

  getExecutionDetails: user('getExecutionDetails', [readId], async ({ ctx, caller }, id) => {
    const { task, logs, metadata, ...execution } = await getExecutionDetails(ctx, caller, id);
    return {
      ...showExecution(execution),
      task: { ...task, id: String(task.id) },
      logs: logs.map(({ timestamp, message }) => ({ timestamp: timestamp.toISOString(), message })),
      metadata,
    };
  }),

  retryExecution: user('retryExecution', [readId], async ({ ctx, caller }, id) => {
    const { executionId, status, startedAt } = await retryExecution(ctx, caller, id);
    return { executionId: String(executionId), status: RUN_STATES[status], startedAt: startedAt.toISOString() };
  }),
});

type Shown = ActionData<'getExecutions'>['executions'][number];
type Execution = Awaited<ReturnType<typeof listExecutions>>['executions'][number];

const showExecution = (execution: Execution): Shown => ({
  id: String(execution.id),
  taskId: String(execution.taskId),
  status: RUN_STATES[execution.status],
  startedAt: toText(execution.startedAt),
  completedAt: toText(execution.completedAt),
  duration: execution.processingTimeMs,
  result: execution.result,
  error: execution.error,
});
