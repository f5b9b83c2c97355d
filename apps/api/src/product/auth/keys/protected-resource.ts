import type { Config } from '../../../lib/config/config.ts';

type Urls = Pick<Config, 'baseUrl'>;

/** Of RFC 9728; with the path of the resource, the document of that resource. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** What takes API keys only. */
const RESOURCE_PATH = '/mcp';

/** The document of RFC 9728. There is no authorization server: keys are made in the settings. */
export const describeProtectedResource = ({ baseUrl }: Urls, scopes: readonly string[]) => ({
  resource: `${baseUrl}${RESOURCE_PATH}`,
  resource_name: 'Carillon',
  bearer_methods_supported: ['header'],
  scopes_supported: scopes,
  resource_documentation: `${baseUrl}/api/docs`,
});

/** The `WWW-Authenticate` of a 401. RFC 6750 names no error if there was no token. */
export function buildChallenge({ baseUrl }: Urls, hasToken: boolean): string {
  const metadata = `resource_metadata="${baseUrl}${METADATA_PATH}${RESOURCE_PATH}"`;
  return hasToken ? `Bearer error="invalid_token", ${metadata}` : `Bearer ${metadata}`;
}
