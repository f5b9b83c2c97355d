import type { SetUsageAlertInput } from '@carillon/contract/usage';
import { usageAlerts } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { AppError } from '../errors.ts';
import { checkAlerts } from './alerts.ts';
import { alertFields } from './read.ts';

/**
 * Sets the caller's alert for a threshold, of which there is one, and tells at once what has reached it already
 * (decisions §9).
 */
export function setUsageAlert(ctx: Context, caller: Caller, input: SetUsageAlertInput) {
  return inTransaction(ctx, async (tx) => {
    const { threshold, notifyEmail, notifyWebhook } = input;
    const wanted = { notifyEmail, notifyWebhook };
    const [alert] = await tx.db
      .insert(usageAlerts)
      .values({ userId: caller.id, threshold, ...wanted, createdAt: tx.now() })
      .onConflictDoUpdate({ target: [usageAlerts.userId, usageAlerts.threshold], set: wanted })
      .returning(alertFields);
    await checkAlerts(tx, caller.id);
    return alert as NonNullable<typeof alert>;
  });
}

/** Deletes an alert of the caller's. Refusal: 404. */
export async function deleteUsageAlert(ctx: Context, caller: Caller, id: number): Promise<void> {
  const gone = await ctx.db
    .delete(usageAlerts)
    .where(and(eq(usageAlerts.id, id), eq(usageAlerts.userId, caller.id)))
    .returning({ id: usageAlerts.id });
  if (gone.length === 0) throw new AppError('not_found', 'There is no such alert.');
}
