import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  PUBLIC,
  SIGNED_IN,
} from '../operation.ts';
import { Id, Instant, nullable, OwnName, ref, strictObject, stringEnum, Uuid } from '../primitives.ts';
import { Role } from './auth.ts';
import { Code, PasskeyAssertion, PasskeyRegistration, RecoveryCode } from './proofs.ts';

const FACTOR_KINDS = ['passkey', 'totp'] as const;
const FactorKind = stringEnum(FACTOR_KINDS, { description: '`totp` is a code of an authenticator app' });
export type FactorKind = (typeof FACTOR_KINDS)[number];

export const Factor = Type.Object(
  {
    id: Uuid,
    kind: FactorKind,
    name: Type.String(),
    createdAt: Instant,
    lastUsedAt: nullable(Instant),
  },
  { $id: 'Factor' },
);

const Options = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The JSON form of WebAuthn Level 3. Its challenge is valid for 10 minutes',
});
const RecoveryCodes = Type.Array(Type.String(), {
  description: 'Ten codes, which are not shown again. Each replaces a second factor once',
});
const FirstRecoveryCodes = Type.Array(Type.String(), {
  description: 'Ten codes with the first factor, which are not shown again; otherwise none',
});

const account = { tags: ['auth'], security: SIGNED_IN };
const guest = { tags: ['auth'], security: PUBLIC };
const CONFIRMED =
  ' Needs a session that was opened or confirmed within the last 15 minutes, with a second factor where the account has one: else 403 with `X-Error-Code: CONFIRMATION_REQUIRED`, see `POST /api/auth/confirm`.';

export const listFactors = {
  ...account,
  operationId: 'listFactors',
  summary: 'List second factors',
  description: "Returns the caller's second factors, the oldest first.",
  response: {
    200: Type.Object({ success, factors: Type.Array(ref(Factor)), recoveryCodesLeft: Type.Integer() }),
    ...errorResponses(401, 429),
  },
} satisfies Operation;

export const createTotp = {
  ...account,
  operationId: 'createTotp',
  summary: 'Add an authenticator app',
  description: `The app takes the \`secret\`, or the \`uri\` as a QR code. Sign-ins ask for its codes once \`confirmTotp\` has got the first one; until then another request replaces it.${CONFIRMED}`,
  body: strictObject({ name: Type.Optional(OwnName) }),
  response: {
    201: Type.Object({
      success,
      factor: ref(Factor),
      secret: Type.String({ description: 'Base 32' }),
      uri: Type.String({ description: '`otpauth://totp/…`' }),
    }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 429),
    ...describedErrors({ 402: 'The account has 20 factors already: delete one first' }),
  },
} satisfies Operation;

const FactorParams = Type.Object({ id: Uuid });

export const confirmTotp = {
  ...account,
  operationId: 'confirmTotp',
  summary: 'Confirm an authenticator app',
  description: `From now on, a sign-in with the password needs a second factor.${CONFIRMED}`,
  params: FactorParams,
  body: strictObject({ code: Code }),
  response: {
    200: Type.Object({ success, recoveryCodes: FirstRecoveryCodes }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;

export const createPasskeyOptions = {
  ...account,
  operationId: 'createPasskeyOptions',
  summary: 'Get the options of a new passkey',
  description: `For \`navigator.credentials.create()\`, in this session.${CONFIRMED} 400 where \`BASE_URL\` has an address instead of a name.`,
  response: { 200: Type.Object({ success, options: Options }), ...errorResponses(401, 429) },
} satisfies Operation;

export const CreatePasskeyInput = strictObject({ name: OwnName, response: PasskeyRegistration });
export type CreatePasskeyInput = Static<typeof CreatePasskeyInput>;

export const createPasskey = {
  ...account,
  operationId: 'createPasskey',
  summary: 'Add a passkey',
  description: `From now on, a sign-in with the password needs a second factor; the passkey alone is enough too.${CONFIRMED}`,
  body: CreatePasskeyInput,
  response: {
    201: Type.Object({ success, factor: ref(Factor), recoveryCodes: FirstRecoveryCodes }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 429),
    ...describedErrors({ 402: 'The account has 20 factors already: delete one first' }),
  },
} satisfies Operation;

export const deleteFactor = {
  ...account,
  operationId: 'deleteFactor',
  summary: 'Delete a second factor',
  description: `The recovery codes go with the last one.${CONFIRMED}`,
  params: FactorParams,
  response: { 200: Type.Object({ success, message: Type.String() }), ...errorResponses(401, 404, 429) },
} satisfies Operation;

export const createRecoveryCodes = {
  ...account,
  operationId: 'createRecoveryCodes',
  summary: 'Replace the recovery codes',
  description: `The earlier ones stop working.${CONFIRMED}`,
  response: {
    200: Type.Object({ success, recoveryCodes: RecoveryCodes }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 429),
    ...describedErrors({ 409: orInProgress('The account has no second factor') }),
  },
} satisfies Operation;

const SignedIn = Type.Object({
  success,
  user: Type.Object({ id: Id, email: Type.String(), name: Type.String(), role: Role }),
  token: Type.Optional(Type.String()),
});
const tokenHeader = Type.Object({
  'x-request-token': Type.Optional(Type.String({ description: '`true` requests a bearer token' })),
});

export const AnswerTicketInput = strictObject({
  ticket: Type.String({ minLength: 1, maxLength: 200, description: '`details.ticket` of the sign-in' }),
  code: Type.Optional(Code),
  recoveryCode: Type.Optional(RecoveryCode),
});
export type AnswerTicketInput = Static<typeof AnswerTicketInput>;

export const answerTicket = {
  ...guest,
  operationId: 'answerTicket',
  summary: 'Sign in with the second factor',
  description:
    'Finishes a sign-in that was answered with `SECOND_FACTOR_REQUIRED`, with a `code` or a `recoveryCode`. A ticket lives 5 minutes and takes 5 codes; an account takes 30 wrong codes an hour. After a code, neither it nor an older one works.',
  headers: tokenHeader,
  body: AnswerTicketInput,
  response: {
    200: SignedIn,
    ...errorResponses(429),
    ...describedErrors({
      401: 'The code is wrong (`FACTOR_REJECTED`), or the ticket is used or old (`TICKET_INVALID`)',
      403: 'The account is deactivated, or a page of another site made the browser send the request',
    }),
  },
} satisfies Operation;

export const getPasskeyOptions = {
  ...guest,
  operationId: 'getPasskeyOptions',
  summary: 'Get the options of a sign-in with a passkey',
  description:
    'For `navigator.credentials.get()`. The challenge belongs to the session of the request, and then also confirms it, or else to the cookie `passkey-browser`, which this sets.',
  response: { 200: Type.Object({ success, options: Options }), ...errorResponses(403, 429) },
} satisfies Operation;

export const signInWithPasskey = {
  ...guest,
  operationId: 'signInWithPasskey',
  summary: 'Sign in with a passkey',
  description: 'Needs neither password nor code: the device has verified the person.',
  headers: tokenHeader,
  body: strictObject({ response: PasskeyAssertion }),
  response: {
    200: SignedIn,
    ...errorResponses(429),
    ...describedErrors({
      401: 'The passkey is unknown, or does not answer a challenge of this browser',
      403: 'The account is deactivated, or a page of another site made the browser send the request',
    }),
  },
} satisfies Operation;
