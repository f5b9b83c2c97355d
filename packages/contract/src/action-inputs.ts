import { Type } from '@sinclair/typebox';
import { Role } from './auth.ts';
import { CreateCouponInput } from './coupons.ts';
import {
  DayOrInstantText,
  Email,
  HttpUrl,
  LARGEST_ID,
  nullable,
  Password,
  strict,
  TaskName,
  words,
} from './primitives.ts';
import { Prompt, RecurrencePattern } from './task.ts';
import { ChangeProfileInput, ChangeSettingsInput } from './user-settings.ts';
import { CreateWebhookInput } from './webhooks.ts';

/** Specification "Server actions": what they take beside ids. */

/** An execution's states in-process: upper case, and `completed` is `SUCCESS`. */
export const RUN_STATES = ['PENDING', 'RUNNING', 'SUCCESS', 'FAILED'] as const;
export const RunState = words(RUN_STATES);

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

const page = (preset: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: `${preset} unless told` }));

export const INPUTS = {
  createTask: strict(task),
  updateTask: strict({
    ...task,
    id: Type.String(),
    name: Type.Optional(task.name),
    prompt: Type.Optional(task.prompt),
    model: Type.Optional(task.model),
    recurrence: Type.Optional(task.recurrence),
  }),
  duplicateTask: strict({ name: Type.Optional(TaskName) }),
  getExecutions: strict({
    taskId: Type.Optional(Type.String()),
    status: Type.Optional(RunState),
    startDate: Type.Optional(DayOrInstantText),
    endDate: Type.Optional(DayOrInstantText),
    limit: page(20),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: LARGEST_ID, description: '0 unless told' })),
  }),
  updateProfile: ChangeProfileInput,
  changePassword: strict({ currentPassword: Type.String({ minLength: 6, maxLength: 1024 }), newPassword: Password }),
  updateSettings: strict({ modelRouterApiKey, webhookUrl, notificationEmails }),
  listUsers: strict({
    page: Type.Optional(Type.Integer({ minimum: 1, maximum: LARGEST_ID, description: '1 unless told' })),
    limit: page(50),
    search: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the e-mail address or the name' })),
    role: Type.Optional(Role),
  }),
  createCoupon: CreateCouponInput,
  createWebhook: CreateWebhookInput,
};
