import { Id, strictObject } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { cancelExecution } from '../../../product/executions/cancel.ts';
import { inTransaction } from '../../../transaction.ts';
import { withAdvice } from '../answers/advice.ts';
import { FIND_RUN } from '../answers/saved-task.ts';
import { RunId } from '../arguments/task-fields.ts';
import { recordToolChange } from '../record-change.ts';
import { defineTool } from '../tool.ts';

export const cancelRun = defineTool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description: 'Stops a run that is pending or running. Its result is discarded; tokens used so far may cost money.',
  scope: 'executions:run',
  as: 'POST /api/executions/:id/cancel',
  input: strictObject({ runId: RunId }),
  output: Type.Object({ runId: Id, taskId: Id, status: Type.Literal('failed'), errorCode: Type.Literal('CANCELLED') }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run(call, { runId }) {
    const { ctx, caller } = call;
    return withAdvice({ not_found: FIND_RUN, conflict: 'Call get_run for its result' }, () =>
      inTransaction(ctx, async (tx) => {
        const { taskId, status, errorCode } = await cancelExecution(tx, caller, runId);
        await recordToolChange(tx, call, 'execution.cancelled_by_assistant', { taskId, executionId: runId });
        return { text: `Run ${runId} of task ${taskId} is cancelled.`, data: { runId, taskId, status, errorCode } };
      }),
    );
  },
});
