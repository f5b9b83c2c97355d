import { createHmac, randomBytes } from 'node:crypto';
import { usedChallenges } from '@carillon/db';
import type { Context } from '../../../context.ts';
import type { Config } from '../../../lib/config/config.ts';
import { hashLinkToken, isSameSecret } from '../../../lib/crypto/tokens.ts';

const LIFETIME_MS = 10 * 60 * 1000;

/** A new passkey is no answer to a sign-in, nor the other way round. */
export type ChallengePurpose = 'register' | 'authenticate';

type ChallengeContext = Pick<Context, 'now'> & { config: Pick<Config, 'jwtSecret'> };

/** For one session, or one browser before the sign-in. Nothing is stored until its answer is accepted: see `useChallenge`. */
export function createChallenge({ config, now }: ChallengeContext, purpose: ChallengePurpose, binding: string): string {
  const random = randomBytes(16).toString('base64url');
  const until = String(now().getTime() + LIFETIME_MS);
  return `${random}.${until}.${sign(config, [purpose, binding, random, until])}`;
}

/** `challenge` is what the browser returns: the base64url of the text. `bindings` are all that the request has. */
export function isOwnChallenge(
  { config, now }: ChallengeContext,
  challenge: string,
  purpose: ChallengePurpose,
  bindings: readonly string[],
): boolean {
  const [random = '', until = '', signature = ''] = readChallenge(challenge);
  const isSigned = bindings.some((binding) => isSameSecret(signature, sign(config, [purpose, binding, random, until])));
  return isSigned && Number(until) > now().getTime();
}

/** Returns false if the challenge was used before: of concurrent uses one wins. Call it in the transaction of the use. */
export async function useChallenge(ctx: Context, challenge: string): Promise<boolean> {
  const [random = '', until] = readChallenge(challenge);
  const won = await ctx.db
    .insert(usedChallenges)
    .values({ challengeHash: hashLinkToken(random), expiresAt: new Date(Number(until)) })
    .onConflictDoNothing()
    .returning({ challengeHash: usedChallenges.challengeHash });
  return won.length === 1;
}

const readChallenge = (challenge: string) => Buffer.from(challenge, 'base64url').toString('latin1').split('.');

function sign({ jwtSecret }: Pick<Config, 'jwtSecret'>, parts: readonly string[]): string {
  const key = createHmac('sha256', jwtSecret).update('passkey challenges').digest();
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}
