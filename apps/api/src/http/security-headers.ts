import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import helmet, { type HelmetOptions } from 'helmet';
import type { Config } from '../config/config.ts';

const DAY = 86_400;

/** What a page may read of an answer beside its body. */
const EXPOSED = [
  'X-Request-ID',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Window',
  'X-RateLimit-Policy',
];

const OF_APP = {
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': EXPOSED.join(', '),
};

const OF_PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
  'access-control-allow-headers': 'Content-Type, Authorization, X-Admin-Key, X-Request-ID, X-Request-Token',
  'access-control-max-age': '600',
  'content-length': '0',
};

/**
 * Tells browsers what they may do with the answers: pages at `APP_URL` may read them, and no others; nothing may be run,
 * framed or guessed from them. To be registered before whatever may refuse a request, since the web application has to
 * be able to read refusals as well.
 *
 * Not `@fastify/cors`: for one origin it is as much to set up as to say, works all of it out anew for every request, and
 * takes each OPTIONS request with a route of its own.
 */
export function registerSecurityHeaders(
  app: FastifyInstance,
  { baseUrl, appUrl }: Pick<Config, 'baseUrl' | 'appUrl'>,
): void {
  const headers = headersOf({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
        'frame-ancestors': ["'none'"],
      },
    },
    xFrameOptions: { action: 'deny' },
    // On plain http a browser ignores it; behind a proxy that ends TLS it is for us to say.
    strictTransportSecurity: baseUrl.startsWith('https:') ? { maxAge: 365 * DAY, includeSubDomains: false } : false,
    // `setCommonHeaders` says these, also where a request never gets as far as here.
    referrerPolicy: false,
    xContentTypeOptions: false,
    // For pages with scripts and links, and for plugins and browsers that are gone: every header costs every answer.
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
  const appOrigin = new URL(appUrl).origin;
  const ofApp = { ...OF_APP, 'access-control-allow-origin': appOrigin };

  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers);
    if (request.headers.origin !== appOrigin) return done();
    reply.headers(ofApp);
    if (isPreflight(request)) reply.code(204).headers(OF_PREFLIGHT).send();
    else done();
  });
}

/** Any other OPTIONS request ends as one for an unknown route. */
const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** What helmet sets. It is the same for every answer: worked out anew it costs as much as the rest of a small one. */
function headersOf(options: HelmetOptions): Record<string, string> {
  // A cache keeps what it has for the web application apart from what others are answered.
  const headers: Record<string, string> = { vary: 'Origin' };
  const response = {
    setHeader: (name: string, value: string) => {
      headers[name.toLowerCase()] = value;
    },
    removeHeader: () => {},
  };
  helmet(options)({} as IncomingMessage, response as unknown as ServerResponse, (error) => {
    if (error) throw error;
  });
  return headers;
}
