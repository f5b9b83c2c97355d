import { PreviewTaskInput } from '@carillon/contract/occurrences';
import { strictObject } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { previewTask } from '../../../product/tasks/schedule.ts';
import { withAdvice } from '../answers/advice.ts';
import { describeRuns, formatMoment, PlannedRun, toPlannedRuns } from '../answers/moments.ts';
import { chooseTimeZone, readTimes } from '../arguments/given-times.ts';
import { scheduleFields, TIME_FIELDS } from '../arguments/task-fields.ts';
import { defineTool } from '../tool.ts';

export const previewSchedule = defineTool({
  name: 'preview_schedule',
  title: 'Preview a schedule',
  description:
    'Shows the present time and when a schedule would run, in local time, without saving anything. Call it before create_task, and show the user the next runs.',
  scope: 'tasks:read',
  as: 'POST /api/tasks/preview',
  input: strictObject({ ...scheduleFields, count: PreviewTaskInput.properties.count }),
  output: Type.Object({ now: Type.String(), nextRuns: Type.Array(PlannedRun), notes: Type.Array(Type.String()) }),
  hints: { readOnlyHint: true, openWorldHint: false },
  async run({ ctx, caller }, given) {
    const timezone = chooseTimeZone(given.timezone, caller);
    const now = formatMoment(ctx.now(), timezone);
    return withAdvice({ scheduledFor: `it is ${now} now` }, async () => {
      const { input, notes } = readTimes({ ...given, timezone }, TIME_FIELDS, timezone);
      const nextRuns = toPlannedRuns(previewTask(ctx, input), timezone);
      return {
        text: [`It is ${now} now.`, ...notes, ...describeRuns(nextRuns)].join('\n'),
        data: { now, nextRuns, notes },
      };
    });
  },
});
