import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import { Id, IdParams, Instant, strictObject } from './primitives.ts';

/** Specification "Quotas", `/api/usage`; decisions §9. */

const common = { tags: ['usage'], security: SIGNED_IN };

const Percentage = Type.Number({ description: 'Of the limit: 0–100, at most two decimals; 100 when it was overshot' });
const Quota = Type.Object({
  used: Type.Integer(),
  limit: Type.Integer(),
  remaining: Type.Integer({ description: '0 when the limit was overshot' }),
  percentage: Percentage,
});
const Megabytes = Type.Number({ description: 'In units of 1,048,576 bytes, at most two decimals' });

export const Usage = Type.Object({
  period: Type.String({ description: 'The month in UTC, `YYYY-MM`' }),
  executions: Quota,
  tokens: Quota,
  daily: Type.Object({ executions: Quota, tokens: Quota }, { description: 'The same for the day in UTC' }),
  storage: Type.Object({
    usedBytes: Type.Integer(),
    limitBytes: Type.Integer(),
    usedMB: Megabytes,
    limitMB: Megabytes,
    percentage: Percentage,
  }),
  rateLimits: Type.Object({
    hitToday: Type.Integer({ description: 'Requests that were refused with 429 since midnight in UTC' }),
    endpoints: Type.Array(Type.Object({ endpoint: Type.String(), hits: Type.Integer(), lastHit: Instant }), {
      description: 'The endpoints of those, the one hit most often first',
    }),
  }),
});
export type Usage = Static<typeof Usage>;

export const getUsage = {
  ...common,
  operationId: 'getUsage',
  summary: 'What the caller has used, and may use',
  description:
    'Of this month and of today in UTC, against the limits of the plan, and of the storage. When a quota is used up, what needs it is 402.',
  response: { 200: Type.Object({ success, usage: Usage }), ...errorResponses(401, 429) },
} satisfies Operation;

export const UsageAlert = Type.Object({
  id: Id,
  threshold: Type.Integer(),
  notifyEmail: Type.Boolean(),
  notifyWebhook: Type.Boolean(),
});

export const SetUsageAlertInput = strictObject({
  threshold: Type.Integer({ minimum: 1, maximum: 100, description: 'Percent of a monthly limit' }),
  notifyEmail: Type.Boolean({ description: 'Whether a mail is sent' }),
  notifyWebhook: Type.Boolean({ description: 'Whether the event `usage.alert` is sent' }),
});
export type SetUsageAlertInput = Static<typeof SetUsageAlertInput>;

export const setUsageAlert = {
  ...common,
  operationId: 'setUsageAlert',
  summary: 'Be told when usage reaches a share of a monthly limit',
  description:
    'Executions, tokens and storage each tell once a month, at once where the share is reached already. A notification is always shown. There is one alert for each threshold: the same threshold again changes it.',
  body: SetUsageAlertInput,
  response: { 200: Type.Object({ success, alert: UsageAlert }), ...errorResponses(401, 403, 429) },
} satisfies Operation;

export const listUsageAlerts = {
  ...common,
  operationId: 'listUsageAlerts',
  summary: "The caller's usage alerts, the lowest threshold first",
  description: 'All of them: there are at most 100.',
  response: { 200: Type.Object({ success, alerts: Type.Array(UsageAlert) }), ...errorResponses(401, 429) },
} satisfies Operation;

export const deleteUsageAlert = {
  ...common,
  operationId: 'deleteUsageAlert',
  summary: 'Delete a usage alert',
  description: 'What it has told already stays.',
  params: IdParams,
  response: { 200: Type.Object({ success, message: Type.String() }), ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;
