import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';

export const SESSION_COOKIE = 'local-session';

/** Returns the bearer token, or else the session cookie; null for several, as another reader might pick another. */
export function findToken(request: FastifyRequest): string | null {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined && countHeader(request, 'authorization') > 1) return null;
  const bearer = findBearer(authorization);
  if (bearer !== null) return bearer;
  const named = (cookie ?? '').split(';').filter((pair) => pair.trim().startsWith(`${SESSION_COOKIE}=`));
  return named.length === 1 ? (request.server.parseCookie(named.join())[SESSION_COOKIE] ?? null) : null;
}

export const hasBearerToken = ({ headers }: FastifyRequest): boolean => findBearer(headers.authorization) !== null;

export const findBearer = (authorization: string | undefined) =>
  /^bearer +([^\s,]+)$/i.exec(authorization ?? '')?.[1] ?? null;

/** Counts in the raw headers, because Node keeps only the first of two `Authorization` headers. */
export const countHeader = ({ raw }: FastifyRequest, name: string) =>
  raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;

/** `maxAge` is in seconds; 0 removes the cookie. */
export const setSessionCookie = (
  reply: FastifyReply,
  { cookieSecure }: Pick<Config, 'cookieSecure'>,
  token: string,
  maxAge: number,
) =>
  reply.setCookie(SESSION_COOKIE, token, { path: '/', httpOnly: true, secure: cookieSecure, sameSite: 'lax', maxAge });

export const clearSessionCookie = (reply: FastifyReply, config: Pick<Config, 'cookieSecure'>) =>
  setSessionCookie(reply, config, '', 0);
