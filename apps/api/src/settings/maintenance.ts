import { preparedQuery, settings } from '@carillon/db';
import type { Caller, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';

/**
 * Refuses as `unavailable` while maintenance mode is on (decisions §4), but for admins, who have to be able to end it.
 * `isOn` is read where the caller's session is found, so that it is in force at once at every process.
 */
export function assertNotInMaintenance(isOn: boolean, caller: Pick<Caller, 'role'> | null): void {
  if (isOn && caller?.role !== 'ADMIN') {
    throw new AppError('unavailable', ERROR_MESSAGES.maintenance);
  }
}

/** Whether maintenance mode is on, for callers without a session: a query of its own, to what few public routes it closes. */
export async function isMaintenance(ctx: Pick<Context, 'db'>): Promise<boolean> {
  const [row] = await query(ctx.db).execute();
  return row?.isOn ?? false;
}

const query = preparedQuery((db) =>
  db.select({ isOn: settings.maintenanceMode }).from(settings).prepare('is_maintenance'),
);
