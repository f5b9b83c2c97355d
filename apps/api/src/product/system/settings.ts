import type { ChangeSecurityInput, ChangeSystemSettingsInput } from '@carillon/contract/admin/settings';
import { settings } from '@carillon/db';
import type { Caller, Context } from '../../context.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { getSettings } from '../../platform/settings.ts';
import { inTransaction } from '../../transaction.ts';

export function changeSettings(ctx: Context, admin: Caller, input: ChangeSystemSettingsInput) {
  return inTransaction(ctx, async (tx) => {
    await tx.db.select({ id: settings.id }).from(settings).for('no key update');
    // A new statement after the lock sees what others have committed.
    const before = await getSettings(tx);
    const after: Required<ChangeSystemSettingsInput> = {
      trialDurationDays: input.trialDurationDays ?? before.trialDurationDays,
      maxTasksPerUser: input.maxTasksPerUser ?? before.maxTasksPerUser,
      maxExecutionsPerDay: input.maxExecutionsPerDay ?? before.maxExecutionsPerDay,
      defaultModel: input.defaultModel ?? before.defaultModel,
      maintenanceMode: input.maintenanceMode ?? before.maintenanceMode,
    };
    const changed = (Object.keys(after) as (keyof typeof after)[]).filter((name) => after[name] !== before[name]);
    if (changed.length === 0) return before;
    const updatedAt = tx.now();
    await tx.db.update(settings).set({ ...after, updatedAt });
    const pickChanged = (all: typeof after) => Object.fromEntries(changed.map((name) => [name, all[name]]));
    await recordAudit(tx, {
      kind: 'settings.changed',
      ...describeActor(admin, null),
      details: { before: pickChanged(before), after: pickChanged(after) },
    });
    return { ...before, ...after, updatedAt };
  });
}

/** Sets who needs a second factor. */
export function changeSecurity(ctx: Context, admin: Caller, { secondFactor }: ChangeSecurityInput) {
  return inTransaction(ctx, async (tx) => {
    await tx.db.select({ id: settings.id }).from(settings).for('no key update');
    const before = await getSettings(tx);
    if (before.secondFactor === secondFactor) return { secondFactor };
    await tx.db.update(settings).set({ secondFactor, updatedAt: tx.now() });
    const details = { before: { secondFactor: before.secondFactor }, after: { secondFactor } };
    await recordAudit(tx, { kind: 'settings.changed', ...describeActor(admin, null), details });
    return { secondFactor };
  });
}
