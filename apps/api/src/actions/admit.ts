import { type FoundCaller, findCaller } from '../auth/callers/find-caller.ts';
import type { Caller, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';
import { addressKey, fieldKey, userKeyPrefix } from '../limits/keys.ts';
import { getEffectiveLimit, type RateLimit, toAddressLimit } from '../limits/rates.ts';
import { recordRejection } from '../limits/rejections.ts';
import { assertRateLimit, tooManyRequests, toRateLimitState } from '../limits/windows.ts';
import { assertNotInMaintenance } from '../settings/maintenance.ts';

/** No session token is longer, and the cost of verifying one grows with its length. */
const MAX_TOKEN_LENGTH = 4096;

/**
 * Finds the caller of a session token, and counts the call in the same statement. Throws 401, 429 and, during maintenance,
 * 503.
 */
export const admit = (ctx: Context, session: unknown, rate: RateLimit | null): Promise<Admitted> =>
  admitWith(ctx, session, rate, { page: false });

type Admitted = Pick<FoundCaller, 'caller' | 'requester' | 'page'>;

/** The same, with what every page shows if `page` asks for it. */
export async function admitWith(
  ctx: Context,
  session: unknown,
  rate: RateLimit | null,
  { page }: { page: boolean },
): Promise<Admitted> {
  const token = typeof session === 'string' && session.length <= MAX_TOKEN_LENGTH ? session : null;
  const claims = token === null ? null : ctx.tokens.verify(token, ctx.now());
  const count = rate && { key: userKeyPrefix(rate), windowMs: rate.windowSeconds * 1000, at: ctx.now() };
  const found = claims && (await findCaller(ctx, claims, { count, page }));
  if (!found) throw new AppError('unauthenticated', 'Sign in first.');
  const { caller, window, maintenance } = found;
  const state = rate && window && toRateLimitState(getEffectiveLimit(ctx, rate), window);
  if (rate && state?.isExceeded) {
    await recordRejection(ctx, rate.bucket, { userId: caller.id, endpoint: rate.bucket });
    throw tooManyRequests(state, ctx.now());
  }
  assertNotInMaintenance(maintenance, caller);
  return found;
}

/** Throws 403. */
export function assertAdmin(caller: Pick<Caller, 'role'>): void {
  if (caller.role !== 'ADMIN') throw new AppError('not_admin', ERROR_MESSAGES.adminRequired);
}

/** Counts in the windows of the route that does the same, so that neither can be used to go around the other. */
export async function countGuest(ctx: Context, rate: RateLimit, address: string, given: unknown): Promise<void> {
  if (rate.scope === 'ip') return assertRateLimit(ctx, rate, addressKey(rate, address));
  const byAddress = toAddressLimit(rate);
  await assertRateLimit(ctx, byAddress, addressKey(byAddress, address));
  await assertRateLimit(ctx, rate, fieldKey(rate, address, given));
}
