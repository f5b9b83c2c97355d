import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import {
  ADMIN,
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
} from '../operation.ts';
import { HttpUrl, Instant, nullable, ref, strictObject, stringEnum } from '../primitives.ts';
import { ModelName } from '../tasks/run-settings.ts';

const common = { tags: ['admin'], security: ADMIN };

export const MAX_PROVIDERS = 5;
export const PROVIDER_KINDS = ['openai', 'anthropic'] as const;

const Name = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,31}$',
  maxLength: 32,
  description: 'Tasks name its models `<name>/<model>`',
});
const Kind = stringEnum(PROVIDER_KINDS, {
  description: 'Its protocol: chat completions of OpenAI, which most services speak, or the Messages API of Anthropic',
});
const BaseUrl = {
  ...HttpUrl,
  description: 'The URL before `/chat/completions` or `/messages`; it often ends with `/v1`',
};
const ApiKey = Type.String({ minLength: 1, maxLength: 1000, description: 'Stored encrypted, and never shown' });
const MaxConcurrent = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: 'Maximum number of concurrent calls over all processes. Further runs wait in the queue',
});

export const Provider = Type.Object(
  {
    id: Type.String(),
    name: Name,
    kind: Kind,
    baseUrl: Type.String({ description: 'Without a user and a query' }),
    hasApiKey: Type.Boolean({ description: 'Whether a key is stored' }),
    maxConcurrent: nullable({ ...MaxConcurrent, description: 'Null for no limit' }),
    source: stringEnum(['environment', 'settings'], {
      description:
        'Those of the environment are changed there: `AI_BASE_URL` is `default`, `ANTHROPIC_API_KEY` is `anthropic`',
    }),
    createdAt: nullable({ ...Instant, description: 'Null for one of the environment' }),
    updatedAt: nullable({ ...Instant, description: 'Null for one of the environment' }),
  },
  { $id: 'Provider' },
);
export type Provider = Static<typeof Provider>;

export const ProviderId = Type.String({ minLength: 1, maxLength: 64 });
const ProviderParams = Type.Object({ id: ProviderId });
const ProviderResponse = Type.Object({ success, provider: ref(Provider) });
const TAKEN = 'Another provider has this name, or the provider is one of the environment';

export const listProviders = {
  ...common,
  operationId: 'listProviders',
  summary: 'List providers',
  description:
    'Returns all providers, at most 5. The first one is the default, if there is one: it gets every model without the name of another provider.',
  response: {
    200: Type.Object({ success, providers: Type.Array(ref(Provider), { description: 'All of them' }) }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

const fields = {
  name: Name,
  kind: Kind,
  baseUrl: BaseUrl,
  apiKey: Type.Optional(ApiKey),
  maxConcurrent: Type.Optional(nullable(MaxConcurrent)),
};

export const CreateProviderInput = strictObject(fields);
export type CreateProviderInput = Static<typeof CreateProviderInput>;

export const createProvider = {
  ...common,
  operationId: 'createProvider',
  summary: 'Add a provider',
  description:
    'Counts within 5 seconds in every process. Without `AI_BASE_URL` the first one is the default: it gets every model that names no provider.',
  body: CreateProviderInput,
  response: {
    201: ProviderResponse,
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 402: 'There are five providers', 409: orInProgress('Another provider has this name') }),
  },
} satisfies Operation;

export const ChangeProviderInput = strictObject({
  name: Type.Optional(Name),
  kind: Type.Optional(Kind),
  baseUrl: Type.Optional(BaseUrl),
  apiKey: Type.Optional(nullable({ ...ApiKey, description: `${ApiKey.description}. Null removes it` })),
  maxConcurrent: Type.Optional(nullable(MaxConcurrent)),
});
export type ChangeProviderInput = Static<typeof ChangeProviderInput>;

export const changeProvider = {
  ...common,
  operationId: 'changeProvider',
  summary: 'Change a provider',
  description: 'Changes the fields that are given. Another `baseUrl` needs the API key again, if there is one.',
  params: ProviderParams,
  body: ChangeProviderInput,
  response: { 200: ProviderResponse, ...errorResponses(401, 403, 404, 429), ...describedErrors({ 409: TAKEN }) },
} satisfies Operation;

export const deleteProvider = {
  ...common,
  operationId: 'deleteProvider',
  summary: 'Delete a provider',
  description: 'Models with its name are then sent to the default provider, under the whole name.',
  params: ProviderParams,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({
      409: 'It is the default provider and there are others, or it is one of the environment',
    }),
  },
} satisfies Operation;

const model = { ...ModelName, description: 'As the provider names it' };
export const TestProviderInput = strictObject({
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'A provider that exists, without the fields of a new one',
    }),
  ),
  ...Type.Partial(Type.Object(fields)).properties,
  model,
});
export type TestProviderInput = Static<typeof TestProviderInput>;

export const testProvider = {
  ...common,
  operationId: 'testProvider',
  summary: 'Test a provider',
  description:
    'Sends a few words to a model of a provider that exists (`id`), or of one that is not stored yet. Counts against no quota. `message` is the answer, or what the provider says instead.',
  body: TestProviderInput,
  response: {
    200: Type.Object({
      success,
      ok: Type.Boolean({ description: 'Whether it has answered' }),
      model: Type.String({ description: 'The model that answered, or was asked' }),
      ms: Type.Integer({ description: 'How long it took' }),
      message: Type.String(),
    }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;
