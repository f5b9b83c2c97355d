import { Id, Instant, nullable, strictObject, stringEnum } from '@carillon/contract/primitives';
import { ListTasksQuery, RECURRENCES, TASK_STATUSES } from '@carillon/contract/tasks';
import { Type } from '@sinclair/typebox';
import { listTasks as list } from '../../../product/tasks/read.ts';
import { Moment, toMoment } from '../answers/moments.ts';
import { describeSchedule } from '../answers/saved-task.ts';
import { quote } from '../answers/texts.ts';
import { describePage, pageFields, readPage } from '../arguments/pages.ts';
import { defineTool } from '../tool.ts';

const { status, search } = ListTasksQuery.properties;

export const listTasks = defineTool({
  name: 'list_tasks',
  title: 'List tasks',
  description:
    'Lists the tasks of the user, newest first, with their ids, schedules and next runs. get_task shows a prompt.',
  scope: 'tasks:read',
  as: 'GET /api/tasks',
  input: strictObject({ status, search, ...pageFields }),
  output: Type.Object({
    tasks: Type.Array(
      Type.Object({
        id: Id,
        name: Type.String(),
        status: stringEnum(TASK_STATUSES),
        recurrence: stringEnum(RECURRENCES),
        recurrencePattern: nullable(Type.String()),
        interval: Type.Integer(),
        timezone: Type.String(),
        nextRun: nullable(Moment),
        lastExecutionAt: nullable(Instant),
        executionCount: Type.Integer(),
      }),
    ),
    nextCursor: nullable(Type.String()),
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  async run({ ctx, caller }, { status, search, ...page }) {
    const filter = { ...(status !== undefined && { status }), ...(search !== undefined && { search }) };
    const found = await list(ctx, caller, { ...filter, ...readPage(page) });
    const tasks = found.tasks.map((task) => {
      const { id, name, status, recurrence, recurrencePattern, interval, timezone, lastExecutionAt, executionCount } =
        task;
      const nextRun = task.nextExecutionAt && toMoment(task.nextExecutionAt, timezone);
      return {
        id,
        name,
        status,
        recurrence,
        recurrencePattern,
        interval,
        timezone,
        nextRun,
        lastExecutionAt,
        executionCount,
      };
    });
    const lines = tasks.map(({ id, name, status, nextRun, ...schedule }) =>
      [`task ${id} ${quote(name)}: ${status}`, describeSchedule(schedule), nextRun && `next ${nextRun.local}`]
        .filter(Boolean)
        .join(', '),
    );
    const { nextCursor } = found.pagination;
    return { text: describePage(lines, nextCursor, 'There is no such task.'), data: { tasks, nextCursor } };
  },
});
