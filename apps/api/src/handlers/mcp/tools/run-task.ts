import { Id, Instant, strictObject } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { executeTask } from '../../../product/executions/start.ts';
import { withAdvice } from '../answers/advice.ts';
import { FIND_TASK, toRunPage } from '../answers/saved-task.ts';
import { RequestId, runOnce } from '../arguments/run-once.ts';
import { TaskId } from '../arguments/task-fields.ts';
import { recordToolChange } from '../record-change.ts';
import { defineTool } from '../tool.ts';

export const runTask = defineTool({
  name: 'run_task',
  title: 'Run a task now',
  description:
    'Starts a run immediately; the schedule does not change. The run costs money, and its answer is sent to the channels of the task. Call get_run for the result.',
  scope: 'executions:run',
  as: 'POST /api/tasks/:id/execute',
  input: strictObject({ taskId: TaskId, requestId: RequestId }),
  output: Type.Object({
    runId: Id,
    taskId: Id,
    status: Type.Literal('pending'),
    startedAt: Instant,
    page: Type.String(),
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  run(call, input) {
    const { ctx, caller } = call;
    const { taskId } = input;
    return withAdvice({ not_found: FIND_TASK }, () =>
      runOnce(call, input, async (tx) => {
        const { executionId: runId, startedAt } = await executeTask(tx, caller, taskId);
        await recordToolChange(tx, call, 'execution.started_by_assistant', { taskId, executionId: runId });
        const page = toRunPage(ctx, runId);
        return {
          text: `Run ${runId} of task ${taskId} is queued. Call get_run with runId ${runId} in a few seconds for its result.\nPage: ${page}`,
          data: { runId, taskId, status: 'pending', startedAt, page },
        };
      }),
    );
  },
});
