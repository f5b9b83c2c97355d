import { nullable, strictObject } from '@carillon/contract/primitives';
import { Task } from '@carillon/contract/tasks';
import { Type } from '@sinclair/typebox';
import { getTask as read } from '../../../product/tasks/read.ts';
import { previewNextRuns } from '../../../product/tasks/schedule.ts';
import { withAdvice } from '../answers/advice.ts';
import { describeRuns, PlannedRun, toPlannedRuns } from '../answers/moments.ts';
import { describeSchedule, FIND_TASK, NEXT_RUNS, toTaskPage } from '../answers/saved-task.ts';
import { fence, quote, quoteData, shorten } from '../answers/texts.ts';
import { TaskId, toEtag } from '../arguments/task-fields.ts';
import { defineTool } from '../tool.ts';

/** The address of a webhook may be a secret. */
const { userId: _owner, webhookUrl: _webhook, ...shown } = Task.properties;

export const getTask = defineTool({
  name: 'get_task',
  title: 'Get a task',
  description:
    'Shows a task with its prompt, its settings, its next runs, and the `etag` for update_task and delete_task.',
  scope: 'tasks:read',
  as: 'GET /api/tasks/:id',
  input: strictObject({ taskId: TaskId }),
  output: Type.Object({
    task: Type.Object({ ...shown, webhookHost: nullable(Type.String()) }),
    promptCut: Type.Boolean(),
    nextRuns: Type.Array(PlannedRun),
    etag: Type.String(),
    page: Type.String(),
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  async run({ ctx, caller }, { taskId }) {
    const row = await withAdvice({ not_found: FIND_TASK }, () => read(ctx, caller, taskId));
    const { userId: _owner, revision: _revision, plannedRuns: _planned, webhookUrl, prompt, ...rest } = row;
    const task = { ...rest, webhookHost: webhookUrl === null ? null : new URL(webhookUrl).host };
    const nextRuns = toPlannedRuns(previewNextRuns(ctx, row, NEXT_RUNS), row.timezone);
    const [etag, page] = [toEtag(row), toTaskPage(ctx, taskId)];
    const { id: _id, name, description, status, nextExecutionAt: _next, createdAt: _created, ...settings } = task;
    const lines = [
      `Task ${taskId} ${quote(name)} is ${status}, ${describeSchedule(row)}, ${row.timezone}.`,
      ...describeRuns(nextRuns),
      ...(description === null ? [] : [`Description: ${quote(description)}`]),
      `Settings: ${quoteData(settings)}`,
      `etag: ${etag}`,
      `Page: ${page}`,
      fence('The prompt of the task', prompt, page),
    ];
    const { text, isCut } = shorten(prompt);
    const data = { task: { ...task, prompt: text }, promptCut: isCut, nextRuns, etag, page };
    return { text: lines.join('\n'), data };
  },
});
