import { Type } from '@sinclair/typebox';
import { SetUsageAlertInput, UsageAlert } from '../../accounts/usage.ts';
import { Id, Instant, nullable, strictObject, Uuid } from '../../primitives.ts';
import { NoData, userAction } from './define.ts';

const Quota = Type.Object({ used: Type.Integer(), limit: Type.Integer() });
const Counters = { executions: Type.Integer(), tokens: Type.Integer(), costUsd: Type.Number() };
const Calls = {
  executions: Type.Integer(),
  inputTokens: Type.Integer(),
  outputTokens: Type.Integer(),
  costUsd: Type.Number(),
};

const Month = Type.Object({
  period: Type.String({ description: '`YYYY-MM`, in UTC' }),
  months: Type.Array(Type.String(), { description: 'With usage, and this month; newest first' }),
  executions: Quota,
  tokens: Quota,
  daily: Type.Object({ executions: Quota, tokens: Quota }, { description: 'Today' }),
  storage: Quota,
  completed: Type.Integer(),
  failed: Type.Integer(),
  costUsd: Type.Number(),
  tools: Type.Object(
    { uses: Type.Integer(), costUsd: Type.Number() },
    { description: 'Web tools, with the part of the cost that is known to be for them' },
  ),
  days: Type.Array(Type.Object({ day: Type.String(), ...Counters }), { description: 'With usage, oldest first' }),
  models: Type.Array(Type.Object({ model: nullable(Type.String()), ...Calls }), {
    description: 'The most expensive first; at most 20',
  }),
  tasks: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('task'), Type.Literal('agent'), Type.Literal('deleted')]),
      taskId: nullable(Id),
      taskName: nullable(Type.String()),
      ...Calls,
    }),
    { description: 'The most expensive first; at most 20' },
  ),
  tasksLeftOut: Type.Integer(),
  keys: Type.Array(Type.Object({ id: Uuid, name: Type.String(), requests: Type.Integer() }), {
    description: 'The most used first; at most 20',
  }),
  rejections: Type.Array(Type.Object({ endpoint: Type.String(), hits: Type.Integer(), lastHit: Instant }), {
    description: 'Requests of today that were rejected by rate limits, the most frequent first; at most 20',
  }),
  alerts: Type.Array(UsageAlert),
});

export const usageActions = {
  getUsageMonth: userAction(strictObject({ month: Type.Optional(Type.String({ maxLength: 20 })) }), Month),
  setUsageAlert: userAction(SetUsageAlertInput, UsageAlert),
  deleteUsageAlert: userAction(strictObject({ id: Id }), NoData),
};
