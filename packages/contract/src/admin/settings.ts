import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { ADMIN, errorResponses, type Operation } from '../operation.ts';
import { Instant, MAX_ID, ref, strictObject, stringEnum } from '../primitives.ts';

const common = { tags: ['admin'], security: ADMIN };

const fields = {
  trialDurationDays: Type.Integer({
    minimum: 0,
    maximum: 36_500,
    description: 'The trial of new accounts',
  }),
  maxTasksPerUser: Type.Integer({
    minimum: 1,
    maximum: MAX_ID,
    description: 'Upper bound of active tasks, if the plan allows more',
  }),
  maxExecutionsPerDay: Type.Integer({
    minimum: 1,
    maximum: MAX_ID,
    description: 'Upper bound, if the plan allows more',
  }),
  defaultModel: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^\\S+$',
    description: 'The model of tasks that are created without one',
  }),
  maintenanceMode: Type.Boolean({ description: 'Whether the service is closed to everyone but administrators' }),
};

export const Settings = Type.Object(fields, { $id: 'Settings' });

export const getSettings = {
  ...common,
  operationId: 'getSettings',
  summary: 'Get the system settings',
  description: 'Returns the settings of the whole installation.',
  response: { 200: Type.Object({ success, settings: ref(Settings) }), ...errorResponses(401, 403, 429) },
} satisfies Operation;

export const ChangeSystemSettingsInput = strictObject({
  trialDurationDays: Type.Optional(fields.trialDurationDays),
  maxTasksPerUser: Type.Optional(fields.maxTasksPerUser),
  maxExecutionsPerDay: Type.Optional(fields.maxExecutionsPerDay),
  defaultModel: Type.Optional(fields.defaultModel),
  maintenanceMode: Type.Optional(fields.maintenanceMode),
});
export type ChangeSystemSettingsInput = Static<typeof ChangeSystemSettingsInput>;

export const changeSettings = {
  ...common,
  operationId: 'changeSettings',
  summary: 'Change the system settings',
  description: 'Takes effect immediately in every process. Returns the fields of the request.',
  body: ChangeSystemSettingsInput,
  response: {
    200: Type.Object({
      success,
      settings: Type.Object({ ...ChangeSystemSettingsInput.properties, updatedAt: Instant }),
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

const SecondFactorDemand = stringEnum(['off', 'admins', 'all'], {
  description: 'Whose sessions do nothing before the account has a second factor. API keys go on',
});

export const getSecurity = {
  ...common,
  operationId: 'getSecurity',
  summary: 'Get the security settings',
  description: 'Returns who needs a second factor.',
  response: { 200: Type.Object({ success, secondFactor: SecondFactorDemand }), ...errorResponses(401, 403, 429) },
} satisfies Operation;

export const ChangeSecurityInput = strictObject({ secondFactor: SecondFactorDemand });
export type ChangeSecurityInput = Static<typeof ChangeSecurityInput>;

export const changeSecurity = {
  ...common,
  operationId: 'changeSecurity',
  summary: 'Change the security settings',
  description:
    'Takes effect immediately in every process: requests of sessions whose account lacks the second factor are 403 with `X-Error-Code: SECOND_FACTOR_SETUP_REQUIRED`, except those that add it, and sign-ins with a provider ask for it.',
  body: ChangeSecurityInput,
  response: { 200: Type.Object({ success, secondFactor: SecondFactorDemand }), ...errorResponses(401, 403, 429) },
} satisfies Operation;
