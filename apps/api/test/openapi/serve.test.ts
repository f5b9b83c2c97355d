import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { DEFAULT_ERROR_DESCRIPTIONS } from '@carillon/contract';
import { FIELD_DESCRIPTIONS } from '@carillon/contract/field-descriptions';
import { EVENT_KINDS } from '@carillon/contract/webhooks/events';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { readServedDocument } from '../support/contract/served-document.ts';

interface Schema {
  type?: string | string[];
  $ref?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
}
interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags: string[];
  requestBody?: { required: boolean };
  security?: object[];
  parameters?: { name: string; required: boolean }[];
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}
interface Webhook {
  parameters: { name: string; in: string; description: string }[];
  requestBody: { content: { 'application/json': { example: { event: string; data: object } } } };
}
interface Document {
  openapi: string;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Webhook }>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, object> };
}

// Files on disk add an operation.
const { app } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
const document: Document = await readServedDocument(app);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

t.test('the document is of OpenAPI 3.1', async (t) => {
  t.equal(document.openapi, '3.1.0');
});

t.test('every operation has a description with its limit, and every error response a description', async (t) => {
  const tags = document.tags.map(({ name }) => name);
  for (const { name, operation } of operations) {
    const [does = '', limit = ''] = operation.description?.split('\n\n') ?? [];
    t.match(does, /^\S.{20,}/, `${name} has a description`);
    t.match(limit, /^(Limit: \d+ requests|Not limited)/, `${name} has a limit`);
    t.ok(tags.includes(operation.tags[0] ?? ''), `${name} has a tag that is described`);
    for (const [status, { description }] of Object.entries(operation.responses)) {
      t.not(
        description,
        DEFAULT_ERROR_DESCRIPTIONS[status as unknown as keyof typeof DEFAULT_ERROR_DESCRIPTIONS],
        `${name} ${status}`,
      );
    }
  }
  for (const { name, description } of document.tags) {
    t.ok(description && operations.some(({ operation }) => operation.tags.includes(name)), name);
  }
});

t.test('every field and parameter is described, and no field description is unused', async (t) => {
  const used = new Set<string>();
  const read = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { description, properties, parameters, example: _, examples: __, ...rest } = value as Record<string, object>;
    if (typeof description === 'string') used.add(description);
    for (const [name, inner] of [...Object.entries(properties ?? {}), ...Object.entries(parameters ?? {})]) {
      const { $ref, description, name: parameter } = inner as Record<string, string>;
      t.ok($ref || description, `${place} ${parameter ?? name} is described`);
      read(inner, `${place} ${parameter ?? name}`);
    }
    for (const [key, inner] of Object.entries(rest)) read(inner, `${place} ${key}`);
  };
  read(document, '');
  for (const [field, description] of Object.entries(FIELD_DESCRIPTIONS))
    t.ok(used.has(description), `${field} is used`);
});

t.test('an optional body is not required', async (t) => {
  t.equal(document.paths['/api/tasks/{id}/duplicate']?.post?.requestBody?.required, false);
  t.equal(document.paths['/api/agent/create-task']?.post?.requestBody?.required, true);
});

t.test('every operation has a unique id, a summary and its security', async (t) => {
  t.ok(operations.length > 5);
  const ids = operations.map(({ operation }) => operation.operationId);
  t.equal(new Set(ids).size, ids.length);
  for (const { name, operation } of operations) {
    t.ok(operation.operationId && operation.summary && operation.security, name);
    for (const scheme of operation.security ?? []) {
      for (const word of Object.keys(scheme)) t.ok(document.components.securitySchemes[word], `${name} ${word}`);
    }
  }
});

