import { generateKeyPairSync } from 'node:crypto';
import { API_KEY_SCOPES } from '@carillon/contract/accounts/api-keys';
import inject from 'light-my-request';
// Its types would bring those of Koa, for one file.
// @ts-expect-error
import Provider, { errors, interactionPolicy } from 'oidc-provider';
import type { Config } from '../../../lib/config/config.ts';
import { createAdapter } from './adapter.ts';
import { ASKS, calls, getCall, type Library } from './library-call.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** Of what the library makes within one request. */
const REQUEST_SECONDS = 60;

/** The authorization server. It stores nothing itself and has no pages: `adapter.ts` says what it finds. */
export function createLibrary({ baseUrl }: Pick<Config, 'baseUrl'>): Library {
  const resource = `${baseUrl}/mcp`;
  const { Check, Prompt } = interactionPolicy;
  const isAllowed = new Check('not_allowed', 'The user was not asked.', () => getCall().consent === null);
  const off = { enabled: false };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const provider = new Provider(baseUrl, {
    adapter: (name: string) => createAdapter(resource, name),
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      registration: '/oauth/register',
      revocation: '/oauth/revoke',
    },
    scopes: Object.keys(API_KEY_SCOPES).filter((scope) => scope !== 'admin'),
    responseTypes: ['code'],
    clientAuthMethods: ['none'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    // The library asks for one, and signs nothing with it.
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    features: {
      devInteractions: off,
      dPoP: off,
      userinfo: off,
      rpInitiatedLogout: off,
      pushedAuthorizationRequests: off,
      registration: { enabled: true, issueRegistrationAccessToken: false, idFactory: () => getCall().client?.id },
      revocation: {
        enabled: true,
        allowedPolicy: (_: unknown, client: Named, token: Named) => client.clientId === token.clientId,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, indicator: string) => {
          if (indicator !== resource) throw new errors.InvalidTarget(`The resource is ${resource}.`);
          const scope = Object.keys(API_KEY_SCOPES).join(' ');
          return { scope, audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: DAY_SECONDS };
        },
      },
    },
    ttl: {
      AuthorizationCode: 5 * 60,
      AccessToken: DAY_SECONDS,
      RefreshToken: 90 * DAY_SECONDS,
      Grant: REQUEST_SECONDS,
      IdToken: REQUEST_SECONDS,
      Interaction: REQUEST_SECONDS,
      Session: REQUEST_SECONDS,
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    interactions: { policy: [new Prompt({ name: 'consent', requestable: false }, isAllowed)], url: () => ASKS },
    loadExistingGrant: (ctx: LibraryContext) => {
      const { consent } = getCall();
      return consent ? ctx.oidc.provider.Grant.find(consent.grantId) : undefined;
    },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    renderError: (ctx: { body: unknown }, answer: unknown) => {
      ctx.body = answer;
    },
  });
  provider.proxy = true;
  provider.on('server_error', (_: unknown, error: unknown) => {
    getCall().failure = error;
  });
  const handle = provider.callback();
  const { host, protocol } = new URL(baseUrl);

  return async (call, { method, url, headers = {}, body }) => {
    const cookie = call.consent ? { cookie: '_session=consent' } : {};
    const own = { host, 'x-forwarded-proto': protocol.slice(0, -1), accept: 'application/json', ...cookie };
    const sent = { method, url, headers: { ...headers, ...own }, ...(body !== undefined && { payload: body }) };
    // Sent once it is awaited.
    const answer = await calls.run(call, async () => await inject(handle, sent));
    if (call.failure !== undefined) throw call.failure;
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  };
}

interface Named {
  clientId: string;
}

interface LibraryContext {
  oidc: { provider: { Grant: { find(id: string): Promise<unknown> } } };
}
