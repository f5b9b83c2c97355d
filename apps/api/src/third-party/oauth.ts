import * as client from 'openid-client';
import type { Config } from '../config/config.ts';
import { githubConfiguration, githubProfile } from './oauth-github.ts';

const TIMEOUT_S = 10;

/** What one sign-in has to remember between its two steps; whoever knows it could finish the sign-in. */
export interface OAuthFlow {
  state: string;
  /** Null for a provider that sends no ID token to carry it. */
  nonce: string | null;
  codeVerifier: string;
}

/** Who the provider says it is. */
export interface OAuthProfile {
  /** The provider's own, lasting identifier of the person. */
  subject: string;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
}

/** `refused`: the person or the provider said no, or the answer does not fit the flow. `unreachable`: nobody answered. */
export type OAuthOutcome = { ok: true; profile: OAuthProfile } | { ok: false; reason: 'refused' | 'unreachable' };

export interface OAuthProvider {
  /** The address to send the browser to; null when the provider cannot be reached. */
  begin(redirectUri: string): Promise<{ url: string; flow: OAuthFlow } | null>;
  /** Trades the code in `callback`, the whole address that the browser came back to, for the person's profile. */
  finish(callback: URL, flow: OAuthFlow): Promise<OAuthOutcome>;
}

export type OAuth = ReadonlyMap<string, OAuthProvider>;

/**
 * The providers that are configured: authorization code with PKCE, state and nonce, by openid-client
 * (specification "Authentication" 3). An issuer without TLS is for development only.
 */
export function createOAuth({ oauth: settings, production }: Pick<Config, 'oauth' | 'production'>): OAuth {
  const providers = new Map<string, OAuthProvider>();
  const relax = (address: string) => (!production && address.startsWith('http:') ? [client.allowInsecureRequests] : []);
  for (const name of ['google', 'oidc'] as const) {
    const chosen = settings[name];
    if (!chosen) continue;
    const { issuer, clientId, clientSecret } = chosen;
    const execute = relax(issuer);
    const discover = () =>
      client.discovery(new URL(issuer), clientId, clientSecret, undefined, { execute, timeout: TIMEOUT_S });
    providers.set(name, provider(discover, 'openid email profile', oidcProfile));
  }
  if (settings.github) {
    const { url, apiUrl } = settings.github;
    const configuration = githubConfiguration(settings.github);
    configuration.timeout = TIMEOUT_S;
    for (const allow of [...relax(url), ...relax(apiUrl)]) allow(configuration);
    const profileOf: ProfileOf = (config, tokens) => githubProfile(config, tokens.access_token, apiUrl);
    providers.set(
      'github',
      provider(async () => configuration, 'read:user user:email', profileOf),
    );
  }
  return providers;
}

type Tokens = Awaited<ReturnType<typeof client.authorizationCodeGrant>>;
type ProfileOf = (config: client.Configuration, tokens: Tokens) => Promise<OAuthProfile>;

function provider(discover: () => Promise<client.Configuration>, scope: string, profileOf: ProfileOf): OAuthProvider {
  const openId = scope.startsWith('openid ');
  // Kept once it succeeded: a provider that was away is asked again.
  let known: client.Configuration | null = null;
  const configuration = async () => {
    known ??= await discover();
    return known;
  };
  return {
    async begin(redirectUri) {
      const flow = {
        state: client.randomState(),
        nonce: openId ? client.randomNonce() : null,
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
        return { ok: true, profile: await profileOf(config, tokens) };
      } catch (error) {
        return { ok: false, reason: isUnreachable(error) ? 'unreachable' : 'refused' };
      }
    },
  };
}

/** The claims of the ID token, completed from the userinfo endpoint where it leaves the address out. */
async function oidcProfile(config: client.Configuration, tokens: Tokens): Promise<OAuthProfile> {
  const claims = tokens.claims();
  if (!claims) throw new client.ClientError('The provider sent no ID token.');
  const complete = claims.email !== undefined || !config.serverMetadata().userinfo_endpoint;
  const told = complete ? claims : await client.fetchUserInfo(config, tokens.access_token, claims.sub);
  return {
    subject: claims.sub,
    email: typeof told.email === 'string' ? told.email : null,
    emailVerified: told.email_verified === true,
    name: typeof told.name === 'string' ? told.name : null,
  };
}

/** What openid-client throws when no answer came, or one of a server in trouble. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  const { cause, code } = error as { cause?: unknown; code?: string };
  if (cause instanceof Response) return cause.status >= 500;
  return error instanceof TypeError || code === 'OAUTH_TIMEOUT' || isUnreachable(cause);
}
