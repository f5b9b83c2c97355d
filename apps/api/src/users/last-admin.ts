import { users } from '@carillon/db';
import { and, eq, or } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';
import { refuseUser } from './accounts.ts';

const fields = {
  id: users.id,
  email: users.email,
  role: users.role,
  plan: users.plan,
  isActive: users.isActive,
  trialEndsAt: users.trialEndsAt,
  updatedAt: users.updatedAt,
};

/** An account as an admin changes it. */
export type AdminSight = Pick<(typeof users)['$inferSelect'], keyof typeof fields>;

/**
 * Locks an account, and with it every active admin, always in the same order: whoever takes an admin away waits here
 * for the others who do. Refusals: 404, 403 where the caller is no active admin any more, and 409 where `leaves` says
 * that the last active admin would go (decisions §9, security T17).
 */
export async function lockForAdmin(
  ctx: Context,
  admin: Caller,
  id: number,
  leaves: (account: AdminSight) => boolean,
): Promise<AdminSight> {
  const locked = await ctx.db
    .select(fields)
    .from(users)
    .where(or(eq(users.id, id), and(eq(users.role, 'ADMIN'), eq(users.isActive, true))))
    .orderBy(users.id)
    .for('update');
  const account = locked.find((row) => row.id === id) ?? refuseUser();
  const admins = locked.filter((row) => row.role === 'ADMIN' && row.isActive);
  if (admins.length === 1 && admins[0]?.id === id && leaves(account)) {
    throw new AppError('conflict', 'This is the last active admin.');
  }
  if (!admins.some((row) => row.id === admin.id)) throw new AppError('not_admin', ERROR_MESSAGES.adminRequired);
  return account;
}
