import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
// Its types would bring those of Koa, for one file.
// @ts-expect-error
import Provider from 'oidc-provider';

/** The claims of the user who signs in next. */
export interface IssuerUser {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
}

/** Starts an OpenID Connect issuer whose only user signs in and consents without interaction. */
export async function startIssuer(clientId: string, clientSecret: string, redirectUri: string) {
  let user: IssuerUser = { sub: 'nobody' };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const provider = new Provider(url, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['keys-of-the-test-issuer'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: async () => ({ ...user, sub }) }),
  });
  const callback = provider.callback();
  server.on('request', async (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return callback(request, response);
    const details = await provider.interactionDetails(request, response);
    const grant = new provider.Grant({ accountId: user.sub, clientId });
    grant.addOIDCScope(String(details.params.scope));
    const result = { login: { accountId: user.sub }, consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result);
  });
  return {
    url,
    setPerson: (next: IssuerUser) => {
      user = next;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Follows redirects with a cookie jar until one leaves the issuer. */
export async function followRedirects(from: string, issuer: string): Promise<URL> {
  const jar = new Map<string, string>();
  let at = new URL(from);
  while (at.href.startsWith(issuer)) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const next = response.headers.get('location');
    if (!next) throw new Error(`The issuer answered ${response.status}: ${await response.text()}`);
    at = new URL(next, at);
  }
  return at;
}
