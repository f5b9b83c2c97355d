import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { addressKey, fieldKey, type RateLimit, toAddressLimit, userKey } from '../../platform/limits/rates.ts';
import { assertRateLimit } from '../../platform/limits/windows.ts';
import { type Authenticated, authenticate } from '../../product/auth/authenticate.ts';
import { authorize } from '../../product/auth/authorize.ts';

/** No session token is longer, and the cost of verifying one grows with its length. */
const MAX_TOKEN_LENGTH = 4096;

/** Finds the caller of a session token and counts the call. Throws 401, 429, and what `authorize` throws. */
export async function admit(
  ctx: Context,
  session: unknown,
  {
    access,
    rate,
    isOpenWithoutFactor = false,
  }: { access: 'user' | 'admin'; rate: RateLimit | null; isOpenWithoutFactor?: boolean },
): Promise<Authenticated> {
  const token = typeof session === 'string' && session.length <= MAX_TOKEN_LENGTH ? session : null;
  const claims = token === null ? null : ctx.tokens.verify(token, ctx.now());
  const found = claims && (await authenticate(ctx, claims));
  if (!found) throw new AppError('unauthenticated', 'Sign in first.');
  const { id } = found.caller;
  if (rate) await assertRateLimit(ctx, rate, userKey(rate, id), { userId: id, endpoint: rate.bucket });
  authorize(found, { access, isOpenWithoutFactor });
  return found;
}

/** Counts in the windows of the route that does the same, so that neither can be used to go around the other. */
export async function countGuest(ctx: Context, rate: RateLimit, address: string, given: unknown): Promise<void> {
  if (rate.scope === 'ip') return assertRateLimit(ctx, rate, addressKey(rate, address));
  const byAddress = toAddressLimit(rate);
  await assertRateLimit(ctx, byAddress, addressKey(byAddress, address));
  await assertRateLimit(ctx, rate, fieldKey(rate, address, given));
}
