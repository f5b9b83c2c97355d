import { Type } from '@sinclair/typebox';
import { CHANNEL_KINDS } from '../../channels/channels.ts';
import { ErrorCode } from '../../executions.ts';
import { Id, Instant, InstantInput, nullable, strictObject, stringEnum, Uuid } from '../../primitives.ts';
import { userAction } from './define.ts';

const Quota = Type.Object({ used: Type.Integer(), limit: Type.Integer() });
const Task = { taskId: Id, taskName: Type.String() };

/** What the first page shows. */
const Overview = Type.Object({
  tasks: Type.Integer({ description: 'All tasks of the caller' }),
  unconfirmedEmails: Type.Array(Type.String(), {
    description: 'Addresses of the settings, or of one of the newest 1,000 tasks, that get no mail yet; at most six',
  }),
  failing: Type.Array(
    Type.Object({
      ...Task,
      failures: Type.Integer({ description: 'Failed runs in a row' }),
      executionId: nullable(Id),
      at: nullable(Instant),
      error: nullable(Type.String()),
      errorCode: nullable(ErrorCode),
    }),
    { description: 'Tasks whose last run failed, the newest first; at most six' },
  ),
  silent: Type.Array(Type.Object({ ...Task, plannedFor: Instant }), {
    description: 'Tasks that are overdue and have not run since; at most six',
  }),
  overBudget: Type.Array(
    Type.Object({
      ...Task,
      budgetUsd: Type.Number(),
      cause: {
        ...stringEnum(['used', 'rest_too_small', 'budget_too_small']),
        description:
          'It is used up, or the rest of it does not cover a run, or a run costs more than the budget of a month',
      },
    }),
    {
      description:
        'Active tasks whose next run is refused by their budget of the month, among the newest 200 with one; at most six',
    },
  ),
  failedWebhooks: Type.Array(
    Type.Object({
      id: Uuid,
      url: Type.String(),
      kind: stringEnum(['webhook', ...CHANNEL_KINDS]),
      name: nullable(Type.String({ description: 'Of a channel' })),
    }),
    { description: 'Channels too' },
  ),
  answers: Type.Array(
    Type.Object({
      ...Task,
      executionId: Id,
      at: Instant,
      text: Type.String({ description: 'The beginning' }),
      latenessMs: nullable(Type.Integer()),
    }),
    { description: 'The latest one of each task, newest first; at most five' },
  ),
  usage: Type.Object({
    executions: Quota,
    tokens: Quota,
    daily: Type.Object({ executions: Quota, tokens: Quota }),
    costUsd: Type.Number(),
    days: Type.Array(Type.Object({ day: Type.String(), costUsd: Type.Number(), executions: Type.Integer() }), {
      description: 'The days of this month with usage, in UTC, oldest first',
    }),
  }),
  upcoming: Type.Object({
    runs: Type.Array(Type.Object({ ...Task, at: Instant }), {
      description: 'Planned in the next 24 hours, earliest first',
    }),
    isComplete: Type.Boolean({ description: 'False if only the runs of the tasks that are due first are listed' }),
  }),
});

export const homeActions = {
  getOverview: userAction(strictObject({ since: Type.Optional(InstantInput) }), Overview),
};
