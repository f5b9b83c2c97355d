import { type Static, type TProperties, Type } from '@sinclair/typebox';

/** One that cannot be right is wrong, not invalid. */
export const Code = Type.String({ minLength: 1, maxLength: 100, description: 'Six digits of the authenticator app' });
export const RecoveryCode = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Works once. Capitals, spaces and dashes do not matter',
});

const Base64Url = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' });
const CredentialId = Base64Url(1400);
const Encoded = Base64Url(32_768);

/** What browsers add to it is ignored. */
const credential = <P extends TProperties>(response: P) =>
  Type.Object(
    {
      id: CredentialId,
      rawId: CredentialId,
      type: Type.Literal('public-key'),
      response: Type.Object({ clientDataJSON: Encoded, ...response }),
    },
    { description: '`PublicKeyCredential.toJSON()` of the browser' },
  );

/** A new passkey. */
export const PasskeyRegistration = credential({
  attestationObject: Encoded,
  transports: Type.Optional(Type.Array(Type.String({ maxLength: 30 }), { maxItems: 10 })),
});
export type PasskeyRegistration = Static<typeof PasskeyRegistration>;

/** The answer of a passkey to a challenge. */
export const PasskeyAssertion = credential({ authenticatorData: Encoded, signature: Encoded });
export type PasskeyAssertion = Static<typeof PasskeyAssertion>;
