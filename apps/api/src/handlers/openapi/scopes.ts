import type { Operation } from '@carillon/contract';
import type { ApiKeyScope } from '@carillon/contract/accounts/api-keys';

/** An API key in the `security` of an operation, with its scope as an extension: linters reject scopes outside of OAuth. */
export function describeScope({ security }: Operation, scope: ApiKeyScope | undefined): object {
  if (scope === undefined) return {};
  const adminKey = scope === 'admin' ? { adminKey: [] } : {};
  return { security: [...security, { apiKey: [], ...adminKey }], 'x-scope': scope };
}

/** The scope of a route as a sentence for its description; empty for a public route. */
export function scopeSentence(access: string | undefined, scope: ApiKeyScope | undefined): string {
  if (access !== 'user' && access !== 'admin') return '';
  return scope === undefined ? 'Takes no API key.' : `Scope of an API key: \`${scope}\`.`;
}
