import { randomUUID } from 'node:crypto';
import { API_KEY_SCOPES, type ApiKeyScope } from '@carillon/contract/accounts/api-keys';
import { CONSENT_PRESETS, type ConsentPreset } from '@carillon/contract/actions/web/settings';
import { apiKeys, oauthClients, sessions } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, ERROR_MESSAGES } from '../../../errors.ts';
import { parseJson, toObject, toText } from '../../../lib/egress/exchange.ts';
import { inTransaction } from '../../../transaction.ts';
import { assertFactorConfirmed, confirmWith } from '../confirm-session.ts';
import { listFactorKinds } from '../factors/read.ts';
import { getSessionId, lockAccount } from '../sessions.ts';
import { describeHost, findClient, isLoopback, type OAuthClient } from './clients.ts';
import { assertRoom } from './connections.ts';
import { ASKS } from './library-call.ts';
import { askLibrary } from './serve.ts';

const LOOK = ['tasks:read', 'executions:read', 'usage:read'] as const satisfies readonly ApiKeyScope[];

const LIMITS: Record<Exclude<ConsentPreset, 'everything'>, readonly ApiKeyScope[]> = {
  look: LOOK,
  run: [...LOOK, 'tasks:write', 'executions:run'],
};

const NEVER: readonly string[] = ['admin'];
const ONLY_IF_ASKED: readonly string[] = ['admin', 'profile:write'];

/** The parameters that the library gets; it offers more, which Carillon does not. */
const PARAMETERS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'state',
  'code_challenge',
  'code_challenge_method',
  'resource',
] as const;

interface Asked {
  client: OAuthClient;
  redirect: string;
  /** For the library, without the scope. */
  params: URLSearchParams;
  scopes: readonly ApiKeyScope[];
}

/** A request that cannot be allowed. `to` returns to the program with the reason, where its address is known to be its own. */
export interface Refused {
  kind: 'refused';
  reason: 'client' | 'redirect' | 'request';
  name: string | null;
  message: string;
  to: string | null;
}

interface Answered extends ReturnType<typeof describePlace> {
  kind: 'answered';
  name: string;
  to: string;
}

/** Who asks, and for what. Throws 429. */
export async function openConsent(ctx: Context, caller: Caller, search: string) {
  const asked = await readRequest(ctx, caller, search);
  if ('kind' in asked) return asked;
  const { client, redirect, scopes } = asked;
  const presets = listPresets(scopes);
  const isOwn = and(eq(apiKeys.userId, caller.id), eq(apiKeys.clientId, client.id));
  const isConnected = (await ctx.db.$count(apiKeys, isOwn)) > 0;
  return { kind: 'asked' as const, name: client.name, ...describePlace(redirect), presets, isConnected };
}

/** Where the browser goes once the user has answered. */
function describePlace(redirect: string) {
  const host = describeHost(redirect);
  return { host, isLocal: isLoopback(host) };
}

/** From the narrowest on, without those that would allow nothing. */
const listPresets = (scopes: readonly ApiKeyScope[]) =>
  CONSENT_PRESETS.map((preset) => ({ preset, scopes: chooseScopes(preset, scopes) })).filter(
    (one) => one.scopes.length > 0,
  );

const chooseScopes = (preset: ConsentPreset, scopes: readonly ApiKeyScope[]): readonly ApiKeyScope[] =>
  preset === 'everything' ? scopes : scopes.filter((scope) => LIMITS[preset].includes(scope));

/**
 * Returns the address with the code, or with the refusal of the user. Throws 400 for the password or the preset, 402 for one
 * connection too many, 403 without the second factor, and 429.
 */
