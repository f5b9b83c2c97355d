import { users } from '@carillon/db';
import { and, eq, or } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, ERROR_MESSAGES, userNotFound } from '../../../errors.ts';

const columns = {
  id: users.id,
  email: users.email,
  role: users.role,
  plan: users.plan,
  isActive: users.isActive,
  trialEndsAt: users.trialEndsAt,
  updatedAt: users.updatedAt,
};

/** The part of an account that an admin can change. */
export type ManagedAccount = Pick<(typeof users)['$inferSelect'], keyof typeof columns>;

/**
 * Locks an account and every active admin, always in the same order, so that two admins who remove each other do it one
 * after the other. Throws 404, 403 if the caller is no longer an active admin, and 409 if the account is the last active
 * admin and `removesAdmin`.
 */
export async function lockAccount(
  ctx: Context,
  admin: Caller,
  id: number,
  { removesAdmin }: { removesAdmin: boolean },
): Promise<ManagedAccount> {
  const locked = await ctx.db
    .select(columns)
    .from(users)
    .where(or(eq(users.id, id), and(eq(users.role, 'ADMIN'), eq(users.isActive, true))))
    .orderBy(users.id)
    .for('update');
  const account = locked.find((row) => row.id === id);
  if (!account) throw userNotFound();
  const admins = locked.filter((row) => row.role === 'ADMIN' && row.isActive);
  if (removesAdmin && admins.length === 1 && admins[0]?.id === id) {
    throw new AppError('conflict', 'This is the last active admin.');
  }
  if (!admins.some((row) => row.id === admin.id)) throw new AppError('not_admin', ERROR_MESSAGES.adminRequired);
  return account;
}
