import { Id, nullable, strictObject, stringEnum } from '@carillon/contract/primitives';
import { ALERT_KINDS, ListAlertsQuery } from '@carillon/contract/tasks/alerts';
import { Type } from '@sinclair/typebox';
import { listAlerts as list } from '../../../product/notifications/alerts/read.ts';
import { Moment, toMoment } from '../answers/moments.ts';
import { quote } from '../answers/texts.ts';
import { describePage, pageFields, readPage } from '../arguments/pages.ts';
import { TaskId } from '../arguments/task-fields.ts';
import { defineTool } from '../tool.ts';

const { kind } = ListAlertsQuery.properties;

export const listAlerts = defineTool({
  name: 'list_alerts',
  title: 'List alerts',
  description: 'Lists the alerts of tasks, newest first: overdue, failing, expensive and slow ones, and recoveries.',
  scope: 'executions:read',
  as: 'GET /api/alerts',
  input: strictObject({ taskId: Type.Optional(TaskId), kind, ...pageFields }),
  output: Type.Object({
    alerts: Type.Array(
      Type.Object({
        id: Id,
        kind: stringEnum(ALERT_KINDS),
        taskId: Id,
        taskName: Type.String(),
        runId: nullable(Id),
        run: Moment,
        title: Type.String(),
        message: Type.String(),
        undelivered: Type.Boolean(),
      }),
    ),
    nextCursor: nullable(Type.String()),
  }),
  hints: { readOnlyHint: true, openWorldHint: false },
  async run({ ctx, caller }, { taskId, kind, ...page }) {
    const timezone = caller.timezone ?? 'UTC';
    const filter = { ...(taskId !== undefined && { taskId }), ...(kind !== undefined && { kind }) };
    const found = await list(ctx, caller, { ...filter, ...readPage(page) });
    const alerts = found.alerts.map(({ executionId: runId, at, createdAt: _at, deliveries: _all, ...alert }) => ({
      ...alert,
      runId,
      run: toMoment(new Date(at), timezone),
    }));
    const lines = alerts.map(
      ({ kind, taskId, taskName, runId, run, message, undelivered }) =>
        `${kind}: task ${taskId} ${quote(taskName)}${runId === null ? '' : `, run ${runId}`}, ${run.local}, ${quote(message)}${undelivered ? ', not delivered to every receiver' : ''}`,
    );
    const { nextCursor } = found.pagination;
    return { text: describePage(lines, nextCursor, 'There is no such alert.'), data: { alerts, nextCursor } };
  },
});
