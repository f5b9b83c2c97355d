import type { Operation } from '@carillon/contract';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Document } from './document.ts';
import { addRefusals } from './error-responses.ts';
import { addExamples } from './examples.ts';
import { describeFields } from './field-descriptions.ts';
import { addHeaders } from './headers.ts';
import { describeService } from './info.ts';
import { describeLimit, sayLimit } from './rate-limits.ts';
import { invalidDetails, leaveOutBodies } from './request-bodies.ts';
import { describeEvents } from './webhooks.ts';

/** What the page may load: its own files and the document, from here and from nowhere else. */
const POLICY = {
  'default-src': ["'none'"],
  'base-uri': ["'none'"],
  'connect-src': ["'self'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
  'img-src': ["'self'", 'data:'],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
};

/**
 * Serves the OpenAPI document at `/api/docs/json` and a page for people at `/api/docs`. It describes the routes that are
 * registered after it; its own are open to everybody and exempt from limits (specification "Rate limits").
 */
export async function serveDocs(app: FastifyInstance, config: Config): Promise<void> {
  const operations = new Map<string, Operation>();
  await app.register(swagger, {
    openapi: { ...describeService(config), webhooks: describeEvents() },
    transform: ({ schema, url, route }) => {
      const operation = schema as unknown as Operation | undefined;
      if (operation?.operationId === undefined) return { schema, url };
      operations.set(operation.operationId, operation);
      const description = [operation.description, sayLimit(route.config?.rate, route.config?.access)]
        .filter(Boolean)
        .join('\n\n');
      return {
        schema: { ...describeSuccess(schema, route.method), ...describeLimit(route.config?.rate), description },
        url,
      };
    },
    transformObject: (given) => {
      if (!('openapiObject' in given)) return given.swaggerObject;
      const document = given.openapiObject as Document;
      leaveOutBodies(document);
      describeFields(document);
      addHeaders(document);
      addRefusals(document, (id) => invalidDetails(operations.get(id)));
      addExamples(document);
      return document as typeof given.openapiObject;
    },
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, i) => String(json.$id ?? `def-${i}`) },
  });
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' };
    });
    // Anybody may ask as often as they like: the half megabyte is written out once.
    let written: Buffer | undefined;
    docs.addHook('preHandler', async ({ routeOptions }, reply) => {
      if (routeOptions.url !== '/api/docs/json') return;
      written ??= Buffer.from(JSON.stringify(app.swagger()));
      return reply.type('application/json; charset=utf-8').send(written);
    });
    await docs.register(swaggerUi, {
      routePrefix: '/api/docs',
      // Without the bar above it, which loads documents from anywhere and has a style that the policy forbids.
      uiConfig: { layout: 'BaseLayout' },
      staticCSP: POLICY,
      theme: { title: 'Carillon API' },
    });
  });
}

/** The plugin's own words for a response without a description are "Default Response". */
function describeSuccess<S extends { response?: unknown; summary?: string }>(schema: S, method: string | string[]): S {
  const { response: given, summary } = schema;
  if (!given) return schema;
  const success: Record<string, string | undefined> = { 200: method === 'GET' ? summary : 'Done', 201: 'Created' };
  const response = Object.entries(given).map(([status, body]) => [
    status,
    { ...(success[status] && !body.description ? { 'x-response-description': success[status] } : {}), ...body },
  ]);
  return { ...schema, response: Object.fromEntries(response) };
}
