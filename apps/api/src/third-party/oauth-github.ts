import * as client from 'openid-client';
import type { Config } from '../config/config.ts';
import type { OAuthProfile } from './oauth.ts';

type Settings = NonNullable<Config['oauth']['github']>;

/** GitHub speaks OAuth 2.0 without discovery or ID tokens, so its endpoints are written out. */
export const githubConfiguration = ({ url, clientId, clientSecret }: Settings) =>
  new client.Configuration(
    {
      issuer: url,
      authorization_endpoint: `${url}/login/oauth/authorize`,
      token_endpoint: `${url}/login/oauth/access_token`,
    },
    clientId,
    clientSecret,
    client.ClientSecretPost(clientSecret),
  );

/** The account behind an access token, with its primary address. GitHub says for each address whether it is verified. */
export async function githubProfile(
  config: client.Configuration,
  accessToken: string,
  apiUrl: string,
): Promise<OAuthProfile> {
  const get = async (path: string): Promise<unknown> => {
    const headers = new Headers({ accept: 'application/vnd.github+json', 'user-agent': 'Carillon' });
    const address = new URL(`${apiUrl}${path}`);
    const response = await client.fetchProtectedResource(config, accessToken, address, 'GET', null, headers);
    if (!response.ok) throw new client.ClientError('GitHub refused the access token.', { cause: response });
    return response.json();
  };
  const [account, addresses] = await Promise.all([get('/user'), get('/user/emails')]);
  const { id, name, login } = account as { id?: unknown; name?: unknown; login?: unknown };
  if (typeof id !== 'number') throw new client.ClientError('GitHub sent no account.');
  const primary = (Array.isArray(addresses) ? addresses : []).find((address) => address?.primary === true);
  return {
    subject: String(id),
    email: typeof primary?.email === 'string' ? primary.email : null,
    emailVerified: primary?.verified === true,
    name: [name, login].find((word): word is string => typeof word === 'string' && word !== '') ?? null,
  };
}
