import type { FastifyRequest } from 'fastify';
import { SESSION_COOKIE } from './session-cookie.ts';

/**
 * The token of a request: the bearer token, else the session cookie. Null when there is none, and when there are
 * several, since the next reader of the request might pick another one.
 */
export function findToken(request: FastifyRequest): string | null {
  const { authorization, cookie } = request.headers;
  if (authorization !== undefined && countHeader(request, 'authorization') > 1) return null;
  const bearer = findBearer(authorization);
  if (bearer !== null) return bearer;
  const named = (cookie ?? '').split(';').filter((pair) => pair.trim().startsWith(`${SESSION_COOKIE}=`));
  return named.length === 1 ? (request.server.parseCookie(named.join())[SESSION_COOKIE] ?? null) : null;
}

/** Whether a request brings a bearer token, which counts before a cookie. */
export const hasBearerToken = ({ headers }: FastifyRequest): boolean => findBearer(headers.authorization) !== null;

/** The bearer token of an `Authorization` header, or null. */
export const findBearer = (authorization: string | undefined) =>
  /^bearer +([^\s,]+)$/i.exec(authorization ?? '')?.[1] ?? null;

/** How often a header was sent. Node keeps only the first of two `Authorization` headers. */
export const countHeader = ({ raw }: FastifyRequest, name: string) =>
  raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
