import { ASSISTANT_SCOPES } from '@carillon/contract/accounts/api-keys';
import type { Config } from '../../../lib/config/config.ts';

type Urls = Pick<Config, 'baseUrl' | 'dashboard'>;

/** Of RFC 9728; with the path of the resource, the document of that resource. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** What takes API keys and tokens of connected apps. */
const RESOURCE_PATH = '/mcp';

/** The document of RFC 9728. Without a dashboard nobody can allow anything, so there is no authorization server. */
export const describeProtectedResource = ({ baseUrl, dashboard }: Urls) => ({
  resource: `${baseUrl}${RESOURCE_PATH}`,
  resource_name: 'Carillon',
  ...(dashboard && { authorization_servers: [baseUrl] }),
  bearer_methods_supported: ['header'],
  scopes_supported: ASSISTANT_SCOPES,
  resource_documentation: `${baseUrl}/api/docs`,
});

const describeMetadata = ({ baseUrl }: Urls) => `resource_metadata="${baseUrl}${METADATA_PATH}${RESOURCE_PATH}"`;

/** The `WWW-Authenticate` of a 401. RFC 6750 names no error if there was no token. */
export function buildChallenge(urls: Urls, hasToken: boolean): string {
  const error = hasToken ? 'error="invalid_token", ' : '';
  return `Bearer ${error}${describeMetadata(urls)}, scope="${ASSISTANT_SCOPES.join(' ')}"`;
}

/** The `WWW-Authenticate` of a 403, with which a program asks its user for more. */
export const buildScopeChallenge = (urls: Urls, missing: readonly string[]): string =>
  `Bearer error="insufficient_scope", scope="${missing.join(' ')}", ${describeMetadata(urls)}`;
