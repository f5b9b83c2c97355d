import type { ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import { preparedQuery, settings } from '@carillon/db';
import type { Caller, CallerKey, Context } from '../../context.ts';
import { AppError, ERROR_MESSAGES, missingScope, sessionRequired } from '../../errors.ts';
import type { Authenticated } from './authenticate.ts';

/** What an operation asks of its caller. */
interface Need {
  access: 'user' | 'admin' | 'key';
  /** What an API key needs; without it, no key may call the operation. A `key` route leaves it to its tools. */
  scope?: ApiKeyScope | undefined;
  alsoScope?: ApiKeyScope | undefined;
  isOpenDuringMaintenance?: boolean;
  /** Whether it is a part of adding the second factor that the installation asks for. */
  isOpenWithoutFactor?: boolean;
  /** False for an admin request over HTTP without the right `X-Admin-Key`. */
  hasAdminKey?: boolean;
}

/** Throws 503 in maintenance, 403 without the factor, the role, the admin key or the scope of an API key. */
export function authorize(
  { caller, maintenance, isFactorMissing }: Authenticated,
  { access, scope, alsoScope, isOpenDuringMaintenance = false, isOpenWithoutFactor = false, hasAdminKey = true }: Need,
): void {
  if (!isOpenDuringMaintenance) assertNotInMaintenance(maintenance, caller);
  if (isFactorMissing && !isOpenWithoutFactor) throw new AppError('factor_missing', ERROR_MESSAGES.factorMissing);
  if (access === 'admin' && (caller.role !== 'ADMIN' || !hasAdminKey)) {
    throw new AppError('not_admin', ERROR_MESSAGES.adminRequired);
  }
  if (caller.apiKey && access !== 'key') assertScope(caller.apiKey, scope);
  if (caller.apiKey && alsoScope) assertScope(caller.apiKey, alsoScope);
}

function assertScope({ scopes }: CallerKey, scope: ApiKeyScope | undefined): void {
  if (scope === undefined) throw sessionRequired();
  if (!scopes.includes(scope)) throw missingScope(scope);
}

/** Admins can sign in and end the maintenance, and the scheduler continues. */
const OPEN =
  /^\/($|api\/health(\/(live|ready))?$|api\/docs$|api\/docs\/|api\/cron\/|api\/auth\/(login|logout|session|second-factor|passkey(\/options)?|oauth\/.*)$)/;

const MAINTENANCE_RETRY_SECONDS = 30;

const OPEN_WITHOUT_FACTOR =
  /^\/api\/(auth\/(logout|session|sessions(\/:id)?|confirm)|user\/(factors(\/.*)?|recovery-codes))$/;

export const isOpenWithoutFactor = (url: string): boolean => OPEN_WITHOUT_FACTOR.test(url);

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
