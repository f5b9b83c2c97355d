import { strictObject } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { getTask } from '../../../product/tasks/read.ts';
import { previewNextRuns } from '../../../product/tasks/schedule.ts';
import { changeTask } from '../../../product/tasks/write.ts';
import { inTransaction } from '../../../transaction.ts';
import { withAdvice } from '../answers/advice.ts';
import { toPlannedRuns } from '../answers/moments.ts';
import { adviseOnTask, answerSaved, NEXT_RUNS, SavedTask } from '../answers/saved-task.ts';
import { isLocal, readTimes } from '../arguments/given-times.ts';
import { changedFields, Etag, readEtag, TaskId, TIME_FIELDS, toEtag } from '../arguments/task-fields.ts';
import { recordToolChange } from '../record-change.ts';
import { defineTool } from '../tool.ts';

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Change, pause or resume a task',
  description:
    'Changes the fields that are given, which are those of create_task; null clears one. `status` pauses (`paused`) or resumes (`active`) the task. Call get_task first, and show the user what changes.',
  scope: 'tasks:write',
  as: 'PATCH /api/tasks/:id',
  input: strictObject({ taskId: TaskId, etag: Etag, ...changedFields }),
  output: Type.Object({ ...SavedTask, etag: Type.String() }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  run(call, { taskId, etag, ...given }) {
    const { ctx, caller } = call;
    const zone = given.timezone ?? caller.timezone ?? 'UTC';
    return withAdvice(adviseOnTask(ctx, zone), () =>
      inTransaction(ctx, async (tx) => {
        const isInZoneOfTask = given.timezone === undefined && TIME_FIELDS.some((field) => isLocal(given[field]));
        const { timezone } = isInZoneOfTask ? await getTask(tx, caller, taskId) : { timezone: zone };
        const { input, notes } = readTimes(given, TIME_FIELDS, timezone);
        const task = await changeTask(tx, caller, taskId, input, readEtag(etag, taskId));
        await recordToolChange(tx, call, 'task.changed_by_assistant', { taskId });
        const nextRuns = toPlannedRuns(previewNextRuns(tx, task, NEXT_RUNS), task.timezone);
        const saved = { taskId, status: task.status, nextRuns, notes };
        return answerSaved(ctx, `Task ${taskId} is saved.`, saved, { etag: toEtag(task) });
      }),
    );
  },
});
