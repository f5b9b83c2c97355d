import { strictObject } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { previewTask } from '../../../product/tasks/schedule.ts';
import { createTask as create } from '../../../product/tasks/write.ts';
import { withAdvice } from '../answers/advice.ts';
import { toPlannedRuns } from '../answers/moments.ts';
import { adviseOnTask, answerSaved, NEXT_RUNS, SavedTask } from '../answers/saved-task.ts';
import { chooseTimeZone, readTimes } from '../arguments/given-times.ts';
import { RequestId, runOnce } from '../arguments/run-once.ts';
import { TIME_FIELDS, taskFields } from '../arguments/task-fields.ts';
import { recordToolChange } from '../record-change.ts';
import { defineTool } from '../tool.ts';

export const createTask = defineTool({
  name: 'create_task',
  title: 'Create a task',
  description:
    'Schedules a prompt, which a model answers in each run. Show the user the plan and the next runs of preview_schedule first. To send the answers somewhere, give `channels`.',
  scope: 'tasks:write',
  as: 'POST /api/agent/create-task',
  input: strictObject({ ...taskFields, requestId: RequestId }),
  output: Type.Object(SavedTask),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  async run(call, { requestId, ...given }) {
    const { ctx, caller } = call;
    const timezone = chooseTimeZone(given.timezone, caller);
    return withAdvice(adviseOnTask(ctx, timezone), async () => {
      const { input, notes } = readTimes({ ...given, timezone }, TIME_FIELDS, timezone);
      return runOnce(call, { ...given, requestId }, async (tx) => {
        const taskId = await create(tx, caller, input);
        await recordToolChange(tx, call, 'task.created_by_assistant', { taskId });
        const {
          status = 'active',
          scheduledFor,
          recurrence,
          recurrencePattern,
          interval,
          endsAt,
          maxRuns,
          pausedUntil,
        } = input;
        const plan = { scheduledFor, recurrence, recurrencePattern, interval, timezone, endsAt, maxRuns, pausedUntil };
        const runs = status === 'active' ? previewTask(tx, { ...plan, count: NEXT_RUNS }) : [];
        const saved = { taskId, status, nextRuns: toPlannedRuns(runs, timezone), notes };
        return answerSaved(ctx, `Task ${taskId} is created.`, saved);
      });
    });
  },
});
