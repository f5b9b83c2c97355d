import { auditLog } from '@carillon/db';
import { and, eq, gt, inArray } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { ACCOUNT_LOGINS, emailKey, getClientNetwork } from '../../platform/limits/rates.ts';
import { recordRejection } from '../../platform/limits/rejections.ts';
import { checkRateLimit, tooManyRequests } from '../../platform/limits/windows.ts';

const FAMILIAR_MS = 30 * 24 * 60 * 60 * 1000;
/** Only the owner can do these, so that the network is familiar afterwards. */
const OWNER_ACTIONS = ['user.registered', 'user.signed_in', 'user.password_reset'];

/** Throws 429 for too many sign-ins to one account, but not for the owner's networks of the last 30 days. */
export async function throttleLogin(
  ctx: Context,
  { email, userId }: { email: string; userId: number | undefined },
): Promise<void> {
  const state = await checkRateLimit(ctx, ACCOUNT_LOGINS, emailKey(ACCOUNT_LOGINS, email));
  if (!state.isExceeded) return;
  // No account has the id 0: the query runs all the same, so that the time reveals nothing.
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
        inArray(auditLog.kind, OWNER_ACTIONS),
        gt(auditLog.at, since),
      ),
    );
  return known.some(({ address }) => address !== null && getClientNetwork(address) === network);
}
