import { addComponents, type Document, type Operation, operationsOf } from './document.ts';

const header = (type: 'string' | 'integer', description: string, example: string | number) => ({
  description,
  schema: { type },
  example,
});

/** Specification "Rate-limit response headers". */
const OF_LIMITS: Record<string, object> = {
  'X-RateLimit-Limit': header('integer', 'Requests that the window allows', 100),
  'X-RateLimit-Remaining': header('integer', 'Requests left in the window', 87),
  'X-RateLimit-Reset': header('integer', 'When the window ends, in milliseconds since the epoch', 1795165200000),
  'X-RateLimit-Window': header('integer', 'Length of the window in seconds', 60),
  'X-RateLimit-Policy': {
    description: 'What requests are counted by: the user, the address, or the address and a field of the body',
    schema: { type: 'string', enum: ['user', 'ip', 'endpoint'] },
    example: 'user',
  },
};
const HEADERS: Record<string, object> = {
  'X-Request-ID': header(
    'string',
    "The id of this request in the log of the service: the caller's own, where it sent one",
    '9d3c1f0e-2b6a-4f57-8c8e-6a1d5b7e9f20',
  ),
  'Retry-After': header('integer', 'Seconds after which a repeat may help', 42),
  'WWW-Authenticate': header('string', 'How to sign in', 'Bearer'),
  'Set-Cookie': header(
    'string',
    'The session cookie; with `Max-Age=0` it is taken away',
    'local-session=…; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=604800',
  ),
  Location: header('string', 'Where the browser goes on to', 'https://github.com/login/oauth/authorize?…'),
  ...OF_LIMITS,
};

/** Successes that set the session cookie, or take it away. */
const COOKIES = new Set(['login', 'logout', 'endSession', 'startOAuth', 'finishOAuth']);

/** Adds the headers of every response, as references to components. */
export function addHeaders(document: Document): void {
  addComponents(document, 'headers', HEADERS);
  for (const { operation } of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      const references = namesOf(operation, Number(status)).map((name) => [name, refer(name)]);
      response.headers = { ...response.headers, ...Object.fromEntries(references) };
    }
  }
}

function namesOf(operation: Operation, status: number): string[] {
  const names = ['X-Request-ID'];
  if (operation['x-rate-limit'] !== undefined || status === 429) names.push(...Object.keys(OF_LIMITS));
  // A load balancer asks as often as it likes.
  const isProbe = operation.operationId === 'getReadiness';
  if (status === 429 || (status === 503 && !isProbe)) names.push('Retry-After');
  if (status === 401 && isOfSession(operation)) names.push('WWW-Authenticate');
  if (status < 400 && COOKIES.has(operation.operationId ?? '')) names.push('Set-Cookie');
  if (status === 302) names.push('Location');
  return names;
}

const isOfSession = ({ security = [] }: Operation) => security.some((schemes) => 'bearer' in schemes);

const refer = (name: string) => ({ $ref: `#/components/headers/${name}` });