t.test('nullable fields have null among their types', async (t) => {
  const { Task, TaskExecution, User, Occurrence } = document.components.schemas;
  for (const field of ['description', 'nextExecutionAt', 'recurrencePattern', 'lastExecutionAt']) {
    t.same(Task?.properties?.[field]?.type, ['string', 'null'], `Task.${field}`);
  }
  for (const field of ['tokensUsed', 'processingTimeMs', 'retryOfId']) {
    t.same(TaskExecution?.properties?.[field]?.type, ['integer', 'null'], `TaskExecution.${field}`);
  }
  t.same(TaskExecution?.properties?.tokens?.type, ['object', 'null']);
  t.match(TaskExecution?.properties?.errorCode, {
    type: ['string', 'null'],
    enum: [...'RATE_LIMIT_EXCEEDED TIMEOUT PROVIDER_UNAVAILABLE PROVIDER_ERROR AUTHENTICATION_FAILED'.split(' ')]
      .concat([
        'UNKNOWN_MODEL',
        'INVALID_REQUEST',
        'CONTENT_FILTERED',
        'QUOTA_EXCEEDED',
        'INTERRUPTED',
        'INVALID_OUTPUT',
        'CANCELLED',
      ])
      .concat([null as never]),
  });
  t.same(User?.properties?.timezone?.type, ['string', 'null']);
  t.same(Occurrence?.properties?.latenessMs?.type, ['integer', 'null']);
});

t.test('error responses refer to named schemas and are described', async (t) => {
  for (const { name, operation } of operations) {
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      t.not(description, 'Default Response', `${name} ${status}`);
      if (Number(status) < 400) continue;
      const schema = content?.['application/json']?.schema;
      const isNamed = [schema, ...(schema?.anyOf ?? [])].some((one) => one?.$ref?.startsWith('#/components/schemas/'));
      t.ok(isNamed || schema?.properties?.authenticated, `${name} ${status}`);
    }
  }
});

t.test('What operations return is a named schema', async (t) => {
  const names =
    'Coupon Session Notification Settings Upload AuditEntry AdminUser UsageAlert Task TaskExecution Webhook';
  for (const name of names.split(' ')) t.ok(document.components.schemas[name]?.properties, name);
  const schemaOf = (path: string, field: string) => {
    const content = document.paths[path]?.get?.responses[200]?.content?.['application/json'];
    return content?.schema.properties?.[field];
  };
  t.match(schemaOf('/api/admin/coupons/{id}', 'coupon'), { $ref: '#/components/schemas/Coupon' });
  t.match(schemaOf('/api/admin/audit', 'entries'), { items: { $ref: '#/components/schemas/AuditEntry' } });
});

t.test('A password is a string that clients hide', async (t) => {
  let found = 0;
  const read = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (/^(current|new)?password$/i.test(name) && inner.description) {
        found += 1;
        t.match(inner, { type: 'string', format: 'password' });
        t.notOk('allOf' in inner, 'generators do not know it for a string');
      }
      if (name !== 'example') read(inner);
    }
  };
  read(document.paths);
  t.ok(found >= 5, `${found} passwords`);
});

t.test('no schema is named like the class Error, which generated clients have already', async (t) => {
  t.notOk('Error' in document.components.schemas);
  t.ok('ErrorResponse' in document.components.schemas);
});

t.test('every event of webhooks is described, with an example', async (t) => {
  t.same(Object.keys(document.webhooks).sort(), [...EVENT_KINDS].sort());
  for (const [kind, { post }] of Object.entries(document.webhooks)) {
    t.equal(post.requestBody.content['application/json'].example.event, kind, 'with an example');
    const headers = post.parameters.map(({ name }) => name);
    for (const name of ['X-Webhook-Signature', 'X-Event-Type', 'webhook-id', 'webhook-signature']) {
      t.ok(headers.includes(name), name);
    }
  }
});

t.test('query parameters with a default are optional', async (t) => {
  const parameters = operations.flatMap(({ operation }) => operation.parameters ?? []);
  for (const { name, required } of parameters) {
    if (['limit', 'offset', 'cursor', 'status', 'search', 'prefer', 'x-request-token'].includes(name))
      t.notOk(required, name);
  }
});

