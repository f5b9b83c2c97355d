import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';
import { hasBearerToken } from './credentials.ts';
import { SESSION_COOKIE } from './session-cookie.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** What `Sec-Fetch-Site` says; anything else comes from no browser, and says nothing. */
const IS_OTHER_SITE = new Map<unknown, boolean>([
  ['cross-site', true],
  ['same-site', true],
  ['same-origin', false],
  ['none', false],
]);

/**
 * Refuses with 403 what a page of another site makes a browser send (decisions §3, threat T16), before it is looked up
 * or counted for its user:
 *
 * - A state-changing request with the session cookie: when `Sec-Fetch-Site` says `cross-site` or `same-site`, or, where
 *   it is not sent, when `Origin` is neither `BASE_URL` nor `APP_URL`.
 * - Signing in and the other public forms of `/api/auth`, which come without a cookie: when `Origin` is neither of the
 *   two, or, where it is not sent, by `Sec-Fetch-Site`. A web application at another origin than the API signs in there
 *   and goes on with a bearer token.
 *
 * Bearer tokens are not sent by a browser on its own account, and what is sent by no browser has neither header.
 */
export function registerCsrfProtection(
  app: FastifyInstance,
  { baseUrl, appUrl }: Pick<Config, 'baseUrl' | 'appUrl'>,
): void {
  const ours = new Set([new URL(baseUrl).origin, new URL(appUrl).origin]);

  app.addHook('onRequest', (request, _reply, done) => {
    if (SAFE_METHODS.has(request.method) || request.is404) return done();
    const { origin, 'sec-fetch-site': site } = request.headers;
    const bySite = IS_OTHER_SITE.get(site);
    const byOrigin = origin === undefined ? undefined : !ours.has(origin);
    const isHostile = (hasCookie(request) && (bySite ?? byOrigin)) || (isSignIn(request) && (byOrigin ?? bySite));
    done(isHostile ? new AppError('forbidden', ERROR_MESSAGES.otherSite) : undefined);
  });
}

const hasCookie = (request: FastifyRequest) =>
  request.routeOptions.config.access !== 'public' &&
  request.headers.cookie?.includes(`${SESSION_COOKIE}=`) === true &&
  !hasBearerToken(request);

/** The inbound webhook path is public too, and proves itself by a signature. */
const isSignIn = ({ routeOptions: { url = '', config } }: FastifyRequest) =>
  config.access === 'public' && url.startsWith('/api/auth/');
