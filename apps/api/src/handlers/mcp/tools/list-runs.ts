import { ERROR_CODES, EXECUTION_STATUSES, ListExecutionsQuery, TRIGGERS } from '@carillon/contract/executions';
import { Id, nullable, strictObject, stringEnum } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { listExecutions } from '../../../product/executions/read.ts';
import { countUnseen } from '../../../product/executions/seen.ts';
import { Moment, toMoment } from '../answers/moments.ts';
import { readDay } from '../arguments/given-times.ts';
import { describePage, pageFields, readPage } from '../arguments/pages.ts';
import { TaskId } from '../arguments/task-fields.ts';
import { defineTool } from '../tool.ts';

const Day = Type.String({ maxLength: 40 });

const describeStatus = (status: string, errorCode: string | null) =>
  errorCode === 'CANCELLED' ? 'stopped by the user' : `${status}${errorCode === null ? '' : ` (${errorCode})`}`;

export const listRuns = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description: 'Lists runs of tasks, newest first, without their results, which get_run shows.',
  scope: 'executions:read',
  as: 'GET /api/executions',
  input: strictObject({
    taskId: Type.Optional(TaskId),
    status: ListExecutionsQuery.properties.status,
    startDate: Type.Optional({
      ...Day,
      description: 'A day such as 2026-11-20, or a time, in the time zone of the user',
    }),
    endDate: Type.Optional({ ...Day, description: 'The last day, or a time' }),
    ...pageFields,
  }),
  output: Type.Object({
    runs: Type.Array(
      Type.Object({
        id: Id,
        taskId: Id,
        status: stringEnum(EXECUTION_STATUSES),
        trigger: stringEnum(TRIGGERS),
        attempt: Type.Integer(),
        created: Moment,
        completed: nullable(Moment),
        errorCode: nullable(stringEnum(ERROR_CODES)),
        changed: nullable(Type.Boolean()),
        costUsd: nullable(Type.Number()),
      }),
    ),
    nextCursor: nullable(Type.String()),
    unseen: Type.Integer(),
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  async run({ ctx, caller }, { taskId, status, startDate, endDate, ...page }) {
    const timezone = caller.timezone ?? 'UTC';
    const found = await listExecutions(ctx, caller, {
      ...(taskId !== undefined && { taskId }),
      ...(status !== undefined && { status }),
      ...(startDate !== undefined && { startDate: readDay('startDate', startDate, timezone) }),
      ...(endDate !== undefined && { endDate: readDay('endDate', endDate, timezone) }),
      ...readPage(page),
    });
    const runs = found.executions.map((run) => {
      const { id, taskId, status, trigger, attempt, createdAt, completedAt, errorCode, changed, costUsd } = run;
      const [created, completed] = [toMoment(createdAt, timezone), completedAt && toMoment(completedAt, timezone)];
      return { id, taskId, status, trigger, attempt, created, completed, errorCode, changed, costUsd };
    });
    const lines = runs.map(({ id, taskId, status, errorCode, created, changed }) =>
      [`run ${id} of task ${taskId}: ${describeStatus(status, errorCode)}`, created.local, changed && 'changed']
        .filter(Boolean)
        .join(', '),
    );
    const { nextCursor } = found.pagination;
    const unseen = await countUnseen(ctx, caller);
    const text = describePage(lines, nextCursor, 'There is no such run.');
    return { text: `${text}\n${unseen} runs are not seen by the user yet.`, data: { runs, nextCursor, unseen } };
  },
});