export async function answerConsent(
  ctx: Context,
  caller: Caller,
  {
    search,
    preset,
    currentPassword,
  }: { search: string; preset: ConsentPreset | null; currentPassword?: string | undefined },
): Promise<Refused | Answered> {
  const asked = await readRequest(ctx, caller, search);
  if ('kind' in asked) return asked;
  const { client, redirect, params, scopes } = asked;
  const { name } = client;
  const answered = { kind: 'answered', name, ...describePlace(redirect) } as const;
  if (preset === null) return { ...answered, to: buildRefusal(ctx, redirect, params.get('state')) };
  if ((await listFactorKinds(ctx, caller.id)).length > 0) await assertFactorConfirmed(ctx, caller);
  else await confirmWith(ctx, caller, currentPassword);
  const chosen = chooseScopes(preset, scopes);
  if (chosen.length === 0) throw new AppError('forbidden', `${name} does not ask for anything of this.`);
  params.set('scope', chosen.join(' '));
  const consent = { userId: caller.id, grantId: randomUUID(), scopes: chosen };
  const answer = await inTransaction(ctx, async (tx) => {
    await recordClient(tx, caller, client, redirect);
    return askLibrary(tx, { client, consent }, { method: 'GET', url: `/oauth/authorize?${params}` });
  });
  const { location } = answer.headers;
  if (typeof location !== 'string') throw new Error(`The library answered ${answer.status}: ${answer.body}`);
  return { ...answered, to: location };
}

/** Locks the account: a reset of the password that held the lock has ended the session, and its thief gets no code. */
async function recordClient(ctx: Context, caller: Caller, { id, name }: OAuthClient, redirect: string): Promise<void> {
  await lockAccount(ctx, caller.id);
  if ((await ctx.db.$count(sessions, eq(sessions.id, getSessionId(caller)))) === 0) {
    throw new AppError('unauthenticated', ERROR_MESSAGES.unauthenticated);
  }
  await assertRoom(ctx, caller.id, id);
  const seenAt = ctx.now();
  const values = { name, host: describeHost(redirect), seenAt };
  await ctx.db
    .insert(oauthClients)
    .values({ id, ...values })
    .onConflictDoUpdate({ target: oauthClients.id, set: values });
}

/** Checks everything but the user's answer. */
async function readRequest(ctx: Context, caller: Caller, search: string): Promise<Asked | Refused> {
  const given = new URLSearchParams(search);
  const [clientId, redirect] = [given.get('client_id'), given.get('redirect_uri')];
  const client = await findClient(ctx, clientId, { redirect, fetchFor: caller.id });
  if (!client) return refuse('client', null, `The program ${clientId ?? ''} is not known here, or is blocked.`);
  const params = new URLSearchParams();
  for (const name of PARAMETERS) for (const value of given.getAll(name)) params.append(name, value);
  const { status, headers, body } = await askLibrary(
    ctx,
    { client },
    { method: 'GET', url: `/oauth/authorize?${params}` },
  );
  const { location } = headers;
  if (status === 303 && typeof location === 'string') {
    if (location !== ASKS) {
      const message = new URL(location).searchParams.get('error_description') ?? 'The request is not valid.';
      return refuse('request', client.name, message, location);
    }
    const scopes = readScopes(given.getAll('scope').join(' '));
    if (scopes.length > 0 && redirect !== null) return { client, redirect, params, scopes };
    const message = 'The program asks for nothing that it can have.';
    return refuse(
      'request',
      client.name,
      message,
      buildRefusal(ctx, redirect ?? '', given.get('state'), 'invalid_scope'),
    );
  }
  const { error, error_description: message } = toObject(parseJson(body));
  const reason = error === 'invalid_redirect_uri' ? 'redirect' : 'request';
  return refuse(reason, client.name, toText(message) ?? 'The request is not valid.');
}

const refuse = (
  reason: Refused['reason'],
  name: string | null,
  message: string,
  to: string | null = null,
): Refused => ({
  kind: 'refused',
  reason,
  name,
  message,
  to,
});

/** Without what nobody may have, and what is not known here. All that a program can be given, if it asks for nothing. */
function readScopes(asked: string): readonly ApiKeyScope[] {
  const words = asked.split(' ');
  const all = Object.keys(API_KEY_SCOPES) as ApiKeyScope[];
  const known = all.filter((scope) => words.includes(scope));
  return known.length === 0
    ? all.filter((scope) => !ONLY_IF_ASKED.includes(scope))
    : known.filter((scope) => !NEVER.includes(scope));
}

/** The address to which a program is sent without a code. */
function buildRefusal({ config }: Context, redirect: string, state: string | null, error = 'access_denied'): string {
  const to = new URL(redirect);
  to.searchParams.set('error', error);
  if (state !== null) to.searchParams.set('state', state);
  to.searchParams.set('iss', config.baseUrl);
  return to.href;
}
