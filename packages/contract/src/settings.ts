import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { ADMIN, errorResponses, type Operation } from './operation.ts';
import { Instant, MAX_ID, strictObject } from './primitives.ts';

/** Specification "System settings", "Admin"; decisions §9. */

const common = { tags: ['admin'], security: ADMIN };

const fields = {
  trialDurationDays: Type.Integer({
    minimum: 0,
    maximum: 36_500,
    description: 'Of accounts that register from now on',
  }),
  maxTasksPerUser: Type.Integer({
    minimum: 1,
    maximum: MAX_ID,
    description: 'Active ones, where the plan has more',
  }),
  maxExecutionsPerDay: Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'Where the plan has more' }),
  defaultModel: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^\\S+$',
    description: 'Of tasks that are created without a model',
  }),
  maintenanceMode: Type.Boolean({ description: 'Closes the service for all but admins' }),
};

export const getSettings = {
  ...common,
  operationId: 'getSettings',
  summary: 'The system settings in force',
  description: 'Of the whole installation.',
  response: { 200: Type.Object({ success, settings: Type.Object(fields) }), ...errorResponses(401, 403, 429) },
} satisfies Operation;

export const ChangeSettingsInput = strictObject({
  trialDurationDays: Type.Optional(fields.trialDurationDays),
  maxTasksPerUser: Type.Optional(fields.maxTasksPerUser),
  maxExecutionsPerDay: Type.Optional(fields.maxExecutionsPerDay),
  defaultModel: Type.Optional(fields.defaultModel),
  maintenanceMode: Type.Optional(fields.maintenanceMode),
});
export type ChangeSettingsInput = Static<typeof ChangeSettingsInput>;

export const changeSettings = {
  ...common,
  operationId: 'changeSettings',
  summary: 'Change system settings',
  description: 'In force at once at every process. Shows the fields that the request gave.',
  body: ChangeSettingsInput,
  response: {
    200: Type.Object({
      success,
      settings: Type.Object({ ...ChangeSettingsInput.properties, updatedAt: Instant }),
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;
