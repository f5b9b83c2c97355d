import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import helmet, { type HelmetOptions } from 'helmet';
import type { Config } from '../config.ts';
import { PUBLIC } from '../limits/rates.ts';

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

/**
 * Tells browsers what they may do with the answers: pages at `APP_URL` may read them, and no others; nothing may be run,
 * framed or guessed from them. To be registered before whatever may refuse a request, since the web application has to
 * be able to read refusals as well.
 */
export async function instructBrowsers(app: FastifyInstance, { baseUrl, appUrl }: Pick<Config, 'baseUrl' | 'appUrl'>) {
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
  });
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers);
  });

  const appOrigin = new URL(appUrl).origin;
  // The plugin's own route takes every OPTIONS request; those that are no preflight of the web application end as 404.
  app.addHook('onRoute', (route) => {
    if (route.url === '*' && route.method === 'OPTIONS')
      route.config = { ...route.config, access: 'public', rate: PUBLIC };
  });
  await app.register(cors, {
    delegator: ({ method, headers }, done) => {
      if (headers.origin !== appOrigin) return done(null, { origin: false });
      done(null, {
        origin: appOrigin,
        credentials: true,
        methods: ['GET', 'POST', 'PATCH', 'DELETE'],
        allowedHeaders: ['Content-Type', 'Authorization', 'X-Admin-Key', 'X-Request-ID', 'X-Request-Token'],
        exposedHeaders: EXPOSED,
        maxAge: 600,
        preflight: method === 'OPTIONS' && headers['access-control-request-method'] !== undefined,
      });
    },
  });
}

/** What helmet sets. It is the same for every answer: worked out anew it costs as much as the rest of a small one. */
function headersOf(options: HelmetOptions): Record<string, string> {
  const headers: Record<string, string> = {};
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
