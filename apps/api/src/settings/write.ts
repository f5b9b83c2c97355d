import type { ChangeSettingsInput } from '@carillon/contract/settings';
import { settings } from '@carillon/db';
import { recordAudit } from '../audit/record.ts';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { getSettings } from './read.ts';

/**
 * Changes what is given of the system settings, and records it (specification "System settings", decisions §9). Every
 * process reads them where it needs them, so a change is in force with its commit. Returns all of them as they are
 * then; a change that leaves everything as it was is none.
 */
export function changeSettings(ctx: Context, admin: Caller, input: ChangeSettingsInput) {
  return inTransaction(ctx, async (tx) => {
    await tx.db.select({ id: settings.id }).from(settings).for('no key update');
    // A statement of its own, begun after the lock was had: it sees what others have committed.
    const before = await getSettings(tx);
    const wanted = {
      trialDurationDays: input.trialDurationDays ?? before.trialDurationDays,
      maxTasksPerUser: input.maxTasksPerUser ?? before.maxTasksPerUser,
      maxExecutionsPerDay: input.maxExecutionsPerDay ?? before.maxExecutionsPerDay,
      defaultModel: input.defaultModel ?? before.defaultModel,
      maintenanceMode: input.maintenanceMode ?? before.maintenanceMode,
    };
    const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter((name) => wanted[name] !== before[name]);
    if (changed.length === 0) return before;
    const updatedAt = tx.now();
    await tx.db.update(settings).set({ ...wanted, updatedAt });
    const only = (all: typeof wanted) => Object.fromEntries(changed.map((name) => [name, all[name]]));
    await recordAudit(tx, {
      kind: 'settings.changed',
      actorId: admin.id,
      actorEmail: admin.email,
      userId: null,
      details: { before: only(before), after: only(wanted) },
    });
    return { ...before, ...wanted, updatedAt };
  });
}
