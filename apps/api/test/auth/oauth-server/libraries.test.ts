import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as openid from 'openid-client';
import t from 'tap';
import { testContext } from '../../support/context.ts';
import { PROGRAMS } from '../../support/known-programs.ts';
import { ERA_2026 } from '../../support/mcp.ts';
import { answer, ask } from '../../support/oauth-client.ts';
import { type Person, signUp } from '../../support/people.ts';

const BASE_URL = 'https://carillon.example.com';
const { app, clock } = await testContext(t, { env: { BASE_URL, DASHBOARD: 'true' } });
const local = await app.listen({ host: '127.0.0.1', port: 0 });
const DAY_MS = 24 * 60 * 60 * 1000;
const INFO = { name: 'A test', version: '1.0.0' };

/** Reaches the server of the test at its public address. */
const toTest = (to: string | URL | Request, init?: RequestInit) =>
  fetch(String(to instanceof Request ? to.url : to).replace(BASE_URL, local), init);

type Preset = 'look' | 'run' | 'everything';

/** The user's answer to what a library has opened. Returns the address that the program gets. */
async function allow(person: Person, opened: URL, preset: Preset): Promise<URL> {
  if (`${opened.origin}${opened.pathname}` !== `${BASE_URL}/oauth/authorize`) throw new Error(opened.href);
  const result = await answer(app, person, opened.search.slice(1), { preset });
  if (!result.success || result.data.kind !== 'answered') throw new Error(JSON.stringify(result));
  return new URL(result.data.to);
}

/** What a program keeps for the official client. */
function createProvider({ id, redirect, registers }: { id: string | undefined; redirect: string; registers: object }) {
  const kept: { opened: URL[]; client?: unknown; tokens?: { scope?: string }; verifier: string } = {
    opened: [],
    verifier: '',
  };
  const provider = {
    redirectUrl: redirect,
    ...(id !== undefined && { clientMetadataUrl: id }),
    clientMetadata: registers,
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: { scope?: string }) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (to: URL) => void kept.opened.push(to),
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier,
  };
  return { kept, provider };
}

/** By the eras of the protocol. */
const OFFICIAL = {
  2026: (options: object) => {
    const transport = new StreamableHTTPClientTransport(new URL(`${BASE_URL}/mcp`), options);
    const client = new Client(INFO, ERA_2026);
    return { client, transport, finish: (to: URL) => transport.finishAuth(to.searchParams) };
  },
  2025: (options: object) => {
    const transport = new EarlierTransport(new URL(`${BASE_URL}/mcp`), options);
    const client = new EarlierClient(INFO);
    return { client, transport, finish: (to: URL) => transport.finishAuth(to.searchParams.get('code') ?? '') };
  },
};

for (const [era, open] of Object.entries(OFFICIAL)) {
  t.test(`The official client of ${era} connects as every known program`, async (t) => {
    for (const { name, id, redirects, registers } of PROGRAMS) {
      const alice = await signUp(app);
      const [redirect = ''] = redirects;
      const { kept, provider } = createProvider({
        ...{ id, redirect },
        registers: registers ?? { client_name: name, redirect_uris: [redirect] },
      });
      const options = { fetch: toTest, authProvider: provider };
      const first = open(options);
      await t.rejects(first.client.connect(first.transport as never), /Unauthorized/i, name);
      await first.finish(await allow(alice, kept.opened[0] as URL, 'everything'));
      const { client, transport } = open(options);
      await client.connect(transport as never);
      const { tools } = await client.listTools();
      t.ok(tools.length > 10, `${name} ${redirect}`);
      await client.close();
    }
  });
}

t.test('The official client asks for more where a scope is missing, and refreshes by itself', async (t) => {
  const alice = await signUp(app);
  const [claude] = PROGRAMS;
  const { kept, provider } = createProvider({
    ...{ id: claude?.id, redirect: claude?.redirects[0] ?? '' },
    registers: { client_name: 'Claude', redirect_uris: claude?.redirects },
  });
  const options = { fetch: toTest, authProvider: provider };
  const first = OFFICIAL[2026](options);
  await t.rejects(first.client.connect(first.transport as never));
  await first.finish(await allow(alice, kept.opened[0] as URL, 'look'));
  t.equal(kept.tokens?.scope, 'tasks:read executions:read usage:read');
  const { client, transport, finish } = OFFICIAL[2026](options);
  await client.connect(transport as never);
  const channels = { name: 'list_channels', arguments: {} };
  await t.rejects(client.callTool(channels));
  t.equal(kept.opened.length, 2);
  const asked = kept.opened[1] as URL;
  t.same(asked.searchParams.get('scope')?.split(' ').sort(), [
    ...['executions:read', 'tasks:read', 'usage:read', 'webhooks:read'],
  ]);
  await finish(await allow(alice, asked, 'everything'));
  t.notOk((await client.callTool(channels)).isError);
  clock.advance(DAY_MS);
  const before = kept.tokens;
  t.notOk((await client.callTool(channels)).isError);
  t.not(kept.tokens, before);
  t.equal(kept.opened.length, 2, 'nobody is asked');
  await client.close();
});

t.test('openid-client, which is strict, connects as every known program, refreshes and revokes', async (t) => {
  for (const { name, id, redirects, registers } of PROGRAMS) {
    for (const redirect of redirects) {
      const alice = await signUp(app);
      const options = { algorithm: 'oauth2', [openid.customFetch]: toTest } as const;
      const config = registers
        ? await openid.dynamicClientRegistration(new URL(BASE_URL), registers as never, openid.None(), options)
        : await openid.discovery(new URL(BASE_URL), id ?? '', undefined, openid.None(), options);
      const verifier = openid.randomPKCECodeVerifier();
      const state = openid.randomState();
      const opened = openid.buildAuthorizationUrl(config, {
        ...{ redirect_uri: redirect, state, scope: 'tasks:read', resource: `${BASE_URL}/mcp` },
        ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      });
      const back = await allow(alice, opened, 'everything');
      const checks = { pkceCodeVerifier: verifier, expectedState: state };
      const tokens = await openid.authorizationCodeGrant(config, back, checks);
      t.equal((await ask(app, tokens.access_token)).statusCode, 200, `${name} ${redirect}`);
      const next = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
      t.equal((await ask(app, next.access_token)).statusCode, 200);
      await openid.tokenRevocation(config, next.refresh_token ?? '');
      t.equal((await ask(app, next.access_token)).statusCode, 401);
    }
  }
});
