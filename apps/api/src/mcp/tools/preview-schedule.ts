import { PlannedOccurrence, PreviewTaskInput } from '@carillon/contract/occurrences';
import { Type } from '@sinclair/typebox';
import { previewTask } from '../../tasks/schedule.ts';
import { defineTool } from '../tool.ts';

export const previewSchedule = defineTool({
  name: 'preview_schedule',
  title: 'Preview a schedule',
  description:
    'Shows when a schedule would run, without saving anything. Call it before create_task, and show the user the next runs.',
  scope: 'tasks:read',
  as: 'POST /api/tasks/preview',
  input: PreviewTaskInput,
  output: Type.Object({ occurrences: Type.Array(PlannedOccurrence) }),
  hints: { readOnlyHint: true, openWorldHint: false },
  async run({ ctx }, input) {
    const occurrences = previewTask(ctx, input);
    const lines = occurrences.map(({ local, note }) => (note ? `- ${local} (${note})` : `- ${local}`));
    return { text: ['The next runs:', ...lines].join('\n'), data: { occurrences } };
  },
});