t.test('An error response that most operations have is in the document once', async (t) => {
  const served = (await app.inject('/openapi.json')).json();
  const missing = { $ref: '#/components/responses/Unauthorized' };
  t.same(served.paths['/api/tasks/{id}'].get.responses[401], missing);
  t.match(served.components.responses.Unauthorized, {
    headers: { 'X-RateLimit-Limit': { $ref: '#/components/headers/X-RateLimit-Limit' } },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
  });
  t.same(Object.keys(served.paths['/api/auth/login'].post.responses[401]), ['description', 'content', 'headers']);
});

t.test('The document is the same at each address, and its server is the host that serves it', async (t) => {
  t.equal((await app.inject('/api/docs/json')).body, (await app.inject('/openapi.json')).body);
  t.same((await app.inject('/openapi.json')).json().servers, [{ url: '/', description: 'This installation' }]);
  t.match((await app.inject('/api/docs/yaml')).body, /^openapi: 3\.1\.0\n/);
});

t.test(
  'The document and the files of the page are compressed, and not sent again while they are the same',
  async (t) => {
    const read = (url: string, headers: Record<string, string>) => app.inject({ url, headers });
    for (const url of ['/openapi.json', '/api/docs', '/api/docs/static/swagger-ui.css']) {
      const plain = await read(url, {});
      t.equal(plain.headers['content-encoding'], undefined);
      const etags = new Set([plain.headers.etag]);
      for (const [encoding, decompress] of [
        ['br', brotliDecompressSync],
        ['gzip', gunzipSync],
      ] as const) {
        const packed = await read(url, { 'accept-encoding': encoding });
        t.equal(packed.headers['content-encoding'], encoding);
        t.equal(decompress(packed.rawPayload).toString(), plain.body);
        t.match(packed.headers, {
          vary: 'Origin, Accept-Encoding',
          'cache-control': 'no-cache',
          etag: /^"[\w-]{20,}"$/,
        });
        etags.add(packed.headers.etag);
        for (const known of [packed.headers.etag, `W/${packed.headers.etag}`, `"other", ${packed.headers.etag}`, '*']) {
          const again = await read(url, { 'accept-encoding': encoding, 'if-none-match': String(known) });
          t.match(again, { statusCode: 304, body: '', headers: { etag: packed.headers.etag } }, `${url} ${known}`);
        }
        t.equal(
          (await read(url, { 'accept-encoding': encoding, 'if-none-match': String(plain.headers.etag) })).statusCode,
          200,
        );
      }
      t.equal(etags.size, 3, 'each form has its own');
      t.equal((await read(url, { 'accept-encoding': 'gzip;q=1, br;q=0' })).headers['content-encoding'], 'gzip');
    }
    const { rawPayload } = await read('/openapi.json', { 'accept-encoding': 'br' });
    t.ok(rawPayload.length < 56_000, `${rawPayload.length} bytes`);
  },
);

t.test('A path below the page that does not exist is answered like any other', async (t) => {
  // Sent as they are: a client would resolve the dots.
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const ask = async (path: string) => {
    const [response] = await once(request({ port, path }).end(), 'response');
    return { status: response.statusCode, body: await text(response) };
  };
  const unknown = await ask('/nothing');
  t.equal(unknown.status, 404);
  for (const path of ['../../../x', '%2e%2e/%2e%2e/x', '..%2f..%2fx', '%5c..%5c..', './x', '/x', '%00', '', 'x.js']) {
    t.same(await ask(`/api/docs/static/${path}`), unknown, path);
  }
});

t.test('the documentation page loads nothing from other hosts', async (t) => {
  for (const url of ['/api/docs', '/api/docs/']) {
    const page = await app.inject(url);
    t.equal(page.statusCode, 200);
    t.match(page.headers['content-type'], /text\/html/);
    const policy = String(page.headers['content-security-policy']);
    t.match(policy, "default-src 'none'");
    t.notMatch(policy, /https?:|unsafe|upgrade-insecure-requests/, 'which has to work over plain http');
    for (const [, src] of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const asset = await app.inject(new URL(src ?? '', 'http://x/api/docs/').pathname);
      t.equal(asset.statusCode, 200, src ?? '');
    }
  }
  t.match((await app.inject('/')).json(), { docs: '/api/docs' });
});
