import { createHash } from 'node:crypto';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { invalidField } from '../../../errors.ts';
import { countHeader } from '../credentials.ts';
import { type ClaimRequest, createClaimRequest } from './claim.ts';

export const IDEMPOTENCY_HEADER = 'idempotency-key';

/** How a route repeats the answer to an `Idempotency-Key`. By default its handler runs in one transaction. */
export interface Idempotency {
  /** The handler opens its transactions and stores its answer by `createAnswerStore`: else it is stored afterwards. */
  transactions: 'own';
  /** How long a handler that calls external services may take. */
  leaseMs?: number;
  /** The route may answer with a stream, which cannot be repeated: 400. */
  streams?: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * False for a POST that ignores `Idempotency-Key`, `reads` for one that changes nothing: it takes the header and keeps no
     * answer. Unset for other methods and for routes without a user.
     */
    idempotency?: Idempotency | boolean | 'reads';
  }
}

/** Every POST of a user takes a key, unless its route says otherwise. */
export const takesKey = ({ method, config }: Pick<RouteOptions, 'method' | 'config'>): boolean =>
  [method].flat().includes('POST') &&
  (config?.access === 'user' || config?.access === 'admin') &&
  config.idempotency !== false;

/** Returns null for a request without a valid key. */
export function findClaimRequest(request: FastifyRequest): ClaimRequest | null {
  const { idempotency } = request.routeOptions.config;
  const key = idempotency && idempotency !== 'reads' ? request.headers[IDEMPOTENCY_HEADER] : undefined;
  if (typeof key !== 'string' || !isValidKey(request, key)) return null;
  const { method, routeOptions, params } = request;
  const scope = createHash('sha256')
    .update(JSON.stringify([method, routeOptions.url, params, key]))
    .digest('hex');
  return createClaimRequest(scope, (typeof idempotency === 'object' && idempotency.leaseMs) || null);
}

/** Throws 400. */
export function assertValidKey(request: FastifyRequest): void {
  const key = request.headers[IDEMPOTENCY_HEADER];
  if (key === undefined || isValidKey(request, String(key))) return;
  throw invalidField(IDEMPOTENCY_HEADER, 'must be one header of 1 to 255 visible ASCII characters');
}

/** Node joins several headers to one, with a comma. */
const isValidKey = (request: FastifyRequest, key: string) =>
  /^[\x21-\x7e]{1,255}$/.test(key) && countHeader(request, IDEMPOTENCY_HEADER) === 1;
