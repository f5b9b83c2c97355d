import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { PasskeyAssertion, PasskeyRegistration } from '@carillon/contract/accounts/proofs';
import { factors, users } from '@carillon/db';
import { and, eq, isNotNull, lt } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, accountDeleted, invalidField } from '../../../errors.ts';
import type { Config } from '../../../lib/config/config.ts';
import { createChallenge, isOwnChallenge, useChallenge } from './challenges.ts';

/** Loaded by the first passkey, because it is large. */
const loadLibrary = () => import('@simplewebauthn/server');

/** EdDSA, ES256 and RS256: between them, every device has one. */
const ALGORITHMS = [-8, -7, -257];
const TIMEOUT_MS = 60_000;

/** Null where `BASE_URL` has an address instead of a name: browsers then make no passkeys. */
export function findRelyingParty({ baseUrl, appUrl }: Pick<Config, 'baseUrl' | 'appUrl'>) {
  const { hostname: id, origin } = new URL(baseUrl);
  if (isIP(id) !== 0 || id.startsWith('[')) return null;
  const pages = new URL(appUrl);
  const hasPages = pages.hostname === id || pages.hostname.endsWith(`.${id}`);
  return { id, origins: hasPages ? [...new Set([origin, pages.origin])] : [origin] };
}

function getRelyingParty({ config }: Pick<Context, 'config'>) {
  const found = findRelyingParty(config);
  if (found) return found;
  throw invalidField('passkey', `needs a host name: BASE_URL has the address ${new URL(config.baseUrl).hostname}`);
}

/** For the browser of the caller's session. */
export async function createRegistrationOptions(ctx: Context, caller: Caller, sessionId: string) {
  const { id: rpID } = getRelyingParty(ctx);
  const [account] = await ctx.db
    .select({ identityUserId: users.identityUserId })
    .from(users)
    .where(eq(users.id, caller.id));
  if (!account) throw accountDeleted();
  const { generateRegistrationOptions } = await loadLibrary();
  return generateRegistrationOptions({
    rpName: 'Carillon',
    rpID,
    // Unique beyond this installation: a passkey of another one under the same name stays.
    userID: Uint8Array.from(createHash('sha256').update(account.identityUserId).digest()),
    userName: caller.email,
    userDisplayName: caller.name,
    challenge: createChallenge(ctx, 'register', sessionId),
    attestationType: 'none',
    excludeCredentials: await listCredentials(ctx, caller.id),
    supportedAlgorithmIDs: ALGORITHMS,
    timeout: TIMEOUT_MS,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** `binding` is the session, or the cookie of the browser before the sign-in. `userId` narrows it to passkeys of an account. */
export async function createAssertionOptions(ctx: Context, binding: string, userId?: number) {
  const { id: rpId } = getRelyingParty(ctx);
  const known = userId === undefined ? [] : await listCredentials(ctx, userId);
  // Without the library, because each sign-in page has some.
  return {
    rpId,
    challenge: Buffer.from(createChallenge(ctx, 'authenticate', binding)).toString('base64url'),
    allowCredentials: known.map((credential) => ({ ...credential, type: 'public-key' })),
    timeout: TIMEOUT_MS,
    userVerification: 'required',
  };
}

/** Throws 400 at `response` for one that is not of this session and installation. */
export async function verifyRegistration(ctx: Context, response: PasskeyRegistration, sessionId: string) {
  const { id, origins } = getRelyingParty(ctx);
  const { verifyRegistrationResponse } = await loadLibrary();
  let challenge = '';
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: (given) => {
        challenge = given;
        return isOwnChallenge(ctx, given, 'register', [sessionId]);
      },
      expectedOrigin: origins,
      expectedRPID: id,
      supportedAlgorithmIDs: ALGORITHMS,
      requireUserVerification: true,
    });
    if (verified) return { challenge, credential: registrationInfo.credential };
  } catch (error) {
    ctx.log.info({ reason: (error as Error).message }, 'a new passkey was refused');
  }
  throw passkeyRefused();
}

export const passkeyRefused = () => invalidField('response', 'is not accepted: start again');

/** A passkey whose signature is right. It counts once `usePasskey` has recorded it. */
export interface VerifiedPasskey {
  factorId: string;
  userId: number;
  challenge: string;
  counter: number;
}

/** Throws `factor_rejected` for any but a registered passkey that answers a challenge of one of the `bindings`. */
export async function verifyPasskey(
  ctx: Context,
  response: PasskeyAssertion,
  bindings: readonly string[],
): Promise<VerifiedPasskey> {
  const { id, origins } = getRelyingParty(ctx);
  const [known] = await ctx.db
    .select({ id: factors.id, userId: factors.userId, publicKey: factors.publicKey, counter: factors.counter })
    .from(factors)
    .where(eq(factors.credentialId, response.id));
  if (!known?.publicKey) throw passkeyRejected();
  const { verifyAuthenticationResponse } = await loadLibrary();
  let challenge = '';
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: (given) => {
        challenge = given;
        return isOwnChallenge(ctx, given, 'authenticate', bindings);
      },
      expectedOrigin: origins,
      expectedRPID: id,
      credential: {
        id: response.id,
        publicKey: Uint8Array.from(Buffer.from(known.publicKey, 'base64url')),
        counter: known.counter,
      },
      requireUserVerification: true,
    });
    if (verified) {
      return { factorId: known.id, userId: known.userId, challenge, counter: authenticationInfo.newCounter };
    }
  } catch (error) {
    ctx.log.info({ reason: (error as Error).message }, 'a passkey was refused');
  }
  throw passkeyRejected();
}

/** In the transaction of what the passkey allows. Throws `factor_rejected` for a replay: of concurrent uses one wins. */
export async function usePasskey(
  ctx: Context,
  { factorId, challenge, counter }: Omit<VerifiedPasskey, 'userId'>,
): Promise<void> {
  // Passkeys that several devices share do not count.
  const isNewer = counter === 0 ? eq(factors.counter, 0) : lt(factors.counter, counter);
  const used = await ctx.db
    .update(factors)
    .set({ counter, lastUsedAt: ctx.now() })
    .where(and(eq(factors.id, factorId), isNewer))
    .returning({ id: factors.id });
  if (used.length === 0 || !(await useChallenge(ctx, challenge))) throw passkeyRejected();
}

export const passkeyRejected = () => new AppError('factor_rejected', 'This passkey is not accepted.');

async function listCredentials(ctx: Context, userId: number) {
  const found = await ctx.db
    .select({ id: factors.credentialId, transports: factors.transports })
    .from(factors)
    .where(and(eq(factors.userId, userId), isNotNull(factors.credentialId)));
  return found.flatMap(({ id, transports }) => (id === null ? [] : [{ id, transports }]));
}
