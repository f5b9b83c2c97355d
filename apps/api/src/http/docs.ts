import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { SESSION_COOKIE } from '../auth/cookie.ts';
import type { Config } from '../config.ts';
import { VERSION } from '../version.ts';
import { describeEvents } from './docs-events.ts';
import { describeLimit, describeLimits } from './docs-limits.ts';

/**
 * Serves the OpenAPI document at `/api/docs/json` and a page for people at `/api/docs`. It describes the routes that are
 * registered after it; its own are open to everybody and exempt from limits (specification "Rate limits").
 */
export async function serveDocs(app: FastifyInstance, { baseUrl }: Config): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Carillon',
        version: VERSION,
        description: 'Runs AI prompts on a schedule. Every response carries `X-Request-ID`.',
      },
      servers: [{ url: baseUrl }],
      webhooks: describeEvents(),
      components: {
        securitySchemes: {
          cookie: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          cron: { type: 'http', scheme: 'bearer', description: 'The scheduler secret' },
          adminKey: { type: 'apiKey', in: 'header', name: 'X-Admin-Key' },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: { ...describeSuccess(schema), ...describeLimit(route.config?.rate) },
      url,
    }),
    transformObject: (document) =>
      'openapiObject' in document ? describeLimits(document.openapiObject) : document.swaggerObject,
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, i) => String(json.$id ?? `def-${i}`) },
  });
  const secure = baseUrl.startsWith('https:');
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' };
    });
    await docs.register(swaggerUi, {
      routePrefix: '/api/docs',
      staticCSP: true,
      // On plain http it would make some browsers ask for the scripts over https, where nobody answers.
      transformStaticCSP: (csp) => (secure ? csp : csp.replace('upgrade-insecure-requests;', '')),
    });
  });
}

const SUCCESS: Record<string, string> = { 200: 'Success', 201: 'Created' };

/** The plugin's own words for a response without a description are "Default Response". */
function describeSuccess<S extends { response?: unknown }>(schema: S): S {
  if (!schema?.response) return schema;
  const response = Object.entries(schema.response).map(([status, body]) => [
    status,
    { description: SUCCESS[status], ...(body as object) },
  ]);
  return { ...schema, response: Object.fromEntries(response) };
}
