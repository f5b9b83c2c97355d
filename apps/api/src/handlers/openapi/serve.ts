import { readFileSync } from 'node:fs';
import type { Operation } from '@carillon/contract';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../lib/config/config.ts';
import { type Document, markOptionalBodies } from './document.ts';
import { addErrorResponses } from './error-responses.ts';
import { addExamples } from './examples.ts';
import { describeFields } from './field-descriptions.ts';
import { sendFixed } from './fixed-content.ts';
import { addHeaders } from './headers.ts';
import { describeIdempotency } from './idempotency.ts';
import { describeService } from './info.ts';
import { describeRateLimit, rateLimitSentence } from './rate-limits.ts';
import { reuseErrorResponses } from './reused-responses.ts';
import { describeScope, scopeSentence } from './scopes.ts';
import { describeEvents } from './webhooks.ts';

/** The page loads only its own files and the document, and sends requests only to this service. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "img-src 'self' data:",
  "script-src 'self'",
  "style-src 'self'",
].join(';');

const ownFile = (name: string) => new URL(`page/${name}`, import.meta.url);
const swaggerUiFile = (name: string) => new URL(import.meta.resolve(`swagger-ui-dist/${name}`));

const PAGE = ownFile('index.html');
const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const ASSETS: Record<string, { type: string; path: URL }> = {
  'swagger-ui-bundle.js': { type: JAVASCRIPT, path: swaggerUiFile('swagger-ui-bundle.js') },
  'swagger-ui.css': { type: CSS, path: swaggerUiFile('swagger-ui.css') },
  'favicon-32x32.png': { type: 'image/png', path: swaggerUiFile('favicon-32x32.png') },
  'page.js': { type: JAVASCRIPT, path: ownFile('page.js') },
  'page.css': { type: CSS, path: ownFile('page.css') },
};

/**
 * Serves the OpenAPI document at `/openapi.json` and `/api/docs/json`, and a page for people at `/api/docs`: public and
 * without limits.
 * Describes the routes that are registered after it. Completes the document that @fastify/swagger generates: see
 * docs/decisions/http.md.
 */
export async function serveDocs(app: FastifyInstance, config: Config): Promise<void> {
  const operations = new Map<string, Operation>();
  await app.register(swagger, {
    openapi: { ...describeService(config), webhooks: describeEvents() },
    transform: ({ schema, url, route }) => {
      const operation = schema as unknown as Operation | undefined;
      if (operation?.operationId === undefined) return { schema, url };
      operations.set(operation.operationId, operation);
      const { rate, access, scope } = route.config ?? {};
      const description = [operation.description, rateLimitSentence(rate, access), scopeSentence(access, scope)]
        .filter(Boolean)
        .join('\n\n');
      return {
        schema: {
          ...describeSuccess(schema),
          ...describeIdempotency(Boolean(route.config?.idempotency), operation.headers),
          ...describeScope(operation, scope),
          ...describeRateLimit(rate),
          description,
        },
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
      reuseErrorResponses(document);
      return document as typeof generated.openapiObject;
    },
    refResolver: { buildLocalReference: (json, _baseUri, _fragment, i) => String(json.$id ?? `def-${i}`) },
  });
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' };
      route.schema = { hide: true };
    });
    const document = sendFixed('application/json; charset=utf-8', () => Buffer.from(JSON.stringify(app.swagger())));
    for (const url of ['/openapi.json', '/api/docs/json']) docs.get(url, document);
    docs.get(
      '/api/docs/yaml',
      sendFixed('application/yaml; charset=utf-8', () => Buffer.from(app.swagger({ yaml: true }))),
    );
    const page = sendFixed('text/html; charset=utf-8', () => readFileSync(PAGE));
    for (const url of ['/api/docs', '/api/docs/']) {
      docs.get(url, (request, reply) =>
        page(request, reply.header('content-security-policy', CONTENT_SECURITY_POLICY)),
      );
    }
    for (const [name, { type, path }] of Object.entries(ASSETS)) {
      docs.get(
        `/api/docs/static/${name}`,
        sendFixed(type, () => readFileSync(path)),
      );
    }
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
