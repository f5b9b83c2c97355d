import { Id, strictObject } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { deleteTask as remove } from '../../../product/tasks/delete.ts';
import { inTransaction } from '../../../transaction.ts';
import { withAdvice } from '../answers/advice.ts';
import { FIND_TASK, READ_AGAIN } from '../answers/saved-task.ts';
import { Etag, readEtag, TaskId } from '../arguments/task-fields.ts';
import { recordToolChange } from '../record-change.ts';
import { defineTool } from '../tool.ts';

export const deleteTask = defineTool({
  name: 'delete_task',
  title: 'Delete a task and its runs',
  description:
    'Deletes a task with all its runs and results, which cannot be undone. Ask the user first; `update_task` can pause a task instead.',
  scope: 'tasks:write',
  as: 'DELETE /api/tasks/:id',
  input: strictObject({ taskId: TaskId, etag: Etag }),
  output: Type.Object({ taskId: Id, deleted: Type.Boolean() }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  run(call, { taskId, etag }) {
    const { ctx, caller } = call;
    return withAdvice({ not_found: FIND_TASK, precondition_failed: READ_AGAIN }, () =>
      inTransaction(ctx, async (tx) => {
        await remove(tx, caller, taskId, readEtag(etag, taskId));
        await recordToolChange(tx, call, 'task.deleted_by_assistant', { taskId });
        return { text: `Task ${taskId} and its runs are deleted.`, data: { taskId, deleted: true } };
      }),
    );
  },
});
