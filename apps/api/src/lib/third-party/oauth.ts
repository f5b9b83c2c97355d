import * as client from 'openid-client';
import type { Config } from '../config/config.ts';

const TIMEOUT_S = 10;

/** Secret: anyone who knows it can finish the sign-in. */
export interface OAuthFlow {
  state: string;
  /** Null for a provider without ID tokens. */
  nonce: string | null;
  codeVerifier: string;
}

export interface OAuthProfile {
  /** The provider's permanent user id. */
  subject: string;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
}

type OAuthOutcome = { ok: true; profile: OAuthProfile } | { ok: false; reason: 'refused' | 'unreachable' };

export interface OAuthProvider {
  /** Null if the provider cannot be reached. */
  begin(redirectUri: string): Promise<{ url: string; flow: OAuthFlow } | null>;
  /** `callback` is the full URL of the callback request. */
  finish(callback: URL, flow: OAuthFlow): Promise<OAuthOutcome>;
}

export type OAuth = ReadonlyMap<string, OAuthProvider>;

/** Authorization code with PKCE, state and nonce. Without TLS in development only. */
export function createOAuth({ oauth: settings, production }: Pick<Config, 'oauth' | 'production'>): OAuth {
  const providers = new Map<string, OAuthProvider>();
  const allowHttp = (address: string) =>
    !production && address.startsWith('http:') ? [client.allowInsecureRequests] : [];
  for (const name of ['google', 'oidc'] as const) {
    const provider = settings[name];
    if (!provider) continue;
    const { issuer, clientId, clientSecret } = provider;
    const execute = allowHttp(issuer);
    const discover = () =>
      client.discovery(new URL(issuer), clientId, clientSecret, undefined, { execute, timeout: TIMEOUT_S });
    providers.set(name, createProvider(discover, 'openid email profile', fetchOidcProfile));
  }
  if (settings.github) {
    const { url, apiUrl } = settings.github;
    const configuration = buildGithubConfiguration(settings.github);
    configuration.timeout = TIMEOUT_S;
    for (const allow of [...allowHttp(url), ...allowHttp(apiUrl)]) allow(configuration);
    const fetchProfile: FetchProfile = (config, tokens) => fetchGithubProfile(config, tokens.access_token, apiUrl);
    providers.set(
      'github',
      createProvider(async () => configuration, 'read:user user:email', fetchProfile),
    );
  }
  return providers;
}

type Tokens = Awaited<ReturnType<typeof client.authorizationCodeGrant>>;
type FetchProfile = (config: client.Configuration, tokens: Tokens) => Promise<OAuthProfile>;

function createProvider(
  discover: () => Promise<client.Configuration>,
  scope: string,
  fetchProfile: FetchProfile,
): OAuthProvider {
  const isOpenId = scope.startsWith('openid ');
  // Only a successful discovery is cached.
  let cached: client.Configuration | null = null;
  const configuration = async () => {
    cached ??= await discover();
    return cached;
  };
  return {
    async begin(redirectUri) {
      const flow = {
        state: client.randomState(),
        nonce: isOpenId ? client.randomNonce() : null,
        codeVerifier: client.randomPKCECodeVerifier(),
      };
      const code_challenge = await client.calculatePKCECodeChallenge(flow.codeVerifier);
      try {
        const url = client.buildAuthorizationUrl(await configuration(), {
          redirect_uri: redirectUri,
          scope,
          code_challenge,
          code_challenge_method: 'S256',
          state: flow.state,
          ...(flow.nonce === null ? {} : { nonce: flow.nonce }),
        });
        return { url: url.href, flow };
      } catch {
        return null;
      }
    },
    async finish(callback, { state, nonce, codeVerifier }) {
      try {
        const config = await configuration();
        const tokens = await client.authorizationCodeGrant(config, callback, {
          expectedState: state,
          ...(nonce === null ? {} : { expectedNonce: nonce }),
          pkceCodeVerifier: codeVerifier,
        });
        return { ok: true, profile: await fetchProfile(config, tokens) };
      } catch (error) {
        return { ok: false, reason: isUnreachable(error) ? 'unreachable' : 'refused' };
      }
    },
  };
}

async function fetchOidcProfile(config: client.Configuration, tokens: Tokens): Promise<OAuthProfile> {
  const claims = tokens.claims();
  if (!claims) throw new client.ClientError('The provider sent no ID token.');
  const isComplete = claims.email !== undefined || !config.serverMetadata().userinfo_endpoint;
  const user = isComplete ? claims : await client.fetchUserInfo(config, tokens.access_token, claims.sub);
  return {
    subject: claims.sub,
    email: typeof user.email === 'string' ? user.email : null,
    emailVerified: user.email_verified === true,
    name: typeof user.name === 'string' ? user.name : null,
  };
}

type GithubSettings = NonNullable<Config['oauth']['github']>;

/** GitHub has neither discovery nor ID tokens. */
const buildGithubConfiguration = ({ url, clientId, clientSecret }: GithubSettings) =>
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

async function fetchGithubProfile(
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

/** No response, or a 5xx. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  const { cause, code } = error as { cause?: unknown; code?: string };
  if (cause instanceof Response) return cause.status >= 500;
  return error instanceof TypeError || code === 'OAUTH_TIMEOUT' || isUnreachable(cause);
}
