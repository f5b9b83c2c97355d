import type { ChangeAccountInput } from '@carillon/contract/admin-users';
import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import { recordAudit } from '../audit/record.ts';
import { endUserSessions } from '../auth/sessions.ts';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { lockUserTasks, resumeTasks, suspendTasks } from '../tasks/suspend.ts';
import { type AdminSight, lockForAdmin } from './last-admin.ts';

const CHANGEABLE = ['role', 'plan', 'isActive', 'trialEndsAt'] as const;
type Changeable = Pick<AdminSight, (typeof CHANGEABLE)[number]>;

/**
 * Changes what is given of an account, and records it (specification "Admin", decisions §9). Another role and
 * deactivation end the account's sessions; the tasks of a deactivated account rest until it is active again. A change
 * that leaves everything as it was is none. Refusals: 404, and 409 for the last active admin.
 */
export function changeAccount(ctx: Context, admin: Caller, id: number, input: ChangeAccountInput): Promise<AdminSight> {
  return inTransaction(ctx, async (tx) => {
    if (input.isActive !== undefined) await lockUserTasks(tx, id);
    const before = await lockForAdmin(tx, admin, id, () => input.role === 'USER' || input.isActive === false);
    const wanted: Changeable = {
      role: input.role ?? before.role,
      plan: input.plan ?? before.plan,
      isActive: input.isActive ?? before.isActive,
      trialEndsAt: input.trialEndsAt === undefined ? before.trialEndsAt : readInstant(input.trialEndsAt),
    };
    const changed = CHANGEABLE.filter((field) => JSON.stringify(wanted[field]) !== JSON.stringify(before[field]));
    if (changed.length === 0) return before;

    const updatedAt = tx.now();
    const { role, plan, isActive, trialEndsAt } = wanted;
    await tx.db.update(users).set({ role, plan, isActive, trialEndsAt, updatedAt }).where(eq(users.id, id));
    if (role !== before.role || (before.isActive && !isActive)) await endUserSessions(tx, id);
    if (before.isActive && !isActive) await suspendTasks(tx, id);
    if (!before.isActive && isActive) await resumeTasks(tx, id);
    const only = (account: Changeable) => Object.fromEntries(changed.map((field) => [field, account[field]]));
    await recordAudit(tx, {
      kind: 'user.changed',
      actorId: admin.id,
      actorEmail: admin.email,
      userId: id,
      details: { before: only(before), after: only(wanted) },
    });
    return { ...before, ...wanted, updatedAt };
  });
}

const readInstant = (text: string | null) => (text === null ? null : new Date(text));
