import { auditLog } from '@carillon/db';
import { and, eq, gt, inArray } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { emailKey, getClientNetwork } from '../limits/keys.ts';
import { ACCOUNT_LOGINS } from '../limits/rates.ts';
import { recordRejection } from '../limits/rejections.ts';
import { checkRateLimit, tooManyRequests } from '../limits/windows.ts';

const FAMILIAR_MS = 30 * 24 * 60 * 60 * 1000;
/** What only the owner of an account does, from an address that is then theirs. */
const OWN_ACTS = ['user.registered', 'user.signed_in', 'user.password_reset'];

/**
 * Bounds the guesses at one password that come from many addresses (security T14); refused as `rate_limited`. It locks
 * no owner out: an address from which they came within 30 days still gets through, and a password reset makes any
 * address such a one. An e-mail without an account is treated alike.
 */
export async function throttleLogin(
  ctx: Context,
  { email, userId }: { email: string; userId: number | undefined },
): Promise<void> {
  const state = await checkRateLimit(ctx, ACCOUNT_LOGINS, emailKey(ACCOUNT_LOGINS, email));
  if (!state.isExceeded) return;
  // 0 is nobody's: the look-up is made all the same, so that its time tells nothing.
  if (await isFamiliar(ctx, userId ?? 0, getClientNetwork(ctx.origin?.address ?? ''))) return;
  await recordRejection(ctx, ACCOUNT_LOGINS.bucket);
  throw tooManyRequests(state, ctx.now());
}

async function isFamiliar(ctx: Context, userId: number, network: string): Promise<boolean> {
  const since = new Date(ctx.now().getTime() - FAMILIAR_MS);
  const known = await ctx.db
    .selectDistinct({ address: auditLog.address })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.userId, userId),
        eq(auditLog.actorId, userId),
        inArray(auditLog.kind, OWN_ACTS),
        gt(auditLog.at, since),
      ),
    );
  return known.some(({ address }) => address !== null && getClientNetwork(address) === network);
}
