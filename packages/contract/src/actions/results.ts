import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Role } from '../accounts/auth.ts';
import { UserSettings } from '../accounts/user-settings.ts';
import { PendingEmail } from '../accounts/users.ts';
import { nullable, strictObject, stringEnum } from '../primitives.ts';
import { TASK_STATUSES } from '../tasks.ts';
import { EventKind } from '../webhooks/events.ts';
import { ActionExecutionStatus } from './inputs.ts';

// Ids are strings, instants ISO 8601 in UTC with milliseconds.

const Text = Type.String();
const Count = Type.Integer();
const At = Type.String({ format: 'date-time' });
const NoData = Type.Null({ description: 'No data' });

const ActionTask = strictObject({
  id: Text,
  name: Text,
  description: nullable(Text),
  prompt: Text,
  model: Text,
  recurrence: Type.String({
    description: 'The cron expression, or `once`, `daily`, `weekly` or `monthly` without one',
  }),
  active: Type.Boolean(),
  status: stringEnum(TASK_STATUSES),
  webhookUrl: nullable(Text),
  notificationEmail: nullable(Text),
  nextExecutionAt: nullable(At),
  createdAt: At,
  updatedAt: At,
});

const ActionExecution = strictObject({
  id: Text,
  taskId: Text,
  status: ActionExecutionStatus,
  startedAt: nullable(At),
  completedAt: nullable(At),
  duration: nullable(Type.Integer({ description: 'Milliseconds' })),
  result: nullable(Text),
  error: nullable(Text),
});

const queuedAs = <S extends TSchema>(status: S) => strictObject({ executionId: Text, status, startedAt: At });

const Account = strictObject({
  id: Text,
  identityUserId: Text,
  email: Text,
  name: Text,
  role: Role,
  isActive: Type.Boolean(),
  trialEndsAt: nullable(At),
  createdAt: At,
  stats: strictObject({ totalTasks: Count, totalExecutions: Count }),
});

/** Those that several results have. */
export const ACTION_RECORDS = { ActionTask, ActionExecution };

export const ACTION_DATA = {
  login: strictObject({
    session: Type.String({ description: 'The session token, for the cookie or a bearer header' }),
    expiresAt: At,
    user: strictObject({ id: Text, email: Text, name: Text, role: Role }),
  }),
  register: strictObject({ id: Text, email: Text, name: Text, createdAt: At }),
  logout: NoData,
  createTask: strictObject({ id: Text, name: Text, createdAt: At }),
  updateTask: ActionTask,
  deleteTask: NoData,
  toggleTaskActive: ActionTask,
  skipNextRun: strictObject({
    skipped: Type.String({ format: 'date-time', description: 'The instant of the skipped run' }),
    task: ActionTask,
  }),
  backfillTask: strictObject({ queued: Type.Integer({ description: 'How many runs are queued' }) }),
  executeTask: queuedAs(Type.Literal('PENDING')),
  duplicateTask: ActionTask,
  getExecutions: strictObject({
    executions: Type.Array(ActionExecution),
    total: Count,
    hasMore: Type.Boolean(),
  }),
  getExecutionDetails: strictObject({
    ...ActionExecution.properties,
    task: strictObject({ id: Text, name: Text, prompt: Text, model: Text }),
    logs: Type.Array(strictObject({ timestamp: At, message: Text })),
    metadata: strictObject({
      model: Type.String({ description: 'The model that answered; before that, the model of the task' }),
      tokens: strictObject({ prompt: Count, completion: Count, total: Count }),
      cost: Type.Number({ description: 'USD' }),
    }),
  }),
  retryExecution: queuedAs(stringEnum(['PENDING', 'RUNNING'])),
  cancelExecution: ActionExecution,
  updateProfile: strictObject({
    id: Text,
    name: Text,
    email: Text,
    pendingEmail: PendingEmail,
    timezone: nullable(Text),
    notificationPreferences: strictObject({ email: Type.Boolean(), webhook: Type.Boolean() }),
    updatedAt: At,
  }),
  changePassword: NoData,
  updateSettings: strictObject({
    webhookUrl: UserSettings.properties.webhookUrl,
    webhookId: UserSettings.properties.webhookId,
    notificationEmails: UserSettings.properties.notificationEmails,
    hasModelRouterApiKey: Type.Boolean(),
  }),
  getSystemStats: strictObject({
    users: strictObject({ total: Count, active: Count, new24h: Count }),
    tasks: strictObject({ total: Count, active: Count, paused: Count }),
    executions: strictObject({
      last24h: Count,
      success: Count,
      failed: Count,
      successRate: Type.Number({ description: 'Percent, 0–100, at most two decimals' }),
    }),
  }),
  listUsers: strictObject({ users: Type.Array(Account), total: Count, page: Count, pages: Count }),
  updateUserRole: strictObject({
    id: Text,
    role: Role,
    isActive: Type.Boolean(),
    trialEndsAt: nullable(At),
    updatedAt: At,
  }),
  createCoupon: strictObject({
    id: Text,
    code: Text,
    type: Text,
    value: Count,
    isActive: Type.Boolean(),
    maxUses: nullable(Count),
    usedCount: Count,
    expiresAt: nullable(At),
    createdByEmail: Text,
    createdAt: At,
  }),
  createWebhook: strictObject({
    id: Text,
    userId: Text,
    url: Text,
    secret: Text,
    events: Type.Array(EventKind),
    isActive: Type.Boolean(),
    createdAt: At,
  }),
  testWebhook: strictObject({
    id: Text,
    webhookId: Text,
    event: EventKind,
    url: Text,
    statusCode: nullable(Count),
    responseTime: Type.Integer({ description: 'Milliseconds' }),
    attempt: Count,
    success: Type.Boolean({ description: 'Whether the receiver accepted the delivery' }),
    timestamp: At,
  }),
};

/** Builds the schema of one kind of error. */
const failed = <P extends Record<string, TSchema>>(fields: P) =>
  strictObject({ success: Type.Literal(false), ...fields });
export const ActionError = Type.Union([
  failed({
    error: Type.Literal('Validation error'),
    details: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Messages by field' }),
    // Never present; lets clients read `code` of any error without narrowing.
    code: Type.Optional(Type.Unsafe<undefined>({ not: {} })),
  }),
  failed({ error: Type.Literal('Unauthorized'), code: Type.Literal('AUTH_REQUIRED') }),
  failed({ error: Type.Literal('Forbidden'), code: Type.Literal('INSUFFICIENT_PERMISSIONS') }),
  failed({
    error: Type.Literal('Too many requests'),
    code: Type.Literal('RATE_LIMIT_EXCEEDED'),
    retryAfter: Type.Integer({ description: 'Seconds' }),
  }),
  failed({
    error: Type.String({ description: 'What happened, for the user' }),
    code: stringEnum([
      'INVALID_CREDENTIALS',
      'NOT_FOUND',
      'CONFLICT',
      'QUOTA_EXCEEDED',
      'SERVICE_UNAVAILABLE',
      'INTERNAL_ERROR',
    ]),
  }),
]);
export type ActionError = Static<typeof ActionError>;
