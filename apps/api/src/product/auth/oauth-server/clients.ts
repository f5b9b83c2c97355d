import { createHmac } from 'node:crypto';
import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import { oauthClients } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { Config } from '../../../lib/config/config.ts';
import { isSameSecret } from '../../../lib/crypto/tokens.ts';
import { parseJson, toArray, toObject, toText } from '../../../lib/egress/exchange.ts';
import { CLIENT_DOCUMENTS, userKey } from '../../../platform/limits/rates.ts';
import { assertRateLimit } from '../../../platform/limits/windows.ts';
import { type ClientDocument, findKnownClient } from './known-clients.ts';

/** A program that asks for access. */
export interface OAuthClient extends ClientDocument {
  /** The address of its document, or a signed id. */
  id: string;
}

const MAX_ID = 1500;
const MAX_NAME = 100;
const MAX_REDIRECTS = 10;
const MAX_REDIRECT = 500;

const MAX_DOCUMENT_BYTES = 5 * 1024;
const DOCUMENT_MS = 5000;
const DOCUMENT_GOOD_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Returns null for an unknown client, and for one that is blocked. With `fetchFor`, the user who is asked, the document of a client is
 * fetched if there is no copy that allows `redirect`.
 */
export async function findClient(
  ctx: Context,
  id: string | null,
  { redirect = null, fetchFor = null }: { redirect?: string | null; fetchFor?: number | null } = {},
): Promise<OAuthClient | null> {
  if (!id || id.length > MAX_ID) return null;
  const [stored] = await ctx.db.select().from(oauthClients).where(eq(oauthClients.id, id));
  if (stored?.blockedAt) return null;
  const registered = readSignedId(ctx.config, id);
  if (registered) return { id, ...registered };
  const fits = (document: ClientDocument | null) =>
    document !== null && (redirect === null || allowsRedirect(document, redirect)) ? { id, ...document } : null;

  const pinned = findKnownClient(id, redirect);
  const isGood =
    stored?.fetchedAt && (fetchFor === null || stored.fetchedAt.getTime() > ctx.now().getTime() - DOCUMENT_GOOD_MS);
  const kept = isGood ? readDocument(id, stored.document) : null;
  const found = fits(pinned) ?? fits(kept);
  if (found) return found;
  const fetched = fetchFor === null || !isDocumentAddress(id) ? null : await fetchDocument(ctx, id, fetchFor);
  const document = fetched ?? kept ?? pinned;
  return document && { id, ...document };
}

/** Whether the document of a client lists an address. For an address of this computer, any port is right. */
function allowsRedirect({ redirects }: ClientDocument, redirect: string): boolean {
  const given = withoutLoopbackPort(redirect);
  return redirects.some((one) => one === redirect || (given !== null && withoutLoopbackPort(one) === given));
}

function withoutLoopbackPort(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  if (url.protocol !== 'http:' || !isLoopback(url.hostname)) return null;
  url.port = '';
  return url.href;
}

export const isLoopback = (host: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(host);

/** The host that an address leads to, without a port on this computer, or its scheme. */
export function describeHost(redirect: string): string {
  const { protocol, host, hostname } = new URL(redirect);
  if (protocol !== 'http:' && protocol !== 'https:') return protocol;
  return isLoopback(hostname) ? hostname : host;
}

/** An address that can be the id of a client, by draft-ietf-oauth-client-id-metadata-document. */
function isDocumentAddress(id: string): boolean {
  if (!URL.canParse(id) || !id.startsWith('https://')) return false;
  const { href, username, password, hash, pathname } = new URL(id);
  // A path with dots is parsed to another one.
  return href === id && username === '' && password === '' && hash === '' && pathname !== '/';
}

/** Null if the client does not serve a good one. */
async function fetchDocument(ctx: Context, id: string, userId: number): Promise<ClientDocument | null> {
  await assertRateLimit(ctx, CLIENT_DOCUMENTS, userKey(CLIENT_DOCUMENTS, userId));
  const outcome = await ctx.http.get({
    url: id,
    headers: { accept: 'application/json' },
    connectMs: DOCUMENT_MS,
    responseMs: DOCUMENT_MS,
    maxBytes: MAX_DOCUMENT_BYTES,
    keepsAnswer: true,
  });
  const answer = outcome.kind === 'answered' && outcome.status === 200 ? outcome.answer : undefined;
  const content = answer?.isWhole ? toObject(parseJson(answer.body)) : {};
  const document = readDocument(id, content);
  if (!document) {
    const mitigated = outcome.kind === 'answered' ? outcome.answer?.headers['cf-mitigated'] : undefined;
    ctx.log.warn({ client: id, status: outcome.status, mitigated }, 'the document of an assistant was not served');
    return null;
  }
  const now = ctx.now();
  const [host] = document.redirects.map(describeHost);
  const values = {
    name: document.name,
    host: host ?? new URL(id).host,
    document: content,
    fetchedAt: now,
    seenAt: now,
  };
  await ctx.db
    .insert(oauthClients)
    .values({ id, ...values })
    .onConflictDoUpdate({ target: oauthClients.id, set: { document: content, fetchedAt: now, seenAt: now } });
  return document;
}

/** Null for a document of another client, without an address to return to, or with a shared secret. */
function readDocument(id: string, content: unknown): ClientDocument | null {
  const document = toObject(content);
  if (document.client_id !== id || 'client_secret' in document) return null;
  return readRegistration(document);
}

/** Null without a list of addresses to return to. */
export function readRegistration(content: Record<string, unknown>): ClientDocument | null {
  const given = toArray(content.redirect_uris);
  const redirects = given.filter(
    (one): one is string => typeof one === 'string' && one.length <= MAX_REDIRECT && URL.canParse(one),
  );
  if (redirects.length === 0 || redirects.length !== given.length || redirects.length > MAX_REDIRECTS) return null;
  const name = toStorableText(toText(content.client_name) ?? '', MAX_NAME)
    .replaceAll(UNSEEN, '')
    .trim();
  return { name: name || describeHost(redirects[0] ?? ''), redirects };
}

/** Controls, and marks that turn the direction of a text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const PREFIX = 'dcr_';
const SIGNED = /^dcr_([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/;

/** The id of a registration says what was registered, so nothing is stored. Null for one that is too long. */
export function signId(config: Pick<Config, 'jwtSecret'>, { name, redirects }: ClientDocument): string | null {
  const content = Buffer.from(JSON.stringify([name, ...redirects])).toString('base64url');
  const id = `${PREFIX}${content}.${sign(config, content)}`;
  return id.length > MAX_ID ? null : id;
}

function readSignedId(config: Pick<Config, 'jwtSecret'>, id: string): ClientDocument | null {
  const [, content = '', signature] = SIGNED.exec(id) ?? [];
  if (!isSameSecret(signature, sign(config, content))) return null;
  const [name, ...redirects] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, ...string[]];
  return { name, redirects };
}

const sign = ({ jwtSecret }: Pick<Config, 'jwtSecret'>, content: string) =>
  createHmac('sha256', jwtSecret).update(`registered client ${content}`).digest('base64url');

/** The client as the library knows it: public, with what this server offers, `native` where it returns to this computer. */
export const toMetadata = ({ id, name, redirects }: OAuthClient) => ({
  client_id: id,
  client_name: name,
  redirect_uris: [...redirects],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  application_type: redirects.every((one) => one.startsWith('https:')) ? 'web' : 'native',
});
