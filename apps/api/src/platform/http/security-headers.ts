import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../lib/config/config.ts';

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
