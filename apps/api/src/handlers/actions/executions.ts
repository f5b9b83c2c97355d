import { ACTION_INPUTS, type ActionData } from '@carillon/contract/actions/index';
import { parseId } from '@carillon/contract/validation/formats';
import { cancelExecution } from '../../product/executions/cancel.ts';
import { getExecutionDetails, listExecutions } from '../../product/executions/read.ts';
import { retryExecution } from '../../product/executions/start.ts';
import type { ActionBuilder } from './create-action.ts';
import { readId, readOptionalInput } from './input.ts';
import { EXECUTION_STATES, EXECUTION_STATUSES, toIsoText } from './mappings.ts';

export const executionActions = ({ user }: ActionBuilder) => ({
  getExecutions: user(
    'getExecutions',
    [readOptionalInput(ACTION_INPUTS.getExecutions)],
    async ({ ctx, caller }, input) => {
      const { status, limit = 20, offset = 0, startDate, endDate } = input;
      const taskId = input.taskId === undefined ? undefined : parseId(input.taskId);
      // As for a task that does not exist.
      if (taskId === null) return { executions: [], total: 0, hasMore: false };
      const query = { taskId, status: status && EXECUTION_STATUSES[status], startDate, endDate, limit, offset };
      const { executions, pagination } = await listExecutions(ctx, caller, query);
      const { total, hasMore } = pagination;
      // `total` is null only on pages by cursor.
      return { executions: executions.map(toExecutionData), total: total ?? 0, hasMore };
    },
  ),

  getExecutionDetails: user('getExecutionDetails', [readId], async ({ ctx, caller }, id) => {
    const { task, logs, metadata, ...execution } = await getExecutionDetails(ctx, caller, id);
    return {
      ...toExecutionData(execution),
      task: { ...task, id: String(task.id) },
      logs: logs.map(({ timestamp, message }) => ({ timestamp: timestamp.toISOString(), message })),
      metadata: {
        model: metadata.model ?? task.model,
        tokens: metadata.tokens ?? { prompt: 0, completion: 0, total: 0 },
        cost: metadata.cost ?? 0,
      },
    };
  }),

  retryExecution: user('retryExecution', [readId], async ({ ctx, caller }, id) => {
    const { executionId, status, startedAt } = await retryExecution(ctx, caller, id);
    return { executionId: String(executionId), status: EXECUTION_STATES[status], startedAt: startedAt.toISOString() };
  }),

  cancelExecution: user('cancelExecution', [readId], async ({ ctx, caller }, id) =>
    toExecutionData(await cancelExecution(ctx, caller, id)),
  ),
});

type ExecutionData = ActionData<'getExecutions'>['executions'][number];
type Execution = Awaited<ReturnType<typeof listExecutions>>['executions'][number];

const toExecutionData = (execution: Execution): ExecutionData => ({
  id: String(execution.id),
  taskId: String(execution.taskId),
  status: EXECUTION_STATES[execution.status],
  startedAt: toIsoText(execution.startedAt),
  completedAt: toIsoText(execution.completedAt),
  duration: execution.processingTimeMs,
  result: execution.result,
  error: execution.error,
});
