import { ErrorCodeName } from '@carillon/contract';
import { addComponents, type Document, type Endpoint, listEndpoints, type Operation } from './document.ts';
import { repeatsAnswer } from './idempotency.ts';

const header = (type: 'string' | 'integer', description: string, example: string | number) => ({
  description,
  schema: { type },
  example,
});

const RATE_LIMIT_HEADERS: Record<string, object> = {
  'X-RateLimit-Limit': header('integer', 'Requests that the window allows', 100),
  'X-RateLimit-Remaining': header('integer', 'Requests left in the window', 87),
  'X-RateLimit-Reset': header('integer', 'When the window ends, in milliseconds since the epoch', 1795165200000),
  'X-RateLimit-Window': header('integer', 'Length of the window in seconds', 60),
  'X-RateLimit-Policy': {
    description: 'What requests are counted by: the user, the IP address, or the IP address and a field of the body',
    schema: { type: 'string', enum: ['user', 'ip', 'endpoint'] },
    example: 'user',
  },
};
const HEADERS: Record<string, object> = {
  'X-Request-ID': header(
    'string',
    "The id of the request in the log of the service: the caller's own, if it sent one",
    '9d3c1f0e-2b6a-4f57-8c8e-6a1d5b7e9f20',
  ),
  'X-Error-Code': {
    description: 'What went wrong, for programs. Further codes may be added: treat an unknown one by its status.',
    schema: ErrorCodeName,
    example: 'VALIDATION_ERROR',
  },
  'Retry-After': header('integer', 'Seconds to wait before a retry', 42),
  'WWW-Authenticate': header('string', 'The authentication scheme', 'Bearer'),
  'Set-Cookie': header(
    'string',
    'The session cookie; `Max-Age=0` clears it',
    'local-session=…; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=604800',
  ),
  ETag: header('string', 'The version of the resource, for `If-Match` and `If-None-Match`', '"Tz4qWx0aBcE-12-7"'),
  Location: header('string', 'The path of what was created, or the target of a redirect', '/api/tasks/12'),
  'Idempotent-Replayed': header(
    'string',
    'Present, and `true`, if this is the stored answer to an earlier request with the same `Idempotency-Key`',
    'true',
  ),
  'X-File-Id': header('string', 'The id of the file', '5f6e0f7c-6a4e-4d1b-9f0a-2b8f4f0c7d11'),
  'X-Next-Due-At': header('string', 'When the next run is due; absent if none is', '2026-11-20T09:16:00.000Z'),
  'X-Unknown-Query-Parameters': header('string', 'The query parameters that were ignored', 'stauts'),
  ...RATE_LIMIT_HEADERS,
};

/** Operations whose success sets or clears the session cookie. */
const COOKIE_OPERATIONS = new Set(['login', 'logout', 'endSession', 'startOAuth', 'finishOAuth']);

/** Operations that create a resource with a GET of its own. */
const LOCATED_OPERATIONS = new Set([
  'createTask',
  'confirmTask',
  'duplicateTask',
  'executeTask',
  'retryExecution',
  'receiveInbound',
  'createChannel',
  'createWebhook',
  'createCoupon',
]);

export function addHeaders(document: Document): void {
  addComponents(document, 'headers', HEADERS);
  for (const endpoint of listEndpoints(document)) {
    for (const [status, response] of Object.entries(endpoint.operation.responses ?? {})) {
      const references = listHeaders(endpoint, Number(status)).map((name) => [
        name,
        { $ref: `#/components/headers/${name}` },
      ]);
      response.headers = { ...response.headers, ...Object.fromEntries(references) };
    }
  }
}

function listHeaders(endpoint: Endpoint, status: number): string[] {
  const { operation } = endpoint;
  const { operationId: id = '' } = operation;
  // Its 503 is no error body, and load balancers probe at their own interval.
  const isProbe = id === 'getReadiness';
  const isOk = status < 400;
  const isRepeated = repeatsAnswer(operation);
  const rules: [applies: boolean, ...names: string[]][] = [
    [true, 'X-Request-ID'],
    [!isOk && !isProbe, 'X-Error-Code'],
    [operation['x-rate-limit'] !== undefined || status === 429, ...Object.keys(RATE_LIMIT_HEADERS)],
    [status === 429 || (status === 503 && !isProbe), 'Retry-After'],
    [isRepeated && status < 300, 'Idempotent-Replayed'],
    [isRepeated && status === 409, 'Retry-After'],
    [status === 401 && acceptsBearer(operation), 'WWW-Authenticate'],
    [isOk && COOKIE_OPERATIONS.has(id), 'Set-Cookie'],
    [status === 302 || (status === 201 && LOCATED_OPERATIONS.has(id)), 'Location'],
    [status === 200 && id === 'createUpload', 'X-File-Id'],
    [status === 200 && id === 'runScheduler', 'X-Next-Due-At'],
    [isOk && isTagged(endpoint), 'ETag'],
    [isOk && hasQuery(operation), 'X-Unknown-Query-Parameters'],
  ];
  return rules.flatMap(([applies, ...names]) => (applies ? names : []));
}

const hasQuery = ({ parameters = [] }: Operation) => parameters.some((parameter) => parameter.in === 'query');

const isTagged = ({ method, operation }: Endpoint) =>
  method !== 'delete' &&
  operation.parameters?.some(({ name }) => name === 'if-match' || name === 'if-none-match') === true;

const acceptsBearer = ({ security = [] }: Operation) => security.some((schemes) => 'bearer' in schemes);
