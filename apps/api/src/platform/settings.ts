import { preparedQuery, settings } from '@carillon/db';
import type { Caller, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';

export async function getSettings(ctx: Context) {
  const [row] = await ctx.db.select().from(settings);
  if (!row) throw new Error('The settings row is missing: the migration writes it.');
  return row;
}

/** Admins can sign in and end the maintenance, and the scheduler continues. */
const OPEN =
  /^\/($|api\/health(\/(live|ready))?$|api\/docs$|api\/docs\/|api\/cron\/|api\/auth\/(login|logout|session|oauth\/.*)$)/;

const MAINTENANCE_RETRY_SECONDS = 30;

export const isOpenDuringMaintenance = (url: string): boolean => OPEN.test(url);

/** Admins pass; throws 503 for others. */
export function assertNotInMaintenance(isOn: boolean, caller: Pick<Caller, 'role'> | null): void {
  if (!isOn || caller?.role === 'ADMIN') return;
  throw new AppError('unavailable', ERROR_MESSAGES.maintenance, undefined, MAINTENANCE_RETRY_SECONDS);
}

/** For requests without a caller; `authenticate` reads it with the caller. */
export async function isMaintenance(ctx: Pick<Context, 'db'>): Promise<boolean> {
  const [row] = await maintenanceQuery(ctx.db).execute();
  return row?.isOn ?? false;
}

const maintenanceQuery = preparedQuery((db) =>
  db.select({ isOn: settings.maintenanceMode }).from(settings).prepare('is_maintenance'),
);
