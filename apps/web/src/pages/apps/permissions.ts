import type { ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import type { Texts } from '@carillon/texts';

/** In a sentence: "See tasks, run tasks and see usage". */
export function describePermissions({ apps }: Texts, scopes: readonly ApiKeyScope[]): string {
  const text = apps.list(scopes.map((scope) => apps.permission[scope]));
  return text.charAt(0).toUpperCase() + text.slice(1);
}
