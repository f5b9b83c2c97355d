import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from '../operation.ts';
import { Cursor, Id, IdParams, Instant, nullable, pageLimit, ref, stringEnum } from '../primitives.ts';

export const ALERT_KINDS = [
  'task.overdue',
  'task.failing',
  'task.recovered',
  'task.expensive',
  'task.slow',
  'task.degraded',
] as const;
export const AlertKind = stringEnum(ALERT_KINDS);
export type AlertKind = Static<typeof AlertKind>;

export const AlertDelivery = Type.Object({
  kind: Type.Unsafe<'webhook' | 'mail' | 'channel'>({
    ...stringEnum(['webhook', 'mail', 'channel']),
    description: 'How it is sent',
  }),
  to: Type.String({ description: 'The URL of the webhook, the mail address, or the name of the channel' }),
  status: Type.Unsafe<'pending' | 'held' | 'delivered' | 'failed'>({
    ...stringEnum(['pending', 'held', 'delivered', 'failed']),
    description:
      "`held`: the channel waits for the end of its quiet hours, its interval or its digest. Once it is in a digest, the status is the digest's",
  }),
  attempts: Type.Integer({ description: 'The number of attempts so far' }),
  lastError: nullable(Type.String({ description: 'Of the latest attempt, if it failed' })),
  at: Type.Unsafe<Date | string>({ ...Instant, description: 'When it was delivered or failed, or else was queued' }),
});

export const Alert = Type.Object(
  {
    id: Id,
    kind: { ...AlertKind, description: 'The rule that applies, or `task.recovered`' },
    taskId: { ...Id, description: 'The task' },
    taskName: Type.String({ description: 'The name of the task' }),
    at: Type.Unsafe<Date | string>({
      ...Instant,
      description: 'The planned instant of the run; for a run on demand, when it was requested',
    }),
    executionId: nullable({ ...Id, description: 'The run; null for `task.overdue`, and after the run was pruned' }),
    title: Type.String({ description: 'The alert in short' }),
    message: Type.String({ description: 'What happened' }),
    createdAt: Instant,
    acknowledgedAt: nullable({ ...Instant, description: 'When its cause was put away; null if it was not' }),
    undelivered: Type.Boolean({ description: 'Whether a delivery has failed for good' }),
    deliveries: Type.Array(AlertDelivery, { description: 'To webhooks, mail addresses and channels' }),
  },
  { $id: 'Alert' },
);
export type Alert = Static<typeof Alert>;

export const ListAlertsQuery = Type.Object({
  taskId: Type.Optional({ ...Id, description: 'Only alerts of this task' }),
  kind: Type.Optional({ ...AlertKind, description: 'Only alerts of this kind' }),
  limit: pageLimit(20),
  cursor: Type.Optional(Cursor),
});
export type ListAlertsQuery = Static<typeof ListAlertsQuery>;

export const listAlerts = {
  tags: ['alerts'],
  security: SIGNED_IN,
  operationId: 'listAlerts',
  summary: 'List alerts',
  description:
    "Returns the alerts of the caller's tasks with their deliveries, newest first. Pages by `cursor`. Which alerts are sent is the field `alerts` of a task.",
  querystring: ListAlertsQuery,
  response: {
    200: Type.Object({
      success,
      alerts: Type.Array(ref(Alert)),
      pagination: Type.Object({ limit: Type.Integer(), nextCursor: nullable(Type.String()) }),
    }),
    ...errorResponses(401, 429),
  },
} satisfies Operation;

export const acknowledgeAlert = {
  tags: ['alerts'],
  security: SIGNED_IN,
  operationId: 'acknowledgeAlert',
  summary: 'Acknowledge an alert',
  description:
    'Puts its cause away: the task, the rule and the error code need no attention in the dashboard until they change, or the task recovers. Idempotent: `acknowledgedAt` keeps the first time.',
  params: IdParams,
  response: {
    200: Type.Object({ success, alert: ref(Alert) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;
