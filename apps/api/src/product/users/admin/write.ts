import type { ChangeAccountInput } from '@carillon/contract/admin/users';
import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { inTransaction } from '../../../transaction.ts';
import { endUserSessions } from '../../auth/sessions.ts';
import { cancelEmailChange } from '../../auth/write.ts';
import { lockUserTasks, resumeTasks, suspendTasks } from '../../tasks/suspend.ts';
import { lockAccount, type ManagedAccount } from './lock-account.ts';

type Changes = { [K in keyof ChangeAccountInput]-?: ManagedAccount[K] };

/** Another role and deactivation end the account's sessions. Throws 404, and 409 for the last active admin. */
export function changeAccount(
  ctx: Context,
  admin: Caller,
  id: number,
  input: ChangeAccountInput,
): Promise<ManagedAccount> {
  return inTransaction(ctx, async (tx) => {
    if (input.isActive !== undefined) await lockUserTasks(tx, id);
    const removesAdmin = input.role === 'USER' || input.isActive === false;
    const before = await lockAccount(tx, admin, id, { removesAdmin });
    const after: Changes = {
      role: input.role ?? before.role,
      plan: input.plan ?? before.plan,
      isActive: input.isActive ?? before.isActive,
      trialEndsAt: input.trialEndsAt === undefined ? before.trialEndsAt : parseInstant(input.trialEndsAt),
    };
    const fields = Object.keys(after) as (keyof Changes)[];
    const changed = fields.filter((field) => JSON.stringify(after[field]) !== JSON.stringify(before[field]));
    if (changed.length === 0) return before;

    const updatedAt = tx.now();
    await tx.db
      .update(users)
      .set({ ...after, updatedAt })
      .where(eq(users.id, id));
    const isDeactivated = before.isActive && !after.isActive;
    if (after.role !== before.role || isDeactivated) await endUserSessions(tx, id);
    if (isDeactivated) {
      await suspendTasks(tx, id);
      await cancelEmailChange(tx, id);
    }
    if (!before.isActive && after.isActive) await resumeTasks(tx, id);
    const pickChanged = (account: Changes) => Object.fromEntries(changed.map((field) => [field, account[field]]));
    await recordAudit(tx, {
      kind: 'user.changed',
      ...describeActor(admin, id),
      details: { before: pickChanged(before), after: pickChanged(after) },
    });
    return { ...before, ...after, updatedAt };
  });
}

const parseInstant = (text: string | null) => (text === null ? null : new Date(text));
