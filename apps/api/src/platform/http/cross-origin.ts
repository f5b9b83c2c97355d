import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, ERROR_MESSAGES } from '../../errors.ts';
import type { Config } from '../../lib/config/config.ts';
import { hasBearerToken, SESSION_COOKIE } from './credentials.ts';

const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  // Caches keep the answers of each origin apart.
  vary: 'Origin',
};

/** Browsers ignore it over http; behind a TLS proxy, `BASE_URL` says that clients use https. */
const HSTS = { 'strict-transport-security': 'max-age=31536000' };

const CORS_HEADERS = {
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers':
    'X-Request-ID, X-Error-Code, WWW-Authenticate, X-Unknown-Query-Parameters, ETag, Location, X-File-Id, Idempotent-Replayed, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Window, X-RateLimit-Policy',
};

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
  'access-control-allow-headers':
    'Content-Type, Authorization, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-Admin-Key, X-Request-ID, X-Request-Token',
  'access-control-max-age': '600',
  'content-length': '0',
};

/** Registered before anything that may throw, because web applications read errors as well. */
export function registerSecurityHeaders(
  app: FastifyInstance,
  { baseUrl, corsOrigins }: Pick<Config, 'baseUrl' | 'corsOrigins'>,
): void {
  const headers = baseUrl.startsWith('https:') ? { ...SECURITY_HEADERS, ...HSTS } : SECURITY_HEADERS;
  const allowedOrigins = new Set(corsOrigins);

  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers);
    const { origin } = request.headers;
    if (origin === undefined || !allowedOrigins.has(origin)) return done();
    reply.headers(CORS_HEADERS).header('access-control-allow-origin', origin);
    if (isPreflight(request)) reply.code(204).headers(PREFLIGHT_HEADERS).send();
    else done();
  });
}

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

const IS_OTHER_SITE = new Map<unknown, boolean>([
  ['cross-site', true],
  ['same-site', true],
  ['same-origin', false],
  ['none', false],
]);

/**
 * Throws 403 if another site made a browser send the session cookie, a public form of `/api/auth` or a request of an
 * assistant. Applications at `CORS_ORIGINS` may sign in, but change data by token only.
 */
export function registerCsrfProtection(
  app: FastifyInstance,
  { baseUrl, appUrl, corsOrigins }: Pick<Config, 'baseUrl' | 'appUrl' | 'corsOrigins'>,
): void {
  const ownOrigins = new Set([...listOrigins(baseUrl), ...listOrigins(appUrl)]);
  const signInOrigins = new Set([...ownOrigins, ...corsOrigins]);

  app.addHook('preParsing', async (request) => {
    if (SAFE_METHODS.has(request.method)) return;
    const { origin, 'sec-fetch-site': site } = request.headers;
    const bySite = IS_OTHER_SITE.get(site);
    const isOutside = (own: ReadonlySet<string>) => (origin === undefined ? undefined : !own.has(origin));
    const isForged =
      ((hasCookie(request) || isPage(request)) && (bySite ?? isOutside(ownOrigins))) ||
      (isSignIn(request) && (isOutside(signInOrigins) ?? bySite)) ||
      (isKeyOnly(request) && isOutside(signInOrigins));
    if (isForged) throw new AppError('cross_site', ERROR_MESSAGES.otherSite);
  });
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** At one name of this machine, the others too: a browser on it may use any of them. */
function listOrigins(url: string): string[] {
  const { origin, protocol, hostname, port } = new URL(url);
  if (!LOOPBACK_NAMES.includes(hostname)) return [origin];
  return LOOPBACK_NAMES.map((name) => new URL(`${protocol}//${name}:${port}`).origin);
}

const hasCookie = (request: FastifyRequest) =>
  request.routeOptions.config.access !== 'public' &&
  !request.routeOptions.config.isOneClick &&
  request.headers.cookie?.includes(`${SESSION_COOKIE}=`) === true &&
  !hasBearerToken(request);

const isPage = ({ routeOptions: { config } }: FastifyRequest) => config.access === 'page' && !config.isOneClick;

/** The Model Context Protocol asks for this, against pages that reach a server of this machine by DNS rebinding. */
const isKeyOnly = ({ routeOptions: { config } }: FastifyRequest) => config.access === 'key';

/** Excludes the inbound webhook path, which is public and has a signature. */
const isSignIn = ({ routeOptions: { url = '', config } }: FastifyRequest) =>
  config.access === 'public' && url.startsWith('/api/auth/');
