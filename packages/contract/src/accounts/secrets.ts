import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import { describedErrors, errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from '../operation.ts';
import { Instant, nullable, ref, strictObject, Uuid } from '../primitives.ts';
import { SOURCE_NAME } from '../tasks/sources.ts';

export const MAX_SECRETS = 20;

export const Secret = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    host: Type.String({ description: 'The host that receives it, with its port unless that is the usual one' }),
    header: Type.String({ description: 'The name of the header' }),
    createdAt: Instant,
    lastUsedAt: nullable(Instant),
  },
  { $id: 'Secret' },
);
export type Secret = Static<typeof Secret>;

const common = { tags: ['secrets'], security: SIGNED_IN };

export const CreateSecretInput = strictObject({
  name: Type.String({ pattern: SOURCE_NAME, description: 'Unique in the account. Sources of tasks name it' }),
  host: Type.String({
    format: 'host',
    minLength: 1,
    maxLength: 260,
    description: 'The only host that receives it, such as `api.example.com` or `example.com:8443`',
  }),
  header: Type.String({
    format: 'header-name',
    minLength: 1,
    maxLength: 100,
    description: 'The name of the header, such as `Authorization`',
  }),
  value: Type.String({
    format: 'header-value',
    minLength: 1,
    maxLength: 4000,
    description: 'The whole value of the header, such as `Bearer …`. It is never returned',
  }),
});
export type CreateSecretInput = Static<typeof CreateSecretInput>;

export const createSecret = {
  ...common,
  operationId: 'createSecret',
  summary: 'Create a secret',
  description:
    'A header for the sources of tasks that name it. It is sent to its host only: over https, or to an address of `SOURCES_ALLOW`, and to no other host that a redirect leads to. Where a page repeats it, it is masked.',
  body: CreateSecretInput,
  response: {
    201: Type.Object({ success, secret: ref(Secret) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      402: `The account has ${MAX_SECRETS} secrets already: delete one first`,
      409: 'The account has a secret of this name, or a request with this `Idempotency-Key` is still in progress',
    }),
  },
} satisfies Operation;

export const listSecrets = {
  ...common,
  operationId: 'listSecrets',
  summary: 'List secrets',
  description: "Returns the caller's secrets by name, without their values.",
  response: {
    200: Type.Object({ success, secrets: Type.Array(ref(Secret)) }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

export const deleteSecret = {
  ...common,
  operationId: 'deleteSecret',
  summary: 'Delete a secret',
  description: 'Sources that name it then fail.',
  params: Type.Object({ id: Uuid }),
  response: { 200: Type.Object({ success, message: Type.String() }), ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;
