import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
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
  await app.register(helmet, {
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
