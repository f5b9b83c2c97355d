import type { SetUsageAlertInput } from '@carillon/contract/accounts/usage';
import { usageAlerts } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { inTransaction } from '../../transaction.ts';
import { checkAlerts } from './alerts.ts';
import { alertFields } from './read.ts';

/** Creates or replaces the caller's alert for a threshold. It fires at once if the threshold is reached already. */
export function setUsageAlert(ctx: Context, caller: Caller, input: SetUsageAlertInput) {
  return inTransaction(ctx, async (tx) => {
    const { threshold, ...channels } = input;
    const [alert] = await tx.db
      .insert(usageAlerts)
      .values({ userId: caller.id, threshold, ...channels, createdAt: tx.now() })
      .onConflictDoUpdate({ target: [usageAlerts.userId, usageAlerts.threshold], set: channels })
      .returning(alertFields);
    await checkAlerts(tx, caller.id);
    return alert as NonNullable<typeof alert>;
  });
}

/** Throws 404. */
export async function deleteUsageAlert(ctx: Context, caller: Caller, id: number): Promise<void> {
  const deleted = await ctx.db
    .delete(usageAlerts)
    .where(and(eq(usageAlerts.id, id), eq(usageAlerts.userId, caller.id)))
    .returning({ id: usageAlerts.id });
  if (deleted.length === 0) throw new AppError('not_found', 'Alert not found');
}
