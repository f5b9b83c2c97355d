import type { Operation } from '@carillon/contract';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { type Document, markOptionalBodies } from './document.ts';
import { addErrorResponses } from './error-responses.ts';
import { addExamples } from './examples.ts';
import { describeFields } from './field-descriptions.ts';
import { addHeaders } from './headers.ts';
import { describeService } from './info.ts';
import { describeRateLimit, rateLimitSentence } from './rate-limits.ts';
import { describeEvents } from './webhooks.ts';

/** The content security policy of the page: it loads only its own files and the document. */
const CONTENT_SECURITY_POLICY = {
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
 * Serves the OpenAPI document at `/api/docs/json` and a page for people at `/api/docs`, both public and without limits.
 * Describes the routes that are registered after it. Completes the document that @fastify/swagger generates: see
 * docs/decisions/openapi.md.
 */
export async function serveDocs(app: FastifyInstance, config: Config): Promise<void> {
  const operations = new Map<string, Operation>();
  await app.register(swagger, {
    openapi: { ...describeService(config), webhooks: describeEvents() },
    transform: ({ schema, url, route }) => {
      const operation = schema as unknown as Operation | undefined;
      if (operation?.operationId === undefined) return { schema, url };
      operations.set(operation.operationId, operation);
      const description = [operation.description, rateLimitSentence(route.config?.rate, route.config?.access)]
        .filter(Boolean)
        .join('\n\n');
      return {
        schema: { ...describeSuccess(schema), ...describeRateLimit(route.config?.rate), description },
        url,
      };
    },
    transformObject: (generated) => {
      if (!('openapiObject' in generated)) return generated.swaggerObject;
      const document = generated.openapiObject as Document;
      markOptionalBodies(document);
      describeFields(document);
      addHeaders(document);
      addErrorResponses(document, operations);
      addExamples(document);
      return document as typeof generated.openapiObject;
    },
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, i) => String(json.$id ?? `def-${i}`) },
  });
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' };
    });
    // Not rate limited, so the half megabyte is serialized once.
    let serialized: Buffer | undefined;
    docs.addHook('preHandler', async ({ routeOptions }, reply) => {
      if (routeOptions.url !== '/api/docs/json') return;
      serialized ??= Buffer.from(JSON.stringify(app.swagger()));
      return reply.type('application/json; charset=utf-8').send(serialized);
    });
    await docs.register(swaggerUi, {
      routePrefix: '/api/docs',
      // Without the top bar, which loads documents from anywhere and has inline styles that the policy forbids.
      uiConfig: { layout: 'BaseLayout' },
      staticCSP: CONTENT_SECURITY_POLICY,
      theme: { title: 'Carillon API' },
    });
  });
}

/** Describes success responses that @fastify/swagger would describe as "Default Response". */
function describeSuccess<S extends { response?: unknown }>(schema: S): S {
  if (!schema.response) return schema;
  const descriptions: Record<string, string | undefined> = { 200: 'Success', 201: 'Created' };
  const response = Object.entries(schema.response).map(([status, body]) => [
    status,
    {
      ...(descriptions[status] && !body.description ? { 'x-response-description': descriptions[status] } : {}),
      ...body,
    },
  ]);
  return { ...schema, response: Object.fromEntries(response) };
}
