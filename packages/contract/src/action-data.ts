import { type TSchema, Type } from '@sinclair/typebox';
import { RunState } from './action-inputs.ts';
import { Role } from './auth.ts';
import { EventKind } from './events.ts';
import { nullable, strict, words } from './primitives.ts';
import { UserSettings } from './user-settings.ts';

/** Specification "Server actions": what they give. Ids are strings, instants ISO 8601 in UTC with milliseconds. */

const Text = Type.String();
const Count = Type.Integer();
const At = Type.String({ format: 'date-time' });
const Nothing = Type.Null({ description: 'There is nothing to tell' });

const Task = strict({
  id: Text,
  name: Text,
  description: nullable(Text),
  prompt: Text,
  model: Text,
  recurrence: Type.String({ description: 'The cron expression; `once`, `daily`, `weekly`, `monthly` without one' }),
  active: Type.Boolean(),
  status: words(['ACTIVE', 'PAUSED', 'COMPLETED', 'FAILED']),
  webhookUrl: nullable(Text),
  notificationEmail: nullable(Text),
  nextExecutionAt: nullable(At),
  createdAt: At,
  updatedAt: At,
});

const execution = {
  id: Text,
  taskId: Text,
  status: RunState,
  startedAt: nullable(At),
  completedAt: nullable(At),
  duration: nullable(Type.Integer({ description: 'Milliseconds' })),
  result: nullable(Text),
  error: nullable(Text),
};

const queuedAs = <S extends TSchema>(status: S) => strict({ executionId: Text, status, startedAt: At });

const Account = strict({
  id: Text,
  identityUserId: Text,
  email: Text,
  name: Text,
  role: Role,
  isActive: Type.Boolean(),
  trialEndsAt: nullable(At),
  createdAt: At,
  stats: strict({ totalTasks: Count, totalExecutions: Count }),
});

export const DATA = {
  createTask: strict({ id: Text, name: Text, createdAt: At }),
  updateTask: Task,
  deleteTask: Nothing,
  toggleTaskActive: Task,
  executeTask: queuedAs(Type.Literal('PENDING')),
  duplicateTask: Task,
  getExecutions: strict({ executions: Type.Array(strict(execution)), total: Count, hasMore: Type.Boolean() }),
  getExecutionDetails: strict({
    ...execution,
    task: strict({ id: Text, name: Text, prompt: Text, model: Text }),
    logs: Type.Array(strict({ timestamp: At, message: Text })),
    metadata: strict({
      model: nullable(Type.String({ description: 'The model that answered; null until then' })),
      tokens: nullable(strict({ prompt: Count, completion: Count, total: Count })),
      cost: nullable(Type.Number({ description: 'USD' })),
    }),
  }),
  retryExecution: queuedAs(words(['PENDING', 'RUNNING'])),
  updateProfile: strict({
    id: Text,
    name: Text,
    email: Text,
    timezone: nullable(Text),
    notificationPreferences: strict({ email: Type.Boolean(), webhook: Type.Boolean() }),
    updatedAt: At,
  }),
  changePassword: Nothing,
  updateSettings: strict({
    webhookUrl: UserSettings.properties.webhookUrl,
    webhookId: UserSettings.properties.webhookId,
    notificationEmails: UserSettings.properties.notificationEmails,
    hasModelRouterApiKey: Type.Boolean(),
  }),
  getSystemStats: strict({
    users: strict({ total: Count, active: Count, new24h: Count }),
    tasks: strict({ total: Count, active: Count, paused: Count }),
    executions: strict({
      last24h: Count,
      success: Count,
      failed: Count,
      successRate: Type.Number({ description: 'Percent, 0–100, at most two decimals' }),
    }),
  }),
  listUsers: strict({ users: Type.Array(Account), total: Count, page: Count, pages: Count }),
  updateUserRole: strict({ id: Text, role: Role, isActive: Type.Boolean(), trialEndsAt: nullable(At), updatedAt: At }),
  createCoupon: strict({
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
  createWebhook: strict({
    id: Text,
    userId: Text,
    url: Text,
    secret: Text,
    events: Type.Array(EventKind),
    isActive: Type.Boolean(),
    createdAt: At,
  }),
  testWebhook: strict({
    id: Text,
    deliveryId: Text,
    webhookId: Text,
    event: EventKind,
    url: Text,
    statusCode: nullable(Count),
    responseTime: Type.Integer({ description: 'Milliseconds' }),
    attempt: Count,
    success: Type.Boolean({ description: 'Whether the receiver took it' }),
    error: nullable(Text),
    timestamp: At,
  }),
};
