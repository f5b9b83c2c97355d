import { Type } from '@sinclair/typebox';
import { LoginInput, RegisterInput, Role } from '../accounts/auth.ts';
import { ChangeProfileInput, ChangeSettingsInput } from '../accounts/user-settings.ts';
import { CreateCouponInput } from '../admin/coupons.ts';
import { BackfillTaskInput } from '../occurrences.ts';
import {
  DayOrInstantInput,
  Email,
  HttpUrl,
  MAX_ID,
  nullable,
  Password,
  pageLimit,
  strictObject,
  stringEnum,
  TaskName,
} from '../primitives.ts';
import { Prompt, RecurrencePattern } from '../tasks.ts';
import { CreateWebhookInput } from '../webhooks/webhooks.ts';

/** The execution statuses of the actions: upper case, and `completed` is `SUCCESS`. */
export const ACTION_EXECUTION_STATUSES = ['PENDING', 'RUNNING', 'SUCCESS', 'FAILED'] as const;
export const ActionExecutionStatus = stringEnum(ACTION_EXECUTION_STATUSES);

const task = {
  name: TaskName,
  description: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
  prompt: Prompt,
  model: Type.String({ minLength: 1, maxLength: 200, pattern: '^\\S+$' }),
  recurrence: Type.String({ ...RecurrencePattern, description: 'Five-field cron expression' }),
  active: Type.Optional(Type.Boolean()),
  webhookUrl: Type.Optional(nullable(HttpUrl)),
  notificationEmail: Type.Optional(nullable(Email)),
};

const { modelRouterApiKey, webhookUrl, notificationEmails } = ChangeSettingsInput.properties;

/** The client that a web client acts for. */
export const ActionClient = strictObject({
  address: Type.String({ minLength: 1, maxLength: 100 }),
  userAgent: Type.Optional(Type.String({ maxLength: 2000 })),
  acceptLanguage: Type.Optional(Type.String({ maxLength: 1000 })),
});

export const ACTION_INPUTS = {
  login: LoginInput,
  register: RegisterInput,
  createTask: strictObject(task),
  updateTask: strictObject({
    ...task,
    id: Type.String(),
    name: Type.Optional(task.name),
    prompt: Type.Optional(task.prompt),
    model: Type.Optional(task.model),
    recurrence: Type.Optional(task.recurrence),
  }),
  duplicateTask: strictObject({ name: Type.Optional(TaskName) }),
  backfillTask: BackfillTaskInput,
  getExecutions: strictObject({
    taskId: Type.Optional(Type.String()),
    status: Type.Optional(ActionExecutionStatus),
    startDate: Type.Optional(DayOrInstantInput),
    endDate: Type.Optional(DayOrInstantInput),
    limit: Type.Optional(pageLimit(20)),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_ID, description: 'Default: 0' })),
  }),
  updateProfile: ChangeProfileInput,
  changePassword: strictObject({
    currentPassword: Type.String({ minLength: 6, maxLength: 1024 }),
    newPassword: Password,
  }),
  updateSettings: strictObject({ modelRouterApiKey, webhookUrl, notificationEmails }),
  listUsers: strictObject({
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'Default: 1' })),
    limit: Type.Optional(pageLimit(50)),
    search: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the e-mail address or the name' })),
    role: Type.Optional(Role),
  }),
  createCoupon: CreateCouponInput,
  createWebhook: CreateWebhookInput,
};
