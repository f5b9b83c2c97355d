import type { Rate } from '../limits/rates.ts';

interface Response {
  headers?: Record<string, object>;
}
interface Operation {
  responses?: Record<string, Response>;
  'x-rate-limit'?: object;
}
interface Document {
  paths?: Record<string, Record<string, Operation>>;
  components?: { headers?: Record<string, object> };
}

const integer = (description: string) => ({ description, schema: { type: 'integer' } });

/** Specification "Rate-limit response headers". */
const HEADERS: Record<string, object> = {
  'X-RateLimit-Limit': integer('Requests that the window allows'),
  'X-RateLimit-Remaining': integer('Requests left in the window'),
  'X-RateLimit-Reset': integer('When the window ends, in milliseconds since the epoch'),
  'X-RateLimit-Window': integer('Length of the window in seconds'),
  'X-RateLimit-Policy': {
    description: 'What requests are counted by: the user, the address, or the address and a field of the body',
    schema: { type: 'string', enum: ['user', 'ip', 'endpoint'] },
  },
};
const RETRY_AFTER = { 'Retry-After': integer('Seconds until the window ends') };

/** The limit of a route as an extension of its operation, by which `describeLimits` knows it. */
export function describeLimit(rate: Rate | null | undefined): object {
  if (!rate) return {};
  const { limit, windowSeconds, scope } = rate;
  return { 'x-rate-limit': { limit, windowSeconds, scope } };
}

/** Adds the headers to every response of every limited operation, and to each 429. */
export function describeLimits<D extends object>(document: D): D {
  const { paths = {}, components = {} } = document as Document;
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      if (operation['x-rate-limit'] === undefined && status !== '429') continue;
      const names = Object.keys(status === '429' ? { ...RETRY_AFTER, ...HEADERS } : HEADERS);
      const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
      response.headers = { ...response.headers, ...Object.fromEntries(references) };
    }
  }
  return { ...document, components: { ...components, headers: { ...components.headers, ...RETRY_AFTER, ...HEADERS } } };
}
