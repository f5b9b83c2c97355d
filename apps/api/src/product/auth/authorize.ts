import type { ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import type { CallerKey } from '../../context.ts';
import { AppError, ERROR_MESSAGES, missingScope, sessionRequired } from '../../errors.ts';
import { assertNotInMaintenance } from '../../platform/settings.ts';
import type { Authenticated } from './authenticate.ts';

/** What an operation asks of its caller. */
interface Need {
  access: 'user' | 'admin' | 'key';
  /** What an API key needs; without it, no key may call the operation. A `key` route leaves it to its tools. */
  scope?: ApiKeyScope | undefined;
  alsoScope?: ApiKeyScope | undefined;
  isOpenDuringMaintenance?: boolean;
  /** False for an admin request over HTTP without the right `X-Admin-Key`. */
  hasAdminKey?: boolean;
}

/** Throws 503 in maintenance, 403 without the role, the admin key or the scope of an API key. */
export function authorize(
  { caller, maintenance }: Authenticated,
  { access, scope, alsoScope, isOpenDuringMaintenance = false, hasAdminKey = true }: Need,
): void {
  if (!isOpenDuringMaintenance) assertNotInMaintenance(maintenance, caller);
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
