import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../lib/config/config.ts';

export const SESSION_COOKIE = 'local-session';

/** Another reader might pick another of them. */
export const hasSeveralTokens = (request: FastifyRequest): boolean =>
  countHeader(request, 'authorization') > 1 || listSessionCookies(request.headers.cookie).length > 1;

/** Returns null for none and for several. */
export function parseSessionCookie(header: string | undefined): string | null {
  const named = listSessionCookies(header);
  return named.length === 1 ? (parseCookie(named.join())[SESSION_COOKIE] ?? null) : null;
}

const listSessionCookies = (header = '') =>
  header.split(';').filter((pair) => pair.trim().startsWith(`${SESSION_COOKIE}=`));

export const hasBearerToken = ({ headers }: FastifyRequest): boolean => findBearer(headers.authorization) !== null;

export const findBearer = (authorization: string | undefined) =>
  /^bearer +([^\s,]+)$/i.exec(authorization ?? '')?.[1] ?? null;

/** Counts in the raw headers, because Node keeps only the first of two `Authorization` headers. */
export const countHeader = ({ raw }: FastifyRequest, name: string) =>
  raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;

const toAttributes = ({ cookieSecure }: Pick<Config, 'cookieSecure'>, maxAge: number) =>
  ({ path: '/', httpOnly: true, secure: cookieSecure, sameSite: 'lax', maxAge }) as const;

/** The `Set-Cookie` header. `maxAge` is in seconds; 0 removes the cookie. */
export const serializeSessionCookie = (config: Pick<Config, 'cookieSecure'>, token: string, maxAge: number): string =>
  stringifySetCookie({ name: SESSION_COOKIE, value: token, ...toAttributes(config, maxAge) });

/** `maxAge` is in seconds; 0 removes the cookie. */
export const setSessionCookie = (
  reply: FastifyReply,
  config: Pick<Config, 'cookieSecure'>,
  token: string,
  maxAge: number,
) => reply.setCookie(SESSION_COOKIE, token, toAttributes(config, maxAge));

export const clearSessionCookie = (reply: FastifyReply, config: Pick<Config, 'cookieSecure'>) =>
  setSessionCookie(reply, config, '', 0);

/** Ties the challenge of a passkey to one browser before the sign-in. The sign-in page sets it too. */
const BROWSER_COOKIE = 'passkey-browser';
const BROWSER_SECONDS = 600;

/** Returns null for none, and for a value that nobody has set. */
export function parseBrowserCookie(header: string | undefined): string | null {
  const value = parseCookie(header ?? '')[BROWSER_COOKIE];
  return value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : null;
}

/** The `Set-Cookie` header. */
export const serializeBrowserCookie = (config: Pick<Config, 'cookieSecure'>, value: string): string =>
  stringifySetCookie({ name: BROWSER_COOKIE, value, ...toAttributes(config, BROWSER_SECONDS) });

/** Keeps the ticket of a sign-in for the page that asks for the second factor. */
const TICKET_COOKIE = 'sign-in-ticket';
const TICKET_SECONDS = 300;

export const parseTicketCookie = (header: string | undefined): string | null =>
  parseCookie(header ?? '')[TICKET_COOKIE] ?? null;

/** The `Set-Cookie` header; null removes the cookie. */
export const serializeTicketCookie = (config: Pick<Config, 'cookieSecure'>, ticket: string | null): string =>
  stringifySetCookie({
    name: TICKET_COOKIE,
    value: ticket ?? '',
    ...toAttributes(config, ticket === null ? 0 : TICKET_SECONDS),
  });
