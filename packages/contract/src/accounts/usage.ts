import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from '../operation.ts';
import { Id, IdParams, Instant, ref, strictObject, Uuid } from '../primitives.ts';

const common = { tags: ['usage'], security: SIGNED_IN };

const Percentage = Type.Number({
  description: 'Percentage of the limit: 0–100, at most two decimals; 100 if exceeded',
});
const Quota = Type.Object({
  used: Type.Integer(),
  limit: Type.Integer(),
  remaining: Type.Integer({ description: '0 if the limit is exceeded' }),
  percentage: Percentage,
});
const Megabytes = Type.Number({ description: 'In MiB, at most two decimals' });

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
    hitToday: Type.Integer({ description: 'Requests rejected with 429 since midnight UTC' }),
    endpoints: Type.Array(Type.Object({ endpoint: Type.String(), hits: Type.Integer(), lastHit: Instant }), {
      description: 'The endpoints of these requests, the most frequent first',
    }),
  }),
  keys: Type.Array(Type.Object({ id: Uuid, name: Type.String(), requests: Type.Integer() }), {
    description:
      'The API keys with their requests in the period, the most used first. Requests of the last seconds may be missing',
  }),
  tools: Type.Object(
    {
      uses: Type.Integer({ description: 'Web searches and pages fetched' }),
      costUsd: Type.Number({ description: 'The part of the cost that the providers report for tools alone' }),
    },
    { description: 'The web tools that models have used in the period' },
  ),
  saved: Type.Object(
    {
      runs: Type.Integer({ description: 'Planned runs that ended as `unchanged`' }),
      estimatedCostUsd: Type.Number({
        description: 'What they would have cost, by the last completed run of each task',
      }),
    },
    { description: 'What unchanged sources have saved in the period' },
  ),
});
export type Usage = Static<typeof Usage>;

export const getUsage = {
  ...common,
  operationId: 'getUsage',
  summary: 'Get usage',
  description:
    "Returns the caller's usage of this month, of today (UTC) and of the storage, with the limits of the plan. Operations that need an exhausted quota respond with 402.",
  response: { 200: Type.Object({ success, usage: Usage }), ...errorResponses(401, 429) },
} satisfies Operation;

export const UsageAlert = Type.Object(
  {
    id: Id,
    threshold: Type.Integer(),
    notifyEmail: Type.Boolean(),
    notifyWebhook: Type.Boolean(),
  },
  { $id: 'UsageAlert' },
);

export const SetUsageAlertInput = strictObject({
  threshold: Type.Integer({ minimum: 1, maximum: 100, description: 'Percent of a monthly limit' }),
  notifyEmail: Type.Boolean({ description: 'Whether a mail is sent' }),
  notifyWebhook: Type.Boolean({ description: 'Whether the event `usage.alert` is sent' }),
});
export type SetUsageAlertInput = Static<typeof SetUsageAlertInput>;

export const setUsageAlert = {
  ...common,
  operationId: 'setUsageAlert',
  summary: 'Set a usage alert',
  description:
    'Alerts when the usage of executions, tokens or storage reaches a share of its monthly limit, once a month each, and immediately if the share is already reached. Always creates a notification. There is one alert per threshold: setting the same threshold again changes it.',
  body: SetUsageAlertInput,
  response: {
    200: Type.Object({ success, alert: ref(UsageAlert) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

export const listUsageAlerts = {
  ...common,
  operationId: 'listUsageAlerts',
  summary: 'List usage alerts',
  description: "Returns all of the caller's alerts, at most 100, the lowest threshold first.",
  response: { 200: Type.Object({ success, alerts: Type.Array(ref(UsageAlert)) }), ...errorResponses(401, 429) },
} satisfies Operation;

export const deleteUsageAlert = {
  ...common,
  operationId: 'deleteUsageAlert',
  summary: 'Delete a usage alert',
  description: 'Notifications that the alert has sent stay.',
  params: IdParams,
  response: { 200: Type.Object({ success, message: Type.String() }), ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;
